/* SPDX-License-Identifier: MIT */
/* store_procs.c - the table process. */
#include "store/store_procs.h"

#include "store/verb.h"

#define PROC_COLUMNS                                                                               \
    "agent_id, space, name, labels, spec, wanted, hosted, status, pid, start_ms, version,"         \
    " message, register_ms, last_start_ms, report_ms, restarts, cause"
/* Refused for a removed host: the row would never be deleted. */
#define PROC_VALUES                                                                                \
    "SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17"            \
    " WHERE EXISTS (SELECT 1 FROM host WHERE agent_id = $1)"

/* The agent id is first, so that the fields after it are a row without one. */
static const struct field proc_fields[] = {
    DB_TEXT(proc_row, agent_id),      DB_TEXT(proc_row, space),
    DB_TEXT(proc_row, name),          DB_JSON(proc_row, labels),
    DB_JSON(proc_row, spec),          DB_NUMBER(proc_row, wanted),
    DB_FLAG(proc_row, hosted),        DB_NUMBER(proc_row, status),
    DB_NUMBER(proc_row, pid),         DB_NUMBER(proc_row, start_ms),
    DB_TEXT(proc_row, version),       DB_TEXT(proc_row, message),
    DB_NUMBER(proc_row, register_ms), DB_NUMBER(proc_row, last_start_ms),
    DB_NUMBER(proc_row, report_ms),   DB_NUMBER(proc_row, restarts),
    DB_JSON(proc_row, cause),         { 0 },
};
static const struct shape proc_shape = DB_SHAPE(proc_row, proc_fields);
static const struct shape nameless_proc_shape = DB_SHAPE(proc_row, proc_fields + 1);

static const struct field ref_fields[] = {
    DB_TEXT(proc_ref_row, agent_id),
    DB_TEXT(proc_ref_row, space),
    DB_TEXT(proc_ref_row, name),
    { 0 },
};
const struct shape proc_ref_row_shape = DB_SHAPE(proc_ref_row, ref_fields);

static const struct field agent_fields[] = { DB_TEXT(agent_row, agent_id), { 0 } };
const struct shape agent_row_shape = DB_SHAPE(agent_row, agent_fields);

static const struct field ask_fields[] = {
    DB_TEXT(proc_list_ask, space),
    DB_TEXT(proc_list_ask, name),
    { 0 },
};
static const struct shape ask_shape = DB_SHAPE(proc_list_ask, ask_fields);

/* ---- One process. */

static const struct query proc_put = {
    "INSERT INTO process (" PROC_COLUMNS ") " PROC_VALUES
    " ON CONFLICT (agent_id, space, name) DO UPDATE SET labels = excluded.labels,"
    " spec = excluded.spec, wanted = excluded.wanted, hosted = excluded.hosted,"
    " status = excluded.status, pid = excluded.pid, start_ms = excluded.start_ms,"
    " version = excluded.version, message = excluded.message, register_ms = excluded.register_ms,"
    " last_start_ms = excluded.last_start_ms, report_ms = excluded.report_ms,"
    " restarts = excluded.restarts, cause = excluded.cause",
    .in = &proc_shape,
};

static const struct query proc_del = {
    "DELETE FROM process WHERE agent_id = $1 AND space = $2 AND name = $3"
    " RETURNING agent_id, space, name",
    .in = &proc_ref_row_shape,
    .out = &proc_ref_row_shape,
};

const struct store_verb store_proc_put = VERB_QUERY("proc_put", DB_WRITE, &proc_put);
const struct store_verb store_proc_del = VERB_QUERY("proc_del", DB_WRITE, &proc_del);

/* ---- One process on several hosts. */

static const struct query proc_list = {
    "SELECT " PROC_COLUMNS " FROM process WHERE space = $1 AND name = $2 AND agent_id = $3",
    .in = &ask_shape,
    .each = &agent_row_shape,
    .out = &proc_shape,
};

static int list_procs(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct proc_list_ask *ask = in;

    return db_run_each(db, &proc_list, ask, &ask->agents, a, out, err);
}

const struct store_verb store_proc_list =
    VERB_RUN("proc_list", DB_READ, list_procs, sizeof(struct list));

/* ---- Processes of one namespace. */

static const struct field page_fields[] = {
    DB_TEXT(proc_page_ask, space),      DB_TEXT(proc_page_ask, after_agent),
    DB_TEXT(proc_page_ask, after_name), DB_NUMBER(proc_page_ask, limit),
    DB_NUMBER(proc_page_ask, skip),     { 0 },
};
static const struct shape page_shape = DB_SHAPE(proc_page_ask, page_fields);

static const struct field space_fields[] = { DB_TEXT(proc_page_ask, space), { 0 } };
static const struct shape space_shape = DB_SHAPE(proc_page_ask, space_fields);

static const struct field count_fields[] = { DB_NUMBER(proc_page_got, count), { 0 } };
static const struct shape count_shape = DB_SHAPE(proc_page_got, count_fields);

static const struct query proc_page = {
    "SELECT " PROC_COLUMNS " FROM process WHERE space = $1 AND (agent_id, name) > ($2, $3)"
    " ORDER BY agent_id, name LIMIT $4 OFFSET $5",
    .in = &page_shape,
    .out = &proc_shape,
};

static const struct query proc_count = {
    "SELECT COUNT(*) FROM process WHERE space = $1",
    .in = &space_shape,
    .out = &count_shape,
};

static int page_procs(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct proc_page_ask *page = in;
    struct proc_page_got *found = out;
    struct list count;

    if (db_run(db, &proc_page, page, a, &found->procs, err))
        return -1;
    if (!page->counts)
        return 0;
    if (db_run(db, &proc_count, page, a, &count, err))
        return -1;
    found->count = ((struct proc_page_got *)count.items)->count;
    return 0;
}

const struct store_verb store_proc_page =
    VERB_RUN("proc_page", DB_READ, page_procs, sizeof(struct proc_page_got));

/* ---- All processes. */

static const struct field all_fields[] = {
    DB_TEXT(proc_all_ask, after.agent_id),
    DB_TEXT(proc_all_ask, after.space),
    DB_TEXT(proc_all_ask, after.name),
    DB_NUMBER(proc_all_ask, limit),
    { 0 },
};
const struct shape proc_all_ask_shape = DB_SHAPE(proc_all_ask, all_fields);

static const struct query proc_all = {
    "SELECT " PROC_COLUMNS " FROM process WHERE (agent_id, space, name) > ($1, $2, $3)"
    " ORDER BY agent_id, space, name LIMIT $4",
    .in = &proc_all_ask_shape,
    .out = &proc_shape,
};

const struct store_verb store_proc_all = VERB_QUERY("proc_all", DB_READ, &proc_all);

/* ---- Processes of one host. */

static const struct query proc_of = {
    "SELECT " PROC_COLUMNS " FROM process WHERE agent_id = $1 ORDER BY space, name",
    .in = &agent_row_shape,
    .out = &proc_shape,
};

static const struct query proc_forget = {
    "DELETE FROM process WHERE agent_id = $1",
    .in = &agent_row_shape,
};

static const struct query proc_insert = {
    "INSERT INTO process (" PROC_COLUMNS ") " PROC_VALUES,
    .in = &agent_row_shape,
    .each = &nameless_proc_shape,
    .conflict = MSG("the snapshot has a process twice"),
};

static int replace_procs(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    const struct proc_replace_ask *s = in;
    struct agent_row agent = { s->agent_id };

    (void)a;
    (void)out;
    if (db_run(db, &proc_forget, &agent, NULL, NULL, err))
        return -1;
    return db_run_each(db, &proc_insert, &agent, &s->procs, NULL, NULL, err);
}

const struct store_verb store_proc_of = VERB_QUERY("proc_of", DB_READ, &proc_of);
const struct store_verb store_proc_replace = VERB_RUN("proc_replace", DB_WRITE, replace_procs, 0);
