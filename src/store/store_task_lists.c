/* SPDX-License-Identifier: MIT */
/* store_task_lists.c - see store_task_lists.h. */
#include "store/store_task_lists.h"

#include <string.h>

#include "store/verb.h"

/* ---- All tasks. */

/* 826 is CODE_CANCELLED; the count is computed for the tasks of one page only. */
#define LIST_COLUMNS                                                                               \
    "t.task_no, t.id, t.app, t.user_name, t.form, t.created_ms, t.deadline_ms, t.n_items,"         \
    " t.n_left, t.finished_ms, t.n_failed, t.cancelled_ms, t.idempotent, t.request_key,"           \
    " t.said_ms, COALESCE(i.op, 0), COALESCE(i.space, ''), COALESCE(i.name, ''),"                  \
    " CASE WHEN t.cancelled_ms > 0 THEN (SELECT COUNT(*) FROM task_item c"                         \
    " WHERE c.task_no = t.task_no AND c.code = 826) ELSE 0 END"

/* $1 and $2 are task numbers, $3 is a time: a number is never below task_number_at() of its
 * time. */
#define LIST_SQL(more)                                                                             \
    "SELECT " LIST_COLUMNS " FROM task t"                                                          \
    " LEFT JOIN task_item i ON i.task_no = t.task_no AND i.n = 0"                                  \
    " WHERE t.task_no < $1 AND t.task_no >= $2 AND t.created_ms >= $3 AND t.gone = 0" more         \
    " ORDER BY t.task_no DESC LIMIT "

struct list_page {
    int64_t before_no, from_no, since_ms, limit;
    const char *app;
};
static const struct field list_page_fields[] = {
    DB_NUMBER(list_page, before_no), DB_NUMBER(list_page, from_no), DB_NUMBER(list_page, since_ms),
    DB_NUMBER(list_page, limit),     DB_TEXT(list_page, app),       { 0 },
};
static const struct shape list_app_shape = DB_SHAPE(list_page, list_page_fields);
static const struct field list_all_fields[] = {
    DB_NUMBER(list_page, before_no),
    DB_NUMBER(list_page, from_no),
    DB_NUMBER(list_page, since_ms),
    DB_NUMBER(list_page, limit),
    { 0 },
};
static const struct shape list_all_shape = DB_SHAPE(list_page, list_all_fields);

static const struct field list_row_fields[] = {
    DB_PART(task_list_row, task, task_shape),
    DB_NUMBER(task_list_row, op),
    DB_TEXT(task_list_row, space),
    DB_TEXT(task_list_row, name),
    DB_NUMBER(task_list_row, n_cancelled),
    { 0 },
};
static const struct shape list_row_shape = DB_SHAPE(task_list_row, list_row_fields);

/* One query per combination, so that each uses its index: [of one app][open][failed]. */
#define LIST_OF(shape, more)                                                                       \
    {                                                                                              \
        LIST_SQL(more) "$4", .in = &(shape), .out = &list_row_shape                                \
    }
#define OF_APP " AND t.app = $5"
#define OPEN   " AND t.n_left > 0"
#define FAILED " AND t.n_failed > 0"
static const struct query task_lists[2][2][2] = {
    { { LIST_OF(list_all_shape, ""), LIST_OF(list_all_shape, FAILED) },
      { LIST_OF(list_all_shape, OPEN), LIST_OF(list_all_shape, OPEN FAILED) } },
    { { LIST_OF(list_app_shape, OF_APP), LIST_OF(list_app_shape, OF_APP FAILED) },
      { LIST_OF(list_app_shape, OF_APP OPEN), LIST_OF(list_app_shape, OF_APP OPEN FAILED) } },
};

static int list_tasks(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct task_list_ask *ask = in;
    const struct list_page page = { ask->before_no, task_number_at(ask->since_ms), ask->since_ms,
                                    ask->limit, ask->app };

    return db_run(db, &task_lists[*ask->app != 0][ask->open_only][ask->failed_only], &page, a, out,
                  err);
}

const struct store_verb store_task_list =
    VERB_RUN("task_list", DB_READ, list_tasks, sizeof(struct list));

/* ---- Tasks of one process. */

static const struct field past_fields[] = {
    DB_TEXT(task_past_ask, space),
    DB_TEXT(task_past_ask, name),
    DB_NUMBER(task_past_ask, limit),
    { 0 },
};
static const struct shape past_shape = DB_SHAPE(task_past_ask, past_fields);

static const struct field past_host_fields[] = { DB_TEXT(task_past_host, agent_id), { 0 } };
static const struct shape past_host_shape = DB_SHAPE(task_past_host, past_host_fields);

static const struct field past_row_fields[] = {
    DB_TEXT(task_past_row, agent_id),
    DB_TEXT(task_past_row, id),
    DB_TEXT(task_past_row, app),
    DB_TEXT(task_past_row, user),
    DB_NUMBER(task_past_row, created_ms),
    DB_NUMBER(task_past_row, op),
    DB_NUMBER(task_past_row, state),
    DB_NUMBER(task_past_row, code),
    DB_TEXT(task_past_row, message),
    DB_NUMBER(task_past_row, done_ms),
    { 0 },
};
static const struct shape past_row_shape = DB_SHAPE(task_past_row, past_row_fields);

#define PAST_SQL(state)                                                                            \
    "SELECT i.agent_id, t.id, t.app, t.user_name, t.created_ms, i.op, i.state, i.code, i.message," \
    " i.done_ms FROM task_item i JOIN task t ON t.task_no = i.task_no WHERE i.agent_id = $4"       \
    " AND i.space = $1 AND i.name = $2 AND t.gone = 0 AND " state                                  \
    " ORDER BY i.task_no DESC, i.n DESC LIMIT $3"

/* Each query has its own index.  The index of ended items is written when an item ends, so that
 * creating a task does not pay for it. */
static const struct query past_open = {
    PAST_SQL("i.state < 2"),
    .in = &past_shape,
    .each = &past_host_shape,
    .out = &past_row_shape,
};

static const struct query past_done = {
    PAST_SQL("i.state = 2"),
    .in = &past_shape,
    .each = &past_host_shape,
    .out = &past_row_shape,
};

static int list_past(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct task_past_ask *ask = in;
    struct list *all = out, open, done;
    struct task_past_row *rows;

    if (db_run_each(db, &past_open, ask, &ask->hosts, a, &open, err) ||
        db_run_each(db, &past_done, ask, &ask->hosts, a, &done, err))
        return -1;
    rows = arena_alloc(a, (open.n + done.n + 1) * sizeof(*rows));
    if (open.n)
        memcpy(rows, open.items, open.n * sizeof(*rows));
    if (done.n)
        memcpy(rows + open.n, done.items, done.n * sizeof(*rows));
    *all = (struct list){ rows, open.n + done.n };
    return 0;
}

const struct store_verb store_task_past =
    VERB_RUN("task_past", DB_READ, list_past, sizeof(struct list));
