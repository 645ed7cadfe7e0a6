/* SPDX-License-Identifier: MIT */
/* db_sqlite.c - the SQLite driver.
 *
 * Invariants: an existing file is a complete database of ours, or it is refused and left unchanged.
 * A commit that succeeded is on the disk (WAL, synchronous=FULL).  One process has the file open
 * for writing, guarded by a lock on FILE.lock. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "store/db.h"
#include "store/lock.h"
#include "store/room.h"

#define SCHEME "sqlite:"

enum {
    APPLICATION_ID = 0x484f4c44, /* "HOLD"; identifies our files, for file(1) too */
    BUSY_MS = 5000,              /* wait for another program that has locked the file */
    BUSY_AGAIN_MS = 100,         /* wait after one that was in vain */
    CHECK_MS = 2000,             /* time limit of the check at start */
    CHECK_STEPS = 10000,         /* virtual machine steps between looks at the clock */
    WAL_PAGES = 1000,            /* WAL size that triggers a checkpoint */
    WAL_LONG_PAGES = 4 * 1000,   /* WAL size at which it waits for readers, to restart the WAL */
    WAL_WAIT_MS = 200,           /* limit of that wait */
};

struct statement {
    sqlite3_stmt *st;
    size_t width;
    int place[CELLS_MAX]; /* index of $1, $2 ... in SQLite, where they are names in order of
                             appearance */
};

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    struct map statements; /* prepared statements by SQL text */
    char *path;
    int lock_fd;
    int wal_pages, wal_long;
    bool is_locked; /* the last BEGIN waited in vain */
};

static struct sqlite_db *sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* ---- Failures: the meaning of each result, and what to do about it. */

struct meaning {
    int result;
    int code;
    const char *text; /* a message */
};

/* clang-format off */
static const struct meaning meanings[] = {
    { SQLITE_CONSTRAINT, ERR_CONFLICT, MSG("that breaks a rule of the data") },
    { SQLITE_FULL, ERR_UNAVAILABLE, MSG("no space left: free some and try again") },
    { SQLITE_BUSY, ERR_UNAVAILABLE, MSG("locked by another program: end it and try again") },
    { SQLITE_LOCKED, ERR_UNAVAILABLE, MSG("locked by another program: end it and try again") },
    { SQLITE_NOTADB, ERR_SYSTEM, MSG("not a database; left as it is: move it away, or name another file") },
    { SQLITE_CORRUPT, ERR_SYSTEM, MSG("damaged; left as it is: put a backup in its place") },
    { SQLITE_READONLY, ERR_SYSTEM, MSG("may only be read: make it and its folder writable") },
    { SQLITE_CANTOPEN, ERR_SYSTEM, MSG("cannot be opened: look at its folder") },
    { SQLITE_IOERR, ERR_SYSTEM, MSG("reading or writing failed: look at the disk") },
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

/* SQLite reports ENOSPC itself; other kinds of a full disk it reports as an I/O error.  It does not
 * record the errno of every failure and keeps an old one, so errno is set to 0 before each step and
 * examined first. */
static int set_error(const struct sqlite_db *d, int result, struct err *err)
{
    int last = errno, known = d->handle ? sqlite3_system_errno(d->handle) : 0;
    int number = last ? last : known;
    bool io = (result & 0xff) == SQLITE_IOERR || (result & 0xff) == SQLITE_CANTOPEN;
    const struct meaning *m = find_meaning(io && is_no_space(number) ? SQLITE_FULL : result);
    const char *answer = d->handle ? sqlite3_errmsg(d->handle) : sqlite3_errstr(result);
    char reason[128];

    if (!m)
        return err_set(err, ERR_SYSTEM, "%s: %s", d->path, answer);
    if (m->code != ERR_SYSTEM || !io || !number)
        return err_set(err, m->code, "%s: %s (%s)", d->path, m->text, answer);
    msg_constant(reason, sizeof(reason), strerror(number));
    err_set(err, m->code, "%s: %s (%s: %s)", d->path, m->text, answer, reason);
    err->sys = number;
    return -1;
}

/* ---- Statements: each is prepared once per connection. */

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

static int db_sqlite_prepare(struct sqlite_db *d, const char *sql, struct statement **ret,
                             struct err *err)
{
    struct statement *s = xalloc(sizeof(*s));
    int r = sqlite3_prepare_v3(d->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->st, NULL);

    if (r != SQLITE_OK) {
        statement_free(s);
        return set_error(d, r, err);
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

    if (!s && db_sqlite_prepare(d, sql, &s, err))
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

static int db_sqlite_read_row(const struct sqlite_db *d, sqlite3_stmt *st, struct cell *cells,
                              size_t *ret_n, struct err *err)
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
    return db_sqlite_read_row(d, st, cells, &n, err) ? -1 : on_row(ctx, cells, n, err);
}

static int run_set(struct sqlite_db *d, const struct statement *s, const struct cell *cells,
                   size_t width, db_row_fn *on_row, void *ctx, struct err *err)
{
    int r = bind_set(s, cells, width), result = 0;

    if (r != SQLITE_OK)
        return set_error(d, r, err);
    errno = 0;
    while (result == 0 && (r = sqlite3_step(s->st)) == SQLITE_ROW)
        result = give_row(d, s->st, on_row, ctx, err);
    if (result == 0 && r != SQLITE_DONE)
        result = set_error(d, r, err);
    sqlite3_reset(s->st);
    return result;
}

static int sqlite_run(struct db *db, const char *sql, const struct db_args *args, db_row_fn *on_row,
                      void *ctx, struct err *err)
{
    struct sqlite_db *d = sqlite_of(db);
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

/* After a wait in vain the next transactions wait only for a moment: the other program may hold its
 * lock for any time, and each of our calls has a waiting caller. */
static int sqlite_begin(struct db *db, enum db_mode mode, struct err *err)
{
    struct sqlite_db *d = sqlite_of(db);
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

/* If ROLLBACK fails, the next BEGIN reports it. */
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

/* SQLite would checkpoint within the commit that makes the WAL too long, and the caller of that
 * commit would wait.  A failed checkpoint is tried again after the next commit; until then the data
 * stays in the WAL.  With readers active all the time the WAL never restarts by itself, and
 * grows. */
static int sqlite_room(struct db *db, struct err *err)
{
    return room_check(sqlite_of(db)->path, err);
}

static void sqlite_rest(struct db *db)
{
    struct sqlite_db *d = sqlite_of(db);
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

static int exec_sql(struct sqlite_db *d, const char *sql, struct err *err)
{
    int r;

    errno = 0;
    r = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
    return r == SQLITE_OK ? 0 : set_error(d, r, err);
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

/* Creates the empty database atomically, so that an empty file is never one of ours. */
static int db_sqlite_make_file(struct sqlite_db *d, struct err *err)
{
    sqlite3 *memory = NULL;
    int r = sqlite3_open(":memory:", &memory);
    int result = r == SQLITE_OK ? write_new_file(d, memory, err) : set_error(d, r, err);

    sqlite3_close(memory);
    return result;
}

/* SQLite would apply a WAL without its file, or beside an empty file, to another database, or
 * delete it; both lose the data in it. */
static int db_sqlite_find_file(struct sqlite_db *d, const char *wal, struct err *err)
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
                       "%s: missing, but its log %s exists: restore the file, or remove the log "
                       "to start with an empty database",
                       d->path, wal);
    return db_sqlite_make_file(d, err);
}

static int claim_file(struct sqlite_db *d, struct err *err)
{
    char *wal = xprintf("%s-wal", d->path);
    int result = lock_take(d->path, &d->lock_fd, err) ? -1 : db_sqlite_find_file(d, wal, err);

    free(wal);
    return result;
}

/* ---- The check at start. */

/* The first column of the first row, or "". */
static int query_text(struct sqlite_db *d, const char *sql, char *to, size_t size, int *ret_result)
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

static int on_check_progress(void *arg)
{
    return clock_mono_ms(&clock_system) > *(const int64_t *)arg;
}

/* The check of a large file stops at the time limit; the part that was read is intact. */
static int check_pages(struct sqlite_db *d, struct err *err)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + CHECK_MS;
    char answer[200];
    int r;

    sqlite3_progress_handler(d->handle, CHECK_STEPS, on_check_progress, &until_ms);
    query_text(d, "PRAGMA quick_check(1)", answer, sizeof(answer), &r);
    sqlite3_progress_handler(d->handle, 0, NULL, NULL);
    if (r == SQLITE_INTERRUPT || (r == SQLITE_ROW && !strcmp(answer, "ok")))
        return 0;
    if (r != SQLITE_ROW)
        return set_error(d, r, err);
    return err_set(err, ERR_SYSTEM, "%s: damaged; left as it is: put a backup in its place (%s)",
                   d->path, answer);
}

static int check_owner(struct sqlite_db *d, struct err *err)
{
    char answer[32];
    int r;

    if (query_text(d, "PRAGMA application_id", answer, sizeof(answer), &r))
        return set_error(d, r, err);
    if (strtol(answer, NULL, 10) != APPLICATION_ID)
        return err_set(
            err, ERR_SYSTEM,
            "%s: not a database of ours; left as it is: move it away, or name another file",
            d->path);
    return 0;
}

/* ---- Opening. */

static int use_wal(struct sqlite_db *d, struct err *err)
{
    char answer[32];
    int r;

    if (query_text(d, "PRAGMA journal_mode=WAL", answer, sizeof(answer), &r))
        return set_error(d, r, err);
    if (strcmp(answer, "wal") != 0)
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
        return set_error(d, r, err);
    sqlite3_busy_timeout(d->handle, BUSY_MS);
    if (check_owner(d, err) || (mode == DB_WRITE && check_pages(d, err)))
        return -1;
    if (use_wal(d, err) || exec_sql(d, settings[mode], err))
        return -1;
    sqlite3_wal_hook(d->handle, on_wal, d); /* disables the checkpoint within a commit */
    return 0;
}

static void sqlite_close(struct db *db)
{
    struct sqlite_db *d = sqlite_of(db);
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
        return err_set(err, ERR_INVALID, "%s: write an absolute path: sqlite:/path/to/file.db",
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
    .room = sqlite_room,
    .rest = sqlite_rest,
};

/* ---- The library. */

#ifdef HOLDFAST_FAULT
/* In a test build the system calls of SQLite go through base/sys too, except fsync, which SQLite
 * does not let us replace. */
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
        (void)vfs->xSetSystemCall(vfs, doors[i].name, doors[i].call); /* some are unknown to it */
}
#else
static void use_doors(void)
{
}
#endif

/* Settings that must precede the first connection.  Without them SQLite allocates and frees 80 KB
 * for every statement with RETURNING, and takes a lock to count its memory. */
__attribute__((constructor)) static void set_up_library(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0); /* only slower if it fails */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    use_doors();
}
