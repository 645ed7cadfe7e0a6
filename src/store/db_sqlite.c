/* SPDX-License-Identifier: MIT */
/* db_sqlite.c - the SQLite driver.
 *
 * What always holds: a file that is there is ours and whole, or it is left as it
 * is and refused; a commit that succeeded is on the disk (WAL, synchronous=FULL);
 * one process has the file for writing, shown by a lock on FILE.lock. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/time.h"
#include "store/db_driver.h"
#include "store/lock.h"

#define SCHEME "sqlite:"

enum {
    APPLICATION_ID = 0x484f4c44, /* "HOLD": what file(1) and we know our files by */
    BUSY_MS = 5000,              /* somebody looks at the file with another program, */
    BUSY_AGAIN_MS = 100,         /* and has not ended in that time */
    CHECK_MS = 2000,             /* so long the check at start may take */
    CHECK_STEPS = 10000,         /* of SQLite's machine, between looks at the clock */
    WAL_PAGES = 1000,            /* from here on the log goes into the file, */
    WAL_LONG_PAGES = 4 * 1000,   /* from here on readers are waited for, so that it begins anew, */
    WAL_WAIT_MS = 200,           /* so long */
};

struct statement {
    sqlite3_stmt *st;
    size_t width;
    int place[CELLS_MAX]; /* of $1, $2 ...: to SQLite they are names, in order of appearance */
};

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    struct map statements; /* by their text */
    char *path;
    int lock_fd;
    int wal_pages, wal_long;
    bool is_locked; /* when it was last tried */
};

static struct sqlite_db *mine(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* ---- Failures: what each means, and what to do about it. */

struct meaning {
    int result;
    int code;
    const char *text;
};

/* clang-format off */
static const struct meaning meanings[] = {
    { SQLITE_CONSTRAINT, ERR_CONFLICT, "that breaks a rule of the data" },
    { SQLITE_FULL, ERR_UNAVAILABLE, "no space left: free some and try again" },
    { SQLITE_BUSY, ERR_UNAVAILABLE, "locked by another program: end it and try again" },
    { SQLITE_LOCKED, ERR_UNAVAILABLE, "locked by another program: end it and try again" },
    { SQLITE_NOTADB, ERR_SYSTEM, "not a database; left as it is: move it away, or name another file" },
    { SQLITE_CORRUPT, ERR_SYSTEM, "damaged; left as it is: put a backup in its place" },
    { SQLITE_READONLY, ERR_SYSTEM, "may only be read: make it and its folder writable" },
    { SQLITE_CANTOPEN, ERR_SYSTEM, "cannot be opened: look at its folder" },
    { SQLITE_IOERR, ERR_SYSTEM, "reading or writing failed: look at the disk" },
};
/* clang-format on */

static bool is_no_space(int number)
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

static const struct meaning *find_meaning(int result)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (meanings[i].result == (result & 0xff))
            return &meanings[i];
    }
    return NULL;
}

/* SQLite says ENOSPC of its own accord; the other ways to be full it calls an
 * I/O error.  It does not keep the errno of every failure, and keeps an old one, so
 * errno is made 0 before each step and looked at first. */
static int fail(const struct sqlite_db *d, int result, struct err *err)
{
    int last = errno, known = d->handle ? sqlite3_system_errno(d->handle) : 0;
    int number = last ? last : known;
    bool io = (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
    const struct meaning *m = find_meaning(io && is_no_space(number) ? SQLITE_FULL : result);
    const char *said = d->handle ? sqlite3_errmsg(d->handle) : sqlite3_errstr(result);

    if (!m)
        return err_set(err, ERR_SYSTEM, "%s: %s", d->path, said);
    if (m->code != ERR_SYSTEM || !io || !number)
        return err_set(err, m->code, "%s: %s (%s)", d->path, m->text, said);
    err_set(err, m->code, "%s: %s (%s: %s)", d->path, m->text, said, strerror(number));
    err->sys = number;
    return -1;
}

/* ---- Statements: each is prepared once a connection. */

static void find_places(struct statement *s)
{
    for (size_t i = 0; i < s->width; i++) {
        char name[24];

        snprintf(name, sizeof(name), "$%zu", i + 1);
        s->place[i] = sqlite3_bind_parameter_index(s->st, name);
    }
}

static void statement_free(struct statement *s)
{
    sqlite3_finalize(s->st);
    free(s);
}

static int prepare(struct sqlite_db *d, const char *sql, struct statement **ret, struct err *err)
{
    struct statement *s = xalloc(sizeof(*s));
    int r = sqlite3_prepare_v3(d->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->st, NULL);

    if (r != SQLITE_OK) {
        statement_free(s);
        return fail(d, r, err);
    }
    s->width = (size_t)sqlite3_bind_parameter_count(s->st);
    assert(s->width <= CELLS_MAX);
    find_places(s);
    map_put_str(&d->statements, sqlite3_sql(s->st), s);
    *ret = s;
    return 0;
}

static int get_statement(struct sqlite_db *d, const char *sql, size_t width, struct statement **ret,
                         struct err *err)
{
    struct statement *s = map_find_str(&d->statements, sql);

    if (!s && prepare(d, sql, &s, err))
        return -1;
    if (s->width != width)
        return err_set(err, ERR_SYSTEM, "%s: %zu arguments for: %.80s", d->path, width, sql);
    *ret = s;
    return 0;
}

static int bind_set(const struct statement *s, const struct cell *cells, size_t width)
{
    int r = SQLITE_OK;

    for (size_t i = 0; i < width && r == SQLITE_OK; i++) {
        if (cells[i].text)
            r = sqlite3_bind_text(s->st, s->place[i], cells[i].text, -1, SQLITE_STATIC);
        else
            r = sqlite3_bind_int64(s->st, s->place[i], cells[i].number);
    }
    return r;
}

static int read_row(const struct sqlite_db *d, sqlite3_stmt *st, struct cell *cells, size_t *ret_n,
                    struct err *err)
{
    int n = sqlite3_column_count(st);

    for (int i = 0; i < n; i++) {
        int type = sqlite3_column_type(st, i);

        if (i >= CELLS_MAX || (type != SQLITE_TEXT && type != SQLITE_INTEGER))
            return err_set(err, ERR_SYSTEM, "%s: column %s is neither number nor text", d->path,
                           sqlite3_column_name(st, i));
        cells[i] = (struct cell){ .number = sqlite3_column_int64(st, i) };
        if (type == SQLITE_TEXT)
            cells[i].text = (const char *)sqlite3_column_text(st, i);
    }
    *ret_n = (size_t)n;
    return 0;
}

static int give_row(const struct sqlite_db *d, sqlite3_stmt *st, db_row_fn *on_row, void *ctx,
                    struct err *err)
{
    struct cell cells[CELLS_MAX];
    size_t n = 0;

    if (!on_row)
        return 0;
    return read_row(d, st, cells, &n, err) ? -1 : on_row(ctx, cells, n, err);
}

static int run_set(struct sqlite_db *d, const struct statement *s, const struct cell *cells,
                   size_t width, db_row_fn *on_row, void *ctx, struct err *err)
{
    int r = bind_set(s, cells, width), result = 0;

    if (r != SQLITE_OK)
        return fail(d, r, err);
    errno = 0;
    while (result == 0 && (r = sqlite3_step(s->st)) == SQLITE_ROW)
        result = give_row(d, s->st, on_row, ctx, err);
    if (result == 0 && r != SQLITE_DONE)
        result = fail(d, r, err);
    sqlite3_reset(s->st);
    return result;
}

static int sqlite_run(struct db *db, const char *sql, const struct db_args *args, db_row_fn *on_row,
                      void *ctx, struct err *err)
{
    struct sqlite_db *d = mine(db);
    struct statement *s = NULL;

    if (get_statement(d, sql, args->width, &s, err))
        return -1;
    for (size_t i = 0; i < args->sets; i++) {
        if (run_set(d, s, args->cells + i * args->width, args->width, on_row, ctx, err))
            return -1;
    }
    return 0;
}

/* ---- Transactions. */

static int run_plain(struct db *db, const char *sql, struct err *err)
{
    struct cell none;

    return sqlite_run(db, sql, &(struct db_args){ &none, 0, 1 }, NULL, NULL, err);
}

/* Who comes after one that has waited in vain waits no more than a moment: the other program
 * may take for ever, and each of ours has somebody waiting for it. */
static int sqlite_begin(struct db *db, enum db_mode mode, struct err *err)
{
    struct sqlite_db *d = mine(db);
    int failed;

    if (d->is_locked)
        sqlite3_busy_timeout(d->handle, BUSY_AGAIN_MS);
    failed = run_plain(db, mode == DB_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", err);
    if (d->is_locked)
        sqlite3_busy_timeout(d->handle, BUSY_MS);
    d->is_locked = failed && (sqlite3_errcode(d->handle) & 0xff) == SQLITE_BUSY;
    return failed;
}

static bool sqlite_is_in(const struct db *db)
{
    return !sqlite3_get_autocommit(((const struct sqlite_db *)db)->handle);
}

/* If even that fails, the next BEGIN says so. */
static void sqlite_rollback(struct db *db)
{
    struct err ignored;

    if (sqlite_is_in(db))
        (void)run_plain(db, "ROLLBACK", &ignored);
}

static int sqlite_commit(struct db *db, struct err *err)
{
    if (run_plain(db, "COMMIT", err) == 0)
        return 0;
    sqlite_rollback(db);
    return -1;
}

static int on_wal(void *arg, sqlite3 *handle, const char *name, int pages)
{
    struct sqlite_db *d = arg;

    (void)handle;
    (void)name;
    d->wal_pages = pages;
    return SQLITE_OK;
}

/* SQLite would do this within the commit that makes the log too long, and whoever
 * asked for that one would wait.  What fails here is tried again after the next
 * commit; until then all of it stands in the log.  While somebody reads all the time the
 * log never begins anew by itself, and grows. */
static void sqlite_rest(struct db *db)
{
    struct sqlite_db *d = mine(db);
    bool is_long = d->wal_pages >= d->wal_long;
    int r;

    if (d->wal_pages < WAL_PAGES)
        return;
    sqlite3_busy_timeout(d->handle, WAL_WAIT_MS);
    r = sqlite3_wal_checkpoint_v2(d->handle, NULL,
                                  is_long ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE,
                                  NULL, NULL);
    sqlite3_busy_timeout(d->handle, BUSY_MS);
    if (is_long)
        d->wal_long = WAL_LONG_PAGES + (r == SQLITE_OK ? 0 : d->wal_pages);
    d->wal_pages = 0;
}

/* ---- The file. */

static int exec(struct sqlite_db *d, const char *sql, struct err *err)
{
    int r;

    errno = 0;
    r = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
    return r == SQLITE_OK ? 0 : fail(d, r, err);
}

static int write_new_file(struct sqlite_db *d, sqlite3 *memory, struct err *err)
{
    sqlite3_int64 n = 0;
    unsigned char *bytes = NULL;
    char sql[64];
    int result;

    snprintf(sql, sizeof(sql), "PRAGMA application_id=%d", APPLICATION_ID);
    if (sqlite3_exec(memory, sql, NULL, NULL, NULL) == SQLITE_OK)
        bytes = sqlite3_serialize(memory, "main", &n, 0);
    if (!bytes || n <= 0)
        return err_set(err, ERR_SYSTEM, "%s: SQLite cannot make an empty database", d->path);
    result = file_create(d->path, 0600, bytes, (size_t)n, err);
    sqlite3_free(bytes);
    return result;
}

/* An empty database comes into being in one step, so that an empty file is never
 * one of ours. */
static int make_file(struct sqlite_db *d, struct err *err)
{
    sqlite3 *memory = NULL;
    int r = sqlite3_open(":memory:", &memory);
    int result = r == SQLITE_OK ? write_new_file(d, memory, err) : fail(d, r, err);

    sqlite3_close(memory);
    return result;
}

/* A log without its file, or beside an empty one, would be taken for that of
 * another database, or thrown away: both lose what is in it. */
static int find_file(struct sqlite_db *d, const char *wal, struct err *err)
{
    struct stat st, log;
    bool there = sys_stat(d->path, &st) == 0;

    if (!there && errno != ENOENT)
        return err_sys(err, "%s", d->path);
    if (there && !S_ISREG(st.st_mode))
        return err_set(err, ERR_SYSTEM, "%s: not a file: name another one", d->path);
    if (there && st.st_size == 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: empty, so its data is lost: put a backup in its place, or remove it "
                       "to begin anew",
                       d->path);
    if (there)
        return 0;
    if (sys_stat(wal, &log) == 0 && log.st_size > 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: missing, but its log %s is there: put the file back, or remove the log "
                       "to begin anew",
                       d->path, wal);
    return make_file(d, err);
}

static int claim_file(struct sqlite_db *d, struct err *err)
{
    char *wal = xprintf("%s-wal", d->path);
    int result = lock_take(d->path, &d->lock_fd, err) ? -1 : find_file(d, wal, err);

    free(wal);
    return result;
}

/* ---- The check at start. */

/* The first column of the first row, or "". */
static int ask(struct sqlite_db *d, const char *sql, char *to, size_t size, int *ret_result)
{
    sqlite3_stmt *st = NULL;
    int r = sqlite3_prepare_v2(d->handle, sql, -1, &st, NULL);

    to[0] = '\0';
    errno = 0;
    if (r == SQLITE_OK && (r = sqlite3_step(st)) == SQLITE_ROW)
        snprintf(to, size, "%s", (const char *)sqlite3_column_text(st, 0));
    *ret_result = r;
    sqlite3_finalize(st);
    return r == SQLITE_ROW ? 0 : -1;
}

static int is_late(void *arg)
{
    return clock_mono_ms(&clock_system) > *(const int64_t *)arg;
}

/* A large file is not read to its end: what was read of it by then is well. */
static int check_pages(struct sqlite_db *d, struct err *err)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + CHECK_MS;
    char said[200];
    int r;

    sqlite3_progress_handler(d->handle, CHECK_STEPS, is_late, &until_ms);
    ask(d, "PRAGMA quick_check(1)", said, sizeof(said), &r);
    sqlite3_progress_handler(d->handle, 0, NULL, NULL);
    if (r == SQLITE_INTERRUPT || (r == SQLITE_ROW && !strcmp(said, "ok")))
        return 0;
    if (r != SQLITE_ROW)
        return fail(d, r, err);
    return err_set(err, ERR_SYSTEM, "%s: damaged; left as it is: put a backup in its place (%s)",
                   d->path, said);
}

static int check_owner(struct sqlite_db *d, struct err *err)
{
    char said[32];
    int r;

    if (ask(d, "PRAGMA application_id", said, sizeof(said), &r))
        return fail(d, r, err);
    if (strtol(said, NULL, 10) != APPLICATION_ID)
        return err_set(
            err, ERR_SYSTEM,
            "%s: not a database of ours; left as it is: move it away, or name another file",
            d->path);
    return 0;
}

/* ---- Opening. */

static int use_wal(struct sqlite_db *d, struct err *err)
{
    char said[32];
    int r;

    if (ask(d, "PRAGMA journal_mode=WAL", said, sizeof(said), &r))
        return fail(d, r, err);
    if (strcmp(said, "wal") != 0)
        return err_set(err, ERR_SYSTEM,
                       "%s: its file system can not have a write-ahead log: "
                       "name a file on a local disk",
                       d->path);
    return 0;
}

static const char *const settings[] = {
    [DB_READ] = "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
                "PRAGMA cache_size=-8192; PRAGMA query_only=ON",
    [DB_WRITE] = "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
                 "PRAGMA cache_size=-65536; PRAGMA synchronous=FULL;"
                 "PRAGMA journal_size_limit=16777216",
};

static int connect_file(struct sqlite_db *d, enum db_mode mode, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int r;

    errno = 0;
    r = sqlite3_open_v2(d->path, &d->handle, flags, NULL);
    if (r != SQLITE_OK)
        return fail(d, r, err);
    sqlite3_busy_timeout(d->handle, BUSY_MS);
    if (check_owner(d, err) || (mode == DB_WRITE && check_pages(d, err)))
        return -1;
    if (use_wal(d, err) || exec(d, settings[mode], err))
        return -1;
    sqlite3_wal_hook(d->handle, on_wal, d); /* and no checkpoint within a commit */
    return 0;
}

static void sqlite_close(struct db *db)
{
    struct sqlite_db *d = mine(db);
    struct map_entry *e;
    size_t at = 0;

    while ((e = map_next(&d->statements, &at)))
        statement_free(e->value);
    map_free(&d->statements);
    sqlite3_close(d->handle);
    sys_close(d->lock_fd);
    free(d->path);
    free(d);
}

static int sqlite_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
    struct sqlite_db *d;

    if (url[strlen(SCHEME)] != '/')
        return err_set(err, ERR_INVALID, "%s: write an absolute path: " SCHEME "/path/to/file.db",
                       url);
    d = xalloc(sizeof(*d));
    d->base.driver = &db_sqlite;
    d->path = xstrdup(url + strlen(SCHEME));
    d->lock_fd = -1;
    d->wal_long = WAL_LONG_PAGES;
    if ((mode == DB_WRITE && claim_file(d, err)) || connect_file(d, mode, err)) {
        sqlite_close(&d->base);
        return -1;
    }
    *ret = &d->base;
    return 0;
}

const struct db_driver db_sqlite = {
    .scheme = SCHEME,
    .open = sqlite_open,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .is_in = sqlite_is_in,
    .run = sqlite_run,
    .rest = sqlite_rest,
};

/* ---- The library. */

#ifdef HOLDFAST_FAULT
/* In a test build SQLite's own calls go through base/sys too, but for fsync, which
 * it gives no door to. */
static int door_open(const char *path, int flags, int mode)
{
    return sys_open(path, flags, (mode_t)mode);
}

/* clang-format off */
static const struct {
    const char *name;
    sqlite3_syscall_ptr call;
} doors[] = {
    { "open", (sqlite3_syscall_ptr)door_open },  { "stat", (sqlite3_syscall_ptr)sys_stat },
    { "fstat", (sqlite3_syscall_ptr)sys_fstat }, { "ftruncate", (sqlite3_syscall_ptr)sys_ftruncate },
    { "read", (sqlite3_syscall_ptr)sys_read },   { "write", (sqlite3_syscall_ptr)sys_write },
    { "pread", (sqlite3_syscall_ptr)sys_pread }, { "pread64", (sqlite3_syscall_ptr)sys_pread },
    { "pwrite", (sqlite3_syscall_ptr)sys_pwrite }, { "pwrite64", (sqlite3_syscall_ptr)sys_pwrite },
    { "unlink", (sqlite3_syscall_ptr)sys_unlink },
};
/* clang-format on */

static void use_doors(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    for (size_t i = 0; i < ARRAY_LEN(doors); i++)
        (void)vfs->xSetSystemCall(vfs, doors[i].name, doors[i].call); /* one of a pair is unknown */
}
#else
static void use_doors(void)
{
}
#endif

/* What can only be set before the first connection.  Without this SQLite takes and
 * gives back 80 KB for every statement with RETURNING, and locks to count its bytes. */
__attribute__((constructor)) static void set_up_library(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0); /* it is only slower if refused */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    use_doors();
}
