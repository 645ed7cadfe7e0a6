/* SPDX-License-Identifier: MIT */
/* store_apps.c - the tables app and join_token. */
#include "store/store_apps.h"

#include "store/pages.h"
#include "store/verb.h"

/* ---- Apps. */

#define APP_COLUMNS "code, secret_1, secret_2, permissions, created_ms, sealed_1, sealed_2"

static const struct field app_fields[] = {
    DB_TEXT(app_row, code),         DB_TEXT(app_row, secret_1),
    DB_TEXT(app_row, secret_2),     DB_JSON(app_row, permissions),
    DB_NUMBER(app_row, created_ms), DB_TEXT(app_row, sealed_1),
    DB_TEXT(app_row, sealed_2),     { 0 },
};
static const struct shape app_shape = DB_SHAPE(app_row, app_fields);

static const struct field app_ref_fields[] = { DB_TEXT(app_find_ask, code), { 0 } };
static const struct shape app_ref_shape = DB_SHAPE(app_find_ask, app_ref_fields);

static const struct query app_put = {
    "INSERT INTO app (" APP_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
    " ON CONFLICT (code) DO UPDATE SET secret_1 = excluded.secret_1,"
    " secret_2 = excluded.secret_2, permissions = excluded.permissions,"
    " sealed_1 = excluded.sealed_1, sealed_2 = excluded.sealed_2",
    .in = &app_shape,
};

static const struct query app_find = {
    "SELECT " APP_COLUMNS " FROM app WHERE code = $1",
    .in = &app_ref_shape,
    .out = &app_shape,
};

static const struct query app_list = {
    "SELECT " APP_COLUMNS " FROM app WHERE code > $1 ORDER BY code LIMIT $2",
    .in = &store_page_shape,
    .out = &app_shape,
};

static const struct query app_del = {
    "DELETE FROM app WHERE code = $1",
    .in = &app_ref_shape,
};

const struct store_verb store_app_put = VERB_QUERY("app_put", DB_WRITE, &app_put);
const struct store_verb store_app_find = VERB_QUERY("app_find", DB_READ, &app_find);
const struct store_verb store_app_list = VERB_QUERY("app_list", DB_READ, &app_list);
const struct store_verb store_app_del = VERB_QUERY("app_del", DB_WRITE, &app_del);

/* ---- Join tokens. */

#define TOKEN_COLUMNS                                                                              \
    "hash, cloud_id, biz_id, expires_ms, uses_left, note, created_ms, app, user_name, revoked_ms," \
    " relay"

static const struct field token_fields[] = {
    DB_TEXT(token_row, hash),         DB_NUMBER(token_row, cloud_id),
    DB_NUMBER(token_row, biz_id),     DB_NUMBER(token_row, expires_ms),
    DB_NUMBER(token_row, uses_left),  DB_TEXT(token_row, note),
    DB_NUMBER(token_row, created_ms), DB_TEXT(token_row, app),
    DB_TEXT(token_row, user_name),    DB_NUMBER(token_row, revoked_ms),
    DB_FLAG(token_row, relay),        { 0 },
};
static const struct shape token_shape = DB_SHAPE(token_row, token_fields);

static const struct field token_take_fields[] = {
    DB_TEXT(token_take_ask, hash),
    DB_NUMBER(token_take_ask, now_ms),
    { 0 },
};
static const struct shape token_take_shape = DB_SHAPE(token_take_ask, token_take_fields);

static const struct query token_put = {
    "INSERT INTO join_token (" TOKEN_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
    " $11) ON CONFLICT (hash) DO UPDATE SET cloud_id = excluded.cloud_id, biz_id = excluded.biz_id,"
    " expires_ms = excluded.expires_ms, uses_left = excluded.uses_left, note = excluded.note,"
    " relay = excluded.relay",
    .in = &token_shape,
};

static const struct field token_ref_fields[] = { DB_TEXT(token_find_ask, hash), { 0 } };
static const struct shape token_ref_shape = DB_SHAPE(token_find_ask, token_ref_fields);

static const struct query token_find = {
    "SELECT " TOKEN_COLUMNS " FROM join_token WHERE hash = $1",
    .in = &token_ref_shape,
    .out = &token_shape,
};

static const struct query token_list = {
    "SELECT " TOKEN_COLUMNS " FROM join_token WHERE hash > $1 ORDER BY hash LIMIT $2",
    .in = &store_page_shape,
    .out = &token_shape,
};

static const struct field token_revoke_fields[] = {
    DB_TEXT(token_revoke_ask, id),
    DB_NUMBER(token_revoke_ask, now_ms),
    { 0 },
};
static const struct shape token_revoke_shape = DB_SHAPE(token_revoke_ask, token_revoke_fields);

static const struct query token_revoke = {
    "UPDATE join_token SET uses_left = 0,"
    " revoked_ms = CASE WHEN revoked_ms = 0 THEN $2 ELSE revoked_ms END"
    " WHERE substr(hash, 8, 12) = $1 RETURNING " TOKEN_COLUMNS,
    .in = &token_revoke_shape,
    .out = &token_shape,
};
_Static_assert(TOKEN_ID_CHARS == 12, "as the query says");

static const struct query token_take = {
    "UPDATE join_token SET uses_left = uses_left - 1"
    " WHERE hash = $1 AND uses_left > 0 AND expires_ms > $2 RETURNING " TOKEN_COLUMNS,
    .in = &token_take_shape,
    .out = &token_shape,
};

static int take_token(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    struct list *rows = out;

    if (db_run(db, &token_take, in, a, rows, err))
        return -1;
    if (rows->n == 0)
        return err_set(err, ERR_CONFLICT,
                       "the join token is unknown, used up or expired: make a new one");
    return 0;
}

const struct store_verb store_token_put = VERB_QUERY("token_put", DB_WRITE, &token_put);
const struct store_verb store_token_find = VERB_QUERY("token_find", DB_READ, &token_find);
const struct store_verb store_token_list = VERB_QUERY("token_list", DB_READ, &token_list);
const struct store_verb store_token_revoke = VERB_QUERY("token_revoke", DB_WRITE, &token_revoke);
const struct store_verb store_token_take =
    VERB_RUN("token_take", DB_WRITE, take_token, sizeof(struct list));
