/* SPDX-License-Identifier: MIT */
/* sim_results.c - see sim_results.h. */
#include "tests/sim/lib/sim_results.h"

#include "agent/supervise/core_journal.h"
#include "tests/sim/lib/sim_in.h"

struct sim_item *sim_results_item(struct host *h, unsigned type, const void *record)
{
    const struct message_result *result = record;
    const struct message_ref *ref = record;

    if (type == RECORD_RESULT)
        return &check_find(h->sim, result->task)->items[result->item];
    if (type == RECORD_STORED)
        return &check_find(h->sim, ref->task)->items[ref->item];
    return NULL;
}

static void owe(struct host *h, struct sim_item *item, bool is_owed)
{
    if (item->is_owed)
        LIST_REMOVE(item, owed);
    item->is_owed = is_owed;
    if (is_owed)
        LIST_INSERT_HEAD(&h->owed, item, owed);
}

void sim_results_written(struct host *h, unsigned type, struct sim_item *item)
{
    owe(h, item, type == RECORD_RESULT);
    item->result_mark = h->disk.marks + 1;
}

void sim_results_read(struct host *h, const struct record *r)
{
    if (!r->item)
        return;
    owe(h, r->item, r->type == RECORD_RESULT);
    r->item->result_mark = 0;
}

void sim_results_forget(struct host *h)
{
    while (!LIST_EMPTY(&h->owed))
        owe(h, LIST_FIRST(&h->owed), false);
}

void sim_results_told(struct host *h, const struct message_result *m)
{
    sim_results_item(h, RECORD_RESULT, m)->told_link = h->link;
}

static void fail(struct host *h, const struct sim_item *item, const char *why)
{
    const struct sim_task *t = &h->sim->tasks[item->task];

    sim_fail(h->sim, "host %d: the result of task %s item %d %s", h->n, t->id,
             (int)(item - t->items), why);
}

/* A result that is not durable yet is sent when it is. */
void sim_results_session(struct host *h)
{
    const struct sim_item *item;

    LIST_FOREACH(item, &h->owed, owed) {
        if (item->result_mark <= h->disk.durable_mark && item->told_link != h->link)
            fail(h, item, "is not told in a new session");
    }
}

void sim_results_check(struct host *h)
{
    if (!LIST_EMPTY(&h->owed))
        fail(h, LIST_FIRST(&h->owed), "is still kept, and was never said to be stored");
}
