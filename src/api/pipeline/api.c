/* SPDX-License-Identifier: MIT */
/* api.c - see api.h. */
#include "api/pipeline/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/audit.h"
#include "api/pipeline/call.h"
#include "api/pipeline/call_counts.h"
#include "api/pipeline/event_feed.h"
#include "api/pipeline/gate.h"
#include "api/pipeline/pipeline.h"
#include "api/pipeline/replay.h"
#include "api/pipeline/store_check.h"
#include "base/mem/mem.h"

struct api *api_new(const struct api_parts *parts)
{
    struct api *a = xalloc(sizeof(*a));

    a->parts = *parts;
    a->steps = &pipeline_steps;
    a->apps = apps_new(parts->loop, parts->store, parts->seal, parts->log);
    a->started_ms = loop_now_ms(parts->loop);
    a->started_wall_ms = clock_wall_ms(loop_clock(parts->loop));
    a->counts = call_counts_new();
    a->names = user_names_new(parts->loop);
    a->audit =
        audit_new(parts->loop, parts->log, parts->store, parts->audit_days, parts->retention);
    a->feed = event_feed_new(parts);
    a->store_check = store_check_new(parts->loop, parts->store);
    TAILQ_INIT(&a->calls);
    a->replays = replays_new();
    gate_init(a);
    return a;
}

void api_drain(struct api *a)
{
    event_feed_stop(a->feed);
}

void api_stop(struct api *a)
{
    if (!a)
        return;
    a->is_stopping = true;
    audit_flush(a->audit);
    event_feed_stop(a->feed);
}

/* Calls that are still open are failed; their clients are gone, and this frees the requests. */
void api_free(struct api *a)
{
    if (!a)
        return;
    event_feed_stop(a->feed);
    user_names_free(a->names);
    store_check_free(a->store_check);
    audit_stop(a->audit);
    while (!TAILQ_EMPTY(&a->calls))
        call_fail(TAILQ_FIRST(&a->calls), &call_stopping);
    audit_free(a->audit);
    event_feed_free(a->feed);
    apps_free(a->apps);
    body_quota_done(&a->strange_bodies);
    map_free(&a->apps_in_work);
    map_free(&a->requests);
    replays_free(a->replays);
    call_counts_free(a->counts);
    free(a);
}

bool api_is_path(const char *path)
{
    static const char *const roots[] = { "/api", "/c", "/metrics", "/procapi", "/v1" };

    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        size_t n = strlen(roots[i]);

        if (!strncmp(path, roots[i], n) && (!path[n] || path[n] == '/'))
            return true;
    }
    return false;
}

static void on_head(void *arg, struct http_req *req)
{
    const struct api_door *door = arg;
    struct call *c = call_new(door->api, door->is_admin, req);

    if (c)
        gate_head(c);
}

static void on_request(void *arg, struct http_req *req)
{
    (void)arg;
    pipeline_start(req->user);
}

/* A call that owns its request continues without a client; any other ends here. */
static void on_gone(void *arg, struct http_req *req)
{
    (void)arg;
    if (req->is_owned || !req->user)
        return;
    call_count(req->user, CALL_GONE);
    call_free(req->user);
}

static void on_trouble(void *arg, const struct err *err)
{
    const struct api_door *door = arg;

    LOG(door->api->parts.log, LOG_WARN, "cannot accept connections for a moment", log_err(err));
}

static bool api_on_body(void *arg, struct http_req *req, size_t n)
{
    (void)arg;
    return gate_body(req->user, n);
}

const struct http_owner api_owner = { on_head, on_request, on_gone, on_trouble, api_on_body };
