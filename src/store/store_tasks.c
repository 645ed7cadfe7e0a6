/* SPDX-License-Identifier: MIT */
/* store_tasks.c - the tables task, task_spec and task_item: creating, finding and deleting tasks.
 * store_items.c has what happens in between. */
#include "store/store_tasks.h"

#include "base/os/sys.h"
#include "store/verb.h"

struct number {
    int64_t number;
};
static const struct field number_fields[] = { DB_NUMBER(number, number), { 0 } };
static const struct shape number_shape = DB_SHAPE(number, number_fields);

/* ---- Columns. */

static const struct field task_fields[] = {
    DB_NUMBER(task_row, task_no),     DB_TEXT(task_row, id),
    DB_TEXT(task_row, app),           DB_TEXT(task_row, user),
    DB_NUMBER(task_row, form),        DB_NUMBER(task_row, created_ms),
    DB_NUMBER(task_row, deadline_ms), DB_NUMBER(task_row, n_items),
    DB_NUMBER(task_row, n_left),      DB_NUMBER(task_row, finished_ms),
    DB_NUMBER(task_row, n_failed),    DB_NUMBER(task_row, cancelled_ms),
    DB_NUMBER(task_row, idempotent),  DB_TEXT(task_row, request_key),
    DB_NUMBER(task_row, said_ms),     { 0 },
};
const struct shape task_shape = DB_SHAPE(task_row, task_fields);

static const struct field spec_fields[] = {
    DB_NUMBER(task_spec_row, n),
    DB_TEXT(task_spec_row, spec),
    { 0 },
};
const struct shape task_spec_shape = DB_SHAPE(task_spec_row, spec_fields);

static const struct field item_fields[] = {
    DB_NUMBER(task_item_row, task_no),
    DB_NUMBER(task_item_row, n),
    DB_TEXT(task_item_row, agent_id),
    DB_TEXT(task_item_row, key),
    DB_TEXT(task_item_row, space),
    DB_TEXT(task_item_row, name),
    DB_NUMBER(task_item_row, op),
    DB_NUMBER(task_item_row, spec_n),
    DB_NUMBER(task_item_row, state),
    DB_NUMBER(task_item_row, epoch),
    DB_NUMBER(task_item_row, code),
    DB_TEXT(task_item_row, message),
    DB_TEXT(task_item_row, content),
    DB_NUMBER(task_item_row, done_ms),
    { 0 },
};
const struct shape task_item_shape = DB_SHAPE(task_item_row, item_fields);
const struct shape task_new_item_shape = DB_SHAPE(task_item_row, item_fields + 1);

/* ---- Creating. */

enum { RANDOM_BITS = 21, TRIES = 8 };

int64_t task_number_at(int64_t created_ms)
{
    return (created_ms & (INT64_MAX >> RANDOM_BITS)) << RANDOM_BITS;
}

static const struct query last_number = {
    "SELECT COALESCE(MAX(task_no), 0) FROM task",
    .out = &number_shape,
};

static const struct query task_insert = {
    "INSERT INTO task (" TASK_COLUMNS ", gone)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0)"
    " ON CONFLICT (task_no) DO NOTHING RETURNING task_no",
    .in = &task_shape,
    .out = &number_shape,
    .conflict = MSG("a task has this id already"),
};

static const struct query spec_insert = {
    "INSERT INTO task_spec (task_no, n, spec) VALUES ($1, $2, $3)",
    .in = &number_shape,
    .each = &task_spec_shape,
    .conflict = MSG("a task has two specs of one number"),
};

static const struct query item_insert = {
    "INSERT INTO task_item (" ITEM_COLUMNS ")"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    .in = &number_shape,
    .each = &task_new_item_shape,
    .conflict = MSG("a task has two items of one number"),
};

/* Later tasks have higher numbers even if the clock goes back.  Several nodes may draw a number at
 * once, so the bits below the milliseconds are random. */
static int draw_number(struct db *db, int64_t created_ms, struct arena *a, int64_t *ret,
                       struct err *err)
{
    struct list rows;
    uint32_t random;
    int64_t number, last;

    if (db_run(db, &last_number, NULL, a, &rows, err))
        return -1;
    last = ((struct number *)rows.items)->number;
    sys_random(&random, sizeof(random));
    number = task_number_at(created_ms) | (random & ((1u << RANDOM_BITS) - 1));
    *ret = number > last ? number : last + 1;
    return 0;
}

/* Draws a new number if another node has used the same. */
static int insert_task(struct db *db, struct task_row *task, struct arena *a, struct err *err)
{
    for (int i = 0; i < TRIES; i++) {
        struct list rows;

        if (draw_number(db, task->created_ms, a, &task->task_no, err) ||
            db_run(db, &task_insert, task, a, &rows, err))
            return -1;
        if (rows.n > 0)
            return 0;
    }
    return err_set(err, ERR_UNAVAILABLE, "no number is free: try again");
}

static void count_items(const struct list *items, struct task_row *task)
{
    const struct task_item_row *item = items->items;

    task->n_items = (int64_t)items->n;
    task->n_left = task->n_failed = 0;
    for (size_t i = 0; i < items->n; i++) {
        task->n_left += item[i].state != STORE_ITEM_DONE;
        task->n_failed += item[i].state == STORE_ITEM_DONE && item[i].code != 0;
    }
}

static int create_task(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct task_create_ask *new = in;
    struct task_row task = new->task;
    struct number number;

    count_items(&new->items, &task);
    task.finished_ms = task.n_left ? 0 : task.created_ms;
    if (insert_task(db, &task, a, err))
        return -1;
    number.number = task.task_no;
    if (db_run_each(db, &spec_insert, &number, &new->specs, NULL, NULL, err) ||
        db_run_each(db, &item_insert, &number, &new->items, NULL, NULL, err))
        return -1;
    *(struct task_left_row *)out = (struct task_left_row){ task.task_no, task.n_left };
    return 0;
}

const struct store_verb store_task_create =
    VERB_RUN("task_create", DB_WRITE, create_task, sizeof(struct task_left_row));

/* ---- Finding. */

static const struct field ref_fields[] = { DB_TEXT(task_find_ask, id), { 0 } };
static const struct shape ref_shape = DB_SHAPE(task_find_ask, ref_fields);

static const struct field after_fields[] = {
    DB_NUMBER(task_open_ask, task_no),
    DB_NUMBER(task_open_ask, limit),
    { 0 },
};
static const struct shape after_shape = DB_SHAPE(task_open_ask, after_fields);

struct item_page {
    int64_t task_no, after_n, limit;
};
static const struct field item_page_fields[] = {
    DB_NUMBER(item_page, task_no),
    DB_NUMBER(item_page, after_n),
    DB_NUMBER(item_page, limit),
    { 0 },
};
static const struct shape item_page_shape = DB_SHAPE(item_page, item_page_fields);

static const struct query task_find = {
    "SELECT " TASK_COLUMNS " FROM task WHERE id = $1 AND gone = 0",
    .in = &ref_shape,
    .out = &task_shape,
};

static const struct query task_open = {
    "SELECT " TASK_COLUMNS " FROM task WHERE n_left > 0 AND task_no > $1 ORDER BY task_no LIMIT $2",
    .in = &after_shape,
    .out = &task_shape,
};

static const struct query spec_list = {
    "SELECT n, spec FROM task_spec WHERE task_no = $1 ORDER BY n",
    .in = &number_shape,
    .out = &task_spec_shape,
};

static const struct query item_list = {
    "SELECT " ITEM_COLUMNS " FROM task_item WHERE task_no = $1 AND n > $2 ORDER BY n LIMIT $3",
    .in = &item_page_shape,
    .out = &task_item_shape,
};

static int read_task(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct task_read_ask *ask = in;
    struct task_read_got *full = out;
    struct item_page page = { .after_n = ask->after_n, .limit = ask->limit };

    if (db_run(db, &task_find, &(struct task_find_ask){ ask->id }, a, &full->tasks, err))
        return -1;
    if (full->tasks.n == 0)
        return 0;
    page.task_no = ((struct task_row *)full->tasks.items)->task_no;
    if (db_run(db, &spec_list, &(struct number){ page.task_no }, a, &full->specs, err))
        return -1;
    return db_run(db, &item_list, &page, a, &full->items, err);
}

const struct store_verb store_task_find = VERB_QUERY("task_find", DB_READ, &task_find);
const struct store_verb store_task_open = VERB_QUERY("task_open", DB_READ, &task_open);
const struct store_verb store_task_read =
    VERB_RUN("task_read", DB_READ, read_task, sizeof(struct task_read_got));

/* ---- Cancelling. */

static const struct field cancel_fields[] = {
    DB_NUMBER(task_cancel_ask, task_no),
    DB_NUMBER(task_cancel_ask, at_ms),
    { 0 },
};
static const struct shape cancel_shape = DB_SHAPE(task_cancel_ask, cancel_fields);

static const struct field left_fields[] = {
    DB_NUMBER(task_left_row, task_no),
    DB_NUMBER(task_left_row, n_left),
    { 0 },
};
static const struct shape left_shape = DB_SHAPE(task_left_row, left_fields);

static const struct query task_cancel = {
    "UPDATE task SET cancelled_ms = CASE WHEN cancelled_ms = 0 THEN $2 ELSE cancelled_ms END"
    " WHERE task_no = $1 AND n_left > 0 RETURNING task_no, n_left",
    .in = &cancel_shape,
    .out = &left_shape,
};

const struct store_verb store_task_cancel = VERB_QUERY("task_cancel", DB_WRITE, &task_cancel);

/* ---- Deleting: the task at once, its rows in steps. */

static const struct field prune_fields[] = {
    DB_NUMBER(task_prune_ask, before_ms),
    DB_NUMBER(task_prune_ask, limit),
    { 0 },
};
static const struct shape prune_shape = DB_SHAPE(task_prune_ask, prune_fields);

static const struct query prune_items = {
    "DELETE FROM task_item WHERE (task_no, n) IN (SELECT i.task_no, i.n FROM task t"
    " JOIN task_item i ON i.task_no = t.task_no WHERE t.gone = 1 LIMIT $1) RETURNING n",
    .in = &number_shape,
    .out = &number_shape,
};

static const struct query prune_specs = {
    "DELETE FROM task_spec WHERE (task_no, n) IN (SELECT s.task_no, s.n FROM task t"
    " JOIN task_spec s ON s.task_no = t.task_no WHERE t.gone = 1 LIMIT $1) RETURNING n",
    .in = &number_shape,
    .out = &number_shape,
};

static const struct query prune_tasks = {
    "DELETE FROM task WHERE task_no IN (SELECT task_no FROM task WHERE gone = 1 LIMIT $1)"
    " RETURNING task_no",
    .in = &number_shape,
    .out = &number_shape,
};

static const struct query prune_more = {
    "UPDATE task SET gone = 1 WHERE task_no IN (SELECT task_no FROM task"
    " WHERE n_left = 0 AND gone = 0 AND finished_ms < $1 ORDER BY finished_ms LIMIT $2)"
    " RETURNING task_no",
    .in = &prune_shape,
    .out = &number_shape,
};

/* Deletes at most *left rows and subtracts their number from *left. */
static int prune_some(struct db *db, const struct query *q, struct arena *a, int64_t *left,
                      int64_t *ret_n, struct err *err)
{
    struct list rows = { 0 };

    if (*left && db_run(db, q, &(struct number){ *left }, a, &rows, err))
        return -1;
    *left -= (int64_t)rows.n;
    *ret_n = (int64_t)rows.n;
    return 0;
}

/* Deletes all rows of a deleted task before the next task is deleted: so no rows pile up, and no
 * step exceeds its limit. */
static int prune_old_tasks(struct db *db, const void *in, struct arena *a, void *out,
                           struct err *err)
{
    const struct task_prune_ask *ask = in;
    struct task_prune_got *pruned = out;
    struct task_prune_ask more = *ask;
    struct list tasks = { 0 };
    int64_t ignored;

    if (prune_some(db, &prune_items, a, &more.limit, &pruned->items, err) ||
        prune_some(db, &prune_specs, a, &more.limit, &ignored, err) ||
        prune_some(db, &prune_tasks, a, &more.limit, &ignored, err) ||
        (more.limit && db_run(db, &prune_more, &more, a, &tasks, err)))
        return -1;
    pruned->tasks = (int64_t)tasks.n;
    pruned->more = more.limit == 0 || tasks.n > 0;
    return 0;
}

const struct store_verb store_task_prune =
    VERB_RUN("task_prune", DB_WRITE, prune_old_tasks, sizeof(struct task_prune_got));
