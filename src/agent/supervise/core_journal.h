/* SPDX-License-Identifier: MIT */
/* core_journal.h - records that the core writes to the journal.  For the core's own sources. */
#ifndef AGENT_SUPERVISE_CORE_JOURNAL_H
#define AGENT_SUPERVISE_CORE_JOURNAL_H

#include "base/io/timers.h"
#include "link/message.h"

struct core;
struct proc;
struct op;

enum record_type {
    RECORD_COMMAND = 1,  /* struct message_command, its deadline on our clock */
    RECORD_RUN,          /* struct run_record */
    RECORD_RESULT,       /* struct message_result */
    RECORD_STORED,       /* struct message_ref: the server has the result */
    RECORD_PROCESS,      /* struct process_record */
    RECORD_STATE,        /* the same without members that rarely change */
    RECORD_DONE,         /* struct done_record: a command without its result */
    RECORD_EVENT,        /* struct message_event */
    RECORD_EVENT_STORED, /* struct message_event_ref: the server has all events up to it */
    RECORD_EVENT_GAP,    /* struct event_gap */
    RECORD_EVENT_LAST,   /* struct message_event_ref: ids up to this one are used */
    RECORD_GROUP,        /* struct proc_group: limits of a namespace */
    RECORD_CYCLE,        /* struct cycle_record: a run of a periodic process */
};

/* A command that has a result.  The result is kept until the server has stored it.  The command
 * is remembered until its deadline has passed, in case it arrives again. */
struct done {
    struct core *core;
    struct unstored_result *result; /* NULL: the server has stored it */
    int64_t deadline_ms;
    struct timer timer;
    char key[]; /* task#item */
};

/* Writes the full process if its spec is not in the journal, otherwise only its state. */
void journal_note_process(struct proc *k);
void journal_note_spec(struct proc *k, const struct proc_spec *spec); /* copied */
uint64_t journal_note_command(struct op *op);
void journal_note_run(struct op *op);
uint64_t journal_note_result(struct op *op);
void journal_note_done(struct core *c, const struct message_result *result, int64_t deadline_ms);
void journal_note_stored(struct core *c, const char *task, int64_t item);
void done_send_again(struct done *d); /* resends its result, if the server has not stored it */
void done_send_all(struct core *c);
void done_free(struct done *d);
void done_on_new_boot(struct core *c); /* deadlines from the previous boot are invalid */

#endif
