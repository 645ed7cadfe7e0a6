/* SPDX-License-Identifier: MIT */
/* core_local.h - operations requested on the host itself, and the data shown there.
 *
 * Such an operation is a command like any other: it is in the journal before anything is done,
 * queued behind earlier operations of its process, and executed at most once.  Its task is
 * "local:USER:NUMBER".  Its result is sent by effect send() at once, with or without a server,
 * and is not kept: either the client receives it or has disconnected.  The server learns of the
 * operation by an event with the user's name, which is kept until it is stored. */
#ifndef AGENT_SUPERVISE_CORE_LOCAL_H
#define AGENT_SUPERVISE_CORE_LOCAL_H

#include "link/message.h"

struct core;
struct op;

enum { CORE_LOCAL_TASK_SIZE = 64, CORE_LOCAL_USER_MAX = 32 };

/* `number` must be unique, also across restarts of the agent. */
void core_local_task(const char *user, uint64_t number, char to[CORE_LOCAL_TASK_SIZE]);
bool core_is_local(const char *task);

/* Ignores the deadline of `m`: the operation starts within in_ms or is refused.  False: too many
 * operations are waiting. */
bool core_operate(struct core *c, const struct message_command *m, int64_t in_ms, int64_t now_ms);

/* Every process that is known or being started, filtered by namespace and name; "": any. */
void core_each_view(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct proc_view *view), void *arg);

/* Every process that the agent knows how to run. */
struct core_spec {
    const struct proc_meta *meta;
    const struct proc_spec *spec;
    bool hosted, running;
};
void core_each_spec(const struct core *c, const char *space, const char *name,
                    void (*fn)(void *arg, const struct core_spec *spec), void *arg);

/* Events with a greater id than `after`, oldest first: those that wait for the server, and the last
 * ones that it has stored. */
typedef void core_event_fn(void *arg, const struct message_event *event);
void core_each_event(const struct core *c, int64_t after, core_event_fn *fn, void *arg);

struct core_counts {
    int64_t processes, running, hosted, operations, events;
};
void core_count(const struct core *c, struct core_counts *ret);

/* For the core's own sources: the result of `op` is known; the event is written to the journal
 * together with it. */
void local_on_end(struct op *op);
void local_refuse(struct core *c); /* the server sent a task with the reserved prefix "local:" */

#endif
