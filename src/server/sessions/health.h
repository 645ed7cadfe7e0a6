/* SPDX-License-Identifier: MIT */
/* health.h - status of the server, for machines (/healthz) and for people (/). */
#ifndef SERVER_SESSIONS_HEALTH_H
#define SERVER_SESSIONS_HEALTH_H

#include <stdint.h>

#include "base/mem/buf.h"
#include "wire/json/shape.h"

struct health {
    const char *status; /* "ok"; "stopping" while the last requests are served */
    const char *version;
    int64_t uptime_s, connections, requests, refused;
};

extern const struct shape health_shape;

void health_page(const struct health *h, struct buf *out); /* HTML, in English and Chinese */

#endif
