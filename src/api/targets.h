/* SPDX-License-Identifier: MIT */
/* targets.h - the targets of an operation, one by one, until it is asked for.
 *
 * A target's key is how the caller will look for its result, in the caller's own spelling.
 * Within one operation a target named twice is one target, and one host named in two ways
 * is operated once: its key has both, a line each, and the result APIs show both. */
#ifndef API_TARGETS_H
#define API_TARGETS_H

#include "api/call.h"
#include "base/map.h"
#include "model/proc.h"
#include "server/tasks.h"

struct targets {
    struct call *call;
    struct task_target *items;
    struct targets_room *rooms; /* of the key of each */
    size_t n;
    struct map by_key, by_agent; /* of the operation in work */
    bool idempotent;             /* as task_ask's */
};

void targets_init(struct targets *t, struct call *c, size_t most);
void targets_done(struct targets *t);

/* What is wrong with an operation whatever its targets are: it, or the namespace, is not the
 * app's (CODE_DENIED), or the spec lacks what the operation can not do without (NULL: it needs
 * none).  `at` is the path of the operation in the request, "" or "x[2].". */
int targets_check(const struct call *c, const char *at, const char *space_field, int64_t op,
                  const char *space, const struct proc_spec *spec, struct err *err);

/* The next operation begins: the same target again is another one. */
void targets_next(struct targets *t);

/* Adds one; `like` has all but agent, key, and what we find wrong here: no such host (NULL),
 * not a host of the app's, no such operation. */
void targets_add(struct targets *t, const struct fleet_host *h, const char *key,
                 const struct task_target *like);

/* How GSE's v1 names a process of a host in its answers. */
const char *targets_v1_key(const struct call *c, const struct host_ref *host,
                           const struct proc_meta *meta);

/* Asks the tasks for it, and lets go of the targets.  `accepted` ends the call, later; a
 * failure has ended it. */
typedef void targets_accepted_fn(struct call *c, const char *task_id, size_t n);
void targets_operate(struct targets *t, targets_accepted_fn *accepted);

#endif
