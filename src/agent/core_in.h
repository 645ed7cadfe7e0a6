/* SPDX-License-Identifier: MIT */
/* core_in.h - what the core's sources share.  Not for others.
 *
 *   core.c       what happens finds what it is about
 *   core_op.h    an operation: core_rules.c, core_ops.c
 *   core_keep.c  a hosted process is kept alive
 *   core_tell.c  what the server is told: processes, digests, events
 *   core_book.c  the journal: commands, results, processes; and after a crash */
#ifndef AGENT_CORE_IN_H
#define AGENT_CORE_IN_H

#include <sys/queue.h>

#include "agent/core.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/timers.h"
#include "model/code.h"

struct op;
struct untold;

enum record_type {
    RECORD_COMMAND = 1, /* struct message_command, its deadline in our clock's terms */
    RECORD_RUN,         /* struct run_record */
    RECORD_RESULT,      /* struct message_result */
    RECORD_STORED,      /* struct message_ref: the server has the result */
    RECORD_PROCESS,     /* struct process_record */
};

/* A process we know. */
struct kept {
    struct core *core;
    char *key; /* space:name */
    struct arena arena;
    struct proc_meta meta;
    struct proc_spec spec;
    int64_t wanted; /* enum proc_status */
    bool hosted, has_spec;
    struct core_ident ident; /* pid 0: not running, as far as we know */
    struct core_ident run;   /* the command of a restart of ours, as op's */
    struct core_ident start; /* the last command that was to start it */
    int64_t begun_ms;        /* when it began, or was adopted */
    int64_t tries;           /* restarts since it was last well */
    int64_t register_s, last_start_s, restarts;
    char why[256];
    unsigned char digest[DIGEST_SIZE]; /* of its facts, as they are in the core's */
    struct timer timer;                /* the next restart */
    TAILQ_HEAD(, op) ops;
    struct kept *same_pid; /* another that is known to be this very process */
};

/* A command that has a result: kept until the server has stored it, and until
 * its deadline has passed, so that it is known if it comes again. */
struct done {
    struct core *core;
    char *key; /* task#item */
    struct arena arena;
    struct message_result result;
    int64_t deadline_ms;
    bool is_stored;
    struct timer timer;
};

struct core {
    const struct core_hands *hands;
    void *arg;
    int64_t now_ms, wall_ms;
    struct timers timers;
    struct map kept;     /* by space:name */
    struct map commands; /* by task#item: struct op in work */
    struct map done;     /* by task#item */
    struct map by_id;    /* struct op, by its id's bytes */
    struct map by_pid;   /* struct kept, by its pid's bytes: the first of them */
    uint64_t next_id;
    TAILQ_HEAD(, op) waiting;
    int64_t offset_ms; /* server's clock less ours */
    bool is_linked, is_started;
    int64_t next_event, untold_lost; /* lost: there were too many */
    TAILQ_HEAD(, untold) untold;     /* events, while nobody is there to be told */
    size_t untold_n;
    unsigned char digest[DIGEST_SIZE]; /* those of all processes, combined */
    char hello[DIGEST_TEXT_SIZE];      /* what the last hello said */
};

/* core.c */
struct kept *core_kept(struct core *c, const char *space, const char *name); /* made if need be */
void core_set_ident(struct kept *k, struct core_ident ident); /* and watch it; pid 0: none */
void core_forget(struct kept *k); /* one that nobody has registered, and nobody asks about now */

/* core_tell.c */
bool core_is_known(const struct kept *k); /* it is more than a name somebody asked about */
void core_fill_view(const struct kept *k, struct proc_view *v); /* what we know of it */
void core_tell_process(struct kept *k);
void core_tell_change(struct kept *k); /* if its facts are others than were told last */
void core_tell_all(struct core *c, bool is_asked);
void core_tell_event(struct kept *k, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void core_free_events(struct core *c);

/* core_keep.c */
void keep_on_exit(struct kept *k, int status); /* what it means, whatever is in work */
void keep_on_done(struct kept *k, int code, const char *text); /* of a restart of ours */
void keep_look(struct kept *k); /* nothing is in work: is there something to do? */
void keep_on_time(void *kept);
void keep_resume(struct kept *k); /* a restart was in work when the agent died */

/* core_book.c */
void book_process(struct kept *k);
uint64_t book_command(struct op *op);
void book_run(struct op *op);
uint64_t book_result(struct op *op);
void book_done(struct core *c, const struct message_result *result, int64_t deadline_ms);
void book_stored(struct core *c, const char *task, int64_t item);
void book_send_all(struct core *c);
void book_free_done(struct done *d);
void book_new_boot(struct core *c); /* deadlines of before mean nothing now */

#endif
