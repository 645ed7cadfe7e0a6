/* SPDX-License-Identifier: MIT */
/* store_items.h - the items of a task from claim to result: verbs of store.h.
 *
 * Invariants: an item is queued, then claimed by a session (it stores the epoch), then done; a done
 * item never changes.  Only the owner of the agent's session writes its results, so a node that is
 * considered dead changes nothing. */
#ifndef STORE_STORE_ITEMS_H
#define STORE_STORE_ITEMS_H

#include "store/store_tasks.h"

/* Claims all queued items of these agents, and items that an older session claimed and did not
 * finish; nothing for a session that is over.  task_claim_ask; list of task_item_row, agent by
 * agent, each by task and n. */
struct claim_row {
    const char *agent_id;
    int64_t epoch;
};

struct task_claim_ask {
    struct list claims; /* of claim_row */
};

extern const struct store_verb store_task_claim;

/* A result with an epoch comes from an agent and is written if that session has claimed the item.
 * A result with epoch 0 is the server's own (for an offline agent, say) and is written if no
 * session has claimed the item. */
struct result_row {
    int64_t task_no, n, epoch;
    int64_t code;
    const char *message, *content;
    int64_t done_ms;
    bool is_failure; /* counts as a failure */
};

struct task_result_ask {
    struct list results; /* of result_row */
};

/* Reads one item: item_ref; list of task_item_row, at most one. */
struct item_ref {
    int64_t task_no, n;
};

extern const struct store_verb store_item_find;

enum store_verdict {
    STORE_WRITTEN,
    STORE_REPEATED, /* the item was done before; nothing changed, no error */
    STORE_STALE,    /* another session has claimed it, or none has */
    STORE_UNKNOWN,  /* no such item */
};

struct verdict_row {
    int64_t task_no, n, verdict;
};

struct task_result_got {
    struct list verdicts; /* of verdict_row: one per result, in the same order */
    struct list tasks;    /* of task_left_row: tasks with fewer items left now */
};

extern const struct store_verb store_task_result; /* task_result_ask; task_result_got */

/* Ends all items of tasks past their deadline with this result. */
struct task_expire_ask {
    int64_t now_ms, code;
    const char *message;
};

extern const struct store_verb store_task_expire; /* task_expire_ask; list of task_item_row */

#endif
