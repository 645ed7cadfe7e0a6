/* SPDX-License-Identifier: MIT */
/* store_groups.c - the table process_group. */
#include "store/store_groups.h"

#include "store/verb.h"

#define GROUP_COLUMNS "agent_id, id, space, resource, number, is_taken"

static const struct field row_fields[] = {
    DB_TEXT(group_row, agent_id),
    DB_TEXT(group_row, id),
    DB_TEXT(group_row, space),
    DB_TEXT(group_row, resource),
    DB_NUMBER(group_row, number),
    DB_FLAG(group_row, is_taken),
    { 0 },
};
static const struct shape row_shape = DB_SHAPE(group_row, row_fields);

static const struct field taken_fields[] = {
    DB_TEXT(group_taken_ask, agent_id),
    DB_NUMBER(group_taken_ask, number),
    { 0 },
};
static const struct shape taken_shape = DB_SHAPE(group_taken_ask, taken_fields);

/* Refused for a removed host: the row would never be deleted. */
static const struct query group_put = {
    "INSERT INTO process_group (" GROUP_COLUMNS ") SELECT $1, $2, $3, $4, $5, $6"
    " WHERE EXISTS (SELECT 1 FROM host WHERE agent_id = $1)"
    " ON CONFLICT (agent_id, id) DO UPDATE SET space = excluded.space,"
    " resource = excluded.resource, number = excluded.number, is_taken = excluded.is_taken",
    .each = &row_shape,
};

/* A row with another number is a newer value. */
static const struct query group_taken = {
    "UPDATE process_group SET is_taken = 1 WHERE agent_id = $1 AND number = $2",
    .in = &taken_shape,
};

static const struct query group_all = {
    "SELECT " GROUP_COLUMNS " FROM process_group ORDER BY agent_id, id",
    .out = &row_shape,
};

static int put_groups(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct group_put_ask *ask = in;

    (void)a;
    (void)out;
    return db_run_each(db, &group_put, NULL, &ask->rows, NULL, NULL, err);
}

const struct store_verb store_group_put = VERB_RUN("group_put", DB_WRITE, put_groups, 0);
const struct store_verb store_group_taken = VERB_QUERY("group_taken", DB_WRITE, &group_taken);
const struct store_verb store_group_all = VERB_QUERY("group_all", DB_READ, &group_all);
