/* SPDX-License-Identifier: MIT */
/* events.c - see events.h. */
#include "server/events/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/event.h"
#include "server/events/event_batches.h"
#include "server/events/event_file.h"
#include "server/events/event_line.h"
#include "server/events/event_source.h"

enum {
    TICK_MS = 10 * 1000,
    PRUNE_ROWS = 500,
    PRUNE_MS = 60 * 1000, /* between two rounds of retention, */
    PRUNE_MORE_MS = 50,   /* and while there is more to remove */
    DAYS = 30,
    ROWS_MAX = 1000 * 1000,
    HOST_BURST = 2000,
    HOST_PER_MINUTE = 60,
};

static const int64_t day_ms = INT64_C(24) * 3600 * 1000;

const char *const event_own_names[EVENT_OWNS] = {
    [EVENT_CLONE] = "agent_clone",
    [EVENT_ADDRESS] = "agent_address_taken",
    [EVENT_ELSEWHERE] = "agent_address_differs",
    [EVENT_REFUSED] = "agent_join_refused",
    [EVENT_LOST] = event_lost_name,
    [EVENT_BACK] = event_back_name,
    [EVENT_LEFT_OUT] = "agent_events_left_out",
    [EVENT_STORE] = "server_store_failed",
};

struct events {
    struct loop *loop;
    struct log *log;
    struct store *store;
    const struct fleet *fleet; /* NULL until events_load() */
    struct event_batches *batches;
    struct event_file *file;
    struct event_sources event_sources;
    int64_t days, rows_max, last;
    const struct retention *retention;
    events_stored_fn *stored;
    void *stored_arg;
    events_told_fn *told;
    void *told_arg;
    struct timer tick, prune;
    bool is_pruning, is_stopping;
    int64_t failing_since_ms; /* wall time; 0: the store works */
    struct err failure;
    struct events_counters counters;
    struct arena arena; /* of `lost` */
    struct list lost;
};

/* ---- failures of the store ---- */

static void on_failed(void *arg, const struct err *why)
{
    struct events *e = arg;

    if (e->failing_since_ms)
        return;
    e->failing_since_ms = clock_wall_ms(loop_clock(e->loop));
    e->failure = *why;
    LOG(e->log, LOG_ERROR, "events can not be stored; agents keep theirs until they can",
        log_err(why));
}

/* The event is made when the store works again: before that it could not be stored. */
static void on_good(struct events *e)
{
    int64_t ms = clock_wall_ms(loop_clock(e->loop)) - e->failing_since_ms;
    char text[ERR_MSG_BYTES + 128];

    if (!e->failing_since_ms)
        return;
    e->failing_since_ms = 0;
    LOG(e->log, LOG_WARN, "events are stored again", log_int("after_ms", ms));
    if (e->is_stopping)
        return;
    msg_printf(text, sizeof(text), "for %lld s nothing could be stored: %s",
               (long long)(ms > 0 ? ms / 1000 : 0), err_msg(&e->failure));
    events_tell(e, NULL, EVENT_STORE, text);
}

/* ---- after the commit ---- */

static void tell_stored(struct events *e, struct event_source *source)
{
    source->told = source->stored;
    if (e->stored)
        e->stored(e->stored_arg, source->agent_id, source->stored);
}

/* Earlier events of the same agent are stored too, because they are in order. */
static void count_stored(struct events *e, const struct event_row *rows, size_t n)
{
    struct event_source *source;

    for (size_t i = 0; i < n; i++) {
        source = event_sources_find(&e->event_sources, rows[i].agent_id);
        if (!source || !source->pending || !rows[i].agent_event)
            continue; /* the host was removed meanwhile, or the event is the server's own */
        if (rows[i].agent_event > source->stored)
            source->stored = rows[i].agent_event;
        if (!--source->pending)
            source->stored = source->queued;
    }
    for (size_t i = 0; i < n; i++) {
        source = event_sources_find(&e->event_sources, rows[i].agent_id);
        if (source && source->told != source->stored)
            tell_stored(e, source);
    }
}

/* All unknown kinds of agents of other versions count as one kind. */
static void count_kinds(struct events *e, const struct event_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct event_kind *kind = event_kind_find(rows[i].name);

        e->counters.by_kind[kind ? (size_t)(kind - event_kinds) : EVENT_KINDS_MAX - 1]++;
    }
}

const struct events_counters *events_counters(struct events *e)
{
    e->counters.waiting = (int64_t)event_batches_waiting(e->batches);
    return &e->counters;
}

static void events_on_stored(void *arg, const struct event_row *rows, size_t n)
{
    struct events *e = arg;

    e->last = rows[n - 1].seq;
    count_kinds(e, rows, n);
    event_file_put(e->file, rows, n);
    count_stored(e, rows, n);
    if (e->told)
        e->told(e->told_arg, rows, n);
    on_good(e);
}

/* ---- from agents ---- */

static void log_unknown(struct events *e, const struct message_event *m)
{
    LOG(e->log, LOG_WARN, "an event of a host that is not known", log_str("event", m->name),
        log_str("about", m->text), log_str("namespace", m->space), log_str("name", m->proc));
}

/* Kinds are metric labels and filters, so an agent can neither invent names nor use those of the
 * server. */
static struct message_event with_known_name(const struct message_event *m)
{
    const struct event_kind *kind = event_kind_find(m->name);
    struct message_event to = *m;

    if (!kind || kind->is_servers)
        to.name = EVENT_UNKNOWN_KIND;
    return to;
}

static void events_take(struct events *e, const struct fleet_host *host,
                        struct event_source *source, const struct message_event *from)
{
    const struct message_event named = with_known_name(from), *m = &named;
    bool has_number = m->after >= 0;

    if (has_number)
        source->queued = m->id;
    if (!host) {
        log_unknown(e, m);
    } else if (event_source_may(&e->event_sources, source, loop_now_ms(e->loop))) {
        source->pending += has_number;
        event_batches_put(e->batches, host, m, EVENT_SAYS_NOTHING);
    }
    if (!has_number || source->pending)
        return;
    source->stored = source->queued;
    tell_stored(e, source);
}

/* The acknowledgement has the last stored number; an agent that lost its count continues there. */
void events_on_message(struct events *e, const struct fleet_host *host, const char *agent_id,
                       const struct message_event *m)
{
    struct event_source *source = event_sources_get(&e->event_sources, agent_id);

    switch (event_source_place(source->queued, m)) {
    case EVENT_SOURCE_EARLY: return;
    case EVENT_SOURCE_KNOWN:
        if (m->id <= source->stored)
            tell_stored(e, source);
        return;
    case EVENT_SOURCE_NEXT: break;
    }
    if (!event_batches_is_full(e->batches, false))
        events_take(e, host, source, m);
}

void events_set_stored(struct events *e, events_stored_fn *fn, void *arg)
{
    e->stored = fn;
    e->stored_arg = arg;
}

void events_forget_gone(struct events *e)
{
    struct map_entry *entry;

    for (size_t at = 0; e->fleet && (entry = map_next(&e->event_sources.all, &at));) {
        struct event_source *source = entry->value;

        if (!fleet_find(e->fleet, source->agent_id))
            event_sources_del(&e->event_sources, source);
    }
}

/* ---- events of the server ---- */

static void put_own(struct events *e, const struct fleet_host *h, enum event_own what,
                    const char *text)
{
    const struct message_event m = { .after = -1,
                                     .name = event_own_names[what],
                                     .text = text,
                                     .space = "",
                                     .proc = "",
                                     .proc_name = "" };

    event_batches_put(e->batches, h, &m,
                      what == EVENT_LOST   ? EVENT_SAYS_LOST
                      : what == EVENT_BACK ? EVENT_SAYS_BACK
                                           : EVENT_SAYS_NOTHING);
}

/* A client that tries again and again is reported only now and then. */
static bool may_tell(struct events *e, const char *of, enum event_own what, int64_t *ret_more)
{
    enum event_source_topic topic = what == EVENT_CLONE       ? EVENT_SOURCE_CLONE
                                    : what == EVENT_ELSEWHERE ? EVENT_SOURCE_ELSEWHERE
                                                              : EVENT_SOURCE_ADDRESS;

    *ret_more = 0;
    if (!of || (what != EVENT_CLONE && what != EVENT_ADDRESS && what != EVENT_ELSEWHERE &&
                what != EVENT_REFUSED))
        return true;
    return event_source_topic(event_sources_get(&e->event_sources, of), topic, loop_now_ms(e->loop),
                              ret_more);
}

static void tell_of(struct events *e, const struct fleet_host *h, const char *of,
                    enum event_own what, const char *text)
{
    struct arena a = { 0 };
    int64_t more;

    if (event_batches_is_full(e->batches, true)) {
        LOG(e->log, LOG_ERROR, "an event of the server itself finds no room",
            log_str("event", event_own_names[what]), log_str("about", text));
        return;
    }
    if (!may_tell(e, of, what, &more))
        return;
    if (more)
        text = arena_msg(&a, "%s (and %lld times more before)", text, (long long)more);
    put_own(e, h, what, text);
    arena_free(&a);
}

void events_tell(struct events *e, const struct fleet_host *h, enum event_own what,
                 const char *text)
{
    tell_of(e, h, h ? h->agent_id : NULL, what, text);
}

void events_tell_at(struct events *e, const char *place, enum event_own what, const char *text)
{
    tell_of(e, NULL, place, what, text);
}

/* `all`: also those that are not due yet. */
static void say_left_out(struct events *e, bool all)
{
    struct event_source *source;
    int64_t n;

    while (
        (source = event_sources_take_flooding(&e->event_sources, loop_now_ms(e->loop), all, &n))) {
        const struct fleet_host *h = e->fleet ? fleet_find(e->fleet, source->agent_id) : NULL;
        char text[128];

        msg_printf(text, sizeof(text), "%lld events of this host were left out: it told too many",
                   (long long)n);
        LOG(e->log, LOG_WARN, "events of a host were left out", log_str("agent", source->agent_id),
            log_int("number", n));
        if (h)
            put_own(e, h, EVENT_LEFT_OUT, text);
    }
}

static void events_on_tick(void *arg)
{
    struct events *e = arg;

    say_left_out(e, false);
    timer_set(e->loop, &e->tick, TICK_MS);
}

/* ---- retention ---- */

static void on_pruned(void *arg, struct store_call *c)
{
    struct events *e = arg;
    const struct event_prune_got *got = c->out;

    e->is_pruning = false;
    if (c->failed)
        on_failed(e, &c->err);
    else if (event_batches_is_empty(e->batches))
        on_good(e);
    if (!e->is_stopping)
        timer_set(e->loop, &e->prune,
                  !c->failed && got->gone == PRUNE_ROWS ? PRUNE_MORE_MS : PRUNE_MS);
    store_call_free(c);
}

static void prune(void *arg)
{
    struct events *e = arg;
    struct store_call *c = store_call_new(&store_event_prune, on_pruned, e);
    struct event_prune_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *ask = (struct event_prune_ask){ PRUNE_ROWS,
                                     retention_now_ms(e->retention, loop_clock(e->loop)) -
                                         e->days * day_ms,
                                     e->rows_max };
    c->in = ask;
    e->is_pruning = store_submit(e->store, c, &err) == 0;
    if (e->is_pruning)
        return;
    store_call_free(c);
    timer_set(e->loop, &e->prune, PRUNE_MS);
}

/* ---- life cycle ---- */

static int64_t or_usual(int64_t n, int64_t usual)
{
    return n ? n : usual;
}

int events_new(struct loop *loop, struct log *log, struct store *store,
               const struct events_settings *s, struct events **ret, struct err *err)
{
    static const struct event_batches_owner owner = { events_on_stored, on_failed };
    const struct event_source_limits limits = { or_usual(s->host_burst, HOST_BURST),
                                                or_usual(s->host_per_minute, HOST_PER_MINUTE) };
    struct event_file *file;
    struct events *e;

    if (event_file_new(loop, log, store, s->file, s->node, &file, err))
        return -1;
    e = xalloc(sizeof(*e));
    *e = (struct events){ .loop = loop, .log = log, .store = store, .file = file };
    e->batches = event_batches_new(loop, store, &owner, e);
    e->days = or_usual(s->days, DAYS);
    e->rows_max = or_usual(s->rows_max, ROWS_MAX);
    e->retention = s->retention;
    event_sources_init(&e->event_sources, &limits);
    timer_init(&e->tick, events_on_tick, e);
    timer_init(&e->prune, prune, e);
    *ret = e;
    return 0;
}

static int find_last(struct events *e, const struct fleet *fleet, struct arena *a,
                     struct list *ret_rows, struct err *err)
{
    size_t n = (size_t)fleet_totals(fleet)->hosts;
    struct event_last_row *agents = arena_alloc(a, (n + 1) * sizeof(*agents));
    struct event_last_ask ask = { { agents, 0 } };
    const struct fleet_host *h = fleet_next(fleet, "");

    for (; h && ask.agents.n < n; h = fleet_next(fleet, h->agent_id))
        agents[ask.agents.n++].agent_id = h->agent_id;
    return store_sync(e->store, &store_event_last, &ask, a, ret_rows, err);
}

/* Restores positions, so that events repeated after a crash of the server are recognised. */
static int load_event_sources(struct events *e, const struct fleet *fleet, struct err *err)
{
    const struct event_last_row *got;
    struct arena a = { 0 };
    struct list rows = { 0 };
    int bad = find_last(e, fleet, &a, &rows, err);

    got = rows.items;
    for (size_t i = 0; i < rows.n; i++) {
        struct event_source *source = event_sources_get(&e->event_sources, got[i].agent_id);

        source->queued = source->stored = got[i].agent_event;
    }
    arena_free(&a);
    return bad;
}

int events_load(struct events *e, const struct fleet *fleet, struct err *err)
{
    const struct event_load_ask ask = { event_file_reader(e->file) };
    struct event_load_got got;

    if (store_sync(e->store, &store_event_load, &ask, &e->arena, &got, err) ||
        load_event_sources(e, fleet, err))
        return err_wrap(err, "events");
    e->fleet = fleet;
    e->last = got.last;
    e->lost = got.lost;
    event_file_start(e->file, got.mark, got.last);
    timer_set(e->loop, &e->tick, TICK_MS);
    timer_set(e->loop, &e->prune, PRUNE_MORE_MS);
    return 0;
}

int events_reopen(struct events *e, struct err *err)
{
    return event_file_reopen(e->file, err);
}

/* A synchronous call returns after all calls submitted before it.  It does nothing, so its failure
 * does not matter. */
static void wait_for_store(struct events *e)
{
    const struct event_mark_row nobody = { "nobody", -1 };
    struct arena a = { 0 };
    struct err ignored;

    (void)store_sync(e->store, &store_event_mark, &nobody, &a, NULL, &ignored);
    arena_free(&a);
    store_on_ready(e->store, 0);
}

void events_stop(struct events *e)
{
    if (!e || e->is_stopping)
        return;
    e->is_stopping = true;
    e->stored = NULL;
    e->told = NULL;
    say_left_out(e, true);
    timer_stop(e->loop, &e->prune);
    while (event_batches_is_storing(e->batches))
        wait_for_store(e);
    while (!event_file_stop(e->file) || e->is_pruning)
        wait_for_store(e);
}

void events_free(struct events *e)
{
    if (!e)
        return;
    timer_stop(e->loop, &e->tick);
    timer_stop(e->loop, &e->prune);
    event_batches_free(e->batches);
    event_file_free(e->file);
    event_sources_done(&e->event_sources);
    arena_free(&e->arena);
    free(e);
}

/* ---- for listeners ---- */

void events_set_told(struct events *e, events_told_fn *fn, void *arg)
{
    e->told = fn;
    e->told_arg = arg;
}

int64_t events_last(const struct events *e)
{
    return e->last;
}

const struct list *events_lost(const struct events *e)
{
    return &e->lost;
}
