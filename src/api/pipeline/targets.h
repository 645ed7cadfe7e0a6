/* SPDX-License-Identifier: MIT */
/* targets.h - the targets of an operation, collected until the operation is submitted.
 *
 * A target's key is the name under which the caller will look for its result, as the caller spelled
 * it.  Within one operation a target named twice is one target; a host named in two ways is
 * operated once: its key (server/dispatch/task_key.h) contains both names, and the result APIs show
 * both.
 *
 * For an app that may neither start nor host (app_may_bring_spec()) commands, users and paths of
 * the request are ignored: each target uses its registered spec. */
#ifndef API_PIPELINE_TARGETS_H
#define API_PIPELINE_TARGETS_H

#include "api/pipeline/call.h"
#include "api/pipeline/spec_cache.h"
#include "base/mem/map.h"
#include "model/proc.h"
#include "server/dispatch/tasks.h"

struct targets {
    struct call *call;
    struct task_target *items;
    struct targets_room *rooms; /* buffer of each key */
    size_t n;
    struct map by_key, by_agent;  /* of the current operation */
    bool idempotent;              /* as in task_ask */
    struct spec_cache spec_cache; /* registered specs, for apps that may bring none */
    const struct proc_spec *none, *unchecked_of; /* an empty spec; the source of `unchecked` */
    const struct proc_spec *unchecked;           /* a copy with only its identity */
};

void targets_init(struct targets *t, struct call *c, size_t most);
void targets_done(struct targets *t);

/* Checks an operation independently of its targets: the app may not use the operation or the
 * namespace (CODE_DENIED), or the spec lacks a field that the operation requires (NULL: needs
 * none).  `at` is the path of the operation in the request, "" or "x[2].". */
int targets_check(const struct call *c, const char *at, const char *space_field, int64_t op,
                  const char *space, const struct proc_spec *spec, struct err *err);

/* Starts the next operation: it may have the same targets again. */
void targets_next(struct targets *t);

/* Adds a target.  `like` has everything but agent, key, and the failures that are found here: no
 * such host (h NULL), a host that the app may not see, an unknown operation, no registered spec for
 * an app that may bring none. */
void targets_add(struct targets *t, const struct fleet_host *h, const char *key,
                 const struct task_target *like);

/* The key of a process on a host in GSE's v1. */
const char *targets_v1_key(const struct call *c, const struct host_ref *host,
                           const struct proc_meta *meta);

/* Submits the operation and frees the targets.  `accepted` ends the call, later; on failure the
 * call was ended. */
typedef void targets_accepted_fn(struct call *c, const char *task_id, size_t n);
void targets_operate(struct targets *t, targets_accepted_fn *accepted);

#endif
