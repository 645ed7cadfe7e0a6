/* SPDX-License-Identifier: MIT */
#include "agent/identify/tree.h"

#include <sys/prctl.h>

#include "tests/lib/agent_world.h"

static size_t size_of(const struct ident *root, bool with_session)
{
    struct tree t = { 0 };
    struct err err;
    size_t n;

    if (tree_read(root, with_session, &t, &err))
        fail_msg("%s", err.text);
    n = t.n;
    if (n > 0 && !with_session)
        assert_true(ident_equal(&t.members[0], root));
    tree_done(&t);
    return n;
}

static void a_tree_has_all_descendants(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 5");
    struct spawn_result shell =
        world_start(w, w->nobody, "./victim --children 3 & ./victim & wait");

    WAIT_UNTIL(size_of(&r.id, false) == 6);
    WAIT_UNTIL(size_of(&shell.id, false) == 6);
    assert_int_equal(size_of(&shell.id, true), 6);
}

static void a_root_that_ended_has_none_but_its_session_has(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 4 --orphans");
    struct err err;
    size_t n;

    world_end(&r);
    assert_int_equal(size_of(&r.id, false), 0);
    assert_int_equal(size_of(&r.id, true), 4);
    assert_int_equal(tree_kill(&r.id, false, NULL, &n, &err), 0);
    assert_int_equal(n, 0);
    assert_int_equal(tree_kill(&r.id, true, NULL, &n, &err), 0);
    assert_int_equal(n, 4);
    WAIT_UNTIL(size_of(&r.id, true) == 0);
}

static void another_root_with_the_same_pid_is_not_touched(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 2");
    struct ident old = r.id;
    struct err err;
    size_t n;

    WAIT_UNTIL(size_of(&r.id, true) == 3);
    old.start_ticks--;
    assert_int_equal(size_of(&old, true), 0);
    assert_int_equal(tree_kill(&old, true, NULL, &n, &err), 0);
    assert_int_equal(n, 0);
    assert_int_equal(size_of(&r.id, true), 3);
}

/* It forks on while it is killed, each time from the youngest. */
static void one_that_forks_without_end_is_killed_as_a_whole(void **state)
{
    struct world *w = *state;
    struct spawn_result r;
    struct err err = { 0 };
    size_t n;

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    r = world_start(w, w->nobody, "./victim --forks 300");
    WAIT_UNTIL(size_of(&r.id, true) > 10);
    if (tree_kill(&r.id, true, NULL, &n, &err))
        fail_msg("%s", err.text);
    assert_true(n > 10);
    WAIT_UNTIL(size_of(&r.id, true) == 0);
    assert_int_equal(world_end(&r).code, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void stopped_and_deaf_ones_die_too(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --stop-self --ignore-term");
    struct err err;
    size_t n;

    assert_int_equal(tree_kill(&r.id, false, NULL, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(world_end(&r).code, SIGKILL);
}

/* Any call refused: an error, and a second try ends it all; or it was done all the same. */
static void every_call_that_fails_is_told_and_can_be_tried_again(void **state)
{
    struct world *w = *state;
    int failures = 0;
    bool hit = true;

    for (int nth = 1; hit; nth++) {
        struct spawn_result r = world_start(w, w->nobody, "./victim --children 2");
        struct err err = { 0 };
        size_t n = 0;

        WAIT_UNTIL(size_of(&r.id, false) == 3);
        sys_fault("any", nth, ENFILE);
        failures += tree_kill(&r.id, false, NULL, &n, &err) != 0;
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        assert_int_equal(tree_kill(&r.id, true, NULL, &n, &err), 0);
        WAIT_UNTIL(size_of(&r.id, true) == 0);
        world_end(&r);
        close(r.pidfd);
        w->n--;
    }
    assert_true(failures > 20);
}

static void one_that_may_not_be_signalled_is_told_and_the_others_die(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 2");
    struct err err = { 0 };
    size_t n;

    WAIT_UNTIL(size_of(&r.id, false) == 3);
    sys_fault("pidfd_send_signal", 4, EPERM); /* the first SIGKILL, after three SIGSTOP */
    assert_int_equal(tree_kill(&r.id, false, NULL, &n, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    WAIT_UNTIL(size_of(&r.id, false) == 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tree_has_all_descendants),
        TEST(a_root_that_ended_has_none_but_its_session_has),
        TEST(another_root_with_the_same_pid_is_not_touched),
        TEST(one_that_forks_without_end_is_killed_as_a_whole),
        TEST(stopped_and_deaf_ones_die_too),
        TEST(every_call_that_fails_is_told_and_can_be_tried_again),
        TEST(one_that_may_not_be_signalled_is_told_and_the_others_die),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
