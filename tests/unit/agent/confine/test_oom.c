/* SPDX-License-Identifier: MIT */
#include "agent/confine/oom.h"

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/agent_world.h"

static void the_kernels_count_is_found(void **state)
{
    static const struct {
        const char *text;
        int64_t kills; /* -1: there is none */
    } cases[] = {
        { "nr_free_pages 1\noom_kill 7\nnuma_hit 3\n", 7 },
        { "x 1\noom_kill 0\n", 0 },
        { "x 1\nmy_oom_kill 7\n", -1 },
        { "x 1\noom_kill_other 7\n", -1 },
        { "x 1\noom_kill -7\n", -1 },
        { "x 1\noom_kill 7", -1 }, /* torn */
        { "x 1\noom_kill \n", -1 },
        { "x 1\noom_kill 99999999999999999999\n", -1 },
        { "", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t kills = -1;

        assert_int_equal(oom_parse(cases[i].text, &kills), cases[i].kills >= 0);
        assert_int_equal(kills, cases[i].kills);
    }
}

static void what_can_not_be_read_is_an_error(void **state)
{
    static const char *const calls[] = { "open", "read" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct err err = { 0 };
        int64_t kills;

        sys_fault(calls[i], 1, EIO);
        assert_int_equal(oom_kills(&kills, &err), -1);
        assert_int_equal(err.sys, EIO);
        sys_fault("any", 0, 0);
    }
}

static void each_death_accounts_for_one_process(void **state)
{
    struct oom o;

    (void)state;
    oom_begin(&o, 5);
    assert_false(oom_claim(&o, 5));
    assert_true(oom_claim(&o, 7));
    assert_true(oom_claim(&o, 7));
    assert_false(oom_claim(&o, 7));
    oom_on_tick(&o, 7);
    assert_false(oom_claim(&o, 7));
    assert_true(oom_claim(&o, 8));
    assert_false(oom_claim(&o, 8));
}

static void a_death_of_long_ago_accounts_for_none(void **state)
{
    struct oom o;

    (void)state;
    oom_begin(&o, 5);
    oom_on_tick(&o, 6); /* one that was not ours; it may take its time to die */
    oom_on_tick(&o, 6);
    assert_false(oom_claim(&o, 6));
    oom_on_tick(&o, 7);
    assert_true(oom_claim(&o, 7)); /* within the window */
}

static enum oom_group look(struct oom *o, const char *folder, const char *events)
{
    if (events)
        world_write(world_text("%s/memory.events", folder), events);
    return oom_look_at_group(o, "p", folder);
}

static void a_cgroup_tells_of_its_own_process(void **state)
{
    struct world *w = *state;
    struct oom o;

    oom_begin(&o, 5);
    assert_int_equal(look(&o, w->dir, NULL), OOM_GROUP_UNKNOWN);
    assert_int_equal(look(&o, w->dir, "low 0\nmax 9\noom 0\noom_kill 0\n"), OOM_GROUP_AS_BEFORE);
    assert_int_equal(look(&o, w->dir, "low 0\nmax 9\noom 1\noom_kill 1\n"), OOM_GROUP_MORE);
    assert_int_equal(look(&o, w->dir, NULL), OOM_GROUP_AS_BEFORE);
    assert_int_equal(look(&o, w->dir, "low 0\nmax 9\noom 1\noom_kill 3\n"), OOM_GROUP_MORE);
    assert_int_equal(look(&o, w->dir, "low 0\nmax 9\noom 0\noom_kill 0\n"), OOM_GROUP_AS_BEFORE);
    assert_int_equal(look(&o, w->dir, "low 0\nmax 9\noom 1\noom_kill 1\n"), OOM_GROUP_MORE);
    oom_done(&o);
}

/* Without a cgroup that counts its own, another process may have been the one. */
static void only_its_own_cgroup_makes_it_sure(void **state)
{
    struct oom o;

    (void)state;
    oom_begin(&o, 5);
    assert_int_equal(oom_judge(&o, OOM_GROUP_MORE, 5), PROC_OOM_NO); /* it was long ago */
    assert_int_equal(oom_judge(&o, OOM_GROUP_AS_BEFORE, 6), PROC_OOM_NO);
    assert_int_equal(oom_judge(&o, OOM_GROUP_UNKNOWN, 6), PROC_OOM_PERHAPS);
    assert_int_equal(oom_judge(&o, OOM_GROUP_UNKNOWN, 6), PROC_OOM_NO);
    assert_int_equal(oom_judge(&o, OOM_GROUP_MORE, 7), PROC_OOM_YES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_count_is_found),
        cmocka_unit_test(what_can_not_be_read_is_an_error),
        cmocka_unit_test(each_death_accounts_for_one_process),
        cmocka_unit_test(a_death_of_long_ago_accounts_for_none),
        cmocka_unit_test_setup_teardown(a_cgroup_tells_of_its_own_process, world_setup,
                                        world_teardown),
        cmocka_unit_test(only_its_own_cgroup_makes_it_sure),
    };

    return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}
