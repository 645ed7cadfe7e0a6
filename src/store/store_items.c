/* SPDX-License-Identifier: MIT */
/* store_items.c - the table task_item: claims, results and deadlines. */
#include "store/store_items.h"

#include <stdlib.h>
#include <string.h>

#include "store/verb.h"

/* ---- Claiming. */

static const struct field claim_fields[] = {
    DB_TEXT(claim_row, agent_id),
    DB_NUMBER(claim_row, epoch),
    { 0 },
};
static const struct shape claim_shape = DB_SHAPE(claim_row, claim_fields);

static const struct query item_claim = {
    "UPDATE task_item SET state = 1, epoch = $2"
    " WHERE agent_id = $1 AND state < 2 AND (state = 0 OR epoch < $2) AND EXISTS (SELECT 1"
    " FROM agent_session s WHERE s.agent_id = $1 AND s.epoch = $2 AND s.is_open = 1)"
    " RETURNING " ITEM_COLUMNS,
    .each = &claim_shape,
    .out = &task_item_shape,
};

static int by_number(const void *left, const void *right)
{
    const struct task_item_row *l = left, *r = right;

    if (l->task_no != r->task_no)
        return l->task_no < r->task_no ? -1 : 1;
    return (l->n > r->n) - (l->n < r->n);
}

/* RETURNING gives rows in any order; commands of an agent have a defined one. */
static int claim_items(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct task_claim_ask *ask = in;
    struct list *rows = out;
    struct task_item_row *items;

    if (db_run_each(db, &item_claim, NULL, &ask->claims, a, rows, err))
        return -1;
    items = rows->items;
    for (size_t i = 0, end; i < rows->n; i = end) {
        for (end = i + 1; end < rows->n && !strcmp(items[end].agent_id, items[i].agent_id);)
            end++;
        qsort(items + i, end - i, sizeof(*items), by_number);
    }
    return 0;
}

const struct store_verb store_task_claim =
    VERB_RUN("task_claim", DB_WRITE, claim_items, sizeof(struct list));

/* ---- Results. */

static const struct field result_fields[] = {
    DB_NUMBER(result_row, task_no), DB_NUMBER(result_row, n),
    DB_NUMBER(result_row, epoch),   DB_NUMBER(result_row, code),
    DB_TEXT(result_row, message),   DB_TEXT(result_row, content),
    DB_NUMBER(result_row, done_ms), { 0 },
};
static const struct shape result_shape = DB_SHAPE(result_row, result_fields);

static const struct field result_ref_fields[] = {
    DB_NUMBER(result_row, task_no),
    DB_NUMBER(result_row, n),
    { 0 },
};
static const struct shape result_ref_shape = DB_SHAPE(result_row, result_ref_fields);

static const struct field verdict_fields[] = {
    DB_NUMBER(verdict_row, task_no),
    DB_NUMBER(verdict_row, n),
    DB_NUMBER(verdict_row, verdict),
    { 0 },
};
static const struct shape verdict_shape = DB_SHAPE(verdict_row, verdict_fields);

static const struct field item_ref_fields[] = {
    DB_NUMBER(item_ref, task_no),
    DB_NUMBER(item_ref, n),
    { 0 },
};
static const struct shape item_ref_shape = DB_SHAPE(item_ref, item_ref_fields);

static const struct query item_find = {
    "SELECT " ITEM_COLUMNS " FROM task_item WHERE task_no = $1 AND n = $2",
    .in = &item_ref_shape,
    .out = &task_item_shape,
};

const struct store_verb store_item_find = VERB_QUERY("item_find", DB_READ, &item_find);

/* The verdict column has the state until find_verdict() sets it. */
static const struct query item_finish = {
    "UPDATE task_item SET state = 2, code = $4, message = $5, content = $6, done_ms = $7"
    " WHERE task_no = $1 AND n = $2 AND ((state = 1 AND epoch = $3) OR (state = 0 AND $3 = 0))"
    " RETURNING task_no, n, state",
    .in = &result_shape,
    .out = &verdict_shape,
};

static const struct query item_state = {
    "SELECT task_no, n, state FROM task_item WHERE task_no = $1 AND n = $2",
    .in = &result_ref_shape,
    .out = &verdict_shape,
};

struct progress {
    int64_t task_no, n_done, done_ms, n_failed;
};
static const struct field progress_fields[] = {
    DB_NUMBER(progress, task_no),
    DB_NUMBER(progress, n_done),
    DB_NUMBER(progress, done_ms),
    DB_NUMBER(progress, n_failed),
    { 0 },
};
static const struct shape progress_shape = DB_SHAPE(progress, progress_fields);

static const struct field made_fields[] = {
    DB_NUMBER(task_left_row, task_no),
    DB_NUMBER(task_left_row, n_left),
    { 0 },
};
static const struct shape made_shape = DB_SHAPE(task_left_row, made_fields);

static const struct query task_progress = {
    "UPDATE task SET n_left = n_left - $2, n_failed = n_failed + $4,"
    " finished_ms = CASE WHEN n_left = $2 THEN $3 ELSE 0 END"
    " WHERE task_no = $1 RETURNING task_no, n_left",
    .each = &progress_shape,
    .out = &made_shape,
};

/* Finds out why a result changed nothing. */
static int find_verdict(struct db *db, const struct result_row *r, struct arena *a, int64_t *ret,
                        struct err *err)
{
    struct list rows;

    if (db_run(db, &item_state, r, a, &rows, err))
        return -1;
    if (rows.n == 0)
        *ret = STORE_UNKNOWN;
    else
        *ret = ((struct verdict_row *)rows.items)->verdict == STORE_ITEM_DONE ? STORE_REPEATED
                                                                              : STORE_STALE;
    return 0;
}

static int finish_item(struct db *db, const struct result_row *r, struct arena *a, int64_t *ret,
                       struct err *err)
{
    struct list rows;

    if (db_run(db, &item_finish, r, a, &rows, err))
        return -1;
    if (rows.n == 0)
        return find_verdict(db, r, a, ret, err);
    *ret = STORE_WRITTEN;
    return 0;
}

static int by_task(const void *left, const void *right)
{
    const struct progress *l = left, *r = right;

    return (l->task_no > r->task_no) - (l->task_no < r->task_no);
}

/* Merges to one row per task, in the order of task numbers, so that two writers never deadlock. */
static size_t merge_progress(struct progress *rows, size_t n)
{
    size_t kept = 0;

    qsort(rows, n, sizeof(*rows), by_task);
    for (size_t i = 1; i < n; i++) {
        if (rows[i].task_no != rows[kept].task_no) {
            rows[++kept] = rows[i];
            continue;
        }
        rows[kept].n_done += rows[i].n_done;
        rows[kept].n_failed += rows[i].n_failed;
        if (rows[i].done_ms > rows[kept].done_ms)
            rows[kept].done_ms = rows[i].done_ms;
    }
    return n ? kept + 1 : 0;
}

static int finish_items(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct list *results = &((const struct task_result_ask *)in)->results;
    const struct result_row *r = results->items;
    struct task_result_got *written = out;
    struct verdict_row *verdicts = arena_alloc(a, results->n * sizeof(*verdicts));
    struct progress *rows = arena_alloc(a, results->n * sizeof(*rows));
    struct list done = { .items = rows };

    for (size_t i = 0; i < results->n; i++) {
        verdicts[i] = (struct verdict_row){ .task_no = r[i].task_no, .n = r[i].n };
        if (finish_item(db, &r[i], a, &verdicts[i].verdict, err))
            return -1;
        if (verdicts[i].verdict == STORE_WRITTEN)
            rows[done.n++] = (struct progress){ r[i].task_no, 1, r[i].done_ms, r[i].is_failure };
    }
    done.n = merge_progress(rows, done.n);
    written->verdicts = (struct list){ verdicts, results->n };
    return db_run_each(db, &task_progress, NULL, &done, a, &written->tasks, err);
}

const struct store_verb store_task_result =
    VERB_RUN("task_result", DB_WRITE, finish_items, sizeof(struct task_result_got));

/* ---- Deadlines. */

static const struct field expire_fields[] = {
    DB_NUMBER(task_expire_ask, now_ms),
    DB_NUMBER(task_expire_ask, code),
    DB_TEXT(task_expire_ask, message),
    { 0 },
};
static const struct shape expire_shape = DB_SHAPE(task_expire_ask, expire_fields);

static const struct field now_fields[] = { DB_NUMBER(task_expire_ask, now_ms), { 0 } };
static const struct shape now_shape = DB_SHAPE(task_expire_ask, now_fields);

static const struct query item_expire = {
    "UPDATE task_item SET state = 2, code = $2, message = $3, done_ms = $1"
    " WHERE state < 2 AND task_no IN (SELECT task_no FROM task"
    " WHERE n_left > 0 AND deadline_ms <= $1) RETURNING " ITEM_COLUMNS,
    .in = &expire_shape,
    .out = &task_item_shape,
};

static const struct query task_expire = {
    "UPDATE task SET n_failed = n_failed + n_left, n_left = 0, finished_ms = $1"
    " WHERE n_left > 0 AND deadline_ms <= $1",
    .in = &now_shape,
};

static int expire_items(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    if (db_run(db, &item_expire, in, a, out, err))
        return -1;
    return db_run(db, &task_expire, in, NULL, NULL, err);
}

const struct store_verb store_task_expire =
    VERB_RUN("task_expire", DB_WRITE, expire_items, sizeof(struct list));
