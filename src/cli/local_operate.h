/* SPDX-License-Identifier: MIT */
/* local_operate.h - operations by the agent of this host, for --local: one on each process of
 * cli->names, some at a time.
 *
 * The agent keeps no tasks: each result arrives on the connection that asked for it. */
#ifndef CLI_LOCAL_OPERATE_H
#define CLI_LOCAL_OPERATE_H

#include "cli/cli.h"
#include "cli/local_link.h"
#include "cli/watch.h"

/* The operation of the command, or for `forget` the end of the definitions.  Fills w like
 * watch_task(), or, with --no-wait, with all items unfinished.  ret_not_begun: how many had not
 * begun when the wait ended, and never will. */
int local_operate(struct cli *cli, struct watch *w, int64_t *ret_not_begun, struct err *err);

/* Begins an operation on one process by the spec that the agent has.  Its result comes on the link
 * as MESSAGE_RESULT. */
int local_operate_begin(struct cli *cli, struct arena *a, int64_t op, const char *space,
                        const char *name, struct local_link *ret, struct err *err);

/* What it would do, without doing it. */
int local_dry_run(struct cli *cli, struct operation_view *ret, struct err *err);

#endif
