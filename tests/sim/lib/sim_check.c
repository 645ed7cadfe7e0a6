/* SPDX-License-Identifier: MIT */
/* sim_check.c - see sim_check.h. */
#include "tests/sim/lib/sim_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "model/operation.h"
#include "tests/sim/lib/sim_in.h"

/* CLOCK_MS: the clocks of both sides differ by the latency of welcome.  STORE_MS: time to store a
 * result. */
enum { CLOCK_MS = 100, STORE_MS = 2000 };

struct sim_task *check_find(struct sim *s, const char *id)
{
    int n = (int)strtol(id + strlen("GSETASK:S:"), NULL, 10);

    if (n < 1 || n > s->n_tasks)
        abort(); /* every id comes from the simulator */
    return &s->tasks[n - 1];
}

static bool is_same(const struct sim_item *a, const struct sim_item *b)
{
    return a->host == b->host && a->key == b->key && a->op == b->op;
}

/* ---- stored results */

static bool may_be_offline(const struct sim *s, const struct sim_item *item)
{
    return item->host < 0 || s->now_ms >= s->away_ms[item->host];
}

static bool must_be_offline(const struct sim *s, const struct sim_item *item)
{
    return item->host < 0 || s->now_ms > s->away_ms[item->host];
}

static void check_new(struct sim *s, const struct sim_task *t, int n, int64_t code)
{
    const struct sim_item *item = &t->items[n];

    if (code != CODE_WAITING && code != CODE_OFFLINE)
        sim_fail(s, "task %s item %d: begins as %lld", t->id, n, (long long)code);
    else if (code == CODE_OFFLINE && !may_be_offline(s, item))
        sim_fail(s, "task %s item %d: begins as offline, and host %d is here, or may be soon",
                 t->id, n, item->host);
    else if (code == CODE_WAITING && must_be_offline(s, item))
        sim_fail(s, "task %s item %d: waits, and host %d is offline", t->id, n, item->host);
    s->report.counts[SIM_OFFLINE] += code == CODE_OFFLINE;
}

void check_task(struct sim *s, const struct sim_task *t, const struct hub_task *asked)
{
    const struct hub_item *items = asked->items.items;

    if (asked->items.n != (size_t)t->n)
        sim_fail(s, "task %s: %zu items of %d", t->id, asked->items.n, t->n);
    for (int i = 0; i < t->n && !s->has_failed; i++) {
        check_new(s, t, i, items[i].code);
        for (int k = 0; k < i; k++) {
            if (is_same(&t->items[k], &t->items[i])) {
                s->report.counts[SIM_TWINS]++;
                break;
            }
        }
    }
}

static bool has_said(const struct sim_item *item, int64_t code)
{
    for (int i = 0; i < item->n_said && i < SAID_MAX; i++) {
        if (item->said[i] == code)
            return true;
    }
    return false;
}

/* The agent sent this code, or the server may set it now. */
static bool is_right(const struct sim *s, const struct sim_task *t, const struct sim_item *item,
                     int64_t code)
{
    if (has_said(item, code))
        return true;
    switch (code) {
    case CODE_OFFLINE: return may_be_offline(s, item) && !item->was_sent;
    case CODE_CANCELLED: return t->is_cancelled && !item->was_sent;
    case CODE_DEADLINE: return s->now_ms >= item->deadline_ms;
    case CODE_SYSTEM: return s->world.has[TRAIT_LIES];
    }
    return false;
}

/* An item with a twin that ran ends like the twin. */
void check_result(struct sim *s, const struct sim_task *t, int64_t n, int64_t code)
{
    const struct sim_item *item = &t->items[n];

    for (int i = 0; i < t->n; i++) {
        const struct sim_item *other = &t->items[i];

        if (is_same(item, other) && (is_right(s, t, other, code) || other->code == code))
            return;
    }
    sim_fail(s, "task %s item %lld: ends as %lld, which no agent reported, or may report now",
             t->id, (long long)n, (long long)code);
}

/* Neither the item nor its twin was sent, and it has not ended. */
static bool is_left_behind(const struct sim *s, const struct sim_task *t,
                           const struct sim_item *item)
{
    for (int i = 0; i < t->n; i++) {
        if (is_same(&t->items[i], item) && t->items[i].was_sent)
            return false;
    }
    return item->code == CODE_WAITING && item->ended_life != s->server_life;
}

static bool is_over(const struct sim_task *t)
{
    for (int i = 0; i < t->n; i++) {
        if (t->items[i].code == CODE_WAITING)
            return false;
    }
    return t->is_stored;
}

/* Items that were accepted earlier for the same process must have been sent before. */
void check_turn(struct sim *s, const struct sim_task *t, int64_t n)
{
    const struct sim_item *item = &t->items[n];

    while (&s->tasks[s->n_over] < t && is_over(&s->tasks[s->n_over]))
        s->n_over++;
    for (const struct sim_task *u = &s->tasks[s->n_over]; u < t && !item->was_sent; u++) {
        for (int i = 0; i < u->n && u->is_accepted && !u->is_cancelled; i++) {
            const struct sim_item *other = &u->items[i];

            if (other->host == item->host && other->key == item->key && is_left_behind(s, u, other))
                sim_fail(s, "task %s item %lld: is sent before task %s item %d", t->id,
                         (long long)n, u->id, i);
        }
    }
}

void check_said(struct sim *s, const struct message_result *m)
{
    struct sim_item *item = &check_find(s, m->task)->items[m->item];

    if (!has_said(item, m->code))
        item->said[item->n_said++ % SAID_MAX] = m->code;
}

/* Offline and cancelled mean that nothing was run, and clients retry because of that. */
void check_unrun(struct sim *s, const struct sim_task *t, int64_t item)
{
    int64_t code = t->items[item].code;

    if ((code == CODE_OFFLINE || code == CODE_CANCELLED) && t->items[item].has_run)
        sim_fail(s, "task %s item %lld: was run and is called %s", t->id, (long long)item,
                 code == CODE_OFFLINE ? "offline" : "cancelled");
    if (code == CODE_CANCELLED && !t->is_cancelled)
        sim_fail(s, "task %s item %lld: it was not cancelled", t->id, (long long)item);
}

/* ---- commands */

void check_journaled(struct host *h, const struct message_command *m)
{
    check_find(h->sim, m->task)->items[m->item].order = ++h->orders;
}

static unsigned line_bit(const char *line)
{
    static const char *const lines[] = { "start", "stop", "restart", "reload" };

    for (unsigned i = 0; i < ARRAY_LEN(lines); i++) {
        if (!strcmp(line, lines[i]))
            return 1u << i;
    }
    abort(); /* no spec has another */
}

/* The second half of a restart starts when the first is done. */
static bool is_begun_late(const struct sim *s, const struct sim_item *item)
{
    return !operation_find(item->op)->replaces && s->now_ms > item->deadline_ms + CLOCK_MS;
}

static const char *why_not(const struct host *h, const struct sim_task *t,
                           const struct sim_item *item, unsigned bit)
{
    if (!t->is_stored)
        return "before its task is stored";
    if (item->host != h->n)
        return "on another host";
    if (item->order < h->last_order[item->key])
        return "after one that came later";
    if (is_begun_late(h->sim, item))
        return "after its deadline";
    for (int i = 0; i < t->n; i++) {
        if (is_same(&t->items[i], item) && t->items[i].ran & bit)
            return "twice";
    }
    return NULL;
}

/* Each part of a command, its stop half and its start half, runs at most once. */
void check_run(struct host *h, const struct core_run *run)
{
    struct sim *s = h->sim;
    struct sim_task *t = *run->task ? check_find(s, run->task) : NULL;
    struct sim_item *item;
    const char *why;

    s->report.counts[SIM_RUNS]++;
    if (!t)
        return;
    item = &t->items[run->item];
    why = why_not(h, t, item, line_bit(run->line));
    if (why)
        sim_fail(s, "host %d: %s of %s#%lld is run %s", h->n, run->line, run->task,
                 (long long)run->item, why);
    h->last_order[item->key] = item->order;
    item->ran |= line_bit(run->line);
    item->has_run = true;
    check_unrun(s, t, run->item);
}

/* ---- polls */

static bool is_late(const struct sim *s, const struct sim_item *item)
{
    int64_t due_ms = item->deadline_ms;

    due_ms = due_ms > s->server_up_ms ? due_ms : s->server_up_ms;
    due_ms = due_ms > s->store_down_ms ? due_ms : s->store_down_ms;
    return s->now_ms > due_ms + STORE_MS;
}

static void check_shown(struct sim *s, const struct sim_task *t, int n, int64_t code)
{
    struct sim_item *item = &t->items[n];

    if (code != CODE_WAITING && code != item->code)
        sim_fail(s, "task %s item %d: %lld is shown, and %lld stored", t->id, n, (long long)code,
                 (long long)item->code);
    else if (item->shown != CODE_WAITING && code != item->shown)
        sim_fail(s, "task %s item %d: was shown as %lld, and now as %lld", t->id, n,
                 (long long)item->shown, (long long)code);
    else if (code == CODE_WAITING && is_late(s, item))
        sim_fail(s, "task %s item %d: waits, and its deadline has passed", t->id, n);
    item->shown = code;
}

/* For a task that the server does not have in memory the store's state is expected. */
void check_poll(struct sim *s, struct sim_task *t)
{
    size_t n = (size_t)t->n;
    const struct hub_item *items = hub_find(s->hub, t->id, &n);

    s->report.counts[SIM_POLLS]++;
    if (!t->is_stored || n != (size_t)t->n)
        sim_fail(s, "task %s was accepted and is lost, or some of it", t->id);
    for (int i = 0; i < t->n && !s->has_failed; i++) {
        if (!items && t->items[i].code == CODE_WAITING)
            sim_fail(s, "task %s item %d is open, and the server does not know it", t->id, i);
        check_shown(s, t, i, items ? items[i].code : t->items[i].code);
    }
}

/* ---- at the end */

static void check_ended(struct sim *s, const struct sim_task *t)
{
    for (int i = 0; i < t->n; i++) {
        const struct sim_item *item = &t->items[i];

        if (item->code == CODE_WAITING)
            sim_fail(s, "task %s item %d has not ended", t->id, i);
        for (int k = 0; k < i; k++) {
            if (is_same(&t->items[k], item) && t->items[k].code != item->code)
                sim_fail(s, "task %s items %d and %d are one, and end in two ways", t->id, k, i);
        }
    }
}

/* Without faults each process was started, ran already, or runs without a journal entry because its
 * agent could not write. */
static void check_last(struct sim *s)
{
    const struct sim_task *t = &s->tasks[s->n_tasks - 1];

    for (int i = 0; i < t->n && !s->has_failed; i++) {
        const struct sim_item *item = &t->items[i];
        int64_t code = item->code;

        if (code == CODE_COMMAND && process_is_hidden(&s->hosts[item->host], item->key))
            continue;
        if (code != CODE_OK && code != CODE_RUNNING)
            sim_fail(s, "task %s item %d: all is calm, and it ends as %lld", t->id, i,
                     (long long)code);
    }
}

void check_end(struct sim *s)
{
    for (int i = 0; i < s->world.agents && !s->has_failed; i++) {
        sim_events_check(s, i);
        sim_wanted_check(&s->hosts[i]);
        sim_results_check(&s->hosts[i]);
    }
    for (int i = 0; i < s->n_tasks && !s->has_failed; i++) {
        if (s->tasks[i].is_accepted)
            check_poll(s, &s->tasks[i]);
        if (s->tasks[i].is_stored)
            check_ended(s, &s->tasks[i]);
    }
    if (!s->has_failed)
        check_last(s);
}
