/* SPDX-License-Identifier: MIT */
/* settings.c - the rows of settings.h. */
#include "server/sessions/settings.h"

#include "base/io/log.h"
#include "server/dispatch/hub.h"
#include "wire/http/http.h"

#define AT(member) .offset = offsetof(struct server_settings, member)
#define IN(part, member)                                                                           \
    .offset = offsetof(struct server_settings, part.member) - offsetof(struct server_settings, part)
#define HAS(part, member)                                                                          \
    .has = offsetof(struct server_settings, part.member) - offsetof(struct server_settings, part)

/* clang-format off */
static const struct field tls_fields[] = {
    { "cert", .type = FIELD_STR, IN(tls, cert), .max = 4096, .doc = "certificate of the API, PEM; read again on SIGHUP" },
    { "key", .type = FIELD_STR, IN(tls, key), .max = 4096, .doc = "its private key, PEM; read again on SIGHUP" },
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
      .doc = "BlueKing's login service, which checks `bk_token` and returns its user: its address, or the full URL of is_login "
             "(`https://paas.example.com/login/api/v2/is_login/`); empty: there is none, and the user that an app names is "
             "accepted" },
    { "app_code", .type = FIELD_STR, IN(login, app_code), .max = 64, .fallback_text = "esb",
      .doc = "our application code for it: header X-APP-CODE" },
    { "app_token", .type = FIELD_STR, IN(login, app_token), .max = 512, .flags = FIELD_SECRET,
      .doc = "header X-APP-TOKEN; empty: not sent; do not give it on the command line, which every user of the host can read" },
    { "ca", .type = FIELD_STR, IN(login, ca), .max = 4096,
      .doc = "CA certificates to verify it, PEM; empty: those of the system" },
    { "timeout_seconds", .type = FIELD_INT, IN(login, timeout_s), .min = 1, .max = 60, .fallback = 5,
      .doc = "time limit for its answer" },
    { 0 },
};
static const struct shape login_shape = { "login", sizeof(((struct server_settings *)0)->login), login_fields };

static const struct field link_fields[] = {
    { "listen", .type = FIELD_STR, IN(link, listen), .min = 1, .max = 128, .fallback_text = "127.0.0.1:7021",
      .doc = "address agents connect to, always with TLS; `:7021` is all addresses" },
    { "ping_seconds", .type = FIELD_INT, IN(link, ping_s), .min = 1, .max = 3600, .fallback = 5,
      .doc = "time between two pings; an agent that answers none of three is disconnected" },
    { "threads", .type = FIELD_INT, IN(link, threads), .flags = FIELD_NO_EFFECT, HAS(link, has_threads), .max = 64 },
    { 0 },
};
static const struct shape link_shape = { "link", sizeof(((struct server_settings *)0)->link), link_fields };

static const struct field events_fields[] = {
    { "file", .type = FIELD_STR, IN(events, file), .max = 4096,
      .doc = "file for events of processes, one JSON object per line, reopened on SIGHUP; empty: none" },
    { "days", .type = FIELD_INT, IN(events, days), .min = 1, .max = 3650, .fallback = 30,
      .doc = "how many days events are kept for `/v1/events`" },
    { "max_rows", .type = FIELD_INT, IN(events, max_rows), .min = 1000, .max = 1000 * 1000 * 1000, .fallback = 1000 * 1000,
      .doc = "how many events are kept at most; the oldest are removed first" },
    { "host_burst", .type = FIELD_INT, IN(events, host_burst), .min = 1, .max = 1000 * 1000, .fallback = 2000,
      .doc = "events that one host may send at once; further ones are dropped and counted, and an event reports the count" },
    { "host_per_minute", .type = FIELD_INT, IN(events, host_per_minute), .min = 1, .max = 1000 * 1000, .fallback = 60,
      .doc = "events per minute that one host may send continuously" },
    { "lost_seconds", .type = FIELD_INT, IN(events, lost_s), .min = 5, .max = 86400, .fallback = 30,
      .doc = "an agent that is not connected for this time is lost, which causes an event" },
    { 0 },
};
static const struct shape events_shape = { "events", sizeof(((struct server_settings *)0)->events), events_fields };

static const struct field audit_fields[] = {
    { "days", .type = FIELD_INT, IN(audit, days), .min = 1, .max = 36500, .fallback = 365,
      .doc = "how many days the audit log is kept" },
    { 0 },
};
static const struct shape audit_shape = { "audit", sizeof(((struct server_settings *)0)->audit), audit_fields };

static const struct field tasks_fields[] = {
    { "days", .type = FIELD_INT, IN(tasks, days), .min = 1, .max = 3650, .fallback = 7,
      .doc = "how many days ended tasks and their results are kept" },
    { 0 },
};
static const struct shape tasks_shape = { "tasks", sizeof(((struct server_settings *)0)->tasks), tasks_fields };

static const struct field dispatch_fields[] = {
    { "per_agent", .type = FIELD_INT, IN(dispatch, per_agent), .min = 1, .max = HUB_PER_AGENT, .fallback = HUB_PER_AGENT,
      .doc = "most operations that are sent to one agent at one time; others wait in the server, within their deadlines" },
    { "total", .type = FIELD_INT, IN(dispatch, total), .min = 1, .max = 1000 * 1000, .fallback = HUB_TOTAL,
      .doc = "most operations that were sent and that no agent has acknowledged or answered; those of agents that are "
             "silent for a second are not counted" },
    { 0 },
};
static const struct shape dispatch_shape = { "dispatch", sizeof(((struct server_settings *)0)->dispatch),
                                             dispatch_fields };

static const struct enum_name levels[] = {
    { LOG_ERROR, "error" }, { LOG_WARN, "warn" }, { LOG_INFO, "info" }, { LOG_DEBUG, "debug" }, { 0 },
};
static const struct field log_fields[] = {
    { "file", .type = FIELD_STR, IN(log, file), .max = 4096,
      .doc = "file of the log, reopened on SIGHUP; empty: standard error" },
    { "level", .type = FIELD_ENUM, IN(log, level), .names = levels, .fallback = LOG_INFO,
      .flags = FIELD_BY_NAME, .doc = "least urgent level that is logged" },
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
      .doc = "directory of the CA and, unless `store` names another place, of the data; back it up" },
    { "store", .type = FIELD_STR, AT(store), .max = 4096,
      .doc = "where the data is: `sqlite:PATH`; empty: `holdfast.db` in `data_dir`" },
    { "admin_socket", .type = FIELD_STR, AT(admin_socket), .max = 107,
      .doc = "unix socket for administrators of this host, without credentials; empty: `admin.sock` in `data_dir`" },
    { "node", .type = FIELD_STR, AT(node), .min = 1, .max = 64, .fallback_text = "main",
      .doc = "the name of this server node" },
    { "login", .type = FIELD_OBJ, AT(login), .sub = &login_shape, .doc = "verification of users" },
    { "skip_user_auth_apps", .type = FIELD_LIST, AT(skip_user_auth_apps), .max = 1000, .sub = &word_shape,
      .doc = "apps whose `bk_username` is accepted without a `bk_token` although there is a login service; separated by `,` "
             "or `;`" },
    { "trusted_esb_from", .type = FIELD_LIST, AT(trusted_esb_from), .max = 1000, .sub = &word_shape,
      .doc = "addresses or networks (`10.0.0.0/8`) of ESBs in front of the server: under `/procapi` their headers "
             "`Bk-App-Code` and `Bk-Username` are trusted; empty: none" },
    { "rate_per_second", .type = FIELD_INT, AT(rate_per_second), .max = 1000000,
      .doc = "requests per second that an app may send, unless it has its own limit; 0: no limit" },
    { "link", .type = FIELD_OBJ, AT(link), .sub = &link_shape, .doc = "connections of agents" },
    { "events", .type = FIELD_OBJ, AT(events), .sub = &events_shape, .doc = "events of hosts" },
    { "tls", .type = FIELD_OBJ, AT(tls), .sub = &tls_shape, .doc = "TLS of the API" },
    { "tasks", .type = FIELD_OBJ, AT(tasks), .sub = &tasks_shape, .doc = "retention of tasks" },
    { "dispatch", .type = FIELD_OBJ, AT(dispatch), .sub = &dispatch_shape,
      .doc = "limits for sending operations to agents: apps take turns, and an app without an operation on the way is never delayed by them" },
    { "audit", .type = FIELD_OBJ, AT(audit), .sub = &audit_shape, .doc = "the audit log (`/v1/audit`)" },
    { "log", .type = FIELD_OBJ, AT(log), .sub = &log_shape, .doc = "the log" },
    { "http", .type = FIELD_OBJ, AT(http), .sub = &http_shape, .doc = "limits for clients" },
    { 0 },
};
static const struct shape shape = { "server settings", sizeof(struct server_settings), fields };
/* clang-format on */

static const struct config_signal signals[] = {
    { "SIGHUP",
      "reopens `log.file` and `events.file`, and reloads `tls.cert` and `tls.key`: new connections "
      "get the new certificate, open ones continue; if the new pair is invalid, the old one stays "
      "in "
      "use, and the log says why" },
    { "SIGTERM", "and SIGINT: answers the current requests and stops; a second one stops at once" },
    { 0 },
};

const struct config_spec server_config = {
    .program = "holdfast-server",
    .about = "The Holdfast server: the API for clients, and the link for agents.",
    .env_prefix = "HOLDFAST_SERVER",
    .default_file = "/etc/holdfast/server.yaml",
    .shape = &shape,
    .signals = signals,
};
