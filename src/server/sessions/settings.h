/* SPDX-License-Identifier: MIT */
/* settings.h - the settings of the server. */
#ifndef SERVER_SESSIONS_SETTINGS_H
#define SERVER_SESSIONS_SETTINGS_H

#include <stdint.h>

#include "wire/json/config.h"

struct setting_word { /* an entry of a list */
    const char *text;
};

struct server_settings {
    const char *listen;
    const char *data_dir, *admin_socket, *store, *node;
    struct list skip_user_auth_apps, trusted_esb_from; /* struct setting_word */
    int64_t rate_per_second;
    struct {
        const char *url, *app_code, *app_token, *ca;
        int64_t timeout_s;
    } login;
    struct {
        const char *cert, *key;
    } tls;
    struct {
        const char *listen;
        int64_t ping_s;
        int64_t threads; /* accepted and ignored */
        enum presence has_threads;
    } link;
    struct {
        const char *file;
        int64_t level; /* enum log_level */
    } log;
    struct {
        int64_t days;
    } audit, tasks;
    struct {
        int64_t per_agent, total;
    } dispatch;
    struct {
        const char *file;
        int64_t days, max_rows, host_burst, host_per_minute, lost_s;
    } events;
    struct {
        int64_t connections, connections_per_address;
        int64_t header_s, idle_s, body_bytes_total;
    } http;
};

extern const struct config_spec server_config;

#endif
