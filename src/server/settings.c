/* SPDX-License-Identifier: MIT */
/* settings.c - the rows of settings.h. */
#include "server/settings.h"

#include "base/log.h"
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

static const struct field link_fields[] = {
    { "listen", .type = FIELD_STR, IN(link, listen), .min = 1, .max = 128, .fallback_text = "127.0.0.1:7021",
      .doc = "address agents connect to, always with TLS; `:7021` is all addresses" },
    { "ping_seconds", .type = FIELD_INT, IN(link, ping_s), .min = 1, .max = 3600, .fallback = 5,
      .doc = "time between two pings; an agent that is silent for three is gone" },
    { 0 },
};
static const struct shape link_shape = { "link", sizeof(((struct server_settings *)0)->link), link_fields };

static const struct field events_fields[] = {
    { "file", .type = FIELD_STR, IN(events, file), .max = 4096,
      .doc = "where events of processes go, one JSON object a line, opened again on SIGHUP; empty: nowhere" },
    { 0 },
};
static const struct shape events_shape = { "events", sizeof(((struct server_settings *)0)->events), events_fields };

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
    { "link", .type = FIELD_OBJ, AT(link), .sub = &link_shape, .doc = "the agents' way in" },
    { "events", .type = FIELD_OBJ, AT(events), .sub = &events_shape, .doc = "what happened on hosts" },
    { "tls", .type = FIELD_OBJ, AT(tls), .sub = &tls_shape, .doc = "encryption of the API" },
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
