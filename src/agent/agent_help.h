/* SPDX-License-Identifier: MIT */
/* agent_help.h - another thread of the agent, for what blocks: jobs go in, and come back
 * by help_fn, on the loop.  For the agent's own sources. */
#ifndef AGENT_AGENT_HELP_H
#define AGENT_AGENT_HELP_H

#include <stdbool.h>

#include "agent/journal.h"
#include "agent/user.h"
#include "base/queue.h"

struct act;
struct agent;
struct help;
struct local_name;
struct spawner;

struct job {
    struct queue_node node;
    void (*work)(struct job *job); /* what is to be done, or NULL: */
    struct act *act;               /* a command to start, or NULL: */
    struct local_name *name;       /* a user whose name is looked up, or NULL: */
    char *user_name;               /* a user to look up, or NULL: a sync */
    struct user *user;
    bool has_failed;
    struct err err;
    struct journal_sync sync;
};

typedef void help_fn(struct agent *a, struct job *job);

/* With a spawner, which it takes unless it fails, it starts commands. */
int help_new(struct agent *a, help_fn *fn, struct spawner *s, struct help **ret, struct err *err);
/* The same, but one that hangs (a dead disk) after this long is left to itself, and so is what
 * it works with. */
void help_leave(struct help *h, int64_t wait_ms);
void help_free(struct help *h);                /* waits for what is being done, and hands it back */
bool help_do(struct help *h, struct job *job); /* false: too many wait; it is still the caller's */
void help_collect(struct help *h);             /* hands back what is done, told of or not */
size_t help_load(const struct help *h);        /* jobs that have not come back */

#endif
