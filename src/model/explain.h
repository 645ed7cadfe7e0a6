/* SPDX-License-Identifier: MIT */
/* explain.h - the explanation of a process's state with all facts about it: GET /v1/explain. */
#ifndef MODEL_EXPLAIN_H
#define MODEL_EXPLAIN_H

#include "model/code.h"
#include "model/host.h"
#include "model/proc.h"

struct explain_ask {
    const char *space, *name, *host; /* host "": all hosts that have it */
    const char *after;
    int64_t limit;
};

/* A recent operation on the process. */
struct explain_operation {
    const char *task_id, *app, *user;
    int64_t op, created_ms, done_ms; /* done_ms 0: not done yet */
    int64_t code;
    const char *text;
};

struct explanation {
    struct process_view process; /* its `why` is in the caller's language */
    const char *why[LANGS];
    bool is_trouble;
    int64_t since_s; /* when the host's agent last connected or disconnected */
    enum presence has_policy;
    struct proc_policy policy; /* from its spec, or the defaults */
    struct list operations;    /* struct explain_operation, newest first */
};

struct explain_page {
    struct list processes; /* struct explanation, by agent id */
    const char *next;
};

extern const struct shape explain_ask_shape, explain_policy_shape, explain_operation_shape,
    explanation_shape, explain_page_shape;

#endif
