/* SPDX-License-Identifier: MIT */
/* store_signatures.c - the table used_signature. */
#include "store/store_signatures.h"

#include "store/verb.h"

static const struct field row_fields[] = {
    DB_TEXT(signature_row, app),
    DB_TEXT(signature_row, signature),
    DB_NUMBER(signature_row, expires_s),
    { 0 },
};
static const struct shape row_shape = DB_SHAPE(signature_row, row_fields);

struct moment {
    int64_t now_s;
};
static const struct field moment_fields[] = { DB_NUMBER(moment, now_s), { 0 } };
static const struct shape moment_shape = DB_SHAPE(moment, moment_fields);

/* Each call adds one row and deletes more than one: the table does not outgrow its busiest
 * minutes, and no call deletes all of it at once. */
static const struct query delete_expired = {
    "DELETE FROM used_signature WHERE (app, signature) IN (SELECT app, signature"
    " FROM used_signature WHERE expires_s < $1 ORDER BY expires_s LIMIT 100)",
    .in = &moment_shape,
};

static const struct query insert = {
    "INSERT INTO used_signature (app, signature, expires_s) VALUES ($1, $2, $3)"
    " ON CONFLICT (app, signature) DO NOTHING RETURNING app, signature, expires_s",
    .in = &row_shape,
    .out = &row_shape,
};

static int use(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct signature_use_ask *ask = in;
    struct signature_use_got *got = out;
    struct list inserted;

    if (db_run(db, &delete_expired, &(struct moment){ ask->now_s }, NULL, NULL, err) ||
        db_run(db, &insert, &ask->row, a, &inserted, err))
        return -1;
    got->is_new = inserted.n > 0;
    return 0;
}

const struct store_verb store_signature_use =
    VERB_RUN("signature_use", DB_WRITE, use, sizeof(struct signature_use_got));
