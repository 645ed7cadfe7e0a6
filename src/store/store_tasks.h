/* SPDX-License-Identifier: MIT */
/* store_tasks.h - tasks, from their making to their end: verbs of store.h.
 *
 * What always holds: a task is there with all its items, or not at all; n_left is the
 * number of its items that are not done.  What happens to items: store_items.h. */
#ifndef STORE_STORE_TASKS_H
#define STORE_STORE_TASKS_H

#include "store/store.h"

enum store_item_state { STORE_ITEM_QUEUED, STORE_ITEM_CLAIMED, STORE_ITEM_DONE };

struct task_row {
    int64_t task_no; /* the store's own number for it: rises with time, never comes again */
    const char *id, *app, *user;
    int64_t form;                    /* the API that made it decides how its keys look */
    int64_t created_ms, deadline_ms; /* wall time */
    int64_t n_items, n_left;
    int64_t finished_ms;     /* 0: not yet */
    int64_t n_failed;        /* of those that are done; see result_row.is_failure */
    int64_t cancelled_ms;    /* 0: nobody has */
    int64_t idempotent;      /* 1: what is so already went well */
    const char *request_key; /* by which it was asked for, see store_requests.h; "": none */
};

struct task_spec_row { /* shared by the items that name its number */
    int64_t n;
    const char *spec;
};

struct task_item_row {
    int64_t task_no, n;
    const char *agent_id, *key; /* the key as the caller spelled it */
    const char *space, *name;
    int64_t op, spec_n, state, epoch, code;
    const char *message, *content;
    int64_t done_ms;
};

struct task_create_ask {
    struct task_row task; /* what is counted or numbered is filled in */
    struct list specs;    /* of task_spec_row */
    struct list items;    /* of task_item_row */
};

struct task_left_row {
    int64_t task_no, n_left;
};

/* task_create_ask; task_left_row.  An item may be born claimed, with the epoch of a session
 * that the caller has, or done, with its result.  An id, or an n, that is there already:
 * ERR_CONFLICT. */
extern const struct store_verb store_task_create;

struct task_find_ask {
    const char *id;
};

struct task_open_ask {
    int64_t task_no; /* the last one of the page before; 0 */
    int64_t limit;
};

struct task_read_ask {
    const char *id;
    int64_t after_n, limit; /* the last item of the page before, -1 for the first */
};

struct task_read_got {
    struct list tasks; /* of task_row: at most one */
    struct list specs; /* of task_spec_row: all */
    struct list items; /* of task_item_row: the page, by n */
};

extern const struct store_verb store_task_find; /* task_find_ask; list of task_row, at most one */
extern const struct store_verb store_task_open; /* task_open_ask; list of task_row not finished */
extern const struct store_verb store_task_read; /* task_read_ask; task_read_got */

/* Notes that a task was cancelled, unless it was before; its items are ended by
 * store_task_result.  task_cancel_ask; list of task_left_row: none if it has ended. */
struct task_cancel_ask {
    int64_t task_no, at_ms;
};

extern const struct store_verb store_task_cancel;

/* Forgets tasks that were finished before then, at most `limit` rows at a time: a task is
 * gone at once, what belongs to it in as many calls as it takes. */
struct task_prune_ask {
    int64_t before_ms, limit;
};

struct task_prune_got {
    int64_t tasks, items; /* tasks: gone from now on; items: removed */
    bool more;
};

extern const struct store_verb store_task_prune; /* task_prune_ask; task_prune_got */

#endif
