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

/* Where an operation stands. */
enum phase {
    PHASE_JOURNAL, /* waits until it is durable, and for its turn */
    PHASE_QUEUE,   /* waits for a slot (core_queue.h) */
    PHASE_LOOK,    /* who is there? */
    PHASE_RUN,     /* its command runs */
    PHASE_SELF,    /* the command still runs: is it the process? */
    PHASE_SETTLE,  /* the command is done; the process has its time to live or to die */
    PHASE_CHECK,   /* who is there now? */
    PHASE_DYING,   /* a signal was sent */
    PHASE_SYNC,    /* the outcome waits until it is durable */
    PHASES
};

enum outcome { LEAVES_AS_IS, MAKES_RUN, MAKES_STOP };

struct op_rule {
    int64_t op;
    const char *name;
    enum outcome outcome;
    bool looks;             /* it matters who is there */
    int if_running, if_not; /* codes to end with at once; 0: go on */
    size_t command;         /* where in struct proc_control, or none */
    int signal;             /* in place of an empty command; 0: it needs one */
};

struct op {
    TAILQ_ENTRY(op) link;    /* of its process, in the order they came */
    TAILQ_ENTRY(op) waiting; /* of those that wait for the journal, by mark */
    struct core *core;
    struct kept *kept;
    struct arena arena;
    struct message_command command; /* task "": of our own making, to keep it alive */
    const char *key;                /* task#item */
    enum phase phase;
    uint64_t id;   /* of its runs and probes */
    uint64_t mark; /* of the journal, that it waits for */
    int64_t deadline_ms;
    int64_t asked_ms;            /* when its turn had come, but for a slot */
    int64_t self_ms, run_end_ms; /* its command is asked whether it is the process, and ended */
    int64_t check_ms;            /* when it is looked at for good, or SIGTERM has had its time */
    struct timer timer;
    struct core_ident run; /* its command; pid 0: none, or it has ended; -1: about to begin */
    int64_t out_from;      /* where in its file what the command says begins */
    struct core_ident old; /* the process a restart found, which it may have left running */
    bool stops_first;      /* a restart in two halves: this is the first */
    uint64_t questions;    /* who is there, asked so often: only the last answer counts */
    bool was_running;      /* the agent died while it was carried out */
    bool has_acted;        /* something was done that must not be done again */
    bool is_late;          /* its command has had its time and is being ended */
    bool is_killed;        /* SIGTERM did not do */
    bool is_durable;       /* the command is in the journal */
    bool is_refused;       /* too many were waiting when it came */
    bool is_told;          /* that it is in work */
    TAILQ_ENTRY(op) queued;
    bool is_queued, has_slot, goes_first; /* core_queue.h */
    struct core_ident seen;               /* by a peek; should that end, it was a launcher, or */
    struct proc_cause before;             /* the process: how it had ended before that */
    bool has_before;
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
void op_succeed(struct op *op, struct core_ident ident); /* this part of it */
void op_fail_check(struct op *op, const char *why);
void op_fail_command(struct op *op, int status, const char *output);
void op_stop_hosting(struct op *op);
void op_set_hosting(struct op *op);

/* core_rules.c */
const struct op_rule *op_rule(const struct op *op); /* NULL: there is no such operation */
/* What it is doing right now: a restart in two halves is a stop, then a start. */
const struct op_rule *op_part(const struct op *op);
const char *op_line(const struct op *op);  /* that part's command; "" if there is none */
bool op_starts(const struct op *op);       /* its command is to bring the process up */
int64_t op_instances(const struct op *op); /* how many are expected; 0: one */
bool op_is_ours(const struct op *op);      /* a restart of our own making */
bool op_is_acting(const struct op *op);    /* it has begun, its outcome is not known yet */
/* Who asks need not say again what we know: neither what the process is, nor, with no
 * word about that, how it is run.  What never worked is only good for a question. */
void op_use_known_spec(struct op *op);
/* The code and the text to refuse it with, before anything is done; CODE_OK: all is
 * there.  The API has refused what lacks something, so this is for others. */
int op_lacks(const struct op *op, const char **ret_what);

#endif
