/* SPDX-License-Identifier: MIT */
/* core_claim.h - one running process that several names identify, and its hosting.  For the core's
 * own sources.
 *
 * A process is restarted under one name only.  When a host or restart operation meets a running
 * process that another hosted name has, hosting moves to the name of the operation, if both have
 * the same proc_name, pid file and user, and if the caller may host the other name too
 * (message_command.may_host).  Otherwise the operation ends with CODE_MATCH; its text names the
 * other only to a caller that may host it.  All other operations take no notice of other names.
 *
 * The same holds for a host operation where both are down: each name would start the process.  An
 * automatic start waits while the process is being started under another name: its pid file may not
 * be written yet. */
#ifndef AGENT_SUPERVISE_CORE_CLAIM_H
#define AGENT_SUPERVISE_CORE_CLAIM_H

#include "agent/supervise/core_op.h"

/* Whether a hosted process may be the one that the operation would host: its pid file has to be
 * read. */
bool claim_is_possible(const struct op *op);

/* Whether another hosted name has this process. */
bool claim_has(const struct op *op, struct core_ident ident);

/* The same, or a hosted name that is down identifies the process of the operation. */
bool claim_is_made(const struct op *op, struct core_ident ident);

/* Whether the process of the operation is being started under another name. */
bool claim_is_being_started(const struct op *op);

/* Whether `k`, which is hosted, may take the process of `owner`, which is not: both describe one.
 */
bool claim_gives_way(const struct proc *owner, const struct proc *k);

/* A hosted name that has this process, if the caller may host it; NULL: there is none. */
const struct proc *claim_other(const struct op *op, struct core_ident ident);

/* False: *ret_other is a name that hosting can not move from, or NULL if it may not be named. */
bool claim_can_move(const struct op *op, struct core_ident ident, const struct proc **ret_other);

/* Ends the hosting of all other names that have this process, or are down and identify it. */
void claim_move(struct op *op, struct core_ident ident);

#endif
