/* SPDX-License-Identifier: MIT */
/* core_in.h - what the core's sources share.  Not for others.
 *
 *   core.c       what happens finds what it is about
 *   core_op.h    an operation
 *   core_cause.h why a process is as it is
 *   core_keep.h  a hosted process is kept alive; core_order.h: one after the other
 *   core_limit.h what it may use; core_cycle.h: periodic ones
 *   core_care.h  version, health, configuration; core_errand.h: commands beside operations
 *   core_tell.c  what the server is told of processes; digests
 *   core_event.h events, until the server has them
 *   core_local.h operations by somebody on the host itself
 *   core_book.h  the journal: commands, results, processes; and after a crash */
#ifndef AGENT_CORE_IN_H
#define AGENT_CORE_IN_H

#include <sys/queue.h>

#include "agent/core.h"
#include "agent/core_book.h"
#include "agent/core_event.h"
#include "agent/core_keep.h"
#include "agent/core_queue.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/timers.h"
#include "model/code.h"

struct op;
struct limits;
struct order;
struct orders;
struct limit;
struct cycle;
struct care;
struct errands;

/* A process we know. */
struct kept {
    struct core *core;
    struct arena arena;
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted; /* enum proc_status */
    bool hosted, has_spec;
    bool is_owed;   /* hosted, and not started since: tried once, whatever start_retries says */
    bool is_booked; /* the spec is in the journal */
    bool is_listed; /* it was hosted when it was last booked */
    int64_t spec_op, spec_s;    /* what hosted it with this spec, and when */
    bool is_to_tell, must_tell; /* the server is told at the end of this turn; changed or not */
    TAILQ_ENTRY(kept) to_tell;
    struct core_ident ident; /* pid 0: not running, as far as we know */
    struct core_ident run;   /* the command of an operation of ours, as op's, */
    unsigned run_aim;        /* and what that is for: enum op_aim */
    struct core_ident start; /* the last command that was to start it */
    int64_t start_from;      /* where in its output what was said since then begins */
    int64_t begun_ms;        /* when it began, or was adopted */
    int64_t doubt_ms;        /* until then one may run that an agent before us began unbooked, */
    bool is_unseen;          /* and until somebody has looked */
    int64_t tries;           /* restarts since it was last well */
    int64_t register_s, last_start_s, restarts;
    struct proc_cause cause;           /* core_cause.h */
    struct core_ident exited;          /* what cause.exit_* are about */
    unsigned char digest[DIGEST_SIZE]; /* of its facts, as they are in the core's */
    struct timer timer;                /* the next restart */
    TAILQ_HEAD(, op) ops;
    struct kept *same_pid;        /* another that is known to be this very process */
    struct order *order;          /* core_order.h: it waits, or is waited for */
    bool is_booting, is_in_level; /* core_order.h: to come up with its host; its turn has come */
    bool is_denied;               /* the policy does not let us pull it up */
    struct limit *limit; /* core_limit.h; these three are NULL where there is nothing to do */
    struct cycle *cycle; /* core_cycle.h */
    struct care *care;   /* core_care.h */
    char key[];          /* space:name; behind its end the space again */
};

struct core {
    const struct core_hands *hands;
    void *arg;
    int64_t now_ms, wall_ms;
    int64_t clock_ms; /* wall time less ours, as periodic runs are reckoned */
    struct timers timers;
    struct map kept;              /* by space:name */
    struct map commands;          /* by task#item: struct op in work */
    struct map done;              /* by task#item */
    struct map by_id;             /* struct op, by its id's bytes */
    struct map by_pid, by_exited; /* struct kept, by the pid's bytes: the first, the last of them */
    struct pool ops;
    uint64_t next_id, list_changes; /* core_list.h */
    TAILQ_HEAD(, op) waiting;
    struct op_queue queue;
    int64_t offset_ms, restarted; /* server's clock less ours; restarts of our own, so far */
    bool is_linked, is_started;
    struct event_queue events;
    struct limits *limits;   /* core_limit.h */
    struct errands *errands; /* core_errand.h */
    struct orders *orders;   /* core_order.h */
    TAILQ_HEAD(kept_list, kept) to_tell;
    size_t to_tell_n, n_unstored;      /* results that the server has not */
    unsigned char digest[DIGEST_SIZE]; /* those of all processes, combined */
    char hello[DIGEST_TEXT_SIZE];      /* what the last hello said */
};

/* core.c */
struct kept *core_kept(struct core *c, const char *space, const char *name); /* made if need be */
void core_set_ident(struct kept *k, struct core_ident ident); /* and watch it; pid 0: none */
/* A command that is new; false: too many wait. */
bool core_take(struct core *c, const struct message_command *m, int64_t deadline_ms);
void core_forget(struct kept *k); /* one that nobody has registered, and nobody asks about now */

/* core_tell.c */
bool core_is_known(const struct kept *k); /* it is more than a name somebody asked about */
void core_fill_view(const struct kept *k, struct proc_view *v); /* what we know of it */
void core_tell_process(struct kept *k);                         /* at the end of this turn, */
void core_tell_change(struct kept *k); /* if its facts are others than were told last */
void core_tell_all(struct core *c, bool is_asked);
void core_untell(struct kept *k); /* it goes */

#endif
