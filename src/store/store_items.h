/* SPDX-License-Identifier: MIT */
/* store_items.h - what becomes of each item of a task: verbs of store.h.
 *
 * What always holds: an item is queued, then claimed for a session (its epoch stands
 * in it), then done, and what is done stays as it is.  Only who has the agent's
 * session writes its results, so a node that is believed dead changes nothing. */
#ifndef STORE_STORE_ITEMS_H
#define STORE_STORE_ITEMS_H

#include "store/store_tasks.h"

/* Claims what waits for each of these agents, and what an older session of it had
 * claimed and not finished; nothing for a session that is over.  task_claim_ask; list of
 * task_item_row, agent by agent, each by task and n. */
struct claim_row {
    const char *agent_id;
    int64_t epoch;
};

struct task_claim_ask {
    struct list claims; /* of claim_row */
};

extern const struct store_verb store_task_claim;

/* Results.  One with an epoch is an agent's, and is written if the item is claimed by
 * that session; one with epoch 0 is our own (an agent that is not there, say), and is
 * written if nobody has claimed it. */
struct result_row {
    int64_t task_no, n, epoch;
    int64_t code;
    const char *message, *content;
    int64_t done_ms;
    bool is_failure; /* it counts as one that went wrong */
};

struct task_result_ask {
    struct list results; /* of result_row */
};

/* One item as it is: item_ref; list of task_item_row, none or one. */
struct item_ref {
    int64_t task_no, n;
};

extern const struct store_verb store_item_find;

enum store_verdict {
    STORE_WRITTEN,
    STORE_REPEATED, /* it was done before: nothing has changed, and all is well */
    STORE_STALE,    /* another session has it, or it was never claimed */
    STORE_UNKNOWN,  /* no such item */
};

struct verdict_row {
    int64_t task_no, n, verdict;
};

struct task_result_got {
    struct list verdicts; /* of verdict_row: one a result, in that order */
    struct list tasks;    /* of task_left_row: those that have fewer items left now */
};

extern const struct store_verb store_task_result; /* task_result_ask; task_result_got */

/* Ends every item whose task is past its deadline with this result. */
struct task_expire_ask {
    int64_t now_ms, code;
    const char *message;
};

extern const struct store_verb store_task_expire; /* task_expire_ask; list of task_item_row */

#endif
