/* SPDX-License-Identifier: MIT */
/* core_cycle.h - periodic processes.  For the core's own sources.
 *
 * A hosted periodic process runs by its crontab_rule, or else every cycle_time seconds.
 * cycle_time counts from the start of the previous run; the first run is cycle_time after the
 * process was hosted.  A run is an internal operation, judged by its exit code.  With neither
 * setting the process runs only on request.  The last runs are recorded, including requested
 * ones.
 *
 * Two runs never overlap: a run that is due while another is in progress, or while the process
 * is running, is skipped.  A run that is due while another operation is in progress waits for
 * that operation.
 *
 * A run that is less than a minute late is executed.  A run that is later was missed, because
 * the host was down or the clock was set forward.  One missed run is made up for at once, if the
 * next regular run is an hour or more after it; otherwise the next regular run is soon enough.
 *
 * Setting the clock back repeats no run: the next run stays the one that was next.  The wait is
 * limited to a day, or to an hour for schedules that run more often than hourly.  Beyond that
 * the old time was wrong, and the schedule follows the new time until the clock returns to the
 * old one.  cycle_time seconds are independent of the wall clock. */
#ifndef AGENT_SUPERVISE_CORE_CYCLE_H
#define AGENT_SUPERVISE_CORE_CYCLE_H

#include "agent/supervise/core_in.h"

/* Call when the spec, the hosting or the operation in progress changes. */
void cycle_look(struct proc *k);
void cycle_free(struct proc *k);

/* The wall clock, or the time zone, may have changed. */
void cycle_on_clock(struct core *c);
void cycle_on_zone(struct core *c);

/* For every operation: its command starts; it has ended.  If it was a run, it is recorded. */
void cycle_on_begin(struct op *op);
void cycle_on_end(struct op *op, int code);
void cycle_on_output(struct proc *k, struct core_ident ident, const char *output); /* last output */

/* For runs that are internal operations. */
void cycle_on_done(struct proc *k, int code, const char *text);
struct op *cycle_resume(struct proc *k); /* it was in progress when the agent died, */
void cycle_on_boot(struct proc *k);      /* or when the host rebooted */

bool cycle_is_periodic(const struct proc *k);

/* Fills in the periodic part of the cause; the runs stay owned by the process. */
void cycle_fill_cause(const struct proc *k, struct proc_cause *ret);

/* Journal records: a run that has ended, or (`is_again`) an update of the last run.  The process
 * record has the time up to which all due runs are settled, and the start of the last run. */
struct cycle_record {
    struct proc_meta meta;
    struct proc_run run;
    bool is_again;
};
extern const struct shape cycle_record_shape;
void cycle_replay_run(struct proc *k, const struct cycle_record *r);
void cycle_compact(struct proc *k);
void cycle_state(const struct proc *k, int64_t *ret_past_ms, int64_t *ret_begun_ms);
void cycle_replay_state(struct proc *k, int64_t past_ms, int64_t begun_ms);

#endif
