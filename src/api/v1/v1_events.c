/* SPDX-License-Identifier: MIT */
/* v1_events.c - events in /v1: pages from the store, and the stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/event_feed.h"
#include "api/pipeline/handlers.h"
#include "base/mem/mem.h"
#include "model/translate.h"

/* The number of store calls for one page, if the app may see few of the events; rows per call; and
 * the bytes of text after which a page ends. */
enum { LOOKS_MAX = 10, LOOK_ROWS = 1000, PAGE_BYTES = 1024 * 1024 };

struct listing {
    struct call *call;
    const struct event_ask *ask;
    struct event_scope scope;
    struct event_view *views;
    size_t n, bytes;
    int64_t at; /* id to continue from */
    int looks;
};

static void read_page(struct listing *l);

/* The rows are freed with the store call, so the view is copied. */
static void add_view(struct listing *l, const struct event_row *row)
{
    struct arena *a = l->call->arena;
    struct event_view v = event_scope_view(row), *to = &l->views[l->n++];

    v.text = translate_own(v.text, call_lang(l->call), a);
    shape_copy(&event_view_shape, &v, a, to);
    l->bytes += strlen(v.text);
}

/* False: the page is full, and rows remain. */
static bool take_rows(struct listing *l, const struct event_page_got *got)
{
    const struct event_row *rows = got->rows.items;

    for (size_t i = 0; i < got->rows.n; i++) {
        if (!event_scope_has(&l->scope, &rows[i]))
            continue;
        if (l->n == (size_t)l->ask->limit || l->bytes >= PAGE_BYTES)
            return false;
        add_view(l, &rows[i]);
        l->at = rows[i].seq;
    }
    l->at = got->reached;
    return true;
}

static void finish_page(struct listing *l, int64_t last, bool is_end)
{
    const struct event_page page = {
        { l->views, l->n },
        is_end ? "" : arena_printf(l->call->arena, "%lld", (long long)l->at),
        last,
    };

    call_finish(l->call, &event_page_shape, &page);
}

static void v1_events_on_page(void *arg, struct store_call *s)
{
    struct listing *l = arg;
    const struct event_page_got *got = s->out;

    if (s->failed)
        call_fail(l->call, &s->err);
    else if (l->call->api->is_stopping)
        call_fail(l->call, &call_stopping);
    else if (!take_rows(l, got))
        finish_page(l, got->last, false);
    else if (got->is_end || l->looks == LOOKS_MAX)
        finish_page(l, got->last, got->is_end);
    else if (l->n == (size_t)l->ask->limit)
        finish_page(l, got->last, false);
    else
        read_page(l);
    store_call_free(s);
}

/* For an app with limits many rows are read, because it may see few of them. */
static int64_t rows_of(const struct listing *l)
{
    return app_has_limits(&l->call->app->permissions) ? LOOK_ROWS : l->ask->limit;
}

static void read_page(struct listing *l)
{
    const struct event_ask *ask = l->ask;
    struct store_call *s = store_call_new(&store_event_page, v1_events_on_page, l);
    struct event_page_ask *in = arena_alloc(&s->arena, sizeof(*in));
    bool is_newest = ask->order == EVENT_NEWEST_FIRST;
    struct err err;

    *in = (struct event_page_ask){
        .is_newest_first = is_newest,
        .above = is_newest || l->at < 0 ? 0 : l->at,
        .below = is_newest && l->at >= 0 ? l->at : INT64_MAX,
        .since_ms = ask->since_s * 1000,
        .agent_id = l->scope.agent_id, /* the call outlives the store call */
        .space = l->scope.space,
        .proc = l->scope.name,
        .name = l->scope.event,
        .limit = rows_of(l),
    };
    s->in = in;
    l->looks++;
    if (!store_submit(l->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(l->call, &err);
}

void v1_events(struct call *c)
{
    const struct event_ask *ask = c->ask;
    struct listing *l = arena_alloc(c->arena, sizeof(*l));

    *l = (struct listing){ .call = c, .ask = ask, .at = ask->after };
    if (!event_scope_init(c, &ask->filter, &l->scope))
        return;
    l->views = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*l->views));
    read_page(l);
}

/* ---- the stream */

/* The id that a reconnecting client sends; an invalid one is ignored. */
static int64_t read_last_id(const struct call *c, int64_t otherwise)
{
    const char *text = http_head_find(&c->req->head, "Last-Event-ID");
    char *end;
    long long id;

    if (!text || !*text)
        return otherwise;
    errno = 0;
    id = strtoll(text, &end, 10);
    return errno || *end || id < 0 ? otherwise : id;
}

void v1_event_stream(struct call *c)
{
    const struct event_stream_ask *ask = c->ask;
    struct event_scope scope;

    if (event_scope_init(c, &ask->filter, &scope))
        event_feed_add(c->api->feed, c, &scope, read_last_id(c, ask->after));
}
