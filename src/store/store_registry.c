/* SPDX-License-Identifier: MIT */
/* store_registry.c - the table registry. */
#include "store/store_registry.h"

#include "store/verb.h"

#define REGISTRY_COLUMNS                                                                           \
    "agent_id, space, name, state, labels, spec, registered_ms, said_ms, is_behind, trouble"

static const struct field row_fields[] = {
    DB_TEXT(registry_row, agent_id),
    DB_TEXT(registry_row, space),
    DB_TEXT(registry_row, name),
    DB_NUMBER(registry_row, state),
    DB_JSON(registry_row, labels),
    DB_JSON(registry_row, spec),
    DB_NUMBER(registry_row, registered_ms),
    DB_NUMBER(registry_row, said_ms),
    DB_FLAG(registry_row, is_behind),
    DB_TEXT(registry_row, trouble),
    { 0 },
};
static const struct shape row_shape = DB_SHAPE(registry_row, row_fields);

/* Refused for a removed host: the row would never be deleted.  Unregistered (2) counts as
 * missing. */
#define INSERT                                                                                     \
    "INSERT INTO registry (" REGISTRY_COLUMNS ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10"   \
    " WHERE EXISTS (SELECT 1 FROM host WHERE agent_id = $1)"                                       \
    " ON CONFLICT (agent_id, space, name) DO UPDATE SET state = excluded.state,"                   \
    " labels = excluded.labels, spec = excluded.spec, said_ms = excluded.said_ms,"                 \
    " is_behind = excluded.is_behind, trouble = excluded.trouble, registered_ms = "

static const struct query add = {
    INSERT "excluded.registered_ms WHERE registry.state = 2 RETURNING agent_id",
    .each = &row_shape,
    .out = &agent_row_shape,
};

static const struct query put = {
    INSERT "CASE WHEN registry.state = 1 AND excluded.state = 1 THEN registry.registered_ms"
           " ELSE excluded.registered_ms END",
    .each = &row_shape,
};

static const struct query del = {
    "DELETE FROM registry WHERE agent_id = $1 AND space = $2 AND name = $3 AND state = 2",
    .each = &proc_ref_row_shape,
};

static const struct query of = {
    "SELECT " REGISTRY_COLUMNS " FROM registry WHERE agent_id = $1 ORDER BY space, name",
    .in = &agent_row_shape,
    .out = &row_shape,
};

static const struct query all = {
    "SELECT " REGISTRY_COLUMNS " FROM registry WHERE (agent_id, space, name) > ($1, $2, $3)"
    " ORDER BY agent_id, space, name LIMIT $4",
    .in = &proc_all_ask_shape,
    .out = &row_shape,
};

static int add_rows(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct registry_ask *ask = in;

    return db_run_each(db, &add, NULL, &ask->rows, a, out, err);
}

static int put_rows(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct registry_ask *ask = in;

    (void)a;
    (void)out;
    return db_run_each(db, &put, NULL, &ask->rows, NULL, NULL, err);
}

static int del_rows(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct registry_del_ask *ask = in;

    (void)a;
    (void)out;
    return db_run_each(db, &del, NULL, &ask->refs, NULL, NULL, err);
}

const struct store_verb store_registry_add =
    VERB_RUN("registry_add", DB_WRITE, add_rows, sizeof(struct list));
const struct store_verb store_registry_put = VERB_RUN("registry_put", DB_WRITE, put_rows, 0);
const struct store_verb store_registry_del = VERB_RUN("registry_del", DB_WRITE, del_rows, 0);
const struct store_verb store_registry_of = VERB_QUERY("registry_of", DB_READ, &of);
const struct store_verb store_registry_all = VERB_QUERY("registry_all", DB_READ, &all);
