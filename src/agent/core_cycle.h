/* SPDX-License-Identifier: MIT */
/* core_cycle.h - periodic processes, for the core's own sources.
 *
 * A hosted one is run by its crontab_rule, or else every cycle_time seconds from the begin of
 * the run before, the first time that long after it was hosted; the run is an operation of
 * our own making, judged by its exit code.  With neither it is run only when asked.  The last
 * runs are remembered, also those somebody had asked for.
 *
 * Never two at once: a run that is due while another is in work, or finds the process
 * running, is left out.  One that is due while another operation is in work waits for that.
 *
 * A run that is less than a minute late is late, and run.  Others were missed, because the
 * host was down or the clock was set forward: of those one is made up for, at once, if the
 * next would be an hour or more after it; else the next is soon enough.
 *
 * A clock that is set back makes no run come twice: the next is the one that would have
 * come.  But nobody waits for longer than a day, or than an hour for one that comes more
 * often than that: the clock was wrong then, and it goes on by the new time, until the old
 * one comes back.  Seconds of cycle_time pass whatever the clock says. */
#ifndef AGENT_CORE_CYCLE_H
#define AGENT_CORE_CYCLE_H

#include "agent/core_in.h"

/* Something about it has changed: its spec, its hosting, whether something is in work. */
void cycle_look(struct kept *k);
void cycle_free(struct kept *k);

/* The wall clock may have been set, or the zone be another. */
void cycle_on_clock(struct core *c);
void cycle_on_zone(struct core *c);

/* Of any operation: its command begins; it has ended, and if that was a run it is
 * remembered. */
void cycle_on_begin(struct op *op);
void cycle_on_end(struct op *op, int code);
void cycle_on_said(struct kept *k, struct core_ident ident, const char *output); /* last words */

/* Of a run of ours. */
void cycle_on_done(struct kept *k, int code, const char *text);
struct op *cycle_resume(struct kept *k); /* it was in work when the agent died, */
void cycle_on_boot(struct kept *k);      /* or the host */

/* Its part of the cause; the runs are ours. */
void cycle_fill_cause(const struct kept *k, struct proc_cause *ret);

/* For the journal: a run that has ended, or `is_again` more of the last one; and, with the
 * process, until when all that was due is settled and when the last run began. */
struct cycle_record {
    struct proc_meta meta;
    struct proc_run run;
    bool is_again;
};
extern const struct shape cycle_record_shape;
void cycle_replay_run(struct kept *k, const struct cycle_record *r);
void cycle_compact(struct kept *k);
void cycle_state(const struct kept *k, int64_t *ret_past_ms, int64_t *ret_begun_ms);
void cycle_replay_state(struct kept *k, int64_t past_ms, int64_t begun_ms);

#endif
