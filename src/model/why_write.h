/* SPDX-License-Identifier: MIT */
/* why_write.h - one sentence that explains the state of a process, made from the facts of
 * cause.h. */
#ifndef MODEL_WHY_WRITE_H
#define MODEL_WHY_WRITE_H

#include <stdint.h>

#include "base/mem/buf.h"
#include "model/code.h"
#include "model/view.h"

/* "running for 3h 2m as pid 812; restarted 2 times, last after signal 11 (SIGSEGV), core dumped".
 * One line without a full stop; the output is not part of it. */
void why_write(const struct proc_view *v, enum lang lang, int64_t now_s, struct buf *to);

/* The same for an offline host: the last known state, which is of since_s (0: not known). */
void why_write_away(const struct proc_view *v, enum lang lang, int64_t since_s, int64_t now_s,
                    struct buf *to);

/* Parts of it, for a table of the facts: the last exit, and the name of an operation. */
void why_write_exit(const struct proc_cause *c, enum lang lang, struct buf *to);
const char *why_op_name(int64_t op, enum lang lang);

#endif
