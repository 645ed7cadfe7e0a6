/* SPDX-License-Identifier: MIT */
/* store_audit.c - the table audit. */
#include "store/store_audit.h"

#include "store/verb.h"

#define COLUMNS                                                                                    \
    "at_ms, request_id, app, user_name, is_proven, peer, method, route, what, code, message,"      \
    " task_id, code_name, repeats"

static const struct field row_fields[] = {
    DB_NUMBER(audit_row, at_ms),   DB_TEXT(audit_row, request_id), DB_TEXT(audit_row, app),
    DB_TEXT(audit_row, user),      DB_FLAG(audit_row, is_proven),  DB_TEXT(audit_row, peer),
    DB_TEXT(audit_row, method),    DB_TEXT(audit_row, route),      DB_JSON(audit_row, what),
    DB_NUMBER(audit_row, code),    DB_TEXT(audit_row, message),    DB_TEXT(audit_row, task_id),
    DB_TEXT(audit_row, code_name), DB_NUMBER(audit_row, repeats),  { 0 },
};
static const struct shape row_shape = DB_SHAPE(audit_row, row_fields);

static const struct field page_fields[] = {
    DB_NUMBER(audit_page, before_ms),
    DB_TEXT(audit_page, before_id),
    DB_NUMBER(audit_page, since_ms),
    DB_NUMBER(audit_page, until_ms),
    DB_TEXT(audit_page, app),
    DB_TEXT(audit_page, user),
    DB_TEXT(audit_page, route),
    DB_NUMBER(audit_page, limit),
    { 0 },
};
static const struct shape page_shape = DB_SHAPE(audit_page, page_fields);

static const struct field trim_fields[] = {
    DB_NUMBER(audit_trim, before_ms),
    DB_NUMBER(audit_trim, limit),
    { 0 },
};
static const struct shape trim_shape = DB_SHAPE(audit_trim, trim_fields);

static const struct field ref_fields[] = {
    DB_NUMBER(audit_ref, at_ms),
    DB_TEXT(audit_ref, request_id),
    { 0 },
};
static const struct shape ref_shape = DB_SHAPE(audit_ref, ref_fields);

static const struct query audit_put = {
    "INSERT INTO audit (" COLUMNS ")"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    .in = &row_shape,
};

static const struct query audit_list = {
    "SELECT " COLUMNS " FROM audit WHERE (at_ms, request_id) < ($1, $2)"
    " AND at_ms >= $3 AND at_ms < $4 AND ($5 = '' OR app = $5) AND ($6 = '' OR user_name = $6)"
    " AND ($7 = '' OR route = $7 OR substr(route, 1, length($7) + 1) = $7 || '/')"
    " ORDER BY at_ms DESC, request_id DESC LIMIT $8",
    .in = &page_shape,
    .out = &row_shape,
};

static const struct query audit_trim = {
    "DELETE FROM audit WHERE (at_ms, request_id) IN"
    " (SELECT at_ms, request_id FROM audit WHERE at_ms < $1 ORDER BY at_ms LIMIT $2)"
    " RETURNING at_ms, request_id",
    .in = &trim_shape,
    .out = &ref_shape,
};

const struct store_verb store_audit_put = VERB_QUERY("audit_put", DB_WRITE, &audit_put);
const struct store_verb store_audit_list = VERB_QUERY("audit_list", DB_READ, &audit_list);
const struct store_verb store_audit_trim = VERB_QUERY("audit_trim", DB_WRITE, &audit_trim);
