/* SPDX-License-Identifier: MIT */
/* sim_disk.c - a host's journal: durable some time after a write, compacted when it is long, and
 * not writable while the disk is full. */
#include "agent/supervise/core_event.h"
#include "agent/supervise/core_journal.h"
#include "base/mem/mem.h"
#include "tests/sim/lib/sim_in.h"

enum { RETRY_MS = 1000 };

static void compact(struct host *h)
{
    struct sim_disk *d = &h->disk;

    arena_free(&d->arena);
    d->n = 0;
    d->is_compacting = true;
    core_compact(h->core);
    d->is_compacting = d->is_broken = false;
    for (size_t i = 0; i < h->n_procs; i++) {
        if (h->procs[i].unjournaled == h->life) /* only processes of this life of the agent */
            h->procs[i].unjournaled = 0;
    }
    d->durable = d->live = d->n;
    d->unwritten = 0;
    d->boot = h->boot + 1;
    d->file++;
    h->sim->report.counts[SIM_COMPACTIONS]++;
}

static void tell_durable(struct host *h, uint64_t mark)
{
    h->disk.durable_mark = mark;
    core_on_durable(h->core, mark, h->sim->now_ms);
    host_wake(h);
}

/* A new file; all waiting records are durable with it. */
static void compact_now(struct host *h)
{
    sim_trace(h->sim, "host %d: journal of %zu records made anew", h->n, h->disk.n);
    compact(h);
    tell_durable(h, h->disk.marks);
}

static void on_retry(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (e->sim->now_ms < h->disk.full_until_ms)
        sim_later(e->sim, RETRY_MS, h->n, h->life, on_retry);
    else
        compact_now(h);
}

static void break_off(struct host *h)
{
    sim_trace(h->sim, "host %d: the journal can not be written", h->n);
    h->disk.is_broken = true;
    sim_later(h->sim, RETRY_MS, h->n, h->life, on_retry);
}

static bool is_long(const struct host *h)
{
    size_t most = h->sim->world.compact_over;

    return h->disk.n > (most > 2 * h->disk.live ? most : 2 * h->disk.live);
}

/* A sync of the old file that ends after the new one took its place is ignored. */
static void on_durable(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];
    struct sim_disk *d = &h->disk;

    if (d->file != (uint64_t)e->c)
        return;
    if (d->durable < (size_t)e->b)
        d->durable = (size_t)e->b;
    tell_durable(h, (uint64_t)e->a);
    if (!d->is_broken && is_long(h))
        compact_now(h);
}

static void note(struct host *h, unsigned type, const void *record, int64_t event,
                 struct sim_item *item)
{
    struct sim_disk *d = &h->disk;

    if (event)
        sim_events_told(h->sim, h->n, event, !d->is_compacting);
    if (event && d->is_broken && !d->is_compacting && !d->unwritten)
        d->unwritten = event;
    if (type == RECORD_EVENT_STORED && !d->is_compacting)
        sim_events_acked(h->sim, h->n, ((const struct message_event_ref *)record)->id);
    if (type == RECORD_EVENT_GAP && !d->is_compacting)
        sim_events_gap(h->sim, h->n, ((const struct event_gap *)record)->lost);
    if (type == RECORD_RESULT && !d->is_compacting)
        sim_wanted_result(h, record);
    if (type == RECORD_RESULT && !d->is_compacting)
        family_check_stop(h, record);
    if (type == RECORD_COMMAND && !d->is_compacting)
        check_journaled(h, record);
    if (item && !d->is_compacting)
        sim_results_written(h, type, item);
}

static void append(struct sim_disk *d, const void *record, struct record as)
{

    if ((d->n & (d->n - 1)) == 0)
        d->records = xresize(d->records, (d->n ? d->n * 2 : 1) * sizeof(*d->records));
    as.value = arena_alloc(&d->arena, as.shape->size);
    shape_copy(as.shape, record, &d->arena, as.value);
    d->records[d->n++] = as;
}

uint64_t disk_put(void *arg, unsigned type, const struct shape *shape, const void *record,
                  bool durable)
{
    struct host *h = arg;
    struct sim_disk *d = &h->disk;
    int64_t event = type == RECORD_EVENT ? ((const struct message_event *)record)->id : 0;
    struct sim_item *item = sim_results_item(h, type, record);
    struct event *e;

    if (!d->is_broken && h->sim->now_ms < d->full_until_ms)
        break_off(h);
    note(h, type, record, event, item);
    if (!d->is_broken || d->is_compacting)
        append(d, record,
               (struct record){ .type = type, .shape = shape, .event = event, .item = item });
    if (d->is_compacting)
        return d->marks;
    d->marks++;
    if (!durable || d->is_broken)
        return d->marks;
    e = sim_later(h->sim, 1 + (int64_t)sim_below(h->sim, 20), h->n, h->life, on_durable);
    e->a = (int64_t)d->marks;
    e->b = (int64_t)d->n;
    e->c = (int64_t)d->file;
    return d->marks;
}

void disk_replay(struct host *h)
{
    struct sim_disk *d = &h->disk;
    struct buf json = { 0 };
    struct err err;

    d->marks = d->durable_mark = 0;
    d->is_broken = false;
    sim_results_forget(h);
    for (size_t i = 0; i < d->n; i++) {
        const struct record *r = &d->records[i];

        sim_results_read(h, r);
        buf_truncate(&json, 0);
        shape_write(r->shape, r->value, &json);
        if (core_replay(h->core, r->type, buf_data(&json), json.len, &err))
            sim_fail(h->sim, "host %d: %s", h->n, err.text);
    }
    buf_free(&json);
}

/* The journal of another boot is compacted at once, so that it belongs to this boot; if that fails
 * it stays as it is. */
void disk_start(struct host *h)
{
    struct sim_disk *d = &h->disk;

    if (d->boot == h->boot + 1 || d->is_broken)
        return;
    if (h->sim->now_ms < d->full_until_ms)
        break_off(h);
    else
        compact_now(h);
}

/* A power loss loses the records that are not durable; the end of the agent loses what it could not
 * write. */
void disk_end(struct host *h, bool power_loss)
{
    struct sim_disk *d = &h->disk;

    while (power_loss && d->n > d->durable) {
        const struct record *r = &d->records[d->n - 1];

        if (r->event)
            sim_events_lost(h->sim, h->n, r->event, r->event);
        d->n--;
    }
    if (d->unwritten)
        sim_events_lost(h->sim, h->n, d->unwritten, INT64_MAX);
    if (power_loss || d->is_broken)
        sim_wanted_unknown(h);
    d->unwritten = 0;
    d->file++;
}
