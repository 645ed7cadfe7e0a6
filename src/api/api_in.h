/* SPDX-License-Identifier: MIT */
/* api_in.h - the api itself, for api.c, call.c, gate.c and the handlers.  Not for others. */
#ifndef API_API_IN_H
#define API_API_IN_H

#include <sys/queue.h>

#include "api/api.h"
#include "api/apps.h"
#include "api/call.h"
#include "base/map.h"

struct api {
    struct api_parts parts;
    struct apps *apps;
    TAILQ_HEAD(, call) calls; /* that have not been answered */
    size_t strange_bytes;     /* of bodies from callers who are not known yet, see gate.h */
    struct map apps_in_work;  /* codes of apps that are being made */
    int64_t started_ms;
    bool is_stopping; /* tasks and fleet may be gone */
};

#endif
