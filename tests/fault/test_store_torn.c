/* SPDX-License-Identifier: MIT */
/* The log of the store is torn at any place, as a power cut may leave it: cut off, or with
 * zeroes or rubbish from there on.  What is before that is there, task by task, each whole,
 * and the store goes on. */
#include "tests/lib/store_rig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem/buf.h"
#include "store/store_items.h"
#include "tests/lib/random.h"

enum { TASKS = 40, CUTS = 20 };
enum tear { TEAR_CUT, TEAR_ZEROES, TEAR_RUBBISH, TEARS };

struct files {
    struct store_rig rig;
    char wal[128];
    struct buf main_bytes, wal_bytes; /* as they were when their process died */
};

static size_t items_of(int task)
{
    return 1 + (size_t)task * 7 % 40;
}

static void make(struct store_rig *r, int number)
{
    struct task_item_row items[40];
    struct task_spec_row spec = { 0, "{}" };
    char id[16];
    struct task_create_ask ask = { .task = { .id = id, .deadline_ms = INT64_MAX },
                                   .specs = { &spec, 1 },
                                   .items = { items, items_of(number) } };

    snprintf(id, sizeof(id), "T%d", number);
    for (size_t i = 0; i < items_of(number); i++)
        items[i] = (struct task_item_row){ .n = (int64_t)i, .agent_id = "agent", .key = "key" };
    store_rig_do(r, &store_task_create, &ask, NULL);
}

/* False: it is not there. */
static bool is_whole(struct store_rig *r, int number)
{
    struct task_read_got got;
    char id[16];

    snprintf(id, sizeof(id), "T%d", number);
    store_rig_do(r, &store_task_read, &(struct task_read_ask){ id, -1, 1000 }, &got);
    if (got.tasks.n == 0)
        return false;
    assert_int_equal(got.items.n, items_of(number));
    assert_int_equal(ROW(task_row, got.tasks, 0)->n_left, items_of(number));
    assert_int_equal(got.specs.n, 1);
    return true;
}

static struct buf read_file(const char *path)
{
    struct buf b = { 0 };
    char bytes[65536];
    int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        buf_add(&b, bytes, (size_t)n);
    close(fd);
    return b;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* Ends without a word, so that all it has written is in the log. */
static void write_and_die(struct store_rig *r)
{
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        store_rig_open(r);
        for (int i = 0; i < TASKS; i++)
            make(r, i);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int setup(void **state)
{
    struct files *f = xalloc(sizeof(*f));

    unsetenv("HOLDFAST_TEST_DB"); /* this is about SQLite's files */
    store_rig_place(&f->rig);
    snprintf(f->wal, sizeof(f->wal), "%s-wal", f->rig.path);
    write_and_die(&f->rig);
    f->main_bytes = read_file(f->rig.path);
    f->wal_bytes = read_file(f->wal);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct files *f = *state;

    store_rig_remove(&f->rig);
    buf_free(&f->main_bytes);
    buf_free(&f->wal_bytes);
    free(f);
    return 0;
}

static void tear(struct files *f, size_t at, enum tear how, uint64_t *dice)
{
    size_t size = f->wal_bytes.len;
    char *bytes = xalloc(size + 1), shm[128];

    memcpy(bytes, buf_data(&f->wal_bytes), at);
    for (size_t i = at; how == TEAR_RUBBISH && i < size; i++)
        bytes[i] = (char)random_next(dice);
    snprintf(shm, sizeof(shm), "%s-shm", f->rig.path);
    unlink(shm);
    write_file(f->rig.path, buf_data(&f->main_bytes), f->main_bytes.len);
    write_file(f->wal, bytes, how == TEAR_CUT ? at : size);
    free(bytes);
}

/* How many tasks there are; behind the first that is missing there is none. */
static int count(struct store_rig *r)
{
    int n = 0;

    while (n < TASKS && is_whole(r, n))
        n++;
    for (int i = n; i < TASKS; i++)
        assert_false(is_whole(r, i));
    return n;
}

static int count_after(struct files *f, size_t at, enum tear how, uint64_t *dice)
{
    int n;

    tear(f, at, how, dice);
    store_rig_open(&f->rig);
    n = count(&f->rig);
    if (n < TASKS)
        make(&f->rig, n);
    store_rig_close(&f->rig);
    store_rig_open(&f->rig);
    assert_int_equal(count(&f->rig), n < TASKS ? n + 1 : n);
    store_rig_close(&f->rig);
    arena_reset(&f->rig.arena);
    return n;
}

static void what_is_before_the_tear_is_there_and_whole(void **state)
{
    struct files *f = *state;
    size_t size = f->wal_bytes.len;
    uint64_t dice = 1;
    int before = 0, n = 0;

    assert_true(size > 10 * 4096);
    for (size_t i = 0; i < CUTS; i++) {
        size_t at = size * i / CUTS + random_below(&dice, size / CUTS);

        n = count_after(f, at, (enum tear)(i % TEARS), &dice);
        if (n < before)
            fail_msg("torn at %zu there are %d tasks, and were %d torn before that", at, n, before);
        before = n;
    }
    assert_in_range(before, TASKS / 2, TASKS);
    assert_int_equal(count_after(f, size, TEAR_CUT, &dice), TASKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_before_the_tear_is_there_and_whole, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
