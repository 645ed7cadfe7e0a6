/* SPDX-License-Identifier: MIT */
/* why_judge.c - see why_judge.h, and why_is_trouble() of why.h. */
#include "model/why_judge.h"

#include "model/proc.h"

bool why_is_in_work(const struct proc_cause *c)
{
    switch (c->doing) {
    case PROC_OP_START:
    case PROC_OP_STOP:
    case PROC_OP_RESTART:
    case PROC_OP_RELOAD:
    case PROC_OP_KILL: return true;
    }
    return false;
}

/* A start of what runs and a stop of what does not found nothing to do. */
bool why_has_failed(const struct proc_cause *c)
{
    return c->failed_s > 0 && c->failed_code != CODE_OK && c->failed_code != CODE_RUNNING &&
           c->failed_code != CODE_NOT_RUNNING;
}

/* What went wrong before it came to be as it is now is history. */
bool why_failure_stands(const struct proc_view *v)
{
    return why_has_failed(&v->cause) && v->cause.failed_s >= v->cause.since_s;
}

/* To pull it up was refused, and will be. */
bool why_is_forbidden(const struct proc_view *v)
{
    return why_failure_stands(v) && v->cause.failed_code == CODE_DENIED;
}

/* What has failed since then was another run of it. */
bool why_is_finished(const struct proc_view *v)
{
    return v->status != PROC_RUNNING && v->cause.has_finished && !why_has_failed(&v->cause);
}

/* It need not run now; what a run has come to is told by whether the last one failed. */
bool why_is_periodic(const struct proc_view *v)
{
    return v->cause.is_periodic && v->status != PROC_RUNNING;
}

bool why_misses_instances(const struct proc_view *v)
{
    return v->status == PROC_RUNNING && v->cause.instances < v->cause.instances_wanted;
}

/* What is asked for is on its way; a restart of our own means that something is wrong. */
static bool is_on_its_way(const struct proc_view *v)
{
    const struct proc_cause *c = &v->cause;

    if (!why_is_in_work(c) || why_has_failed(c))
        return false;
    if (v->wanted == PROC_STOPPED)
        return c->doing == PROC_OP_STOP || c->doing == PROC_OP_KILL;
    return !c->tries && (c->doing == PROC_OP_START || c->doing == PROC_OP_RESTART);
}

/* It runs, and yet it is unhealthy, or its configuration is another than it should be. */
static bool needs_care(const struct proc_view *v)
{
    return v->status == PROC_RUNNING &&
           (v->cause.unhealthy_s > 0 || (v->cause.drift && *v->cause.drift));
}

/* A reload that failed is the task's to tell of: the process is as it was, and as wanted. */
static bool is_past_it(const struct proc_view *v)
{
    return v->cause.failed_op == PROC_OP_RELOAD && v->status == PROC_RUNNING;
}

bool why_is_trouble(const struct proc_view *v)
{
    if (v->cause.has_given_up || why_misses_instances(v) || needs_care(v))
        return true;
    if (why_is_finished(v) || (why_is_periodic(v) && !why_has_failed(&v->cause)))
        return false;
    if (v->wanted != PROC_UNREGISTERED && v->wanted != v->status && !is_on_its_way(v))
        return true;
    return why_failure_stands(v) && !is_past_it(v);
}

bool why_is_used_up(const struct proc_cause *c)
{
    return c->tries_max > 0 && c->tries >= c->tries_max;
}
