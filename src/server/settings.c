/* SPDX-License-Identifier: MIT */
/* settings.c - the rows of settings.h. */
#include "server/settings.h"

#include "base/log.h"
#include "server/hub.h"
#include "wire/far.h"
#include "wire/http.h"

#define AT(member) .offset = offsetof(struct server_settings, member)
#define IN(part, member)                                                                           \
    .offset = offsetof(struct server_settings, part.member) - offsetof(struct server_settings, part)

/* clang-format off */
static const struct field tls_fields[] = {
    { "cert", .type = FIELD_STR, IN(tls, cert), .max = 4096, .doc = "certificate of the API, PEM" },
    { "key", .type = FIELD_STR, IN(tls, key), .max = 4096, .doc = "its private key, PEM" },
    { 0 },
};
static const struct shape tls_shape = { "tls", sizeof(((struct server_settings *)0)->tls), tls_fields };

static const struct field word_fields[] = {
    { "word", .type = FIELD_STR, .offset = offsetof(struct setting_word, text), .min = 1, .max = 4096 },
    { 0 },
};
static const struct shape word_shape = { "word", sizeof(struct setting_word), word_fields, .bare = true };

static const struct field login_fields[] = {
    { "url", .type = FIELD_STR, IN(login, url), .max = 2048,
      .doc = "of BlueKing's login service, which says whose a `bk_token` is: its address, or all of the URL of is_login "
             "(`https://paas.example.com/login/api/v2/is_login/`); empty: there is none, and every app is believed who "
             "its user is" },
    { "app_code", .type = FIELD_STR, IN(login, app_code), .max = 64, .fallback_text = "esb",
      .doc = "who we are to it: header X-APP-CODE" },
    { "app_token", .type = FIELD_STR, IN(login, app_token), .max = 512, .flags = FIELD_SECRET,
      .doc = "and header X-APP-TOKEN; empty: it is not sent; not for the command line, which everybody on the host sees" },
    { "ca", .type = FIELD_STR, IN(login, ca), .max = 4096,
      .doc = "certificates by which it is trusted, PEM; empty: those of the system" },
    { "timeout_seconds", .type = FIELD_INT, IN(login, timeout_s), .min = 1, .max = 60, .fallback = 5,
      .doc = "it must have answered after this time" },
    { 0 },
};
static const struct shape login_shape = { "login", sizeof(((struct server_settings *)0)->login), login_fields };

static const struct field link_fields[] = {
    { "listen", .type = FIELD_STR, IN(link, listen), .min = 1, .max = 128, .fallback_text = "127.0.0.1:7021",
      .doc = "address agents connect to, always with TLS; `:7021` is all addresses" },
    { "ping_seconds", .type = FIELD_INT, IN(link, ping_s), .min = 1, .max = 3600, .fallback = 5,
      .doc = "time between two pings; an agent that is silent for three is gone" },
    { "threads", .type = FIELD_INT, IN(link, threads), .max = FAR_THREADS_MAX,
      .doc = "threads for the sockets and the TLS of agents; 0: the one that does all else does that too" },
    { 0 },
};
static const struct shape link_shape = { "link", sizeof(((struct server_settings *)0)->link), link_fields };

static const struct field events_fields[] = {
    { "file", .type = FIELD_STR, IN(events, file), .max = 4096,
      .doc = "where events of processes go, one JSON object a line, opened again on SIGHUP; empty: nowhere" },
    { "days", .type = FIELD_INT, IN(events, days), .min = 1, .max = 3650, .fallback = 30,
      .doc = "how long events are kept for `/v1/events`" },
    { "max_rows", .type = FIELD_INT, IN(events, max_rows), .min = 1000, .max = 1000 * 1000 * 1000, .fallback = 1000 * 1000,
      .doc = "how many are kept at most; the oldest go first" },
    { "host_burst", .type = FIELD_INT, IN(events, host_burst), .min = 1, .max = 1000 * 1000, .fallback = 2000,
      .doc = "events one host may tell at once; those beyond are counted and left out, and an event says how many" },
    { "host_per_minute", .type = FIELD_INT, IN(events, host_per_minute), .min = 1, .max = 1000 * 1000, .fallback = 60,
      .doc = "events one host may tell all the time" },
    { "lost_seconds", .type = FIELD_INT, IN(events, lost_s), .min = 5, .max = 86400, .fallback = 30,
      .doc = "an agent that is not connected for so long is lost, which is an event" },
    { 0 },
};
static const struct shape events_shape = { "events", sizeof(((struct server_settings *)0)->events), events_fields };

static const struct field audit_fields[] = {
    { "days", .type = FIELD_INT, IN(audit, days), .min = 1, .max = 36500, .fallback = 365,
      .doc = "how long it is kept who has changed what" },
    { 0 },
};
static const struct shape audit_shape = { "audit", sizeof(((struct server_settings *)0)->audit), audit_fields };

static const struct field tasks_fields[] = {
    { "days", .type = FIELD_INT, IN(tasks, days), .min = 1, .max = 3650, .fallback = 7,
      .doc = "how long tasks that have ended, and their results, are kept" },
    { 0 },
};
static const struct shape tasks_shape = { "tasks", sizeof(((struct server_settings *)0)->tasks), tasks_fields };

static const struct field dispatch_fields[] = {
    { "per_agent", .type = FIELD_INT, IN(dispatch, per_agent), .min = 1, .max = HUB_PER_AGENT, .fallback = HUB_PER_AGENT,
      .doc = "most operations that one agent has to do at one time; the others wait here, within their deadlines" },
    { "total", .type = FIELD_INT, IN(dispatch, total), .min = 1, .max = 1000 * 1000, .fallback = HUB_TOTAL,
      .doc = "most that agents were sent and have not answered yet, neither that they have them nor with a result; those "
             "of agents that are silent for a second are not counted" },
    { 0 },
};
static const struct shape dispatch_shape = { "dispatch", sizeof(((struct server_settings *)0)->dispatch),
                                             dispatch_fields };

static const struct enum_name levels[] = {
    { LOG_ERROR, "error" }, { LOG_WARN, "warn" }, { LOG_INFO, "info" }, { LOG_DEBUG, "debug" }, { 0 },
};
static const struct field log_fields[] = {
    { "file", .type = FIELD_STR, IN(log, file), .max = 4096,
      .doc = "where the log goes, opened again on SIGHUP; empty: standard error" },
    { "level", .type = FIELD_ENUM, IN(log, level), .names = levels, .fallback = LOG_INFO,
      .flags = FIELD_BY_NAME, .doc = "least urgent lines to write" },
    { 0 },
};
static const struct shape log_shape = { "log", sizeof(((struct server_settings *)0)->log), log_fields };

static const struct field http_fields[] = {
    { "connections", .type = FIELD_INT, IN(http, connections), .min = 1, .max = 1000000,
      .fallback = HTTP_CONNECTIONS_MAX, .doc = "most connections to the API at one time" },
    { "connections_per_address", .type = FIELD_INT, IN(http, connections_per_address), .min = 1,
      .max = 1000000, .fallback = HTTP_PER_ADDRESS_MAX, .doc = "most of them from one address" },
    { "header_seconds", .type = FIELD_INT, IN(http, header_s), .min = 1, .max = 3600, .fallback = HTTP_HEADER_S,
      .doc = "a request's head must be complete in this time, a new connection's first included" },
    { "idle_seconds", .type = FIELD_INT, IN(http, idle_s), .min = 1, .max = 86400, .fallback = HTTP_IDLE_S,
      .doc = "a connection is closed after this time between two requests" },
    { "body_bytes_total", .type = FIELD_INT, IN(http, body_bytes_total), .min = 1 << 20,
      .max = (int64_t)1 << 40, .fallback = HTTP_BODY_BUDGET,
      .doc = "most memory all request bodies together may take" },
    { 0 },
};
static const struct shape http_shape = { "http", sizeof(((struct server_settings *)0)->http), http_fields };

static const struct field fields[] = {
    { "listen", .type = FIELD_STR, AT(listen), .min = 1, .max = 128, .fallback_text = "127.0.0.1:7020",
      .doc = "address to serve on; off loopback it needs TLS" },
    { "data_dir", .type = FIELD_STR, AT(data_dir), .min = 1, .max = 4096, .fallback_text = "/var/lib/holdfast",
      .doc = "what the server must not lose: its CA and, unless `store` says otherwise, its data" },
    { "store", .type = FIELD_STR, AT(store), .max = 4096,
      .doc = "where the data is: `sqlite:PATH`; empty: `holdfast.db` in `data_dir`" },
    { "admin_socket", .type = FIELD_STR, AT(admin_socket), .max = 107,
      .doc = "unix socket for who administers this host, without credentials; empty: `admin.sock` in `data_dir`" },
    { "node", .type = FIELD_STR, AT(node), .min = 1, .max = 64, .fallback_text = "main",
      .doc = "the name of this server among several" },
    { "login", .type = FIELD_OBJ, AT(login), .sub = &login_shape, .doc = "who a user is" },
    { "skip_user_auth_apps", .type = FIELD_LIST, AT(skip_user_auth_apps), .max = 1000, .sub = &word_shape,
      .doc = "apps whose `bk_username` is believed without a `bk_token`, where there is a login service; with `,` or "
             "`;` between" },
    { "trusted_esb_from", .type = FIELD_LIST, AT(trusted_esb_from), .max = 1000, .sub = &word_shape,
      .doc = "addresses or networks (`10.0.0.0/8`) of ESBs in front of us: under `/procapi` their word is enough who "
             "calls (`Bk-App-Code`, `Bk-Username`); empty: nobody's is" },
    { "rate_per_second", .type = FIELD_INT, AT(rate_per_second), .max = 1000000,
      .doc = "requests that an app may send, unless it has a limit of its own; 0: any number" },
    { "link", .type = FIELD_OBJ, AT(link), .sub = &link_shape, .doc = "the agents' way in" },
    { "events", .type = FIELD_OBJ, AT(events), .sub = &events_shape, .doc = "what happened on hosts" },
    { "tls", .type = FIELD_OBJ, AT(tls), .sub = &tls_shape, .doc = "encryption of the API" },
    { "tasks", .type = FIELD_OBJ, AT(tasks), .sub = &tasks_shape, .doc = "what was asked of hosts" },
    { "dispatch", .type = FIELD_OBJ, AT(dispatch), .sub = &dispatch_shape,
      .doc = "how operations go to agents: apps take turns, and one that has nothing on the way never waits for these" },
    { "audit", .type = FIELD_OBJ, AT(audit), .sub = &audit_shape, .doc = "who has changed what (`/v1/audit`)" },
    { "log", .type = FIELD_OBJ, AT(log), .sub = &log_shape, .doc = "what is written down" },
    { "http", .type = FIELD_OBJ, AT(http), .sub = &http_shape, .doc = "what clients may take" },
    { 0 },
};
static const struct shape shape = { "server settings", sizeof(struct server_settings), fields };
/* clang-format on */

const struct config_spec server_config = {
    .program = "holdfast-server",
    .about = "The Holdfast server: the API for clients, and the link for agents.",
    .env_prefix = "HOLDFAST_SERVER",
    .default_file = "/etc/holdfast/server.yaml",
    .shape = &shape,
};
