/* SPDX-License-Identifier: MIT */
/* core_side_command.h - commands outside operations (version, health).  For the core's own
 * sources.
 *
 * A side command needs no journal and no operation slot, changes nothing, and is lost if the
 * agent dies.  SIDE_COMMANDS_AT_ONCE run at the same time; the others wait in order of arrival.
 * A command that times out is killed, and its callback is called at once; until it has exited,
 * no other of the same kind is started for the same process. */
#ifndef AGENT_SUPERVISE_CORE_SIDE_COMMAND_H
#define AGENT_SUPERVISE_CORE_SIDE_COMMAND_H

#include "agent/supervise/core_in.h"

enum { SIDE_COMMANDS_AT_ONCE = 16 };

struct side_command;

/* The status of a command that did not start.  It says nothing about the process. */
enum { SIDE_COMMAND_NOT_BEGUN = -2 };

/* `failure` not NULL: the command did not start or timed out; otherwise its status and output.
 * The side command is finished: it must not be dropped any more. */
typedef void side_command_fn(struct proc *k, void *arg, int status, const char *output,
                             const char *failure);

/* `what` ("health") is not copied.  NULL: the last command of this kind has not exited yet. */
struct side_command *side_command_run(struct proc *k, const struct proc_spec *spec,
                                      const char *what, const char *line, int64_t timeout_ms,
                                      side_command_fn *fn, void *arg);
/* Whether the last command of this kind has started and not exited yet. */
bool side_command_has_begun(const struct proc *k, const char *what);
/* Kills it without calling its callback; NULL is allowed. */
void side_command_drop(struct side_command *e);

/* For core.c. */
void side_commands_begin(struct core *c);
void side_commands_close(struct core *c); /* the core ends: calls no effects any more */
void side_commands_end(struct core *c);
void side_commands_forget(struct proc *k); /* k is about to be freed */
/* False: the id is not that of a side command. */
bool side_command_on_run(struct core *c, uint64_t id, const struct err *failure);
bool side_command_on_run_end(struct core *c, uint64_t id, int status, const char *output);
bool side_command_has(const struct core *c, uint64_t id); /* and its callback is pending */

#endif
