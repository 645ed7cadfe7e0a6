/* SPDX-License-Identifier: MIT */
#include "agent/identify/mark.h"

#include "tests/lib/agent_world.h"

static struct spawn_result start_as(struct world *w, const struct user *user, const char *command,
                                    int64_t mark)
{
    struct arena a = { 0 };
    const char *env[] = { "A=b", mark_variable(mark, &a), NULL };
    struct spawn_request r = { .command = command,
                               .setup_path = w->dir,
                               .user = user,
                               .env = env,
                               .out_fd = w->out_fd,
                               .cgroup_fd = -1 };
    struct spawn_result got = { 0 };
    struct err err;

    if (spawn(w->spawner, &r, &got, &err))
        fail_msg("%s", err.text);
    w->started[w->n++] = got;
    arena_free(&a);
    return got;
}

static struct spawn_result start_marked(struct world *w, const char *command, int64_t mark)
{
    return start_as(w, w->nobody, command, mark);
}

static void a_command_is_found_by_its_mark_and_nobody_else(void **state)
{
    struct world *w = *state;
    struct spawn_result r = start_marked(w, "./victim & setsid ./victim & wait", 4711);
    struct spawn_result other = start_marked(w, "./victim", 47110);
    struct mark_found found;

    WAIT_UNTIL(mark_find(4711, w->out, &found)); /* right after exec its environment is empty */
    assert_int_equal(found.pid, r.id.pid);
    assert_int_equal(found.start_ticks, r.id.start_ticks);
    WAIT_UNTIL(mark_find(47110, w->out, &found));
    assert_int_equal(found.pid, other.id.pid);
    assert_false(mark_find(471, w->out, &found)); /* a part of another one */
    assert_false(mark_find(4712, w->out, &found));
}

static bool is_silent(int64_t pid)
{
    char path[64], to[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%lld/fd/2", (long long)pid);
    n = readlink(path, to, sizeof(to));
    return n == (ssize_t)strlen("/dev/null") && !memcmp(to, "/dev/null", (size_t)n);
}

/* For example of another user, that can not open our files. */
static void one_that_does_not_write_to_a_file_of_ours_is_not_found(void **state)
{
    struct world *w = *state;
    struct spawn_result r = start_marked(w, "exec >/dev/null 2>&1; exec ./victim", 4714);
    struct mark_found found;

    WAIT_UNTIL(is_silent(r.id.pid));
    assert_false(mark_find(4714, w->out, &found));
}

/* Each file is of one process; other commands of it have a file with another end of its name. */
static void one_that_writes_to_the_file_of_another_process_is_not_found(void **state)
{
    struct world *w = *state;
    struct spawn_result r;
    struct mark_found found;
    char other[128];

    snprintf(other, sizeof(other), "%s~stop", w->out);
    assert_int_equal(rename(w->out, other), 0);
    r = start_marked(w, "./victim", 4715);
    WAIT_UNTIL(mark_find(4715, w->out, &found));
    assert_int_equal(found.pid, r.id.pid);
    assert_false(mark_find(4715, w->dir, &found));
    snprintf(other, sizeof(other), "%s/ou", w->dir);
    assert_false(mark_find(4715, other, &found));
    snprintf(other, sizeof(other), "%s~", w->out);
    assert_false(mark_find(4715, other, &found));
}

/* It may have been given the file, and its memory may be made to hang. */
static void one_of_another_user_than_the_file_is_not_found(void **state)
{
    struct world *w = *state;
    const struct user *daemon;
    struct spawn_result theirs, own;
    struct mark_found found;
    struct err err;

    assert_int_equal(users_get(&w->users, "daemon", 0, &daemon, &err), 0);
    theirs = start_as(w, daemon, "./victim", 4716);
    WAIT_UNTIL(mark_find(4716, w->out, &found)); /* a command of root may give up its rights */
    assert_int_equal(found.pid, theirs.id.pid);
    assert_int_equal(chown(w->out, w->nobody->uid, w->nobody->gid), 0);
    assert_false(mark_find(4716, w->out, &found));
    own = start_marked(w, "./victim", 4717);
    WAIT_UNTIL(mark_find(4717, w->out, &found));
    assert_int_equal(found.pid, own.id.pid);
}

static void one_that_has_ended_is_not_found(void **state)
{
    struct world *w = *state;
    struct spawn_result r = start_marked(w, "exit 0", 4713);
    struct mark_found found;

    WAIT_UNTIL(world_ended(r.pidfd));
    assert_false(mark_find(4713, w->out, &found)); /* a zombie: not reaped yet */
    assert_int_equal(world_end(&r).code, 0);
    assert_false(mark_find(4713, w->out, &found));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_is_found_by_its_mark_and_nobody_else),
        TEST(one_that_does_not_write_to_a_file_of_ours_is_not_found),
        TEST(one_that_writes_to_the_file_of_another_process_is_not_found),
        TEST(one_of_another_user_than_the_file_is_not_found),
        TEST(one_that_has_ended_is_not_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
