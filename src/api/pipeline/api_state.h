/* SPDX-License-Identifier: MIT */
/* api_state.h - the state of the api, private to the sources of src/api. */
#ifndef API_PIPELINE_API_STATE_H
#define API_PIPELINE_API_STATE_H

#include <sys/queue.h>

#include "api/auth/apps.h"
#include "api/pipeline/api_parts.h"
#include "api/pipeline/body_quota.h"
#include "api/pipeline/metrics.h"
#include "api/pipeline/request_id.h"
#include "base/io/user_name.h"
#include "base/mem/map.h"

struct audit;
struct call;
struct call_counts;
struct call_steps;
struct event_feed;
struct replays;
struct store_check;

struct api {
    struct api_parts parts;
    const struct call_steps *steps; /* of pipeline.c; see call.h */
    struct apps *apps;
    struct audit *audit;
    struct user_names *names; /* names of users at the admin socket */
    struct event_feed *feed;
    struct store_check *store_check;
    TAILQ_HEAD(, call) calls;         /* not answered yet */
    struct body_quota strange_bodies; /* of unauthenticated callers (gate.h) */
    struct map apps_in_work;          /* codes of apps that are being created */
    struct replays *replays;
    struct map requests; /* in progress, by idempotency key (idempotency.h) */
    struct request_ids ids;
    int64_t started_ms, started_wall_ms;
    struct call_counts *counts;
    struct metrics_source metrics_from[METRIC_SOURCES];
    bool is_stopping; /* tasks and fleet may be freed already */
};

#endif
