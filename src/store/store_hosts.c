/* SPDX-License-Identifier: MIT */
/* store_hosts.c - the tables host and agent_session. */
#include "store/store_hosts.h"

#include "store/pages.h"
#include "store/verb.h"

/* ---- Hosts. */

#define HOST_COLUMNS                                                                               \
    "agent_id, cloud_id, ip, biz_id, hostname, version, cert_serial, cert_fingerprint, joined_ms," \
    " host_id, note, addresses"

static const struct field host_fields[] = {
    DB_TEXT(host_row, agent_id),
    DB_NUMBER(host_row, cloud_id),
    DB_TEXT(host_row, ip),
    DB_NUMBER(host_row, biz_id),
    DB_TEXT(host_row, hostname),
    DB_TEXT(host_row, version),
    DB_TEXT(host_row, cert_serial),
    DB_TEXT(host_row, cert_fingerprint),
    DB_NUMBER(host_row, joined_ms),
    DB_NUMBER(host_row, host_id),
    DB_TEXT(host_row, note),
    DB_TEXT(host_row, addresses),
    { 0 },
};
static const struct shape host_shape = DB_SHAPE(host_row, host_fields);

static const struct field agent_fields[] = { DB_TEXT(host_ask, agent_id), { 0 } };
static const struct shape agent_shape = DB_SHAPE(host_ask, agent_fields);

static const struct field address_fields[] = {
    DB_NUMBER(host_find_at_ask, cloud_id),
    DB_TEXT(host_find_at_ask, ip),
    { 0 },
};
static const struct shape address_shape = DB_SHAPE(host_find_at_ask, address_fields);

static const struct query host_put = {
    "INSERT INTO host (" HOST_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
    " $11, $12) ON CONFLICT (agent_id) DO UPDATE SET cloud_id = excluded.cloud_id, ip = "
    "excluded.ip,"
    " biz_id = excluded.biz_id, hostname = excluded.hostname, version = excluded.version,"
    " cert_serial = excluded.cert_serial, cert_fingerprint = excluded.cert_fingerprint,"
    " joined_ms = excluded.joined_ms, host_id = excluded.host_id, note = excluded.note,"
    " addresses = excluded.addresses",
    .in = &host_shape,
    .conflict = MSG("another agent has this cloud area and address: remove that host first"),
};

static const struct query host_find = {
    "SELECT " HOST_COLUMNS " FROM host WHERE agent_id = $1",
    .in = &agent_shape,
    .out = &host_shape,
};

static const struct query host_find_at = {
    "SELECT " HOST_COLUMNS " FROM host WHERE cloud_id = $1 AND ip = $2",
    .in = &address_shape,
    .out = &host_shape,
};

static const struct query host_list = {
    "SELECT " HOST_COLUMNS " FROM host WHERE agent_id > $1 ORDER BY agent_id LIMIT $2",
    .in = &store_page_shape,
    .out = &host_shape,
};

static const struct query host_del_processes = {
    "DELETE FROM process WHERE agent_id = $1",
    .in = &agent_shape,
};

static const struct query host_del_registry = {
    "DELETE FROM registry WHERE agent_id = $1",
    .in = &agent_shape,
};

static const struct query host_del_groups = {
    "DELETE FROM process_group WHERE agent_id = $1",
    .in = &agent_shape,
};

static const struct query host_del_lost = {
    "DELETE FROM agent_lost WHERE agent_id = $1",
    .in = &agent_shape,
};

static const struct query host_del = {
    "DELETE FROM host WHERE agent_id = $1 RETURNING " HOST_COLUMNS,
    .in = &agent_shape,
    .out = &host_shape,
};

static int del_host(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    if (db_run(db, &host_del_processes, in, NULL, NULL, err) ||
        db_run(db, &host_del_registry, in, NULL, NULL, err) ||
        db_run(db, &host_del_groups, in, NULL, NULL, err) ||
        db_run(db, &host_del_lost, in, NULL, NULL, err))
        return -1;
    return db_run(db, &host_del, in, a, out, err);
}

const struct store_verb store_host_put = VERB_QUERY("host_put", DB_WRITE, &host_put);
const struct store_verb store_host_find = VERB_QUERY("host_find", DB_READ, &host_find);
const struct store_verb store_host_find_at = VERB_QUERY("host_find_at", DB_READ, &host_find_at);
const struct store_verb store_host_list = VERB_QUERY("host_list", DB_READ, &host_list);
const struct store_verb store_host_del =
    VERB_RUN("host_del", DB_WRITE, del_host, sizeof(struct list));

/* ---- Sessions. */

#define SESSION_COLUMNS "agent_id, node, epoch, is_open, since_ms"

static const struct field session_fields[] = {
    DB_TEXT(session_row, agent_id), DB_TEXT(session_row, node),       DB_NUMBER(session_row, epoch),
    DB_FLAG(session_row, is_open),  DB_NUMBER(session_row, since_ms), { 0 },
};
static const struct shape session_shape = DB_SHAPE(session_row, session_fields);

static const struct field open_fields[] = {
    DB_TEXT(session_open_ask, agent_id),
    DB_TEXT(session_open_ask, node),
    DB_NUMBER(session_open_ask, since_ms),
    { 0 },
};
static const struct shape open_shape = DB_SHAPE(session_open_ask, open_fields);

static const struct field close_fields[] = {
    DB_TEXT(session_close_ask, agent_id),
    DB_NUMBER(session_close_ask, epoch),
    DB_NUMBER(session_close_ask, since_ms),
    { 0 },
};
static const struct shape close_shape = DB_SHAPE(session_close_ask, close_fields);

static const struct field end_fields[] = {
    DB_TEXT(session_end_ask, node),
    DB_NUMBER(session_end_ask, since_ms),
    { 0 },
};
static const struct shape end_shape = DB_SHAPE(session_end_ask, end_fields);

static const struct query session_open = {
    "INSERT INTO agent_session (" SESSION_COLUMNS ") VALUES ($1, $2, 1, 1, $3)"
    " ON CONFLICT (agent_id) DO UPDATE SET node = excluded.node,"
    " epoch = agent_session.epoch + 1, is_open = 1, since_ms = excluded.since_ms"
    " RETURNING " SESSION_COLUMNS,
    .in = &open_shape,
    .out = &session_shape,
};

static const struct query session_close = {
    "UPDATE agent_session SET is_open = 0, since_ms = $3"
    " WHERE agent_id = $1 AND epoch = $2 AND is_open = 1 RETURNING " SESSION_COLUMNS,
    .in = &close_shape,
    .out = &session_shape,
};

static const struct query session_end = {
    "UPDATE agent_session SET is_open = 0, since_ms = $2"
    " WHERE node = $1 AND is_open = 1 RETURNING " SESSION_COLUMNS,
    .in = &end_shape,
    .out = &session_shape,
};

static const struct query session_list = {
    "SELECT " SESSION_COLUMNS " FROM agent_session WHERE agent_id > $1 ORDER BY agent_id LIMIT $2",
    .in = &store_page_shape,
    .out = &session_shape,
};

const struct store_verb store_session_open = VERB_QUERY("session_open", DB_WRITE, &session_open);
const struct store_verb store_session_close = VERB_QUERY("session_close", DB_WRITE, &session_close);
const struct store_verb store_session_end = VERB_QUERY("session_end", DB_WRITE, &session_end);
const struct store_verb store_session_list = VERB_QUERY("session_list", DB_READ, &session_list);
