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

    /* Survives its host: an epoch is never used again. */
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

/* The facts that explain a process's state, so that they can be shown for offline hosts. */
static const char *const causes[] = {
    "ALTER TABLE process ADD COLUMN restarts BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE process ADD COLUMN cause TEXT NOT NULL DEFAULT ''",
    NULL,
};

/* Facts about hosts that operators enter, and the audit log.  A host that has not joined has no
 * agent yet, so its facts are in a table of their own. */
static const char *const inventory[] = {
    "ALTER TABLE host ADD COLUMN host_id BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE host ADD COLUMN note TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE host ADD COLUMN addresses TEXT NOT NULL DEFAULT ''",
    "CREATE UNIQUE INDEX host_host_id ON host (host_id) WHERE host_id > 0",

    "CREATE TABLE expected_host ("
    " cloud_id BIGINT NOT NULL, ip TEXT NOT NULL, biz_id BIGINT NOT NULL, host_id BIGINT NOT NULL,"
    " note TEXT NOT NULL, PRIMARY KEY (cloud_id, ip))",
    "CREATE UNIQUE INDEX expected_host_host_id ON expected_host (host_id) WHERE host_id > 0",

    "CREATE TABLE business ("
    " id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, businesses TEXT NOT NULL)",
    "CREATE TABLE business_set ("
    " id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, businesses TEXT NOT NULL)",

    "CREATE TABLE audit ("
    " at_ms BIGINT NOT NULL, request_id TEXT NOT NULL, app TEXT NOT NULL, user_name TEXT NOT NULL,"
    " is_proven BIGINT NOT NULL, peer TEXT NOT NULL, method TEXT NOT NULL, route TEXT NOT NULL,"
    " what TEXT NOT NULL, code BIGINT NOT NULL, message TEXT NOT NULL, task_id TEXT NOT NULL,"
    " PRIMARY KEY (at_ms, request_id))",
    NULL,
};

/* A task stores whether it was cancelled, how many items failed and its idempotency key; operations
 * on one process can be found by host. */
static const char *const native_api[] = {
    "ALTER TABLE task ADD COLUMN n_failed BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE task ADD COLUMN cancelled_ms BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE task ADD COLUMN idempotent BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE task ADD COLUMN request_key TEXT NOT NULL DEFAULT ''",
    "CREATE INDEX task_app ON task (app, task_no)",
    "CREATE INDEX task_request ON task (app, request_key, task_no) WHERE request_key <> ''",
    "CREATE INDEX task_item_past ON task_item (agent_id, task_no) WHERE state = 2",

    /* Status 0: the request is in progress, or was when a server ended. */
    "CREATE TABLE request_key ("
    " app TEXT NOT NULL, request_key TEXT NOT NULL, digest TEXT NOT NULL,"
    " created_ms BIGINT NOT NULL, status BIGINT NOT NULL, answer TEXT NOT NULL,"
    " PRIMARY KEY (app, request_key))",
    "CREATE INDEX request_key_age ON request_key (created_ms)",
    NULL,
};

/* Registrations of clients and limits of namespaces; agents do not change them.  States of a
 * registration: 1 registered, 2 unregistered. */
static const char *const registries[] = {
    "CREATE TABLE registry ("
    " agent_id TEXT NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL, state BIGINT NOT NULL,"
    " labels TEXT NOT NULL, spec TEXT NOT NULL, registered_ms BIGINT NOT NULL,"
    " said_ms BIGINT NOT NULL, is_behind BIGINT NOT NULL, trouble TEXT NOT NULL,"
    " PRIMARY KEY (agent_id, space, name))",
    "CREATE TABLE process_group ("
    " agent_id TEXT NOT NULL, id TEXT NOT NULL, space TEXT NOT NULL, resource TEXT NOT NULL,"
    " number BIGINT NOT NULL, is_taken BIGINT NOT NULL, PRIMARY KEY (agent_id, id))",
    NULL,
};

/* Checking a signature needs the secret itself, not a hash. */
static const char *const sealed_secrets[] = {
    "ALTER TABLE app ADD COLUMN sealed_1 TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE app ADD COLUMN sealed_2 TEXT NOT NULL DEFAULT ''",
    NULL,
};

/* The last event number is stored apart from the events, so it continues after all are deleted. */
static const char *const events[] = {
    "CREATE TABLE event ("
    " seq BIGINT NOT NULL PRIMARY KEY, taken_ms BIGINT NOT NULL, wall_ms BIGINT NOT NULL,"
    " agent_id TEXT NOT NULL, agent_event BIGINT NOT NULL, cloud_id BIGINT NOT NULL,"
    " ip TEXT NOT NULL, biz_id BIGINT NOT NULL, name TEXT NOT NULL, message TEXT NOT NULL,"
    " space TEXT NOT NULL, proc TEXT NOT NULL, proc_name TEXT NOT NULL, report_id BIGINT NOT NULL)",
    "CREATE INDEX event_agent ON event (agent_id, seq)",
    "CREATE TABLE event_head (id BIGINT NOT NULL PRIMARY KEY, last_seq BIGINT NOT NULL)",
    "INSERT INTO event_head (id, last_seq) VALUES (1, 0)",
    "CREATE TABLE event_mark (reader TEXT NOT NULL PRIMARY KEY, seq BIGINT NOT NULL)",
    "CREATE TABLE agent_lost (agent_id TEXT NOT NULL PRIMARY KEY, since_ms BIGINT NOT NULL)",
    NULL,
};

/* The creator of a token, shown in the list of tokens. */
static const char *const token_makers[] = {
    "ALTER TABLE join_token ADD COLUMN created_ms BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE join_token ADD COLUMN app TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE join_token ADD COLUMN user_name TEXT NOT NULL DEFAULT ''",
    NULL,
};

/* A revoked token is listed until it is deleted with the expired ones. */
static const char *const token_ends[] = {
    "ALTER TABLE join_token ADD COLUMN revoked_ms BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* The clock for retention, one row; see store_retention.h. */
static const char *const retention[] = {
    "CREATE TABLE retention ("
    " id BIGINT NOT NULL PRIMARY KEY, believed_ms BIGINT NOT NULL, waited_ms BIGINT NOT NULL)",
    NULL,
};

/* The result code of a change as its caller got it, and its name in some answers. */
static const char *const audit_codes[] = {
    "ALTER TABLE audit ADD COLUMN code_name TEXT NOT NULL DEFAULT ''",
    NULL,
};

/* The order of two specs, independent of the clock. */
static const char *const task_orders[] = {
    "ALTER TABLE task ADD COLUMN said_ms BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* Agents behind a relay or NAT do not connect from their own address. */
static const char *const token_relays[] = {
    "ALTER TABLE join_token ADD COLUMN relay BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* Repeated refusals are one row per minute. */
static const char *const audit_repeats[] = {
    "ALTER TABLE audit ADD COLUMN repeats BIGINT NOT NULL DEFAULT 0",
    NULL,
};

/* Signatures of requests that change something, until their bk_timestamp is too old. */
static const char *const used_signatures[] = {
    "CREATE TABLE used_signature ("
    " app TEXT NOT NULL, signature TEXT NOT NULL, expires_s BIGINT NOT NULL,"
    " PRIMARY KEY (app, signature))",
    "CREATE INDEX used_signature_age ON used_signature (expires_s)",
    NULL,
};

const struct migration store_migrations[] = {
    { "the first tables", first_tables },
    { "causes of processes", causes },
    { "cancelled tasks, keys of requests", native_api },
    { "inventory and audit", inventory },
    { "sealed secrets of apps", sealed_secrets },
    { "registry and process groups", registries },
    { "events", events },
    { "makers of join tokens", token_makers },
    { "names of codes in the audit log", audit_codes },
    { "the clock of what is removed", retention },
    { "ends of join tokens", token_ends },
    { "order of tasks and registrations", task_orders },
    { "join tokens for relays", token_relays },
    { "refusals that repeat", audit_repeats },
    { "used signatures", used_signatures },
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

/* Runs the steps from `version` on. */
static int run_steps(struct db *db, const struct migration *steps, int64_t version, struct err *err)
{
    if (db_begin(db, DB_WRITE, err))
        return -1;
    for (; steps[version].about; version++) {
        if (run_step(db, &steps[version], version + 1, err)) {
            db_rollback(db);
            return err_wrap(err, "step %lld (%s)", (long long)version + 1, steps[version].about);
        }
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
    return version < known ? run_steps(db, steps, version, err) : 0;
}
