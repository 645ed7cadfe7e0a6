/* SPDX-License-Identifier: MIT */
/* core_in.h - definitions shared by the core's sources; private to them.
 *
 *    core.c               entry points: find the process or operation of an input
 *    core_op.h            an operation
 *    core_cause.h         facts that explain the state of a process
 *    core_restart.h       automatic restarts of hosted processes
 *    core_order.h         start order
 *    core_limit.h         resource limits
 *    core_cycle.h         periodic processes
 *    core_health.h        version, health, configuration
 *    core_checks.h        checks
 *    core_side_command.h  commands outside operations
 *    core_tell.c          reports about processes to the server; digests
 *    core_event.h         events, until the server has stored them
 *    core_local.h         operations requested on the host itself
 *    core_journal.h       the journal: commands, results, processes; crash recovery */
#ifndef AGENT_SUPERVISE_CORE_IN_H
#define AGENT_SUPERVISE_CORE_IN_H

#include <sys/queue.h>

#include "agent/supervise/core.h"
#include "agent/supervise/core_event.h"
#include "agent/supervise/core_journal.h"
#include "agent/supervise/core_queue.h"
#include "agent/supervise/core_restart.h"
#include "base/io/timers.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "base/mem/pool.h"
#include "model/code.h"

struct op;
struct limits;
struct rate;
struct order;
struct orders;
struct limit;
struct cycle;
struct health;
struct side_commands;

/* In place of a start command that a previous agent began and whose pid it did not record. */
#define CORE_UNKNOWN_START ((struct core_ident){ -1, 0 })

/* A known process. */
struct proc {
    struct core *core;
    struct arena arena;
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted; /* enum proc_status */
    bool hosted, has_spec;
    /* Hosted and not started since: one attempt is made regardless of start_retries. */
    bool is_owed;
    bool is_journaled;          /* the spec is in the journal */
    bool is_listed;             /* it was hosted in its last journal record */
    int64_t spec_op, spec_s;    /* the operation that hosted it with this spec, and its time */
    int64_t started_with;       /* digest of the spec it runs with, if another was stored since */
    bool is_to_tell, must_tell; /* to be reported at the end of this batch; even if unchanged */
    TAILQ_ENTRY(proc) to_tell;
    enum proc_actual actual;      /* written by proc_enter() alone */
    const struct proc_cell *cell; /* of the table: what is being done with it; NULL: nothing */
    struct core_ident ident;      /* pid 0: not running, as far as known */
    /* The last main process that ended and the command that started it, as long as something of
     * them may live; pid 0: unknown. */
    struct core_ident last, last_start;
    int64_t last_ms;         /* when that was; 0: no agent saw it */
    struct core_ident run;   /* the command of an internal operation, as op->run, */
    unsigned run_origin;     /* and its purpose: enum op_origin */
    bool run_prepares;       /* it is its pre-start command */
    struct core_ident start; /* the last start command */
    int64_t told_others;     /* digest of the processes that the last event named; 0: none */
    bool knows_siblings;     /* `siblings` is of this run; if not, the answer is awaited */
    char *siblings;          /* what it started besides the main process; on the heap, or NULL */
    int64_t start_from;      /* offset in its output file of the output since that start */
    int64_t begun_ms;        /* when its main process first had its name */
    int64_t missed_ms;       /* when it was last looked for and not found */
    int64_t doubt_ms;        /* until then an unrecorded process of a previous agent may run, */
    bool is_unseen;          /* and until the first probe */
    /* The restart rule (core_restart.c). */
    bool is_proven;   /* a run of its spec was up once */
    bool is_outdated; /* it runs with another command, path, user or environment than its spec's */
    int64_t tries,
        fast_tries;     /* tries in a row: those that count towards start_retries, and others */
    int64_t failed_ms;  /* when the last start or run failed; 0: it did not */
    int64_t attempt_ms; /* when the last restart was tried, even if no command began */
    int64_t tried_ms;   /* when the last start began */
    int64_t up_ms, lived_ms; /* when it was last up; what its last run has lived */
    int64_t register_s, last_start_s, restarts;
    struct proc_cause cause;           /* core_cause.h */
    struct core_ident exited;          /* the process that cause.exit_* describe */
    unsigned char digest[DIGEST_SIZE]; /* of its facts, as included in the core's digest */
    struct timer timer;                /* of the state: proc_state_rows.h */
    TAILQ_HEAD(, op) ops;
    struct proc *same_pid;        /* another entry for the same operating system process */
    struct order *order;          /* core_order.h: it waits, or others wait for it */
    bool is_booting, is_in_level; /* core_order.h: part of the boot; its level has begun */
    bool has_ended_unseen;        /* its last run ended while no agent ran */
    bool is_after_run;            /* its main process has ended, and no start has begun since */
    bool may_finish;       /* it has ended as its spec allows, while its start command lives */
    bool has_exit_news;    /* its last exit was not asked for, and is not reported yet */
    bool is_denied;        /* the host's policy forbids restarting it */
    struct limit *limit;   /* core_limit.h; these three are NULL if unused */
    struct cycle *cycle;   /* core_cycle.h */
    struct health *health; /* core_health.h */
    struct rate *rate;     /* core_rate.h; NULL: it was not restarted */
    char key[];            /* space:name, then NUL and the space again */
};

struct core {
    const struct core_effects *effects;
    void *arg;
    int64_t now_ms, wall_ms;
    int64_t clock_ms; /* wall time minus monotonic time, for periodic runs */
    struct timers timers;
    struct map proc;     /* by space:name */
    struct map commands; /* by task#item: struct op in progress */
    struct map done;     /* by task#item */
    struct map by_id;    /* struct op, by the bytes of its id */
    struct map checks;   /* core_checks.c: those being tried, by the bytes of the id of the try */
    /* Maps of struct proc: by the bytes of the pid, and by those of the last exited pid. */
    struct map by_pid, by_exited;
    struct pool ops;
    uint64_t next_id, list_changes; /* core_list.h */
    TAILQ_HEAD(, op) waiting;
    struct op_queue queue;
    int64_t started_ms;           /* core_start() */
    int64_t offset_ms, restarted; /* server's clock minus ours; automatic restarts so far */
    int64_t unexpected;           /* events and changes of phase that the tables do not have */
    bool is_linked, is_started;
    bool tells_all; /* a process was forgotten: all are sent, because no message removes one */
    struct event_queue events;
    struct limits *limits;               /* core_limit.h */
    struct side_commands *side_commands; /* core_side_command.h */
    struct orders *orders;               /* core_order.h */
    TAILQ_HEAD(proc_list, proc) to_tell;
    size_t to_tell_n, n_unstored;      /* results not stored by the server */
    unsigned char digest[DIGEST_SIZE]; /* digests of all processes, combined */
    char hello[DIGEST_TEXT_SIZE];      /* digest in the last hello */
};

/* core.c */
/* Returns the process, created if it does not exist. */
struct proc *core_proc(struct core *c, const char *space, const char *name);
void core_set_siblings(struct proc *k, const char *siblings); /* "": none */
/* core_ident.c */
struct proc *core_first_of_pid(const struct core *c, int64_t pid); /* others: same_pid */
struct proc *core_proc_of_ident(const struct core *c, struct core_ident ident);
int64_t core_named_ms(const struct proc *k, struct core_ident ident); /* when it got its name */
void core_restore_ident(struct proc *k, struct core_ident ident, int64_t begun_ms);
void core_set_ident(struct proc *k, struct core_ident ident); /* and watches it; pid 0: none */
/* Accepts a new command; false: too many are waiting. */
bool core_take(struct core *c, const struct message_command *m, int64_t deadline_ms);
void core_forget(struct proc *k); /* frees k, which must be unregistered and without operations */

/* Whether the start command of the run that has ended still runs: it may start another main
 * process, or become it. */
bool core_has_living_start(const struct proc *k);

/* What the start command has started besides is no family of the process: asks for it, to be
 * recorded.  Those of the run before are asked for again, too. */
void core_ask_siblings(struct proc *k);

bool core_has_main(const struct core *c, struct core_ident ident); /* it is one's main process */
bool core_is_alone(const struct core *c, const struct proc_spec *spec); /* scope `process` */

/* The tables do not have this pair of a state and an event, or of two states: counts it. */
void core_unexpected(struct core *c, const char *state, const char *event);

/* core_tell.c */
bool core_is_known(const struct proc *k); /* false: only a name that a query mentioned */
bool core_is_told(const struct proc *k);  /* known, or its first start is in progress */
void core_fill_view(const struct proc *k, struct proc_view *v); /* with the known state */
void core_tell_process(struct proc *k); /* reports it at the end of this batch, */
void core_tell_change(struct proc *k);  /* only if its facts differ from the last report */
void core_tell_all(struct core *c, bool is_asked);
void core_untell(struct proc *k); /* k is about to be freed */

#endif
