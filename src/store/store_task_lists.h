/* SPDX-License-Identifier: MIT */
/* store_task_lists.h - tasks as people look for them: verbs of store.h. */
#ifndef STORE_STORE_TASK_LISTS_H
#define STORE_STORE_TASK_LISTS_H

#include "store/store_tasks.h"

/* Tasks, newest first.  task_list_ask; list of task_list_row. */
struct task_list_ask {
    int64_t before_no; /* the last one of the page before; INT64_MAX for the first */
    int64_t since_ms;  /* made then or later */
    const char *app;   /* "": of all */
    bool open_only;
    int64_t limit;
    bool failed_only; /* some of it went wrong */
};

struct task_list_row {
    struct task_row task;
    int64_t op; /* of its first item, as what follows */
    const char *space, *name;
    int64_t n_cancelled; /* items that ended by that */
};

extern const struct store_verb store_task_list;

/* What was last asked of one process of some hosts: what is open, then what has ended, each
 * host by host and the newest first.  task_past_ask; list of task_past_row. */
struct task_past_host {
    const char *agent_id;
};

struct task_past_ask {
    const char *space, *name;
    int64_t limit;     /* of each host, open and ended */
    struct list hosts; /* of task_past_host */
};

struct task_past_row {
    const char *agent_id, *id, *app, *user;
    int64_t created_ms, op, state, code;
    const char *message;
    int64_t done_ms;
};

extern const struct store_verb store_task_past;

#endif
