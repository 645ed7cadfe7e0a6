/* SPDX-License-Identifier: MIT */
/* core_op.h - one operation on one process, for the core's own sources.
 *
 *   core_rules.c  what the operations are, and what each needs
 *   core_queue.c  how many act at the same time
 *   core_ops.c    one of them, phase by phase
 *   core_end.c    and how it ends */
#ifndef AGENT_CORE_OP_H
#define AGENT_CORE_OP_H

#include "agent/core_in.h"
#include "agent/core_own.h"
#include "agent/core_rules.h"

/* Where an operation stands. */
enum phase {
    PHASE_JOURNAL, /* waits until it is durable, and for its turn */
    PHASE_QUEUE,   /* waits for a slot (core_queue.h) */
    PHASE_LOOK,    /* who is there? */
    PHASE_ASK,     /* a query: what do version_cmd and health_cmd say? */
    PHASE_RUN,     /* its command runs */
    PHASE_SELF,    /* the command still runs: is it the process? */
    PHASE_SETTLE,  /* the command is done; the process has its time to live or to die */
    PHASE_CHECK,   /* who is there now? */
    PHASE_DYING,   /* a signal was sent */
    PHASE_SYNC,    /* the outcome waits until it is durable */
    PHASES
};

struct op {
    /* Aligned for anything, so that what follows an op is too: its arena (op_new()). */
    _Alignas(16) TAILQ_ENTRY(op) link; /* of its process, in the order they came */
    TAILQ_ENTRY(op) waiting;           /* of those that wait for the journal, by mark */
    struct core *core;
    struct kept *kept;
    struct arena arena;
    struct message_command command; /* task "": of our own making, to keep it alive */
    enum op_aim aim;                /* of one of our own making */
    const char *key;                /* task#item */
    enum phase phase;
    uint64_t id;   /* of its runs and probes */
    uint64_t mark; /* of the journal, that it waits for */
    int64_t deadline_ms;
    int64_t asked_ms;            /* when its turn had come, but for a slot */
    int64_t self_ms, run_end_ms; /* its command is asked whether it is the process, and ended */
    int64_t check_ms;            /* when it is looked at for good, or SIGTERM has had its time */
    int64_t check_until_ms;      /* a start that is not seen then is looked at again until this */
    struct timer timer;
    struct core_ident run; /* its command; pid 0: none, or it has ended; -1: about to begin */
    int64_t out_from;      /* where in its file what the command says begins */
    int status;            /* how it ended, or CORE_STATUS_UNKNOWN */
    struct core_ident old; /* what a restart found, and may have left; what is over a limit */
    bool stops_first;      /* a restart in two halves: this is the first */
    uint64_t questions;    /* who is there, asked so often: only the last answer counts */
    bool was_running;      /* the agent died while it was carried out */
    bool has_acted;        /* something was done that must not be done again */
    bool is_late;          /* its command has had its time and is being ended */
    bool is_killed;        /* SIGTERM did not do */
    bool is_durable;       /* the command is in the journal */
    bool is_refused;       /* too many were waiting when it came */
    bool is_cancelled;     /* before it was durable: core_cancel.h */
    bool is_told;          /* that it is in work */
    bool is_resumed;       /* an agent before us had begun it */
    bool is_found;         /* a query: it runs, and the result has what was seen of it */
    struct ready *ready;   /* core_ready.h; NULL: it is not waited for to be ready */
    TAILQ_ENTRY(op) queued;
    bool is_queued, has_slot, goes_first; /* core_queue.h */
    struct core_ident seen;               /* by a peek; should that end, it was a launcher, or */
    struct proc_cause before;             /* the process: how it had ended before that */
    bool has_before;
    const char *found; /* what its command is instead of the process; on the heap, NULL: unknown */
    const char *reason, *said; /* of a failure, for the explanation: how; what its command said */
    struct message_result result;
};

/* With room for its texts, in the core's pool: sixteen go into a slab. */
enum { OP_BYTES = 4080 };

struct op *op_new(struct core *c, const struct message_command *command);
void op_free(struct op *op);
void op_begin_next(struct kept *k); /* if none is in work and one may begin */
void op_on_run(struct op *op, const struct core_began *began, const struct err *failure);
void op_on_run_end(struct op *op, int status, const char *output);
void op_on_probe(struct op *op, const struct core_probe *probe);
void op_before_exit(struct op *op, struct core_ident ident); /* of the process, */
void op_on_exit(struct op *op);                              /* not of the command */
void op_note_start(struct op *op); /* its command, which is known by now, is to start it */
void op_on_durable(struct op *op);
void op_on_slot(struct op *op);
void op_wait_for_slot(struct op *op, bool goes_first);

/* core_end.c */
void op_end_with(struct op *op, int code, const struct proc_view *seen, const char *text);
void op_end(struct op *op, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void op_end_query(struct op *op, const struct core_probe *probe);
void op_end_asked(void *op); /* with what its commands have said by now */
void op_succeed(struct op *op, struct core_ident ident); /* this part of it */
void op_fail_check(struct op *op, const char *why);
void op_fail_ready(struct op *op, const char *state, const char *why);
void op_fail_command(struct op *op, int status, const char *output);
void op_stop_hosting(struct op *op);
void op_set_hosting(struct op *op);

#endif
