/* SPDX-License-Identifier: MIT */
/* core_cause.h - the facts that explain the state of a process (model/why.h).  For the core's
 * own sources.
 *
 * Facts are recorded in proc->cause as they happen.  Its texts are on the heap and owned by the
 * process; an empty text is NULL, so a process without incidents uses no memory for them.
 * cause_fill() adds facts that derive from other state (operation in progress, restart
 * attempts). */
#ifndef AGENT_SUPERVISE_CORE_CAUSE_H
#define AGENT_SUPERVISE_CORE_CAUSE_H

#include "agent/supervise/core_in.h"

void cause_init(struct proc *k);
void cause_free(struct proc *k);

/* Stores the last lines of `text`, or NULL if it is empty; frees the previous text. */
void cause_set_last(const char **slot, const char *text);

/* The process has ended.  Its last output and whether it was an OOM kill arrive later. */
void cause_on_exit(struct proc *k, struct core_ident ident, int status);
void cause_on_output(struct proc *k, const char *output, enum proc_oom oom);
void cause_restore_exit(struct proc *k, const struct proc_cause *before);
struct proc *cause_find_exited(const struct core *c, struct core_ident ident); /* NULL: none */

/* An operation or restart failed.  `output`: the output of its command, or NULL. */
void cause_on_failure(struct proc *k, int64_t op, int code, const char *text, const char *output);
/* An operation or restart succeeded: clears the recorded failure.  The last exit is kept. */
void cause_on_success(struct proc *k);

/* Call before `spec` is stored.  A running process continues with the spec it was started with. */
void cause_on_spec(struct proc *k, const struct proc_spec *spec);
/* The process was started or replaced: if it runs, it runs with k->spec. */
void cause_on_start(struct proc *k);

/* Copies the beginning of `text`, less than size / 2 bytes; a message whose sentence is that short
 * stays one.  Returns the length of the copy. */
enum { CAUSE_TEXT_SIZE = 2 * (WHY_TEXT_BYTES + 1) };
size_t cause_cut(char *to, size_t size, const char *text);

/* Stores such a copy of `text`; NULL or "": none. */
void cause_set_text(const char **slot, const char *text);

/* The cause as reported to the server; its texts belong to the process. */
void cause_fill(const struct proc *k, struct proc_cause *ret);
/* Restores the cause from a journal record. */
void cause_replay(struct proc *k, const struct proc_cause *from);

#endif
