/* SPDX-License-Identifier: MIT */
/* core_own.h - internal operations: those that the core itself creates.  For the core's own
 * sources.
 *
 * They go through the same phases as requested operations, but have no client: no task, no
 * deadline and no result.  end_ours() in core_end.c passes the outcome to the module that
 * created the operation. */
#ifndef AGENT_SUPERVISE_CORE_OWN_H
#define AGENT_SUPERVISE_CORE_OWN_H

#include <stdint.h>

struct proc;
struct op;

/* The purpose of an internal operation. */
enum op_origin {
    ORIGIN_RESTART,     /* the process is down and is restarted */
    ORIGIN_LIMIT,       /* the process exceeds a limit and is stopped; a hosted one is restarted
                           afterwards */
    ORIGIN_CYCLE,       /* a run of a periodic process */
    ORIGIN_HEALTH,      /* the process is unhealthy and is restarted */
    ORIGIN_FILE,        /* a file has changed, and the process is restarted */
    ORIGIN_FILE_RELOAD, /* the same, and it is reloaded */
};

/* Uses the known spec; queued before all waiting operations.  op_begin_next() starts it. */
struct op *op_new_ours(struct proc *k, int64_t number, enum op_origin origin);

#endif
