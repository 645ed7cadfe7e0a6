/* SPDX-License-Identifier: MIT */
/* core_limit.h - what a process uses, and what it may, for the core's own sources.
 *
 * A hosted process with a limit (spec.resource), or one of a group that has one
 * (core_group.h), is sampled every interval (5 s); all others one after the other, each
 * once in twelve intervals (60 s), for those who look.  One timer does for all.  The server is told
 * of all that were sampled in one go, once in twelve intervals.
 *
 * One that is over its limit in three samples in a row is stopped, by stop_cmd, then by
 * SIGKILL to it and its descendants, with an event that has the samples; being hosted it is
 * pulled up again, which counts as a try.  Never within the grace (60 s, or start_check_secs
 * if that is longer) of its start, because starting costs; and not while an operation is in
 * work.  Such samples do not count. */
#ifndef AGENT_CORE_LIMIT_H
#define AGENT_CORE_LIMIT_H

#include "agent/core_in.h"

enum { LIMIT_SAMPLES = 3 };

struct group_kept;

/* In percent of the machine: the last ones, oldest first, all over the limit. */
struct strikes {
    float over[LIMIT_SAMPLES];
    unsigned n;
};

/* What was seen of a process last; only while it runs. */
struct limit {
    int64_t start_ticks; /* whose */
    int64_t at_ms, cpu_us;
    int64_t first_ms, first_us; /* of the first sample */
    uint32_t rss_kb;
    float cpu_percent;
    bool is_seen, has_cpu;     /* one sample; two */
    bool is_untold;            /* sampled since the server was told */
    struct limit_watch *watch; /* NULL: nothing limits it */
};

/* Of one with a limit, or of a group that has one. */
struct limit_watch {
    TAILQ_ENTRY(limit_watch) link;
    struct kept *kept;
    struct group_kept *group; /* NULL: it is in none */
    struct strikes cpu, mem;
    bool is_partial; /* the last sample: it was more than that */
};

/* Of the core. */
struct limits {
    int64_t interval_ms, grace_ms;
    int64_t cores, mem_bytes;
    struct timer timer;
    TAILQ_HEAD(, limit_watch) watched;
    size_t n;          /* struct limit */
    size_t at, owed;   /* where in core->kept the others are; parts of one */
    unsigned quiet;    /* intervals since the server was told */
    struct map groups; /* struct group_kept, by their namespace */
    uint64_t group_changes;
    struct buf untold; /* struct group_untold */
};

void limit_begin(struct core *c);
void limit_end(struct core *c); /* processes have been freed */

/* Something about it has changed: its spec, its hosting, its group, whether it runs. */
void limit_look(struct kept *k);
void limit_free(struct kept *k);
void limit_on_sample(struct kept *k, const struct core_sample *s);

double limit_mem_percent(const struct kept *k); /* as it was sampled last; 0: it was not */

/* One more value; whether it was the last of a row that is over. */
bool limit_strike(struct strikes *s, double percent, double limit);
const char *limit_values(const struct strikes *s, char *to, size_t size); /* "97.2, 98.0, 97.7" */

/* Whether it may be stopped for what is used now; and that. `text` is for people. */
bool limit_may_stop(const struct kept *k);
void limit_stop(struct kept *k, const char *event, const char *text);
struct op *limit_resume(struct kept *k); /* the agent died meanwhile */
/* It has ended, or not; `old`: the one that was to be stopped, by this op_type. */
void limit_on_done(struct kept *k, struct core_ident old, int64_t number, int code);

/* What was seen last, for its view. */
void limit_fill_view(const struct kept *k, struct proc_view *v);

#endif
