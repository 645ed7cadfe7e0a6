/* SPDX-License-Identifier: MIT */
/* core_op.h - one operation on one process.  For the core's own sources.
 *
 *    core_rules.c  the operations and what each requires
 *    core_queue.c  limit on simultaneous operations
 *    op_table.h    its phases, and what each event does in each
 *    core_ops.c    what is done in the phases
 *    core_run.c    its command or signal
 *    core_end.c    its end */
#ifndef AGENT_SUPERVISE_CORE_OP_H
#define AGENT_SUPERVISE_CORE_OP_H

#include "agent/supervise/core_in.h"
#include "agent/supervise/core_own.h"
#include "agent/supervise/core_rules.h"

/* The phases of an operation; op_phase_rows.h says what holds in each. */
enum op_phase {
#define PHASE_ROW(id, ...) PHASE_##id,
#include "agent/supervise/op_phase_rows.h"
    PHASES
};

/* Why the last probe was made: what its answer decides. */
enum ask {
    ASK_NOTHING,  /* no answer is awaited */
    ASK_FOR_GOOD, /* which process runs? */
    ASK_SELF,     /* is the command, which still runs, the process? */
    ASK_PID_FILE, /* does the pid file name the process? */
    ASK_PEEK,     /* nothing: it is for display */
};

/* Whether it did something that must not be repeated. */
enum op_begun {
    BEGUN_NO,
    BEGUN_BEFORE,  /* a previous agent did; the outcome has not been looked for yet */
    BEGUN_RESUMED, /* a previous agent did, and this one goes on */
    BEGUN_HERE,
};

/* PHASE_CLEAR (core_clear.c): how far it is, and what comes then. */
enum op_clear_step { CLEAR_AWAIT, CLEAR_SIGNALLED, CLEAR_KILLED };
enum op_clear_then {
    CLEAR_THEN_START,       /* its command begins */
    CLEAR_THEN_SAY_STOPPED, /* it has stopped the process */
    CLEAR_THEN_SAY_DOWN,    /* it had nothing to stop */
};
struct op_clear {
    enum op_clear_step step;
    enum op_clear_then then;
    int64_t begun_ms, until_ms; /* of the phase, of the step */
    int64_t look_ms;            /* between the last two looks */
    enum ask last;              /* the last question about which process is the main one */
    bool is_asking;             /* an answer is awaited */
};

/* Decided when it arrives. */
enum op_fate { FATE_ACCEPTED, FATE_REFUSED /* too many waited */, FATE_CANCELLED };

/* A restart without a command of its own is a stop, then a start. */
enum op_half { HALF_START, HALF_STOP };

struct op {
    /* Aligned for any type, so that its arena, which follows the op, is aligned too (op_new()). */
    _Alignas(16) TAILQ_ENTRY(op) link; /* in the list of its process, in order of arrival */
    TAILQ_ENTRY(op) waiting; /* in the list of operations that wait for the journal, by mark */
    struct core *core;
    struct proc *proc;
    struct arena arena;
    struct message_command command; /* task "": an internal operation (core_own.h) */
    enum op_origin origin;          /* of an internal operation */
    const char *key;                /* task#item */
    enum op_phase phase;            /* changed by op_enter() alone */
    const struct op_cell *cell;     /* of the table: what was last done with it */
    uint64_t id;                    /* of its runs and probes */
    uint64_t mark;                  /* the journal mark that it waits for */
    int64_t deadline_ms;
    int64_t asked_ms;            /* when it began to wait for a slot */
    int64_t self_ms, run_end_ms; /* when its command is probed as the process; when it times out */
    int64_t check_ms;       /* when the final probe is made, or the time after SIGTERM is over */
    int64_t check_until_ms; /* end of repeated probes after a start */
    struct timer timer;
    struct core_ident run; /* its command; pid 0: none, or ended; -1: about to start */
    int64_t out_from;      /* offset in the output file where the command's output begins */
    int status;            /* exit status of the command, or CORE_STATUS_UNKNOWN */
    struct core_ident old; /* the process before a restart, or over a limit */
    enum op_half half;
    uint64_t questions; /* number of probes so far: only the answer to the last one counts */
    enum ask asked;     /* why the last one was made */
    enum op_begun begun;
    enum op_fate fate;
    struct op_clear clear;
    bool is_cleared;     /* PHASE_CLEAR is over */
    bool is_preparing;   /* `run` is the pre-start command */
    bool is_prepared;    /* that has succeeded */
    int sent;            /* PHASE_DYING: the last signal sent */
    bool is_durable;     /* the command is durable in the journal */
    bool is_unchecked;   /* the host's policy could not be checked yet: the probe does it */
    bool is_told;        /* reported as in progress */
    struct ready *ready; /* core_ready.h; NULL: does not wait for readiness */
    TAILQ_ENTRY(op) queued;
    bool is_queued, has_slot, goes_first; /* core_queue.h */
    const struct proc_view *view;         /* PHASE_ASK: of the process; NULL: it does not run */
    struct core_ident shown;              /* found by an unchecked query: not adopted */
    struct core_ident seen;               /* found by a peek: a launcher or the process */
    struct proc_cause *before; /* cause before the exit of `seen`; NULL: it has not exited */
    const char *why_down;      /* what was found in place of the process; NULL: not known */
    int64_t fits_ms; /* when its command began, which has the name of the process; 0: it has not */
    const char *found; /* what its command is instead of the process; on the heap; NULL: unknown */
    const char *instead; /* the same for people, while it is in progress; on the heap; NULL: none */
    const char *reason, *output; /* of a failure: how it failed; the output of its command */
    struct message_result result;
};

/* Size of an op with its texts in the core's pool: sixteen fit into a slab. */
enum { OP_BYTES = 4080 };

struct op *op_new(struct core *c, const struct message_command *command);
void op_free(struct op *op);
void op_begin_next(struct proc *k); /* starts the next operation if none is in progress */
void op_before_exit(struct op *op, struct core_ident ident); /* exit of the process, */
                                                             /* not of the command */
/* records its command as the start command */
void op_note_start(struct op *op);
void op_wait_for_slot(struct op *op, bool goes_first);

static inline bool op_has_acted(const struct op *op)
{
    return op->begun >= BEGUN_RESUMED;
}

/* core_end.c */
void op_end_with(struct op *op, int code, const struct proc_view *seen, const char *text);
void op_end(struct op *op, int code, const char *fmt, ...) MSG_FORMAT(3, 4);
void op_end_query(struct op *op, const struct core_probe *probe);
void op_end_unchecked(struct op *op, const struct core_probe *probe);
void op_succeed(struct op *op, struct core_ident ident); /* this part succeeded */
void op_end_claimed(struct op *op, int64_t pid);         /* it runs already */
void op_end_cleared(struct op *op);                      /* and its family has ended, too */
void op_fail_check(struct op *op, const char *why);
void op_fail_ready(struct op *op, const char *state, const char *why);
void op_fail_late(struct op *op, const char *output); /* its command ran too long */
void op_fail_command(struct op *op, int status, const char *output);
void op_stop_hosting(struct op *op);
/* a start of a running process; false: nothing stored */
bool op_store_spec(struct op *op);
bool op_host_running(struct op *op); /* likewise; false: already hosted, or not requested */
/* Before it hosts the process `ident`, which runs: takes it over from another name.  False: it is
 * hosted there, and the operation has ended. */
bool op_claim(struct op *op, struct core_ident ident);
void op_set_hosting(struct op *op);

#endif
