/* SPDX-License-Identifier: MIT */
/* core_rules.h - what an operation does and requires, according to its row in
 * model/operation.h.  For the core's own sources. */
#ifndef AGENT_SUPERVISE_CORE_RULES_H
#define AGENT_SUPERVISE_CORE_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct op;
struct operation;

const struct operation *op_row(const struct op *op); /* NULL: unknown operation */
/* The current part: a restart by stop and start is first a stop, then a start. */
const struct operation *op_part(const struct op *op);
const char *op_line(const struct op *op);  /* command line of that part; "": none */
bool op_starts(const struct op *op);       /* its command starts the process */
int64_t op_instances(const struct op *op); /* expected number of instances; 0: one */
bool op_is_ours(const struct op *op);      /* an internal operation (core_own.h) */
/* Whether it has priority for a slot: internal operations do, except periodic runs. */
bool op_goes_first(const struct op *op);
bool op_is_acting(const struct op *op); /* it has started and its outcome is not known yet */
/* Completes the request with the known spec: the identity, and, if the request does not have
 * one, the rest.  The spec of a process that never started is used only for queries and to stop
 * leftovers. */
void op_use_known_spec(struct op *op);
/* The code and text to refuse the operation with, before anything is done; CODE_OK: nothing is
 * missing.  The API checks its requests itself, so this is for other sources. */
int op_lacks(struct op *op, const char **ret_what);
/* The commands to check against the host's policy, NULL-terminated, in the op's arena. */
const char *const *op_policy_lines(struct op *op);

#endif
