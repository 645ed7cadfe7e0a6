/* SPDX-License-Identifier: MIT */
/* event_feed.c - see event_feed.h. */
#include "api/pipeline/event_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/translate.h"
#include "wire/http/http_sse.h"

enum {
    PAGE_ROWS = 100,
    PENDING_HIGH = 256 * 1024, /* sending pauses while more bytes wait for the socket */
    PENDING_LOW = 64 * 1024,   /* the next page is read when at most so many wait */
    PENDING_MS = 50,
    RETRY_MS = 2000, /* tells clients when to reconnect */
};

/* A page being read from the store; lives in the store's call. */
struct reading {
    struct listener *listener; /* NULL: the listener has ended */
};

struct listener {
    struct event_feed *feed;
    struct call *call;
    struct event_scope scope;
    enum lang lang;
    int64_t last;  /* all events up to this id were examined */
    int64_t shown; /* the last id that was sent */
    bool is_live;  /* gets new events directly; false: reads from the store */
    int64_t open_until_ms;
    struct reading *reading;
    struct timer timer; /* next heartbeat or next page */
    TAILQ_ENTRY(listener) link;
};

struct event_feed {
    struct api_parts parts;
    TAILQ_HEAD(, listener) all;
    size_t n;
    bool is_stopped;
};

/* ---- one listener ---- */

static void end_listener(struct listener *l)
{
    struct event_feed *f = l->feed;

    TAILQ_REMOVE(&f->all, l, link);
    f->n--;
    timer_stop(f->parts.loop, &l->timer);
    if (l->reading)
        l->reading->listener = NULL;
    call_stream_end(l->call);
    free(l);
}

/* False: the client is too slow or disconnected. */
static bool send_event(struct listener *l, const char *name, int64_t id, const char *data)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)id);
    l->shown = id;
    return http_sse_send(l->call->req, name, text, data);
}

/* An id without data is not an event for the client; it only moves the point to resume from. */
static bool send_place(struct listener *l)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "id: %lld\n\n", (long long)l->last);

    if (l->shown == l->last)
        return http_sse_beat(l->call->req);
    l->shown = l->last;
    return http_stream_send(l->call->req, text, (size_t)n);
}

static bool is_full(const struct listener *l)
{
    return http_stream_pending(l->call->req) > PENDING_HIGH;
}

static void event_feed_write_row(const struct event_row *row, enum lang lang, struct buf *json)
{
    struct event_view view = event_scope_view(row);
    struct arena a = { 0 };

    view.text = translate_own(view.text, lang, &a);
    shape_write(&event_view_shape, &view, json);
    arena_free(&a);
}

/* `jsons`: the row in each language, written when first needed. */
static bool send_row(struct listener *l, const struct event_row *row, struct buf jsons[LANGS])
{
    struct buf *json = &jsons[l->lang];

    if (row->seq <= l->last)
        return true;
    l->last = row->seq;
    if (!event_scope_has(&l->scope, row))
        return true;
    if (!json->len)
        event_feed_write_row(row, l->lang, json);
    return send_event(l, NULL, row->seq, buf_text(json));
}

/* ---- from the store ---- */

static void read_next(struct listener *l);

static bool send_gap(struct listener *l, int64_t until)
{
    const struct event_missing gap = { l->last, until };
    struct buf json = { 0 };
    bool is_sent;

    shape_write(&event_missing_shape, &gap, &json);
    l->last = until;
    is_sent = send_event(l, "gap", until, buf_text(&json));
    buf_free(&json);
    return is_sent;
}

static bool send_page(struct listener *l, const struct event_page_got *got)
{
    const struct event_row *rows = got->rows.items;
    struct buf jsons[LANGS] = { 0 };
    bool is_sent = got->oldest <= l->last + 1 || send_gap(l, got->oldest - 1);
    size_t i;

    for (i = 0; is_sent && i < got->rows.n && !is_full(l); i++) {
        buf_truncate(&jsons[l->lang], 0);
        is_sent = send_row(l, &rows[i], jsons);
    }
    buf_free(&jsons[l->lang]);
    if (i == got->rows.n && l->last < got->reached)
        l->last = got->reached; /* otherwise the rest is read again */
    return is_sent;
}

static void event_feed_on_page(void *arg, struct store_call *c)
{
    struct reading *r = arg;
    struct listener *l = r->listener;

    if (l) {
        l->reading = NULL;
        if (c->failed || !send_page(l, c->out))
            end_listener(l); /* the client resumes with its last id */
        else
            read_next(l);
    }
    store_call_free(c);
}

static bool submit_page(struct listener *l)
{
    const struct event_scope *s = &l->scope;
    struct store_call *c = store_call_new(&store_event_page, event_feed_on_page, NULL);
    struct reading *r = arena_alloc(&c->arena, sizeof(*r));
    struct event_page_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *ask = (struct event_page_ask){ .above = l->last,
                                    .below = INT64_MAX,
                                    .agent_id = arena_strdup(&c->arena, s->agent_id),
                                    .space = arena_strdup(&c->arena, s->space),
                                    .proc = arena_strdup(&c->arena, s->name),
                                    .name = arena_strdup(&c->arena, s->event),
                                    .limit = PAGE_ROWS };
    r->listener = l;
    c->in = ask;
    c->arg = r;
    if (store_submit(l->feed->parts.store, c, &err)) {
        store_call_free(c);
        return false;
    }
    l->reading = r;
    return true;
}

/* Reads page by page, as fast as the client reads, until it has caught up with the live events. */
static void read_next(struct listener *l)
{
    struct loop *loop = l->feed->parts.loop;

    l->is_live = l->last >= events_last(l->feed->parts.events);
    if (l->is_live)
        timer_set(loop, &l->timer, FEED_BEAT_MS);
    else if (http_stream_pending(l->call->req) > PENDING_LOW)
        timer_set(loop, &l->timer, PENDING_MS);
    else if (!submit_page(l))
        end_listener(l);
}

/* ---- timer and new events ---- */

static void event_feed_on_timer(void *arg)
{
    struct listener *l = arg;
    struct loop *loop = l->feed->parts.loop;

    if (http_is_gone(l->call->req) || loop_now_ms(loop) >= l->open_until_ms) {
        end_listener(l);
        return;
    }
    if (!l->is_live) {
        read_next(l);
        return;
    }
    if (send_place(l))
        timer_set(loop, &l->timer, FEED_BEAT_MS);
    else
        end_listener(l);
}

static void on_events(void *arg, const struct event_row *rows, size_t n)
{
    struct event_feed *f = arg;
    struct listener *l, *next;
    struct buf jsons[LANGS] = { 0 };

    for (size_t i = 0; i < n; i++) {
        buf_truncate(&jsons[LANG_EN], 0);
        buf_truncate(&jsons[LANG_ZH], 0);
        for (l = TAILQ_FIRST(&f->all); l; l = next) {
            next = TAILQ_NEXT(l, link);
            if (l->is_live && is_full(l))
                read_next(l); /* continues from the store, as fast as the client reads */
            else if (l->is_live && !send_row(l, &rows[i], jsons))
                end_listener(l);
        }
    }
    buf_free(&jsons[LANG_EN]);
    buf_free(&jsons[LANG_ZH]);
}

/* ---- all listeners ---- */

struct event_feed *event_feed_new(const struct api_parts *parts)
{
    struct event_feed *f = xalloc(sizeof(*f));

    f->parts = *parts;
    f->is_stopped = !parts->events;
    TAILQ_INIT(&f->all);
    if (parts->events)
        events_set_told(parts->events, on_events, f);
    return f;
}

void event_feed_stop(struct event_feed *f)
{
    struct listener *l;

    if (f->is_stopped)
        return;
    f->is_stopped = true;
    events_set_told(f->parts.events, NULL, NULL);
    while ((l = TAILQ_FIRST(&f->all)))
        end_listener(l);
}

void event_feed_free(struct event_feed *f)
{
    free(f);
}

/* Disconnected clients are noticed at the next heartbeat; they must not count against a new
 * listener.  Returns how many listeners of the app remain. */
static size_t drop_gone(struct event_feed *f, const char *app_code)
{
    struct listener *l, *next;
    size_t n = 0;

    for (l = TAILQ_FIRST(&f->all); l; l = next) {
        next = TAILQ_NEXT(l, link);
        if (http_is_gone(l->call->req))
            end_listener(l);
        else
            n += !strcmp(l->call->app->code, app_code);
    }
    return n;
}

void event_feed_drop(struct event_feed *f, const char *app_code)
{
    struct listener *l, *next;

    for (l = TAILQ_FIRST(&f->all); l; l = next) {
        next = TAILQ_NEXT(l, link);
        if (!strcmp(l->call->app->code, app_code))
            end_listener(l);
    }
}

/* Sends the start of the stream.  Ids that are too old or do not exist are reported as a gap. */
static bool begin_stream(struct listener *l, int64_t after)
{
    int64_t last = events_last(l->feed->parts.events);
    char text[64];
    int n = snprintf(text, sizeof(text), "retry: %d\nid: %lld\n\n", RETRY_MS,
                     (long long)(after < 0 ? last : after));

    http_sse_begin(l->call->req);
    l->last = l->shown = after < 0 ? last : after;
    if (!http_stream_send(l->call->req, text, (size_t)n))
        return false;
    if (l->last > last)
        return send_gap(l, last);
    return last - l->last <= FEED_RESUME_MAX || send_gap(l, last - FEED_RESUME_MAX);
}

static int event_feed_check_room(struct event_feed *f, const char *app_code, struct err *err)
{
    if (drop_gone(f, app_code) >= FEED_APP_MAX)
        return err_set(err, ERR_CONFLICT, "%d streams of app %s are open already: end one first",
                       FEED_APP_MAX, app_code);
    if (f->n >= FEED_MAX)
        return err_set(err, ERR_UNAVAILABLE, "%d listen to events already", FEED_MAX);
    return 0;
}

void event_feed_add(struct event_feed *f, struct call *c, const struct event_scope *s,
                    int64_t after)
{
    struct listener *l;
    struct err err = call_stopping;

    if (f->is_stopped || event_feed_check_room(f, c->app->code, &err)) {
        call_fail(c, &err);
        return;
    }
    l = xalloc(sizeof(*l));
    *l = (struct listener){ .feed = f, .call = c, .scope = *s, .lang = call_lang(c) };
    l->open_until_ms = loop_now_ms(f->parts.loop) + FEED_OPEN_MS;
    timer_init(&l->timer, event_feed_on_timer, l);
    TAILQ_INSERT_TAIL(&f->all, l, link);
    f->n++;
    call_stream(c);
    if (begin_stream(l, after))
        read_next(l);
    else
        end_listener(l);
}
