/* SPDX-License-Identifier: MIT */
/* core_event.c - see core_event.h.
 *
 * An event says which one is before it, so the server takes them in order even if some
 * are lost on the way, or can not be written there: it waits for those that are missing.
 * The first in the queue says that none is missing before it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core_in.h"
#include "base/mem.h"

/* Sent without an answer; while a server gives none, one is sent now and then. */
enum { WINDOW = 64, AGAIN_MS = 5000, AGAIN_MAX_MS = 60 * 1000 };

/* A new life begins this far behind the last id that the journal knows: some may have
 * been sent that are not in it, for they are not synced. */
enum { SKIP_IDS = 1 << 20 };

struct untold {
    TAILQ_ENTRY(untold) link;
    int64_t lost; /* not 0: it stands for so many */
    struct message_event event;
    char texts[];
};

#define GAP_AT(member) .offset = offsetof(struct event_gap, member)

/* clang-format off */
static const struct field gap_fields[] = {
    { "id", .type = FIELD_INT, GAP_AT(id), .flags = FIELD_REQUIRED },
    { "lost", .type = FIELD_INT, GAP_AT(lost), .flags = FIELD_REQUIRED, .min = 1, .max = INT64_MAX },
    { "wall_ms", .type = FIELD_INT, GAP_AT(wall_ms) },
    { 0 },
};
const struct shape event_gap_shape = { "event gap", sizeof(struct event_gap), gap_fields };
/* clang-format on */

/* ---- the queue */

static char *take_text(const char **text, char *to)
{
    size_t size = strlen(*text) + 1;

    memcpy(to, *text, size);
    *text = to;
    return to + size;
}

static struct untold *new_untold(const struct message_event *e)
{
    size_t size = strlen(e->name) + strlen(e->text) + strlen(e->space) + strlen(e->proc) +
                  strlen(e->proc_name) + 5;
    struct untold *u = xalloc(sizeof(*u) + size);
    char *to = u->texts;

    u->event = *e;
    to = take_text(&u->event.name, to);
    to = take_text(&u->event.text, to);
    to = take_text(&u->event.space, to);
    to = take_text(&u->event.proc, to);
    take_text(&u->event.proc_name, to);
    return u;
}

static void drop(struct event_queue *q, struct untold *u)
{
    TAILQ_REMOVE(&q->all, u, link);
    if (!u->lost)
        q->n--;
    free(u);
}

/* It has the id of the last that it stands for, and so its place. */
static void put_gap(struct event_queue *q, const struct event_gap *gap)
{
    char text[128];
    const struct message_event e = { .id = gap->id,
                                     .name = "agent_events_lost",
                                     .text = text,
                                     .space = "",
                                     .proc = "",
                                     .proc_name = "",
                                     .wall_ms = gap->wall_ms };
    struct untold *u;

    snprintf(text, sizeof(text), "%lld older events were lost: too many waited for the server",
             (long long)gap->lost);
    u = new_untold(&e);
    u->lost = gap->lost;
    TAILQ_INSERT_HEAD(&q->all, u, link);
}

/* Whether the server has had them is not known, only that it did not say so. */
static void lose_oldest(struct event_queue *q)
{
    struct untold *first = TAILQ_FIRST(&q->all);
    struct event_gap gap = { .lost = 1 };

    if (first->lost) {
        gap.lost += first->lost;
        drop(q, first);
        first = TAILQ_FIRST(&q->all);
    }
    gap.id = first->event.id;
    gap.wall_ms = first->event.wall_ms;
    drop(q, first);
    put_gap(q, &gap);
}

static struct untold *put(struct event_queue *q, const struct message_event *e)
{
    struct untold *u = new_untold(e);

    if (q->n == q->max)
        lose_oldest(q);
    TAILQ_INSERT_TAIL(&q->all, u, link);
    q->n++;
    q->last_id = e->id;
    return u;
}

static void drop_until(struct event_queue *q, int64_t id)
{
    struct untold *u;

    while ((u = TAILQ_FIRST(&q->all)) && u->event.id <= id)
        drop(q, u);
}

/* ---- to the server */

static void set_timer(struct core *c)
{
    if (TAILQ_EMPTY(&c->events.all))
        timers_stop(&c->timers, &c->events.timer);
    else
        timers_set(&c->timers, &c->events.timer, c->now_ms + c->events.again_ms);
}

/* Those of another life wait until the ones before them are stored: a server that takes these
 * for old would take them next, and its word for them would stand for all. */
static void send_more(struct core *c)
{
    struct event_queue *q = &c->events;
    struct untold *u;
    int64_t before = 0;
    size_t left = q->window;

    TAILQ_FOREACH(u, &q->all, link)
    {
        if (left-- == 0 || (before && u->event.id - before >= SKIP_IDS))
            break;
        u->event.after = before;
        before = u->event.id;
        if (u->event.id <= q->sent_id)
            continue;
        c->hands->send(c->arg, MESSAGE_EVENT, &message_event_shape, &u->event);
        q->sent_id = u->event.id;
    }
    if (!q->timer.place)
        set_timer(c);
}

static void send_again(struct core *c, size_t window)
{
    c->events.window = window;
    c->events.sent_id = 0;
    send_more(c);
}

/* It may be that it can not write them: then it is not asked to again and again. */
static void on_timer(void *core)
{
    struct core *c = core;
    struct event_queue *q = &c->events;

    if (!c->is_linked)
        return;
    q->again_ms = 2 * q->again_ms < AGAIN_MAX_MS ? 2 * q->again_ms : AGAIN_MAX_MS;
    send_again(c, 1);
}

void event_welcome(struct core *c)
{
    c->events.again_ms = AGAIN_MS;
    timers_stop(&c->timers, &c->events.timer);
    send_again(c, WINDOW);
}

/* ---- the journal */

static void book_ref(struct core *c, enum record_type type, int64_t id)
{
    const struct message_event_ref ref = { id };

    c->hands->journal(c->arg, type, &message_event_ref_shape, &ref, type == RECORD_EVENT_LAST);
}

static void book_untold(struct core *c, const struct untold *u)
{
    const struct event_gap gap = { u->event.id, u->lost, u->event.wall_ms };

    if (u->lost)
        c->hands->journal(c->arg, RECORD_EVENT_GAP, &event_gap_shape, &gap, false);
    else
        c->hands->journal(c->arg, RECORD_EVENT, &message_event_shape, &u->event, false);
}

/* How many were lost is not written each time: whoever reads them again loses as many. */
void event_replay(struct core *c, const struct message_event *e)
{
    if (e->id > c->events.last_id)
        (void)put(&c->events, e); /* it is there, and being read */
}

void event_replay_gap(struct core *c, const struct event_gap *gap)
{
    if (gap->id <= c->events.last_id)
        return;
    put_gap(&c->events, gap);
    c->events.last_id = gap->id;
}

void event_compact(struct core *c)
{
    const struct event_queue *q = &c->events;
    const struct untold *u;

    TAILQ_FOREACH(u, &q->all, link)
    book_untold(c, u);
    book_ref(c, RECORD_EVENT_LAST, q->last_id);
}

void event_replay_last(struct core *c, int64_t id)
{
    if (id > c->events.last_id)
        c->events.last_id = id;
}

/* Whether the server has heard it from a life of which we know nothing: our journal was lost,
 * or could not be written, and the clock has gone back.  A life begins so far behind the one
 * before it that no other id is there. */
static bool is_strange(const struct event_queue *q, int64_t id)
{
    const struct untold *u;
    int64_t before = 0;

    TAILQ_FOREACH(u, &q->all, link)
    {
        if (u->event.id > id)
            break;
        before = u->event.id;
    }
    return id > q->last_id || (before && id - before >= SKIP_IDS);
}

/* What it takes for old is numbered anew: some of it may be new to it. */
static void count_on(struct core *c, int64_t id)
{
    struct event_queue *q = &c->events;
    struct untold *u;

    if (id > INT64_MAX / 2)
        return;
    book_ref(c, RECORD_EVENT_STORED, q->last_id);
    q->last_id = id > q->last_id ? id : q->last_id;
    TAILQ_FOREACH(u, &q->all, link)
    {
        u->event.id = ++q->last_id;
        book_untold(c, u);
    }
    send_again(c, WINDOW);
}

void event_stored(struct core *c, int64_t id)
{
    struct event_queue *q = &c->events;
    const struct untold *first = TAILQ_FIRST(&q->all);

    if (c->is_started && is_strange(q, id)) {
        count_on(c, id);
        return;
    }
    if (!first || first->event.id > id)
        return;
    drop_until(q, id);
    if (!c->is_started)
        return;
    book_ref(c, RECORD_EVENT_STORED, id);
    q->window = WINDOW;
    q->again_ms = AGAIN_MS;
    set_timer(c);
    if (c->is_linked)
        send_more(c);
}

/* ---- its life */

void event_begin(struct core *c)
{
    TAILQ_INIT(&c->events.all);
    c->events.max = EVENTS_MAX;
    c->events.window = WINDOW;
    c->events.again_ms = AGAIN_MS;
    timer_init(&c->events.timer, on_timer, c);
}

void core_set_events_max(struct core *c, size_t max)
{
    c->events.max = max ? max : 1;
}

void event_end(struct core *c)
{
    timers_stop(&c->timers, &c->events.timer);
    drop_until(&c->events, INT64_MAX);
}

void event_start(struct core *c)
{
    struct event_queue *q = &c->events;
    int64_t by_clock = c->wall_ms > 0 && c->wall_ms < INT64_MAX / 4000 ? c->wall_ms * 1000 : 0;

    if (q->last_id)
        q->last_id += SKIP_IDS;
    if (by_clock > q->last_id)
        q->last_id = by_clock;
    else /* it was set back, and a life that could not write may have begun there, too */
        q->last_id += c->now_ms * 1000;
    book_ref(c, RECORD_EVENT_LAST, q->last_id);
}

static void tell(struct core *c, const struct message_event *e)
{
    book_untold(c, put(&c->events, e));
    if (c->is_linked)
        send_more(c);
}

void core_tell_own_event(struct core *c, const char *name, const char *text)
{
    const struct message_event e = { .id = c->events.last_id + 1,
                                     .name = name,
                                     .text = text,
                                     .space = "",
                                     .proc = "",
                                     .proc_name = "",
                                     .wall_ms = c->wall_ms };

    tell(c, &e);
}

void core_tell_event(struct kept *k, const char *name, const char *fmt, ...)
{
    struct core *c = k->core;
    char text[512];
    const struct message_event e = { .id = c->events.last_id + 1,
                                     .name = name,
                                     .text = text,
                                     .space = k->meta.space,
                                     .proc = k->meta.name,
                                     .proc_name = k->spec.identity.proc_name,
                                     .wall_ms = c->wall_ms,
                                     .report_id = k->spec.warn.report_id };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    tell(c, &e);
}
