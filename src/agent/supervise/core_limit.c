/* SPDX-License-Identifier: MIT */
/* core_limit.c - see core_limit.h. */
#include "agent/supervise/core_limit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_group.h"
#include "agent/supervise/core_op.h"
#include "agent/supervise/core_use.h"
#include "base/mem/mem.h"

enum { INTERVAL_MS = 5 * 1000, GRACE_MS = 60 * 1000 };

/* The number of intervals in which each process without a limit is sampled once, and after which
 * the usage of all is reported to the server. */
enum { OTHERS_EVERY = 12 };

/* ---- life cycle */

static void limit_on_tick(void *core);

void limit_begin(struct core *c)
{
    struct limits *l = c->limits = xalloc(sizeof(*l));

    l->interval_ms = INTERVAL_MS;
    l->grace_ms = GRACE_MS;
    l->quiet = OTHERS_EVERY - 1; /* so that a round is reported one interval after it */
    l->cores = 1;
    TAILQ_INIT(&l->watched);
    timer_init(&l->timer, limit_on_tick, c);
}

void limit_end(struct core *c)
{
    timers_stop(&c->timers, &c->limits->timer);
    group_end(c);
    free(c->limits);
}

void core_set_machine(struct core *c, int64_t cores, int64_t mem_bytes)
{
    c->limits->cores = cores > 0 ? cores : 1;
    c->limits->mem_bytes = mem_bytes;
}

void core_set_limits(struct core *c, int64_t interval_ms, int64_t grace_ms)
{
    struct limits *l = c->limits;

    l->interval_ms = interval_ms;
    l->grace_ms = grace_ms;
    if (l->timer.place)
        timers_set(&c->timers, &l->timer, c->now_ms + interval_ms);
}

/* ---- sampling */

static void unwatch(struct limit *l, struct core *c)
{
    if (!l->watch)
        return;
    TAILQ_REMOVE(&c->limits->watched, l->watch, link);
    free(l->watch);
    l->watch = NULL;
}

void limit_free(struct proc *k)
{
    struct limits *all = k->core->limits;

    if (!k->limit)
        return;
    unwatch(k->limit, k->core);
    free(k->limit);
    k->limit = NULL;
    if (--all->n == 0)
        timers_stop(&k->core->timers, &all->timer);
}

static void watch(struct proc *k, struct group_proc *group)
{
    struct limit_watch *w = k->limit->watch;

    if (!w) {
        w = k->limit->watch = xalloc(sizeof(*w));
        w->proc = k;
        TAILQ_INSERT_TAIL(&k->core->limits->watched, w, link);
    }
    w->group = group;
}

void limit_look(struct proc *k)
{
    struct core *c = k->core;
    const struct proc_resource *may = &k->spec.resource;
    struct group_proc *group = group_of(k);

    if (!c->is_started || !c->effects->sample || !k->ident.pid || !core_is_known(k)) {
        limit_free(k);
        return;
    }
    if (!k->limit) {
        k->limit = xalloc(sizeof(*k->limit));
        if (c->limits->n++ == 0)
            timers_set(&c->timers, &c->limits->timer, c->now_ms + c->limits->interval_ms);
    }
    if (group || (k->hosted &&
                  (may->cpu_percent > 0 || may->mem_percent > 0 || k->spec.extra.limit_memory > 0)))
        watch(k, group);
    else
        unwatch(k->limit, c);
}

static void limit_ask(struct core *c, const struct proc *k)
{
    if (k->limit && !k->limit->watch)
        c->effects->sample(c->arg, k->ident);
}

/* Samples the share of this interval.  New processes are not sampled early: the kernel takes
 * longer to end a process if its files in /proc have been read.  If the map has moved entries
 * since the last interval, their samples come slightly earlier or later. */
static void sample_others(struct core *c)
{
    struct limits *l = c->limits;
    const struct map_entry *e;

    for (l->owed += c->proc.n; l->owed >= OTHERS_EVERY; l->owed -= OTHERS_EVERY) {
        e = map_next(&c->proc, &l->at);
        if (!e) {
            l->at = 0;
            e = map_next(&c->proc, &l->at);
        }
        if (e)
            limit_ask(c, e->value);
    }
}

/* Reports the usage to the server, with the time of the sample.  The server keeps it in memory
 * only, and it does not count as a change. */
static void tell_now_and_then(struct core *c)
{
    struct map_entry *e;

    if (++c->limits->quiet < OTHERS_EVERY)
        return;
    c->limits->quiet = 0;
    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct proc *k = e->value;

        if (!k->limit || !k->limit->is_untold)
            continue;
        k->limit->is_untold = false;
        core_tell_process(k);
    }
}

static void limit_on_tick(void *core)
{
    struct core *c = core;
    struct limit_watch *w;

    timers_set(&c->timers, &c->limits->timer, c->now_ms + c->limits->interval_ms);
    tell_now_and_then(c);
    group_judge(c);
    TAILQ_FOREACH(w, &c->limits->watched, link)
        c->effects->sample(c->arg, w->proc->ident);
    sample_others(c);
}

static bool has_old_sample(const struct core *c, const struct proc *k)
{
    const struct limit *l = k->limit;

    return l && !l->watch &&
           (!l->is_seen || l->start_ticks != k->ident.start_ticks ||
            c->now_ms - l->at_ms >= c->limits->interval_ms);
}

bool core_sample_old(struct core *c, int64_t now_ms)
{
    const struct map_entry *e;
    bool is_any = false;

    c->now_ms = now_ms;
    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        const struct proc *k = e->value;

        if (!has_old_sample(c, k))
            continue;
        c->effects->sample(c->arg, k->ident);
        is_any = true;
    }
    return is_any;
}

/* ---- samples */

static double percent_of_cpu(const struct limits *l, int64_t us, int64_t ms)
{
    return ms > 0 ? 100.0 * (double)us / ((double)ms * 1000 * (double)l->cores) : 0;
}

double limit_mem_percent(const struct proc *k)
{
    int64_t all = k->core->limits->mem_bytes;

    return k->limit && all > 0 ? 100.0 * 1024 * k->limit->rss_kb / (double)all : 0;
}

/* If a descendant ended unobserved, its CPU time is missing from the sum: the usage in this
 * interval is unknown, and the next interval counts from here. */
static void limit_note(struct proc *k, const struct core_sample *s)
{
    struct limit *l = k->limit;
    int64_t now_ms = k->core->now_ms, kb = s->rss_bytes / 1024;

    l->has_cpu = l->is_seen;
    if (!l->is_seen) {
        l->first_ms = now_ms;
        l->first_us = s->cpu_us;
    } else if (s->cpu_us >= l->cpu_us) {
        l->cpu_percent =
            (float)percent_of_cpu(k->core->limits, s->cpu_us - l->cpu_us, now_ms - l->at_ms);
    } else {
        l->cpu_percent = 0;
        l->first_us -= l->cpu_us - s->cpu_us; /* so that the average is not affected */
    }
    l->is_seen = l->is_untold = true;
    l->at_ms = now_ms;
    l->cpu_us = s->cpu_us;
    l->rss_kb = kb > UINT32_MAX ? UINT32_MAX : (uint32_t)kb;
}

/* ---- limits */

bool limit_strike(struct strikes *s, double usage, double limit)
{
    if (limit <= 0 || usage <= limit) {
        s->n = 0;
        return false;
    }
    if (s->n == LIMIT_SAMPLES)
        memmove(s->over, s->over + 1, sizeof(s->over) - sizeof(s->over[0]));
    else
        s->n++;
    s->over[s->n - 1] = (float)usage;
    return s->n == LIMIT_SAMPLES;
}

const char *limit_values(const struct strikes *s, char *to, size_t size)
{
    size_t n = 0;

    for (unsigned i = 0; i < s->n && n < size; i++)
        n += (size_t)snprintf(to + n, size - n, "%s%.1f", i ? ", " : "", (double)s->over[i]);
    return to;
}

static int64_t grace_ms(const struct proc *k)
{
    int64_t check_ms = proc_policy_of(&k->spec).start_check_s * 1000;
    int64_t grace_ms = k->core->limits->grace_ms;

    return check_ms > grace_ms ? check_ms : grace_ms;
}

bool limit_may_stop(const struct proc *k)
{
    return k->hosted && k->wanted == PROC_RUNNING && k->ident.pid && !restart_is_in_progress(k) &&
           k->core->now_ms - k->begun_ms >= grace_ms(k);
}

static void stop_over_cpu(struct proc *k)
{
    const struct limit_watch *w = k->limit->watch;
    char values[64], text[200];

    msg_printf(text, sizeof(text),
               w->is_partial ? "cpu %s %% of the machine or more, its limit is %g %%"
                             : "cpu %s %% of the machine, its limit is %g %%",
               limit_values(&w->cpu, values, sizeof(values)), k->spec.resource.cpu_percent);
    limit_stop(k, "process_resource_limit_exceed", text);
}

static void stop_over_mem(struct proc *k)
{
    const struct limit_watch *w = k->limit->watch;
    char values[64], text[200];

    msg_printf(text, sizeof(text),
               w->is_partial ? "mem %s %% of the machine or more, its limit is %g %%"
                             : "mem %s %% of the machine, its limit is %g %%",
               limit_values(&w->mem, values, sizeof(values)), k->spec.resource.mem_percent);
    limit_stop(k, "process_resource_limit_exceed", text);
}

static double in_mib(int64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void stop_over_bytes(struct proc *k)
{
    const struct limit_watch *w = k->limit->watch;
    char values[64], text[200];

    msg_printf(text, sizeof(text),
               w->is_partial ? "memory %s MiB or more, its limit is %g MiB"
                             : "memory %s MiB, its limit is %g MiB",
               limit_values(&w->bytes, values, sizeof(values)), in_mib(k->spec.extra.limit_memory));
    limit_stop(k, "process_resource_limit_exceed", text);
}

static void limit_judge(struct proc *k)
{
    struct limit_watch *w = k->limit->watch;
    const struct proc_resource *may = &k->spec.resource;
    double cpu = (double)k->limit->cpu_percent;

    if (!limit_may_stop(k))
        w->cpu.n = w->mem.n = w->bytes.n = 0;
    else if (k->limit->has_cpu && limit_strike(&w->cpu, cpu, may->cpu_percent))
        stop_over_cpu(k);
    else if (limit_strike(&w->mem, limit_mem_percent(k), may->mem_percent))
        stop_over_mem(k);
    else if (limit_strike(&w->bytes, in_mib((int64_t)k->limit->rss_kb * 1024),
                          in_mib(k->spec.extra.limit_memory)))
        stop_over_bytes(k);
}

/* Two entries may refer to one process, which is then sampled twice. */
static bool is_too_soon(const struct proc *k)
{
    return k->limit->is_seen &&
           k->core->now_ms - k->limit->at_ms < k->core->limits->interval_ms / 2;
}

void limit_on_sample(struct proc *k, const struct core_sample *s)
{
    struct limit *l = k->limit;

    if (!l || !s)
        return; /* the usage is unknown: neither over the limit nor under it */
    if (l->start_ticks != k->ident.start_ticks) {
        l->is_seen = l->has_cpu = false;
        l->start_ticks = k->ident.start_ticks;
    }
    if (is_too_soon(k))
        return;
    limit_note(k, s);
    if (!l->watch)
        return;
    l->watch->is_partial = s->is_partial;
    limit_judge(k);
}

/* ---- stop */

/* Stops the process that was sampled, not a successor. */
static struct op *new_stop(struct proc *k, int64_t number)
{
    struct op *op = op_new_ours(k, number, ORIGIN_LIMIT);

    op->old = k->ident;
    op->command.spec.control.kill_cmd = ""; /* SIGKILL instead of any kill_cmd */
    return op;
}

struct op *limit_resume(struct proc *k)
{
    return new_stop(k, PROC_OP_STOP); /* only a stop command is ever in progress */
}

void limit_stop(struct proc *k, const char *event, const char *text)
{
    struct limit_watch *w = k->limit->watch;

    w->cpu.n = w->mem.n = w->bytes.n = 0;
    core_tell_event(k, event, "%s is stopped: %s", k->meta.name, text);
    k->cause.limit_s = k->core->wall_ms / 1000;
    cause_set_text(&k->cause.limit_text, text);
    journal_note_process(k);
    core_tell_process(k);
    new_stop(k, *k->spec.control.stop_cmd ? PROC_OP_STOP : PROC_OP_KILL);
    op_begin_next(k);
}

/* Kills everything that the stop command has left running of the process and its descendants. */
void limit_on_done(struct proc *k, struct core_ident old, int64_t number, int code)
{
    struct core *c = k->core;
    bool is_down = code == CODE_OK || code == CODE_NOT_RUNNING;

    k->run = (struct core_ident){ 0 };
    if (is_down && number == PROC_OP_STOP)
        c->effects->signal(c->arg, old, SIGKILL, !core_is_alone(c, &k->spec));
    if (is_down) {
        k->cause.limit_s = c->wall_ms / 1000; /* explains its last exit */
        restart_on_limit(k);
    } else if (number == PROC_OP_STOP && k->ident.pid)
        new_stop(k, PROC_OP_KILL);
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

/* ---- views */

void limit_fill_view(const struct proc *k, struct proc_view *v)
{
    const struct limit *l = k->limit;

    if (!l || !l->is_seen || l->start_ticks != k->ident.start_ticks)
        return;
    v->mem_bytes = (int64_t)l->rss_kb * 1024;
    v->mem_percent = limit_mem_percent(k);
    if (!l->has_cpu)
        return;
    v->cpu_percent = (double)l->cpu_percent;
    v->cpu_percent_avg =
        percent_of_cpu(k->core->limits, l->cpu_us - l->first_us, l->at_ms - l->first_ms);
}
