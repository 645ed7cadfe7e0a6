/* SPDX-License-Identifier: MIT */
/* store_retention.c - the table retention, and old rows of small tables. */
#include "store/store_retention.h"

#include "store/verb.h"

static const struct field row_fields[] = {
    DB_NUMBER(retention_row, believed_ms),
    DB_NUMBER(retention_row, waited_ms),
    { 0 },
};
static const struct shape row_shape = DB_SHAPE(retention_row, row_fields);

static const struct query row_find = {
    "SELECT believed_ms, waited_ms FROM retention WHERE id = 1",
    .out = &row_shape,
};

static const struct query row_put = {
    "INSERT INTO retention (id, believed_ms, waited_ms) VALUES (1, $1, $2)"
    " ON CONFLICT (id) DO UPDATE SET believed_ms = excluded.believed_ms,"
    " waited_ms = excluded.waited_ms",
    .in = &row_shape,
};

const struct store_verb store_retention_find = VERB_QUERY("retention_find", DB_READ, &row_find);
const struct store_verb store_retention_put = VERB_QUERY("retention_put", DB_WRITE, &row_put);

/* ---- Small tables. */

struct name {
    const char *name;
};
static const struct field name_fields[] = { DB_TEXT(name, name), { 0 } };
static const struct shape name_shape = DB_SHAPE(name, name_fields);

static const struct field tidy_fields[] = {
    DB_NUMBER(retention_tidy_ask, before_ms),
    DB_NUMBER(retention_tidy_ask, limit),
    { 0 },
};
static const struct shape tidy_shape = DB_SHAPE(retention_tidy_ask, tidy_fields);

static const struct query tidy_tokens = {
    "DELETE FROM join_token WHERE hash IN"
    " (SELECT hash FROM join_token WHERE expires_ms < $1 OR"
    " (revoked_ms > 0 AND revoked_ms < $1) LIMIT $2) RETURNING hash",
    .in = &tidy_shape,
    .out = &name_shape,
};

/* If such an agent comes back its epochs start again with the first: no item may be claimed for an
 * older one. */
static const struct query tidy_sessions = {
    "DELETE FROM agent_session WHERE agent_id IN (SELECT s.agent_id FROM agent_session s"
    " WHERE s.is_open = 0 AND s.since_ms < $1"
    " AND NOT EXISTS (SELECT 1 FROM host h WHERE h.agent_id = s.agent_id)"
    " AND NOT EXISTS (SELECT 1 FROM task_item i WHERE i.agent_id = s.agent_id AND i.state < 2)"
    " LIMIT $2) RETURNING agent_id",
    .in = &tidy_shape,
    .out = &name_shape,
};

static int tidy_tables(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    struct retention_tidy_got *got = out;
    struct list tokens, sessions;

    if (db_run(db, &tidy_tokens, in, a, &tokens, err) ||
        db_run(db, &tidy_sessions, in, a, &sessions, err))
        return -1;
    *got = (struct retention_tidy_got){ (int64_t)tokens.n, (int64_t)sessions.n };
    return 0;
}

const struct store_verb store_retention_tidy =
    VERB_RUN("retention_tidy", DB_WRITE, tidy_tables, sizeof(struct retention_tidy_got));
