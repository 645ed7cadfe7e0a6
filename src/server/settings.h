/* SPDX-License-Identifier: MIT */
/* settings.h - what an operator can set of the server. */
#ifndef SERVER_SETTINGS_H
#define SERVER_SETTINGS_H

#include <stdint.h>

#include "wire/config.h"

struct server_settings {
    const char *listen;
    const char *data_dir, *admin_socket, *store, *node;
    struct {
        const char *cert, *key;
    } tls;
    struct {
        const char *listen;
        int64_t ping_s;
    } link;
    struct {
        const char *file;
        int64_t level; /* enum log_level */
    } log;
    struct {
        const char *file;
    } events;
    struct {
        int64_t connections, connections_per_address;
        int64_t header_s, idle_s, body_bytes_total;
    } http;
};

extern const struct config_spec server_config;

#endif
