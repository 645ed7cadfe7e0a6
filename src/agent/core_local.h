/* SPDX-License-Identifier: MIT */
/* core_local.h - operations of somebody on the host itself, and what he is shown.
 *
 * Such an operation is a command like any other: in the journal before anything is done,
 * behind those of its process that came before it, carried out at most once.  Its task is
 * "local:USER:NUMBER".  Its result goes out by hand send() at once, whether there is a
 * server or not, and is not kept: whoever asked has it, or has gone.  The server hears of
 * it by an event with the user's name, which waits until it is stored there. */
#ifndef AGENT_CORE_LOCAL_H
#define AGENT_CORE_LOCAL_H

#include "link/message.h"

struct core;
struct op;

enum { CORE_LOCAL_TASK_SIZE = 64, CORE_LOCAL_USER_MAX = 32 };

/* `number` is never given again, by later agents either. */
void core_local_task(const char *user, uint64_t number, char to[CORE_LOCAL_TASK_SIZE]);
bool core_is_local(const char *task);

/* What m says of a deadline does not count: it is begun within in_ms, or refused.  False:
 * too many operations wait. */
bool core_operate(struct core *c, const struct message_command *m, int64_t in_ms, int64_t now_ms);

/* Every process that is known, or those of a namespace or of one name; "": any. */
void core_each_view(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct proc_view *view), void *arg);

struct core_counts {
    int64_t processes, running, hosted, operations, events;
};
void core_count(const struct core *c, struct core_counts *ret);

/* For the core's own sources: its result is known, and in the journal with this. */
void local_on_end(struct op *op);
void local_refuse(struct core *c); /* a task like that from the server */

#endif
