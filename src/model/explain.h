/* SPDX-License-Identifier: MIT */
/* explain.h - why a process is as it is, with all that is known about it: GET /v1/explain. */
#ifndef MODEL_EXPLAIN_H
#define MODEL_EXPLAIN_H

#include "model/host.h"
#include "model/proc.h"

struct explain_ask {
    const char *space, *name, *host; /* host "": all that have it */
    const char *after;
    int64_t limit;
};

/* What was asked of it. */
struct explain_operation {
    const char *task_id, *app, *user;
    int64_t op, created_ms, done_ms; /* done 0: not yet */
    int64_t code;
    const char *text;
};

struct explanation {
    struct process_view process; /* its `why` is in the caller's language */
    const char *why[LANGS];
    bool is_trouble;
    int64_t since_s; /* the host's agent has been connected, or not */
    enum presence has_policy;
    struct proc_policy policy; /* what its spec says, or the defaults */
    struct list operations;    /* struct explain_operation, newest first */
};

struct explain_page {
    struct list processes; /* struct explanation, by agent id */
    const char *next;
};

extern const struct shape explain_ask_shape, explain_policy_shape, explain_operation_shape,
    explanation_shape, explain_page_shape;

#endif
