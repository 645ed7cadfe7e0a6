/* SPDX-License-Identifier: MIT */
/* core_cycle.c - see core_cycle.h.
 *
 * All computations use wall time and start from past_ms, the time up to which all due runs are
 * settled.  The timer uses the monotonic clock and is set again when the two clocks have moved
 * against each other. */
#include "agent/supervise/core_cycle.h"

#include <stdlib.h>
#include <string.h>

#include "agent/supervise/core_cause.h"
#include "agent/supervise/core_op.h"
#include "base/mem/mem.h"
#include "model/cron.h"

/* JUMP_MS: smaller changes of the wall clock are ignored.  LATE_MS: a run that is less late is
 * executed. */
enum { JUMP_MS = 500, LATE_MS = 60 * 1000, HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS };

struct schedule {
    struct cron rule;
    bool has_rule;
    int64_t cycle_ms; /* 0: none */
};

struct cycle {
    struct proc *proc;
    struct timer timer; /* next run */
    struct schedule schedule;
    bool is_set;                    /* the schedule is active */
    int64_t past_ms;                /* wall time up to which due runs are settled; 0: none yet */
    int64_t ahead_ms;               /* the value of past_ms before the clock was set back */
    int64_t next_ms;                /* 0: none */
    int64_t begun_ms;               /* start of the last run, wall time; */
    int64_t mono_ms;                /* the same, monotonic; 0: started by a previous agent */
    struct core_ident exited;       /* the last output of this process belongs to runs[0] */
    struct proc_run runs[WHY_RUNS]; /* newest first; output on the heap, never NULL */
    size_t n_runs;
};

/* ---- schedule */

static bool is_periodic(const struct proc_spec *spec)
{
    return proc_policy_of(spec).kind == PROC_PERIODIC;
}

static struct schedule schedule_of(const struct proc_spec *spec)
{
    struct proc_policy p = proc_policy_of(spec);
    struct schedule s = { .has_rule = *p.cron_rule != '\0', .cycle_ms = p.cycle_s * 1000 };

    if (s.has_rule)
        cron_read(p.cron_rule, &s.rule);
    return s;
}

static bool cycle_is_same(const struct schedule *a, const struct schedule *b)
{
    const struct cron *x = &a->rule, *y = &b->rule;

    if (a->has_rule != b->has_rule)
        return false;
    if (!a->has_rule)
        return a->cycle_ms == b->cycle_ms;
    return x->minutes == y->minutes && x->hours == y->hours && x->days == y->days &&
           x->months == y->months && x->weekdays == y->weekdays && x->any_day == y->any_day &&
           x->any_weekday == y->any_weekday && x->every_hour == y->every_hour;
}

static int64_t seconds(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

/* The next due time after past_ms; INT64_MAX: never. */
static int64_t due_after(const struct schedule *s, int64_t past_ms)
{
    int64_t due_s;

    if (!s->has_rule)
        return past_ms + s->cycle_ms;
    due_s = cron_next(&s->rule, seconds(past_ms));
    return due_s == INT64_MAX ? INT64_MAX : due_s * 1000;
}

/* Whether the run before this one is at least an hour earlier. */
static bool is_rare(const struct schedule *s, int64_t due_ms)
{
    if (!s->has_rule)
        return s->cycle_ms >= HOUR_MS;
    return due_ms == INT64_MAX || due_after(s, due_ms - HOUR_MS) == due_ms;
}

/* Runs were due and have not been executed.  Runs by cycle_time keep their phase. */
static int64_t after_missed(struct cycle *y, int64_t wall_ms)
{
    const struct schedule *s = &y->schedule;
    int64_t late_ms = wall_ms - LATE_MS, last_ms = wall_ms, next_ms;

    if (s->has_rule) {
        late_ms = due_after(s, y->past_ms > late_ms ? y->past_ms : late_ms);
    } else {
        last_ms -= (wall_ms - y->past_ms) % s->cycle_ms;
        late_ms = last_ms > late_ms ? last_ms : INT64_MAX;
    }
    next_ms = due_after(s, last_ms);
    if (late_ms <= wall_ms || is_rare(s, next_ms))
        return wall_ms;
    y->past_ms = last_ms;
    return next_ms;
}

/* Whether the clock was set back before past_ms by too much to wait for that time again. */
static bool is_too_far(const struct cycle *y, int64_t wall_ms)
{
    int64_t ahead_ms = y->past_ms - wall_ms;

    if (!y->schedule.has_rule)
        return ahead_ms > 0;
    return ahead_ms > HOUR_MS &&
           (ahead_ms > DAY_MS || due_after(&y->schedule, y->past_ms) - y->past_ms < HOUR_MS);
}

/* A host without a battery-backed clock boots with a wrong time until its clock is
 * synchronised.  Then the value from before counts again. */
static void settle_past(struct cycle *y, int64_t wall_ms)
{
    if (is_too_far(y, wall_ms)) {
        y->ahead_ms = y->past_ms > y->ahead_ms ? y->past_ms : y->ahead_ms;
        y->past_ms = wall_ms;
    } else if (y->ahead_ms && y->ahead_ms <= wall_ms) {
        y->past_ms = y->ahead_ms > y->past_ms ? y->ahead_ms : y->past_ms;
        y->ahead_ms = 0;
    }
}

static void plan(struct cycle *y)
{
    struct core *c = y->proc->core;
    int64_t next_ms;

    settle_past(y, c->wall_ms);
    next_ms = due_after(&y->schedule, y->past_ms);
    if (next_ms <= c->wall_ms)
        next_ms = after_missed(y, c->wall_ms);
    y->next_ms = next_ms == INT64_MAX ? 0 : next_ms;
    if (y->next_ms)
        timers_set(&c->timers, &y->timer, c->now_ms + (next_ms - c->wall_ms));
    else
        timers_stop(&c->timers, &y->timer);
    core_tell_change(y->proc);
}

/* ---- runs */

static bool is_run(const struct op *op)
{
    return op_starts(op) && is_periodic(&op->command.spec);
}

/* Whether a run is in progress or queued. */
static bool has_run(const struct proc *k)
{
    const struct op *op;

    TAILQ_FOREACH(op, &k->ops, link) {
        if (is_run(op) && op->phase != PHASE_SYNC && op->is_durable)
            return true;
    }
    return false;
}

struct op *cycle_resume(struct proc *k)
{
    return op_new_ours(k, *k->spec.control.start_cmd ? PROC_OP_START : PROC_OP_RESTART,
                       ORIGIN_CYCLE);
}

/* If another operation is in progress, the run is evaluated again when that has ended. */
static void cycle_on_time(void *arg)
{
    struct cycle *y = arg;
    struct proc *k = y->proc;
    bool is_left_out = has_run(k);

    if (!is_left_out && restart_is_in_progress(k))
        return;
    y->past_ms = y->next_ms;
    plan(y);
    if (is_left_out) {
        journal_note_process(k);
        return;
    }
    (void)cycle_resume(k); /* it is in the list of its process */
    op_begin_next(k);
}

static void rest(struct cycle *y)
{
    y->is_set = false;
    y->next_ms = 0;
    timers_stop(&y->proc->core->timers, &y->timer);
}

static struct cycle *get(struct proc *k)
{
    if (k->cycle)
        return k->cycle;
    k->cycle = xalloc(sizeof(*k->cycle));
    k->cycle->proc = k;
    timer_init(&k->cycle->timer, cycle_on_time, k->cycle);
    return k->cycle;
}

void cycle_free(struct proc *k)
{
    if (!k->cycle)
        return;
    rest(k->cycle);
    for (size_t i = 0; i < k->cycle->n_runs; i++)
        free((char *)k->cycle->runs[i].output);
    free(k->cycle);
    k->cycle = NULL;
}

/* The start of the computation: the time in the journal, the run that hosted the process, or the
 * time it was hosted with this schedule. */
static void look_at_schedule(struct cycle *y)
{
    struct proc *k = y->proc;
    struct schedule s = schedule_of(&k->spec);
    bool is_new = y->is_set && !cycle_is_same(&s, &y->schedule);

    y->schedule = s;
    if (!k->hosted || k->wanted != PROC_RUNNING || (!s.has_rule && !s.cycle_ms)) {
        rest(y);
        y->past_ms = y->ahead_ms = 0;
        return;
    }
    if (is_new || !y->past_ms) {
        y->past_ms = (k->spec_s ? k->spec_s : k->register_s) * 1000;
        y->ahead_ms = 0;
    }
    y->is_set = true;
    plan(y);
}

void cycle_look(struct proc *k)
{
    if (!k->core->is_started || restart_is_in_progress(k))
        return;
    if (k->has_spec && is_periodic(&k->spec))
        look_at_schedule(get(k));
    else
        cycle_free(k);
}

/* ---- clocks */

static void plan_all(struct core *c, int64_t jump_ms)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->proc, &at));) {
        struct cycle *y = ((struct proc *)e->value)->cycle;

        if (!y || !y->is_set)
            continue;
        if (!y->schedule.has_rule)
            y->past_ms += jump_ms;
        plan(y);
    }
}

void cycle_on_clock(struct core *c)
{
    int64_t offset_ms = c->wall_ms - c->now_ms, jump_ms = offset_ms - c->clock_ms;

    if (jump_ms > -JUMP_MS && jump_ms < JUMP_MS)
        return;
    c->clock_ms = offset_ms;
    if (c->is_started)
        plan_all(c, jump_ms);
}

void cycle_on_zone(struct core *c)
{
    plan_all(c, 0);
}

/* ---- outcomes */

static void set_output(struct proc_run *run, const char *output)
{
    cause_set_last(&run->output, output);
    if (!run->output)
        run->output = xstrdup("");
}

static struct proc_run *push(struct cycle *y, const struct proc_run *run)
{
    if (y->n_runs == WHY_RUNS)
        free((char *)y->runs[--y->n_runs].output);
    memmove(y->runs + 1, y->runs, y->n_runs++ * sizeof(*run));
    y->runs[0] = *run;
    y->runs[0].output = NULL;
    set_output(&y->runs[0], run->output);
    return &y->runs[0];
}

static void cycle_journal(const struct proc *k, const struct proc_run *run, bool is_again)
{
    const struct cycle_record r = { k->meta, *run, is_again };
    struct core *c = k->core;

    c->effects->journal(c->arg, RECORD_CYCLE, &cycle_record_shape, &r, false);
}

/* A requested run also restarts the interval of the next ones. */
void cycle_on_begin(struct op *op)
{
    struct cycle *y;

    if (!is_run(op))
        return;
    y = get(op->proc);
    y->begun_ms = op->core->wall_ms;
    y->mono_ms = op->core->now_ms;
    if (op_is_ours(op))
        return;
    y->past_ms = y->begun_ms;
    if (y->is_set)
        plan(y);
}

static int64_t duration_ms(const struct cycle *y)
{
    const struct core *c = y->proc->core;
    int64_t ms = y->mono_ms ? c->now_ms - y->mono_ms : c->wall_ms - y->begun_ms;

    return ms > 0 ? ms : 0;
}

static void cycle_note(struct cycle *y, int code, int status, const char *output)
{
    const struct proc_run run = {
        .begun_s = seconds(y->begun_ms),
        .duration_ms = duration_ms(y),
        .code = code,
        .exit_code = status >= 0 && status < CORE_SIGNALED ? status : -1,
        .exit_signal = status >= CORE_SIGNALED ? status % CORE_SIGNALED : 0,
        .output = output,
    };

    if (core_is_known(y->proc))
        cycle_journal(y->proc, push(y, &run), false);
}

void cycle_on_end(struct op *op, int code)
{
    struct proc *k = op->proc;

    if (!op_has_acted(op) || !is_run(op))
        return;
    if (!get(k)->begun_ms)
        k->cycle->begun_ms = k->core->wall_ms; /* a previous agent did not record it */
    k->cycle->exited = op->status == CORE_STATUS_UNKNOWN ? (struct core_ident){ 0 } : k->exited;
    cycle_note(k->cycle, code, op->status, op->output);
}

void cycle_on_output(struct proc *k, struct core_ident ident, const char *output)
{
    struct cycle *y = k->cycle;

    if (!y || !y->n_runs || !core_is_same(y->exited, ident) || !output || !*output)
        return;
    set_output(&y->runs[0], output);
    cycle_journal(k, &y->runs[0], true);
}

/* 828: the process was running, so this run was skipped. */
void cycle_on_done(struct proc *k, int code, const char *text)
{
    k->run = (struct core_ident){ 0 };
    if (code != CODE_OK && code != CODE_RUNNING)
        core_tell_event(k, "process_run_failed", "a run of %s failed: %s", k->meta.name, text);
    journal_note_process(k);
    core_tell_process(k);
    op_begin_next(k);
}

void cycle_on_boot(struct proc *k)
{
    static const char text[] = MSG("the host went down during the run, outcome unknown");

    if (!k->run.pid || k->run_origin != ORIGIN_CYCLE)
        return;
    get(k)->mono_ms = 0;
    cycle_note(k->cycle, CODE_SYSTEM, CORE_STATUS_UNKNOWN, text);
    cause_on_failure(k, PROC_OP_START, CODE_SYSTEM, text, NULL);
    core_tell_event(k, "process_run_failed", "a run of %s failed: %s", k->meta.name, text);
    k->run = (struct core_ident){ 0 };
    journal_note_process(k);
}

bool cycle_is_periodic(const struct proc *k)
{
    return k->has_spec && is_periodic(&k->spec);
}

void cycle_fill_cause(const struct proc *k, struct proc_cause *ret)
{
    const struct cycle *y = k->cycle;

    ret->is_periodic = cycle_is_periodic(k);
    ret->next_run_s = y ? seconds(y->next_ms) : 0;
    ret->runs = (struct list){ y ? (void *)y->runs : NULL, y ? y->n_runs : 0 };
}

/* ---- journal */

#define AT(member) .offset = offsetof(struct cycle_record, member)

/* clang-format off */
static const struct field record_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(meta), .sub = &proc_meta_shape, .flags = FIELD_REQUIRED },
    { "run", .type = FIELD_OBJ, AT(run), .sub = &proc_run_shape },
    { "is_again", .type = FIELD_BOOL, AT(is_again), .flags = FIELD_OMIT_EMPTY },
    { 0 },
};
const struct shape cycle_record_shape = { "periodic run record", sizeof(struct cycle_record), record_fields };
/* clang-format on */

void cycle_replay_run(struct proc *k, const struct cycle_record *r)
{
    struct cycle *y = get(k);

    if (r->is_again && y->n_runs)
        set_output(&y->runs[0], r->run.output);
    else
        push(y, &r->run);
}

void cycle_compact(struct proc *k)
{
    for (size_t i = k->cycle ? k->cycle->n_runs : 0; i-- > 0;)
        cycle_journal(k, &k->cycle->runs[i], false);
}

void cycle_state(const struct proc *k, int64_t *ret_past_ms, int64_t *ret_begun_ms)
{
    *ret_past_ms = k->cycle ? k->cycle->past_ms : 0;
    *ret_begun_ms = k->cycle ? k->cycle->begun_ms : 0;
}

/* Implausible times count as none. */
static int64_t sane(int64_t ms)
{
    return ms > 0 && ms < WHY_NUMBER_MAX * 1000 ? ms : 0;
}

void cycle_replay_state(struct proc *k, int64_t past_ms, int64_t begun_ms)
{
    if (!k->cycle && !past_ms && !begun_ms)
        return;
    get(k)->past_ms = sane(past_ms);
    k->cycle->begun_ms = sane(begun_ms);
    k->cycle->mono_ms = 0;
}
