/* SPDX-License-Identifier: MIT */
/* api_in.h - the api itself, for api.c, call.c, gate.c and the handlers.  Not for others. */
#ifndef API_API_IN_H
#define API_API_IN_H

#include <sys/queue.h>

#include "api/api.h"
#include "api/apps.h"
#include "api/call.h"
#include "api/metrics.h"
#include "base/map.h"

struct audit;
struct call_counts;
struct event_feed;

struct api {
    struct api_parts parts;
    struct apps *apps;
    struct audit *audit;
    struct event_feed *feed;
    TAILQ_HEAD(, call) calls; /* that have not been answered */
    size_t strange_bytes;     /* of bodies from callers who are not known yet, see gate.h */
    struct map apps_in_work;  /* codes of apps that are being made */
    struct map requests;      /* in work, by their keys: idempotency.h */
    unsigned char ids[64][REQUEST_ID_BYTES]; /* of requests that are to come */
    size_t n_ids;
    int64_t started_ms, started_wall_ms;
    struct call_counts *counts;
    struct metrics_source metrics_from[METRIC_SOURCES];
    bool is_stopping; /* tasks and fleet may be gone */
};

#endif
