/* SPDX-License-Identifier: MIT */
/* core_limit.h - resource usage and limits of processes.  For the core's own sources.
 *
 * A hosted process with a limit (spec.resource, spec.holdfast.limit_memory), or in a group with a
 * limit (core_group.h), is sampled every interval (5 s).  All others are sampled in turn, each once
 * in twelve intervals (60 s), for display.  One timer serves all.  The usage of all sampled
 * processes is reported to the server in one batch, once in twelve intervals.
 *
 * A process that exceeds its limit in three samples in a row is stopped by stop_cmd, then by
 * SIGKILL to it and its descendants.  An event reports the samples.  A hosted process is then
 * restarted, which counts as a restart attempt.  A process is never stopped within the grace
 * period after its start (60 s, or start_check_secs if that is longer), because starting is
 * expensive, and not while an operation is in progress.  Samples from these times do not count. */
#ifndef AGENT_SUPERVISE_CORE_LIMIT_H
#define AGENT_SUPERVISE_CORE_LIMIT_H

#include "agent/supervise/core_in.h"

enum { LIMIT_SAMPLES = 3 };

struct group_proc;

/* The last samples that exceed the limit, in percent of the machine or in MiB, oldest first. */
struct strikes {
    float over[LIMIT_SAMPLES];
    unsigned n;
};

/* The last sample of a process; exists only while it runs. */
struct limit {
    int64_t start_ticks; /* of the sampled process */
    int64_t at_ms, cpu_us;
    int64_t first_ms, first_us; /* of the first sample */
    uint32_t rss_kb;
    float cpu_percent;
    bool is_seen, has_cpu;     /* at least one sample; at least two */
    bool is_untold;            /* sampled since the last report to the server */
    struct limit_watch *watch; /* NULL: no limit applies */
};

/* A process with a limit, or in a group with a limit. */
struct limit_watch {
    TAILQ_ENTRY(limit_watch) link;
    struct proc *proc;
    struct group_proc *group;       /* NULL: it is in no such group */
    struct strikes cpu, mem, bytes; /* bytes: in MiB */
    bool is_partial;                /* the last sample is a lower bound */
};

/* State of the core. */
struct limits {
    int64_t interval_ms, grace_ms;
    int64_t cores, mem_bytes;
    struct timer timer;
    TAILQ_HEAD(, limit_watch) watched;
    size_t n;          /* number of struct limit */
    size_t at, owed;   /* position in core->proc of the round robin; fraction of a sample due */
    unsigned quiet;    /* intervals since the last report to the server */
    struct map groups; /* struct group_proc, by namespace */
    uint64_t group_changes;
    struct buf untold; /* struct group_untold */
};

void limit_begin(struct core *c);
void limit_end(struct core *c); /* after the processes have been freed */

/* Call when the spec, the hosting, the group or the running state changes. */
void limit_look(struct proc *k);
void limit_free(struct proc *k);
void limit_on_sample(struct proc *k, const struct core_sample *s);

double limit_mem_percent(const struct proc *k); /* of the last sample; 0: none */

/* Adds a value; true: it is the last of LIMIT_SAMPLES in a row over the limit. */
bool limit_strike(struct strikes *s, double usage, double limit);
const char *limit_values(const struct strikes *s, char *to, size_t size); /* "97.2, 98.0, 97.7" */

/* Whether it may be stopped for its usage now; stops it.  `text` is for humans. */
bool limit_may_stop(const struct proc *k);
void limit_stop(struct proc *k, const char *event, const char *text);
struct op *limit_resume(struct proc *k); /* the agent died during the stop */
/* The stop has ended with `code`.  `old`: the process to be stopped; `number`: the op_type used. */
void limit_on_done(struct proc *k, struct core_ident old, int64_t number, int code);

/* Fills in the last sample. */
void limit_fill_view(const struct proc *k, struct proc_view *v);

#endif
