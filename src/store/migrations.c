/* SPDX-License-Identifier: MIT */
/* migrations.c - see migrations.h. */
#include "store/migrations.h"

/* clang-format off */
static const char *const first_tables[] = {
    "CREATE TABLE app ("
    " code TEXT NOT NULL PRIMARY KEY, secret_1 TEXT NOT NULL, secret_2 TEXT NOT NULL,"
    " permissions TEXT NOT NULL, created_ms BIGINT NOT NULL)",

    "CREATE TABLE join_token ("
    " hash TEXT NOT NULL PRIMARY KEY, cloud_id BIGINT NOT NULL, biz_id BIGINT NOT NULL,"
    " expires_ms BIGINT NOT NULL, uses_left BIGINT NOT NULL, note TEXT NOT NULL)",

    "CREATE TABLE host ("
    " agent_id TEXT NOT NULL PRIMARY KEY, cloud_id BIGINT NOT NULL, ip TEXT NOT NULL,"
    " biz_id BIGINT NOT NULL, hostname TEXT NOT NULL, version TEXT NOT NULL,"
    " cert_serial TEXT NOT NULL, cert_fingerprint TEXT NOT NULL, joined_ms BIGINT NOT NULL,"
    " UNIQUE (cloud_id, ip))",

    /* Outlives its host: an epoch never comes again. */
    "CREATE TABLE agent_session ("
    " agent_id TEXT NOT NULL PRIMARY KEY, node TEXT NOT NULL, epoch BIGINT NOT NULL,"
    " is_open BIGINT NOT NULL, since_ms BIGINT NOT NULL)",
    "CREATE INDEX agent_session_open ON agent_session (node) WHERE is_open = 1",

    "CREATE TABLE process ("
    " agent_id TEXT NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL, labels TEXT NOT NULL,"
    " spec TEXT NOT NULL, wanted BIGINT NOT NULL, hosted BIGINT NOT NULL, status BIGINT NOT NULL,"
    " pid BIGINT NOT NULL, start_ms BIGINT NOT NULL, version TEXT NOT NULL, message TEXT NOT NULL,"
    " register_ms BIGINT NOT NULL, last_start_ms BIGINT NOT NULL, report_ms BIGINT NOT NULL,"
    " PRIMARY KEY (agent_id, space, name))",
    "CREATE UNIQUE INDEX process_space ON process (space, agent_id, name)",

    "CREATE TABLE task ("
    " task_no BIGINT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, app TEXT NOT NULL,"
    " user_name TEXT NOT NULL, form BIGINT NOT NULL, created_ms BIGINT NOT NULL,"
    " deadline_ms BIGINT NOT NULL, n_items BIGINT NOT NULL, n_left BIGINT NOT NULL,"
    " finished_ms BIGINT NOT NULL, gone BIGINT NOT NULL)",
    "CREATE INDEX task_open ON task (task_no) WHERE n_left > 0",
    "CREATE INDEX task_finished ON task (finished_ms) WHERE n_left = 0 AND gone = 0",
    "CREATE INDEX task_gone ON task (task_no) WHERE gone = 1",

    "CREATE TABLE task_spec ("
    " task_no BIGINT NOT NULL REFERENCES task (task_no) ON DELETE CASCADE, n BIGINT NOT NULL,"
    " spec TEXT NOT NULL, PRIMARY KEY (task_no, n))",

    /* States: 0 queued, 1 claimed, 2 done. */
    "CREATE TABLE task_item ("
    " task_no BIGINT NOT NULL REFERENCES task (task_no), n BIGINT NOT NULL,"
    " agent_id TEXT NOT NULL, item_key TEXT NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL,"
    " op BIGINT NOT NULL, spec_n BIGINT NOT NULL, state BIGINT NOT NULL, epoch BIGINT NOT NULL,"
    " code BIGINT NOT NULL, message TEXT NOT NULL, content TEXT NOT NULL, done_ms BIGINT NOT NULL,"
    " PRIMARY KEY (task_no, n))",
    "CREATE INDEX task_item_open ON task_item (agent_id) WHERE state < 2",
    NULL,
};

/* Why a process is as it is, so that it can be told of hosts that are away. */
static const char *const causes[] = {
    "ALTER TABLE process ADD COLUMN restarts BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE process ADD COLUMN cause TEXT NOT NULL DEFAULT ''",
    NULL,
};

const struct migration store_migrations[] = {
    { "the first tables", first_tables },
    { "causes of processes", causes },
    { 0 },
};
/* clang-format on */

struct version {
    int64_t version;
};

static const struct field version_fields[] = { DB_NUMBER(version, version), { 0 } };
static const struct shape version_shape = DB_SHAPE(version, version_fields);

static const struct query make_table = {
    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY)",
};
static const struct query get_version = {
    "SELECT COALESCE(MAX(version), 0) FROM schema_version",
    .out = &version_shape,
};
static const struct query put_version = {
    "INSERT INTO schema_version (version) VALUES ($1)",
    .in = &version_shape,
};

static int read_version(struct db *db, int64_t *ret, struct err *err)
{
    struct arena a = { 0 };
    struct list rows;
    int bad = db_run(db, &make_table, NULL, NULL, NULL, err) ||
              db_run(db, &get_version, NULL, &a, &rows, err);

    if (!bad)
        *ret = ((struct version *)rows.items)->version;
    arena_free(&a);
    return bad ? -1 : 0;
}

static int run_step(struct db *db, const struct migration *step, int64_t number, struct err *err)
{
    for (const char *const *sql = step->sql; *sql; sql++) {
        struct query q = { *sql };

        if (db_run(db, &q, NULL, NULL, NULL, err))
            return -1;
    }
    return db_run(db, &put_version, &(struct version){ number }, NULL, NULL, err);
}

static int take_step(struct db *db, const struct migration *step, int64_t number, struct err *err)
{
    if (db_begin(db, DB_WRITE, err))
        return -1;
    if (run_step(db, step, number, err)) {
        db_rollback(db);
        return err_wrap(err, "step %lld (%s)", (long long)number, step->about);
    }
    return db_commit(db, err);
}

int migrations_run(struct db *db, const struct migration *steps, struct err *err)
{
    int64_t version, known = 0;

    while (steps[known].about)
        known++;
    if (read_version(db, &version, err))
        return -1;
    if (version > known)
        return err_set(err, ERR_CONFLICT,
                       "its tables are version %lld, and this program knows %lld: use the newer "
                       "program that made them, or a backup from before it",
                       (long long)version, (long long)known);
    for (; version < known; version++) {
        if (take_step(db, &steps[version], version + 1, err))
            return -1;
    }
    return 0;
}
