/* SPDX-License-Identifier: MIT */
/* why_judge.c - see why_judge.h. */
#include "model/why_judge.h"

#include "model/code.h"
#include "model/operation.h"
#include "model/proc.h"

bool why_is_in_work(const struct proc_cause *c)
{
    return operation_has_kind(c->doing, ACTS_ON_PROCESS);
}

/* A start of a running process, or a stop of a stopped one, had nothing to do. */
bool why_has_failed(const struct proc_cause *c)
{
    return c->failed_s > 0 && c->failed_code != CODE_OK && c->failed_code != CODE_RUNNING &&
           c->failed_code != CODE_NOT_RUNNING;
}

/* A failure before the last start or exit no longer matters. */
bool why_failure_stands(const struct proc_view *v)
{
    return why_has_failed(&v->cause) && v->cause.failed_s >= v->cause.since_s;
}

/* The policy of the host refused the restart, and would refuse the next one. */
bool why_is_forbidden(const struct proc_view *v)
{
    return why_failure_stands(v) && v->cause.failed_code == CODE_DENIED;
}

/* A failure after a finished run belongs to another run. */
bool why_is_finished(const struct proc_view *v)
{
    return v->status != PROC_RUNNING && v->cause.has_finished && !why_has_failed(&v->cause);
}

/* A periodic process need not run now; the code of its last run tells whether it is well. */
bool why_is_periodic(const struct proc_view *v)
{
    return v->cause.is_periodic && v->status != PROC_RUNNING;
}

bool why_misses_instances(const struct proc_view *v)
{
    return v->status == PROC_RUNNING && v->cause.instances < v->cause.instances_wanted;
}

/* The requested operation is in progress.  An automatic restart does not count: it means that
 * something is wrong. */
static bool is_in_progress(const struct proc_view *v)
{
    const struct proc_cause *c = &v->cause;

    if (!why_is_in_work(c) || why_has_failed(c))
        return false;
    if (v->wanted == PROC_STOPPED)
        return operation_has_outcome(c->doing, MAKES_STOP);
    return !c->tries && operation_has_outcome(c->doing, MAKES_RUN);
}

/* It runs, but it is unhealthy, is restarted again and again, or its configuration files differ
 * from the expected ones. */
static bool has_problem(const struct proc_view *v)
{
    return v->status == PROC_RUNNING &&
           (v->cause.unhealthy_s > 0 || v->cause.recent_restarts >= WHY_FLAPPING ||
            (v->cause.drift && *v->cause.drift));
}

/* A failed reload is reported by its task; the process still runs as wanted. */
static bool is_failed_reload(const struct proc_view *v)
{
    return operation_has_kind(v->cause.failed_op, ACTS_ON_PROCESS) &&
           operation_has_outcome(v->cause.failed_op, LEAVES_AS_IS) && v->status == PROC_RUNNING;
}

bool why_is_trouble(const struct proc_view *v)
{
    if (v->cause.has_given_up || why_misses_instances(v) || has_problem(v))
        return true;
    if (v->wanted == PROC_STOPPED && v->status == PROC_STOPPED)
        return false; /* as wanted, even if an operation failed before */
    if (why_is_finished(v) || (why_is_periodic(v) && !why_has_failed(&v->cause)))
        return false;
    if (v->wanted != PROC_UNREGISTERED && v->wanted != v->status && !is_in_progress(v))
        return true;
    return why_failure_stands(v) && !is_failed_reload(v);
}

bool why_is_flapping(const struct proc_cause *c, int64_t now_s)
{
    return c->recent_restarts >= WHY_FLAPPING && now_s - c->recent_s < WHY_FLAPPING_S;
}

bool why_is_used_up(const struct proc_cause *c)
{
    return c->tries_max > 0 && c->tries >= c->tries_max;
}
