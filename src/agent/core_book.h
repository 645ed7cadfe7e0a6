/* SPDX-License-Identifier: MIT */
/* core_book.h - what the core writes to the journal, for its own sources. */
#ifndef AGENT_CORE_BOOK_H
#define AGENT_CORE_BOOK_H

#include "base/timers.h"
#include "link/message.h"

struct core;
struct kept;
struct op;

enum record_type {
    RECORD_COMMAND = 1,  /* struct message_command, its deadline in our clock's terms */
    RECORD_RUN,          /* struct run_record */
    RECORD_RESULT,       /* struct message_result */
    RECORD_STORED,       /* struct message_ref: the server has the result */
    RECORD_PROCESS,      /* struct process_record */
    RECORD_STATE,        /* the same without what seldom changes */
    RECORD_DONE,         /* struct done_record: of a command only this is known any more */
    RECORD_EVENT,        /* struct message_event */
    RECORD_EVENT_STORED, /* struct message_event_ref: the server has it and all before it */
    RECORD_EVENT_GAP,    /* struct event_gap */
    RECORD_EVENT_LAST,   /* struct message_event_ref: no id up to this one is given again */
    RECORD_GROUP,        /* struct proc_group: what a namespace may use */
    RECORD_CYCLE,        /* struct cycle_record: a run of a periodic process */
};

/* A command that has a result, which is kept until the server has stored it.  That there
 * was one is known until its deadline has passed, should the command come again. */
struct done {
    struct core *core;
    struct kept_result *result; /* NULL: the server has it */
    int64_t deadline_ms;
    struct timer timer;
    char key[]; /* task#item */
};

/* The whole of a process if its spec is not in the journal, else what is new. */
void book_process(struct kept *k);
void book_set_spec(struct kept *k, const struct proc_spec *spec); /* copied */
uint64_t book_command(struct op *op);
void book_run(struct op *op);
uint64_t book_result(struct op *op);
void book_done(struct core *c, const struct message_result *result, int64_t deadline_ms);
void book_stored(struct core *c, const char *task, int64_t item);
void book_send_again(struct done *d); /* its result, if it is still wanted */
void book_send_all(struct core *c);
void book_free_done(struct done *d);
void book_new_boot(struct core *c); /* deadlines of before mean nothing now */

#endif
