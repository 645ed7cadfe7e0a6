/* SPDX-License-Identifier: MIT */
#include "agent/shell/trimmer.h"

#include <dirent.h>
#include <sys/syscall.h>

#include "agent/exec/outlog_append.h"
#include "agent/exec/outlog_trim.h"
#include "tests/lib/agent_world.h"

enum { MAX_BYTES = 65536, WAIT_MS = 30000 };

struct trims {
    struct world *w;
    struct outlog *o;
    struct trimmer *trimmer;
    int fd; /* of file x, as its process has it */
    char dir[96];
};

static int set_up(void **state)
{
    struct trims *t = xalloc(sizeof(*t));
    struct err err;
    uint64_t from;

    t->w = world_new();
    snprintf(t->dir, sizeof(t->dir), "%s/logs", t->w->dir);
    assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
    assert_int_equal(
        outlog_append(t->o, "x", t->w->nobody->uid, t->w->nobody->gid, &t->fd, &from, &err), 0);
    assert_int_equal(trimmer_new(t->o, t->dir, MAX_BYTES, NULL, &t->trimmer, &err), 0);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct trims *t = *state;

    assert_true(trimmer_free(t->trimmer, WAIT_MS));
    close(t->fd);
    outlog_close(t->o);
    world_free(t->w);
    free(t);
    return 0;
}

static void say(struct trims *t, size_t n)
{
    static const char zeros[MAX_BYTES];

    for (; n > 0; n -= n < sizeof(zeros) ? n : sizeof(zeros))
        assert_true(write(t->fd, zeros, n < sizeof(zeros) ? n : sizeof(zeros)) > 0);
}

static void a_file_that_is_too_large_is_trimmed(void **state)
{
    struct trims *t = *state;

    say(t, 3 * MAX_BYTES);
    WAIT_UNTIL(outlog_size(t->o, "x") <= MAX_BYTES);
}

static void what_a_process_reserves_is_given_back(void **state)
{
    struct trims *t = *state;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(fallocate(t->fd, FALLOC_FL_KEEP_SIZE, 0, 64 << 20), 0);
        WAIT_UNTIL(outlog_space(t->o, "x").reserved < MAX_BYTES);
        assert_int_equal(write(t->fd, "x", 1), 1);
    }
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 3);
}

static bool is_waiting(const char *tid)
{
    char text[64] = { 0 };
    int fd = open(world_text("/proc/self/task/%s/syscall", tid), O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    close(fd);
    return got > 0 && strtol(text, NULL, 10) == SYS_futex;
}

/* Whether a thread waits for a lock or a condition; all others sleep in poll(). */
static bool has_waiting(void)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    bool found = false;

    while ((entry = readdir(dir)))
        found |= entry->d_name[0] != '.' && is_waiting(entry->d_name);
    closedir(dir);
    return found;
}

static bool hangs(void)
{
    enum { LOOKS = 20 }; /* none waits so long for a lock */

    for (int i = 0; i < LOOKS; i++) {
        if (!has_waiting())
            return false;
        poll(NULL, 0, 1);
    }
    return true;
}

/* As if the disk did not answer another thread, which trims the file. */
static void a_thread_that_hangs_is_not_waited_for_at_the_end(void **state)
{
    struct trims *t = *state;

    outlog_begin_trim(t->o, "x");
    say(t, 3 * MAX_BYTES);
    WAIT_UNTIL(hangs());
    assert_false(trimmer_free(t->trimmer, 100));
    outlog_end_trim(t->o, "x"); /* now it can end, and tear_down() sees that */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_that_is_too_large_is_trimmed),
        TEST(what_a_process_reserves_is_given_back),
        TEST(a_thread_that_hangs_is_not_waited_for_at_the_end),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("trimmer", tests, NULL, NULL);
}
