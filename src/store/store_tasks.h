/* SPDX-License-Identifier: MIT */
/* store_tasks.h - tasks, from creation to deletion: verbs of store.h.
 *
 * Invariants: a task exists with all its items or not at all; n_left is the number of its items
 * that are not done.  Items: store_items.h. */
#ifndef STORE_STORE_TASKS_H
#define STORE_STORE_TASKS_H

#include "store/store.h"

enum store_item_state { STORE_ITEM_QUEUED, STORE_ITEM_CLAIMED, STORE_ITEM_DONE };

struct task_row {
    int64_t task_no; /* the store's own number; rises with time, never reused */
    const char *id, *app, *user;
    int64_t form;                    /* API that created it; determines the form of its keys */
    int64_t created_ms, deadline_ms; /* wall time */
    int64_t n_items, n_left;
    int64_t finished_ms;     /* 0: not yet */
    int64_t n_failed;        /* of the done items; see result_row.is_failure */
    int64_t cancelled_ms;    /* 0: not cancelled */
    int64_t idempotent;      /* 1: an item that had nothing to do counts as success */
    int64_t said_ms;         /* order among specs and registrations; 0: created_ms */
    const char *request_key; /* idempotency key, see store_requests.h; "": none */
};

struct task_spec_row { /* shared by the items with its number */
    int64_t n;
    const char *spec;
};

struct task_item_row {
    int64_t task_no, n;
    const char *agent_id, *key; /* key: as in the caller's request */
    const char *space, *name;
    int64_t op, spec_n, state, epoch, code;
    const char *message, *content;
    int64_t done_ms;
};

struct task_create_ask {
    struct task_row task; /* counts and task_no are filled in */
    struct list specs;    /* of task_spec_row */
    struct list items;    /* of task_item_row */
};

struct task_left_row {
    int64_t task_no, n_left;
};

/* task_create_ask; task_left_row.  An item may be created as claimed, with the epoch of a session
 * of the caller, or as done, with its result.  ERR_CONFLICT if the id or an n exists already. */
extern const struct store_verb store_task_create;

struct task_find_ask {
    const char *id;
};

struct task_open_ask {
    int64_t task_no; /* last task of the previous page; 0: first page */
    int64_t limit;
};

struct task_read_ask {
    const char *id;
    int64_t after_n, limit; /* after_n: last item of the previous page; -1: first page */
};

struct task_read_got {
    struct list tasks; /* of task_row: at most one */
    struct list specs; /* of task_spec_row: all */
    struct list items; /* of task_item_row: the page, by n */
};

extern const struct store_verb store_task_find; /* task_find_ask; list of task_row, at most one */
extern const struct store_verb store_task_open; /* task_open_ask; list of task_row not finished */
extern const struct store_verb store_task_read; /* task_read_ask; task_read_got */

/* Marks a task as cancelled, unless it was before; store_task_result ends its items.
 * task_cancel_ask; list of task_left_row, empty if the task has ended. */
struct task_cancel_ask {
    int64_t task_no, at_ms;
};

extern const struct store_verb store_task_cancel;

/* Deletes tasks that finished before before_ms, at most `limit` rows per call: the task at once,
 * its rows in as many calls as needed. */
struct task_prune_ask {
    int64_t before_ms, limit;
};

struct task_prune_got {
    int64_t tasks, items; /* tasks marked as deleted; item rows deleted */
    bool more;
};

extern const struct store_verb store_task_prune; /* task_prune_ask; task_prune_got */

/* Columns and shapes of the tables, for the other sources of the store. */
#define TASK_COLUMNS                                                                               \
    "task_no, id, app, user_name, form, created_ms, deadline_ms, n_items, n_left, finished_ms,"    \
    " n_failed, cancelled_ms, idempotent, request_key, said_ms"
#define ITEM_COLUMNS                                                                               \
    "task_no, n, agent_id, item_key, space, name, op, spec_n, state, epoch, code, message,"        \
    " content, done_ms"

extern const struct shape task_shape;          /* struct task_row: TASK_COLUMNS */
extern const struct shape task_spec_shape;     /* struct task_spec_row: n, spec */
extern const struct shape task_item_shape;     /* struct task_item_row: ITEM_COLUMNS */
extern const struct shape task_new_item_shape; /* the same without the first column */

/* The lowest number of a task that is created at that time. */
int64_t task_number_at(int64_t created_ms);

#endif
