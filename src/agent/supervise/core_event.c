/* SPDX-License-Identifier: MIT */
/* core_event.c - see core_event.h.
 *
 * An event has the id of its predecessor, so the server accepts events in order even if some are
 * lost on the way or cannot be stored: it waits for the missing ones.  The first event of the
 * queue says that none is missing before it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_in.h"
#include "agent/supervise/core_local.h"
#include "base/mem/mem.h"

/* WINDOW: maximum number of unacknowledged events.  While the server does not answer, one event
 * is sent at increasing intervals, from AGAIN_MS to AGAIN_MAX_MS. */
enum { WINDOW = 64, AGAIN_MS = 5000, AGAIN_MAX_MS = 60 * 1000 };

/* After a restart of the agent ids continue this far above the last id in the journal: events
 * are not synced, so some may have been sent that are not in it. */
enum { SKIP_IDS = 1 << 20 };

struct untold {
    TAILQ_ENTRY(untold) link;
    int64_t lost; /* not 0: it stands for this many dropped events */
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

/* ---- queue */

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

static void event_drop(struct event_queue *q, struct untold *u)
{
    TAILQ_REMOVE(&q->all, u, link);
    if (!u->lost)
        q->n--;
    free(u);
}

/* The event has the id of the last one that it stands for, and so its position. */
static void put_gap(struct event_queue *q, const struct event_gap *gap)
{
    char text[160];
    const struct message_event e = { .id = gap->id,
                                     .name = "agent_events_lost",
                                     .text = text,
                                     .space = "",
                                     .proc = "",
                                     .proc_name = "",
                                     .wall_ms = gap->wall_ms };
    struct untold *u;

    msg_printf(text, sizeof(text), "%lld older events were lost: too many waited for the server",
               (long long)gap->lost);
    u = new_untold(&e);
    u->lost = gap->lost;
    TAILQ_INSERT_HEAD(&q->all, u, link);
}

/* The server may have received them; it only did not acknowledge them. */
static void lose_oldest(struct event_queue *q)
{
    struct untold *first = TAILQ_FIRST(&q->all);
    struct event_gap gap = { .lost = 1 };

    if (first->lost) {
        gap.lost += first->lost;
        event_drop(q, first);
        first = TAILQ_FIRST(&q->all);
    }
    gap.id = first->event.id;
    gap.wall_ms = first->event.wall_ms;
    event_drop(q, first);
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

static void drop_oldest_stored(struct event_queue *q)
{
    struct untold *u = TAILQ_FIRST(&q->stored);

    TAILQ_REMOVE(&q->stored, u, link);
    q->n_stored--;
    free(u);
}

/* One that stands for dropped events says nothing about this host. */
static void keep_stored(struct event_queue *q, struct untold *u)
{
    if (u->lost) {
        event_drop(q, u);
        return;
    }
    TAILQ_REMOVE(&q->all, u, link);
    q->n--;
    TAILQ_INSERT_TAIL(&q->stored, u, link);
    if (++q->n_stored > EVENTS_STORED_MAX)
        drop_oldest_stored(q);
}

static void keep_until(struct event_queue *q, int64_t id)
{
    struct untold *u;

    while ((u = TAILQ_FIRST(&q->all)) && u->event.id <= id)
        keep_stored(q, u);
}

/* ---- to the server */

static void event_set_timer(struct core *c)
{
    if (TAILQ_EMPTY(&c->events.all))
        timers_stop(&c->timers, &c->events.timer);
    else
        timers_set(&c->timers, &c->events.timer, c->now_ms + c->events.again_ms);
}

/* Events of this run of the agent wait until those of previous runs are stored.  Otherwise a
 * server that ignores the earlier ones as old would accept these, and its acknowledgement would
 * cover all. */
static void send_more(struct core *c)
{
    struct event_queue *q = &c->events;
    struct untold *u;
    int64_t before = 0;
    size_t left = q->window;

    TAILQ_FOREACH(u, &q->all, link) {
        if (left-- == 0 || (before && u->event.id - before >= SKIP_IDS))
            break;
        u->event.after = before;
        before = u->event.id;
        if (u->event.id <= q->sent_id)
            continue;
        c->effects->send(c->arg, MESSAGE_EVENT, &message_event_shape, &u->event);
        q->sent_id = u->event.id;
    }
    if (!q->timer.place)
        event_set_timer(c);
}

static void send_again(struct core *c, size_t window)
{
    c->events.window = window;
    c->events.sent_id = 0;
    send_more(c);
}

/* The server may be unable to store events: back off. */
static void event_on_timer(void *core)
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

/* ---- journal */

static void journal_note_ref(struct core *c, enum record_type type, int64_t id)
{
    const struct message_event_ref ref = { id };

    c->effects->journal(c->arg, type, &message_event_ref_shape, &ref, type == RECORD_EVENT_LAST);
}

static void journal_note_untold(struct core *c, const struct untold *u)
{
    const struct event_gap gap = { u->event.id, u->lost, u->event.wall_ms };

    if (u->lost)
        c->effects->journal(c->arg, RECORD_EVENT_GAP, &event_gap_shape, &gap, false);
    else
        c->effects->journal(c->arg, RECORD_EVENT, &message_event_shape, &u->event, false);
}

/* The number of dropped events is not written each time: a replay drops the same number again. */
void event_replay(struct core *c, const struct message_event *e)
{
    if (e->id > c->events.last_id)
        (void)put(&c->events, e); /* it is in the journal, which is being read */
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
        journal_note_untold(c, u);
    journal_note_ref(c, RECORD_EVENT_LAST, q->last_id);
}

void event_replay_last(struct core *c, int64_t id)
{
    if (id > c->events.last_id)
        c->events.last_id = id;
}

/* Whether the server knows this id from a run of the agent that we know nothing of: our journal
 * was lost or could not be written, and the clock was set back.  The gap of SKIP_IDS between two
 * runs ensures that no other id is there. */
static bool is_strange(const struct event_queue *q, int64_t id)
{
    const struct untold *u;
    int64_t before = 0;

    TAILQ_FOREACH(u, &q->all, link) {
        if (u->event.id > id)
            break;
        before = u->event.id;
    }
    return id > q->last_id || (before && id - before >= SKIP_IDS);
}

/* Renumbers the events that the server would ignore as old: some of them may be new to it. */
static void count_on(struct core *c, int64_t id)
{
    struct event_queue *q = &c->events;
    struct untold *u;

    if (id > INT64_MAX / 2)
        return;
    journal_note_ref(c, RECORD_EVENT_STORED, q->last_id);
    q->last_id = id > q->last_id ? id : q->last_id;
    TAILQ_FOREACH(u, &q->all, link) {
        u->event.id = ++q->last_id;
        journal_note_untold(c, u);
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
    keep_until(q, id);
    if (!c->is_started)
        return;
    journal_note_ref(c, RECORD_EVENT_STORED, id);
    q->window = WINDOW;
    q->again_ms = AGAIN_MS;
    event_set_timer(c);
    if (c->is_linked)
        send_more(c);
}

/* ---- life cycle */

void event_begin(struct core *c)
{
    TAILQ_INIT(&c->events.all);
    TAILQ_INIT(&c->events.stored);
    c->events.max = EVENTS_MAX;
    c->events.window = WINDOW;
    c->events.again_ms = AGAIN_MS;
    timer_init(&c->events.timer, event_on_timer, c);
}

void core_set_events_max(struct core *c, size_t max)
{
    c->events.max = max ? max : 1;
}

void event_end(struct core *c)
{
    timers_stop(&c->timers, &c->events.timer);
    while (!TAILQ_EMPTY(&c->events.all))
        event_drop(&c->events, TAILQ_FIRST(&c->events.all));
    while (!TAILQ_EMPTY(&c->events.stored))
        drop_oldest_stored(&c->events);
}

static void each_after(const struct untold_list *list, int64_t after, core_event_fn *fn, void *arg)
{
    const struct untold *u;

    TAILQ_FOREACH(u, list, link) {
        if (u->event.id > after)
            fn(arg, &u->event);
    }
}

void core_each_event(const struct core *c, int64_t after, core_event_fn *fn, void *arg)
{
    each_after(&c->events.stored, after, fn, arg);
    each_after(&c->events.all, after, fn, arg);
}

void event_start(struct core *c)
{
    struct event_queue *q = &c->events;
    int64_t by_clock = c->wall_ms > 0 && c->wall_ms < INT64_MAX / 4000 ? c->wall_ms * 1000 : 0;

    if (q->last_id)
        q->last_id += SKIP_IDS;
    if (by_clock > q->last_id)
        q->last_id = by_clock;
    else /* the clock was set back, and an agent without a journal may have started there */
        q->last_id += c->now_ms * 1000;
    journal_note_ref(c, RECORD_EVENT_LAST, q->last_id);
}

static void event_tell(struct core *c, const struct message_event *e)
{
    journal_note_untold(c, put(&c->events, e));
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

    event_tell(c, &e);
}

void core_tell_event(struct proc *k, const char *name, const char *fmt, ...)
{
    struct core *c = k->core;
    char whole[2048], text[1024];
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
    msg_vprintf(whole, sizeof(whole), fmt, ap);
    va_end(ap);
    cause_cut(text, sizeof(text), whole);
    event_tell(c, &e);
}
