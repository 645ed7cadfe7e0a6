/* SPDX-License-Identifier: MIT */
/* Files: a file that is foreign, damaged or in use is refused and left unchanged. */
#include "tests/lib/store_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/os/sys.h"
#include "store/store_apps.h"

static int place(void **state)
{
    struct store_rig *r = xalloc(sizeof(*r));

    unsetenv("HOLDFAST_TEST_DB"); /* this test is about SQLite's files */
    store_rig_place(r);
    r->options.url = r->url;
    *state = r;
    return 0;
}

static void put_app(struct store_rig *r, const char *code)
{
    store_rig_do(r, &store_app_put, &(struct app_row){ .code = code }, NULL);
}

static size_t count_apps(struct store_rig *r)
{
    struct list rows;

    store_rig_do(r, &store_app_list, &(struct store_page){ "", 1000000 }, &rows);
    return rows.n;
}

/* Makes a database with data, and closes it. */
static void make_data(struct store_rig *r, size_t apps)
{
    store_rig_open(r);
    for (size_t i = 0; i < apps; i++) {
        char code[16];

        snprintf(code, sizeof(code), "app%zu", i);
        put_app(r, code);
    }
    store_rig_close(r);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

static struct buf read_file(const char *path)
{
    struct buf b = { 0 };
    int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    while ((n = read(fd, buf_reserve(&b, 65536), 65536)) > 0)
        b.len += (size_t)n;
    close(fd);
    return b;
}

static char *byte(const struct buf *b, size_t n)
{
    assert_true(n < b->len);
    return b->block + b->start + n;
}

/* Opening fails with this code and text, and changes no byte. */
static void refused(struct store_rig *r, int code, const char *words)
{
    struct buf before = read_file(r->path), after;

    r->err = (struct err){ 0 };
    assert_int_equal(store_open(&r->options, &r->store, &r->err), -1);
    assert_null(r->store);
    if (r->err.code != code || !strstr(r->err.text, words) || !strstr(r->err.text, r->path))
        fail_msg("%d: %s", r->err.code, r->err.text);
    after = read_file(r->path);
    assert_int_equal(before.len, after.len);
    if (before.len)
        assert_memory_equal(buf_data(&before), buf_data(&after), before.len);
    buf_free(&before);
    buf_free(&after);
}

static void a_new_file_is_ours_alone_to_read(void **state)
{
    static const char *const names[] = { "", "-wal", "-shm", ".lock" };
    struct store_rig *r = *state;
    mode_t old = umask(0);

    store_rig_open(r);
    put_app(r, "a");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[128];
        struct stat st;

        snprintf(path, sizeof(path), "%s%s", r->path, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    umask(old);
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    static const char garbage[8192] = "This is a text that somebody needs.";
    struct store_rig *r = *state;

    for (size_t n = 1; n <= sizeof(garbage); n *= 2) {
        write_file(r->path, garbage, n);
        refused(r, ERR_SYSTEM, "not a database");
    }
    write_file(r->path, "", 0);
    refused(r, ERR_SYSTEM, "empty");
    unlink(r->path);
    mkdir(r->path, 0700);
    assert_int_equal(store_open(&r->options, &r->store, &r->err), -1);
    assert_non_null(strstr(r->err.text, "not a file"));
    rmdir(r->path);
}

/* The application id is at the end of the first 72 bytes. */
static void a_database_of_another_program_is_refused(void **state)
{
    struct store_rig *r = *state;
    struct buf b;

    make_data(r, 3);
    b = read_file(r->path);
    memset(byte(&b, 68), 0, 4);
    write_file(r->path, buf_data(&b), b.len);
    refused(r, ERR_SYSTEM, "not a database of ours");
    buf_free(&b);
}

static void a_damaged_file_is_refused(void **state)
{
    struct store_rig *r = *state;
    struct buf b;
    size_t pages;

    make_data(r, 2000);
    b = read_file(r->path);
    pages = b.len / 4096;
    assert_true(pages > 20);
    for (size_t keep = 1; keep < pages; keep += 7) { /* truncated */
        write_file(r->path, buf_data(&b), keep * 4096 + keep % 3 * 100);
        refused(r, ERR_SYSTEM, "damaged");
    }
    for (size_t page = 1; page < pages; page += 7) { /* overwritten */
        char old[64];

        memcpy(old, byte(&b, page * 4096), sizeof(old));
        memset(byte(&b, page * 4096), 0xa5, sizeof(old));
        write_file(r->path, buf_data(&b), b.len);
        refused(r, ERR_SYSTEM, "damaged");
        memcpy(byte(&b, page * 4096), old, sizeof(old));
    }
    write_file(r->path, buf_data(&b), b.len);
    store_rig_open(r);
    assert_int_equal(count_apps(r), 2000);
    buf_free(&b);
}

/* Runs f in a child, which exits with 0 on success. */
static int in_child(struct store_rig *r, int (*f)(struct store_rig *r))
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(f(r));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Dies with its data only in the WAL. */
static int write_and_die(struct store_rig *r)
{
    store_rig_open(r);
    put_app(r, "in the log");
    return raise(SIGKILL);
}

static void a_log_without_its_file_is_kept(void **state)
{
    struct store_rig *r = *state;
    char wal[128], away[128];
    struct buf log;

    snprintf(wal, sizeof(wal), "%s-wal", r->path);
    snprintf(away, sizeof(away), "%s.away", r->path);
    assert_int_equal(in_child(r, write_and_die), -SIGKILL);
    log = read_file(wal);
    assert_true(log.len > 0);
    rename(r->path, away);
    assert_int_equal(store_open(&r->options, &r->store, &r->err), -1);
    assert_non_null(strstr(r->err.text, "-wal"));
    write_file(r->path, "", 0);
    refused(r, ERR_SYSTEM, "empty");
    rename(away, r->path);
    store_rig_open(r);
    assert_int_equal(count_apps(r), 1);
    buf_free(&log);
}

/* ---- One process at a time. */

static int expect_refused(struct store_rig *r)
{
    char words[64];

    snprintf(words, sizeof(words), "in use by process %d:", (int)getppid());
    if (store_open(&r->options, &r->store, &r->err) != -1)
        return 1;
    return r->err.code == ERR_CONFLICT && strstr(r->err.text, words) ? 0 : 2;
}

static int opens(struct store_rig *r)
{
    return store_open(&r->options, &r->store, &r->err) ? 1 : 0;
}

static void a_second_process_is_refused_by_naming_the_first(void **state)
{
    struct store_rig *r = *state;
    struct store *second = NULL;

    store_rig_open(r);
    assert_int_equal(in_child(r, expect_refused), 0);
    assert_int_equal(store_open(&r->options, &second, &r->err), -1); /* nor twice in this process */
    assert_int_equal(r->err.code, ERR_CONFLICT);
    put_app(r, "a");
    store_rig_close(r);
    assert_int_equal(in_child(r, opens), 0);
    assert_int_equal(in_child(r, write_and_die), -SIGKILL); /* a dead process holds no lock */
    store_rig_open(r);
    assert_int_equal(count_apps(r), 2);
}

/* ---- No permission, no space. */

static int without_rights(struct store_rig *r)
{
    if (setgid(65534) || setuid(65534))
        return 1;
    if (store_open(&r->options, &r->store, &r->err) != -1)
        return 2;
    return r->err.code == ERR_SYSTEM && r->err.sys == EACCES && strstr(r->err.text, r->path) ? 0
                                                                                             : 3;
}

static void a_folder_that_may_not_be_written_is_named(void **state)
{
    struct store_rig *r = *state;

    if (getuid() == 0)
        assert_int_equal(in_child(r, without_rights), 0);
    sys_fault("open", 1, EROFS);
    assert_int_equal(store_open(&r->options, &r->store, &r->err), -1);
    assert_int_equal(r->err.sys, EROFS);
    assert_non_null(strstr(r->err.text, r->path));
    snprintf(r->url, sizeof(r->url), "sqlite:%s/no/such/folder.db", r->dir);
    assert_int_equal(store_open(&r->options, &r->store, &r->err), -1);
    assert_int_equal(r->err.sys, ENOENT);
    assert_non_null(strstr(r->err.text, "folder.db"));
}

static int put_until_full(struct store_rig *r)
{
    struct rlimit limit = { .rlim_cur = 1024 * 1024, .rlim_max = RLIM_INFINITY };
    char large[10000];
    int n = 0;

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    signal(SIGXFSZ, SIG_IGN);
    store_rig_open(r);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (struct app_row app = { .code = large }; n < 1000; n++) {
        snprintf(large, 8, "%07d", n);
        large[7] = 'x';
        if (store_sync(r->store, &store_app_put, &app, NULL, NULL, &r->err))
            break;
    }
    if (r->err.code != ERR_UNAVAILABLE || !strstr(r->err.text, "no space left") || n < 10)
        return 1;
    if (count_apps(r) != (size_t)n)
        return 2;
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    put_app(r, "and on it goes");
    if (count_apps(r) != (size_t)n + 1)
        return 3;
    store_rig_close(r);
    return 0;
}

static void a_full_disk_is_reported_and_survived(void **state)
{
    struct store_rig *r = *state;

    assert_int_equal(in_child(r, put_until_full), 0);
    store_rig_open(r);
    assert_true(count_apps(r) > 10);
}

/* ---- Any call may fail while the store opens: the error is reported or handled, and the next
 * start succeeds. */

static void every_call_of_a_start_may_fail(void **state)
{
    static const int errors[] = { EIO, ENOSPC, EMFILE };
    struct store_rig *r = *state;
    bool hit = true;
    int failed = 0;

    for (long n = 1; hit; n++) {
        unlink(r->path);
        r->err = (struct err){ 0 };
        sys_fault("any", n, errors[(size_t)n % ARRAY_LEN(errors)]);
        if (store_open(&r->options, &r->store, &r->err)) {
            assert_true(r->err.code == ERR_SYSTEM || r->err.code == ERR_UNAVAILABLE);
            failed++;
        }
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        store_rig_close(r);
        store_rig_open(r);
        put_app(r, "a");
        store_rig_close(r);
        assert_in_range(n, 1, 1000);
    }
    assert_true(failed > 20);
}

/* ---- Readers that overlap, so that one is always active. */

enum { READERS = 3, ROWS = 32, ROW_BYTES = 1 << 20, WAL_MAX = 24 << 20 };

struct reader {
    const char *url;
    atomic_bool *is_over;
    pthread_t thread;
    int bad;
};

static void *read_again_and_again(void *arg)
{
    static const struct query look = { "SELECT code FROM app LIMIT 0" };
    struct reader *me = arg;
    struct db *db = NULL;
    struct err err;

    me->bad = db_open(me->url, DB_READ, &db, &err) != 0;
    while (!me->bad && !atomic_load(me->is_over)) {
        me->bad = db_begin(db, DB_READ, &err) || db_run(db, &look, NULL, NULL, NULL, &err);
        usleep(3000); /* makes its reading slow */
        me->bad |= db_commit(db, &err) != 0;
    }
    db_close(db);
    return NULL;
}

static void the_wal_restarts_although_a_reader_is_always_active(void **state)
{
    struct store_rig *r = *state;
    atomic_bool is_over = false;
    struct reader readers[READERS];
    char *large = xalloc(ROW_BYTES), wal[128];
    struct stat st;

    memset(large, 'x', ROW_BYTES - 1);
    store_rig_open(r);
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ r->url, &is_over };
        assert_int_equal(
            pthread_create(&readers[i].thread, NULL, read_again_and_again, &readers[i]), 0);
    }
    for (int i = 0; i < ROWS; i++) {
        snprintf(large, 8, "%07d", i);
        large[7] = 'x';
        put_app(r, large);
    }
    atomic_store(&is_over, true);
    for (size_t i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        assert_int_equal(readers[i].bad, 0);
    }
    snprintf(wal, sizeof(wal), "%s-wal", r->path);
    assert_int_equal(stat(wal, &st), 0);
    assert_in_range(st.st_size, 0, WAL_MAX);
    free(large);
}

#define FILE_TEST(f) cmocka_unit_test_setup_teardown(f, place, store_rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_new_file_is_ours_alone_to_read),
        FILE_TEST(a_file_that_is_no_database_is_refused),
        FILE_TEST(a_database_of_another_program_is_refused),
        FILE_TEST(a_damaged_file_is_refused),
        FILE_TEST(a_log_without_its_file_is_kept),
        FILE_TEST(a_second_process_is_refused_by_naming_the_first),
        FILE_TEST(a_folder_that_may_not_be_written_is_named),
        FILE_TEST(a_full_disk_is_reported_and_survived),
        FILE_TEST(every_call_of_a_start_may_fail),
        FILE_TEST(the_wal_restarts_although_a_reader_is_always_active),
    };

    return cmocka_run_group_tests_name("db_sqlite", tests, NULL, NULL);
}
