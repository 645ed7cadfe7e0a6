/* SPDX-License-Identifier: MIT */
/* store_task_lists.h - lists of tasks for operators: verbs of store.h. */
#ifndef STORE_STORE_TASK_LISTS_H
#define STORE_STORE_TASK_LISTS_H

#include "store/store_tasks.h"

/* Tasks, newest first.  task_list_ask; list of task_list_row. */
struct task_list_ask {
    int64_t before_no; /* last task of the previous page; INT64_MAX: first page */
    int64_t since_ms;  /* created then or later */
    const char *app;   /* "": any */
    bool open_only;
    int64_t limit;
    bool failed_only; /* only tasks with a failed item */
};

struct task_list_row {
    struct task_row task;
    int64_t op; /* of the first item, like the members below */
    const char *space, *name;
    int64_t n_cancelled; /* items that were cancelled before they started */
};

extern const struct store_verb store_task_list;

/* The last operations on one process of some hosts: open items, then ended ones, each host by host
 * and newest first.  task_past_ask; list of task_past_row. */
struct task_past_host {
    const char *agent_id;
};

struct task_past_ask {
    const char *space, *name;
    int64_t limit;     /* per host, of open and of ended items */
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
