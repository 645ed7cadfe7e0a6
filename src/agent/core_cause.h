/* SPDX-License-Identifier: MIT */
/* core_cause.h - the facts behind why a process is as it is (model/why.h), for the core's
 * own sources.
 *
 * They are noted as they happen, in kept->cause.  Its texts are on the heap and the
 * process's own; NULL when empty, so one that nothing befalls costs nothing.  What follows
 * from what else is known (what is in work, tries) is put in by cause_fill(). */
#ifndef AGENT_CORE_CAUSE_H
#define AGENT_CORE_CAUSE_H

#include "agent/core_in.h"

void cause_init(struct kept *k);
void cause_free(struct kept *k);

/* Its last lines, or NULL for none; what was there is freed. */
void cause_set_last(const char **slot, const char *text);

/* It has ended; its last words, and whether memory was out, come later. */
void cause_on_exit(struct kept *k, struct core_ident ident, int status);
void cause_on_said(struct kept *k, const char *output, bool oom);
void cause_restore_exit(struct kept *k, const struct proc_cause *before);
struct kept *cause_find_exited(const struct core *c, struct core_ident ident); /* NULL: none */

/* An operation on it, or a restart, did not succeed; `output`: its command's, or NULL. */
void cause_on_failure(struct kept *k, int64_t op, int code, const char *text, const char *output);
/* One did: what failed before is the past.  How it ended last is still worth knowing. */
void cause_on_success(struct kept *k);

/* Another of its texts; NULL or "": none. */
void cause_set_text(const char **slot, const char *text);

/* As it is told; its texts are kept's. */
void cause_fill(const struct kept *k, struct proc_cause *ret);
/* As it was in the journal. */
void cause_replay(struct kept *k, const struct proc_cause *from);

#endif
