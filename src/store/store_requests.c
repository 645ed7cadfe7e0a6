/* SPDX-License-Identifier: MIT */
/* store_requests.c - the table request_key. */
#include "store/store_requests.h"

#include "store/verb.h"

static const struct field row_fields[] = {
    DB_TEXT(request_row, app),
    DB_TEXT(request_row, key),
    DB_TEXT(request_row, digest),
    DB_NUMBER(request_row, created_ms),
    DB_NUMBER(request_row, status),
    DB_TEXT(request_row, answer),
    { 0 },
};
static const struct shape row_shape = DB_SHAPE(request_row, row_fields);

static const struct field ref_fields[] = {
    DB_TEXT(request_row, app),
    DB_TEXT(request_row, key),
    { 0 },
};
static const struct shape ref_shape = DB_SHAPE(request_row, ref_fields);

static const struct field since_fields[] = {
    DB_TEXT(request_row, app),
    DB_TEXT(request_row, key),
    DB_NUMBER(request_row, created_ms),
    { 0 },
};
static const struct shape since_shape = DB_SHAPE(request_row, since_fields);

struct moment {
    int64_t at_ms;
};
static const struct field moment_fields[] = { DB_NUMBER(moment, at_ms), { 0 } };
static const struct shape moment_shape = DB_SHAPE(moment, moment_fields);

struct made {
    const char *id;
    int64_t n_items;
};
static const struct field made_fields[] = {
    DB_TEXT(made, id),
    DB_NUMBER(made, n_items),
    { 0 },
};
static const struct shape made_shape = DB_SHAPE(made, made_fields);

/* Deletes a few old keys with each new one, so that a day's worth is never deleted at once. */
static const struct query forget_old = {
    "DELETE FROM request_key WHERE (app, request_key) IN (SELECT app, request_key FROM request_key"
    " WHERE created_ms < $1 ORDER BY created_ms LIMIT 100)",
    .in = &moment_shape,
};

static const struct query forget_this = {
    "DELETE FROM request_key WHERE app = $1 AND request_key = $2 AND created_ms < $3",
    .in = &since_shape,
};

static const struct query take = {
    "INSERT INTO request_key (app, request_key, digest, created_ms, status, answer)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (app, request_key) DO NOTHING"
    " RETURNING app, request_key, digest, created_ms, status, answer",
    .in = &row_shape,
    .out = &row_shape,
};

static const struct query find = {
    "SELECT app, request_key, digest, created_ms, status, answer FROM request_key"
    " WHERE app = $1 AND request_key = $2",
    .in = &ref_shape,
    .out = &row_shape,
};

/* A task of an earlier use of the key does not count. */
static const struct query find_task = {
    "SELECT id, n_items FROM task WHERE app = $1 AND request_key = $2 AND created_ms >= $3"
    " AND request_key <> '' AND gone = 0 ORDER BY task_no DESC LIMIT 1",
    .in = &since_shape,
    .out = &made_shape,
};

static int find_made(struct db *db, struct arena *a, struct request_begin_got *got, struct err *err)
{
    struct list tasks;
    const struct made *made;

    if (db_run(db, &find_task, got->rows.items, a, &tasks, err))
        return -1;
    made = tasks.items;
    if (tasks.n) {
        got->task_id = made->id;
        got->task_items = made->n_items;
    }
    return 0;
}

static int begin_request(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct request_begin_ask *ask = in;
    struct request_begin_got *got = out;
    struct request_row old = ask->row;
    struct list taken;

    got->task_id = "";
    old.created_ms = ask->oldest_ms;
    if (db_run(db, &forget_old, &(struct moment){ ask->oldest_ms }, NULL, NULL, err) ||
        db_run(db, &forget_this, &old, NULL, NULL, err) ||
        db_run(db, &take, &ask->row, a, &taken, err))
        return -1;
    got->is_new = taken.n > 0;
    if (got->is_new)
        return 0;
    if (db_run(db, &find, &ask->row, a, &got->rows, err))
        return -1;
    return got->rows.n ? find_made(db, a, got, err) : 0;
}

const struct store_verb store_request_begin =
    VERB_RUN("request_begin", DB_WRITE, begin_request, sizeof(struct request_begin_got));

static const struct query end = {
    "UPDATE request_key SET digest = $3, created_ms = $4, status = $5, answer = $6"
    " WHERE app = $1 AND request_key = $2",
    .in = &row_shape,
};

static const struct query drop = {
    "DELETE FROM request_key WHERE app = $1 AND request_key = $2",
    .in = &ref_shape,
};

const struct store_verb store_request_end = VERB_QUERY("request_end", DB_WRITE, &end);
const struct store_verb store_request_drop = VERB_QUERY("request_drop", DB_WRITE, &drop);
