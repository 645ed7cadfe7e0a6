/* SPDX-License-Identifier: MIT */
/* Who runs a file under a folder: read once, asked often. */
#include "agent/exes.h"

#include "tests/lib/agent_world.h"

struct seen {
    int64_t wanted;
    size_t n, most;
    bool has_wanted;
};

static bool see(void *arg, pid_t pid)
{
    struct seen *s = arg;

    s->n++;
    s->has_wanted |= pid == s->wanted;
    return s->n < s->most;
}

static struct seen ask(struct exes *e, const char *folder, int64_t wanted)
{
    struct seen s = { .wanted = wanted, .most = SIZE_MAX };
    struct err err;

    assert_int_equal(exes_each(e, folder, see, &s, &err), 0);
    return s;
}

static void who_runs_a_file_of_the_folder_is_named(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct exes *e = exes_new();
    struct seen some = { .most = 1 };
    char part[sizeof(w->dir)];
    struct err err;

    assert_true(ask(e, w->dir, r.id.pid).has_wanted);
    assert_int_equal(ask(e, w->dir, r.id.pid).n, 1);
    snprintf(part, sizeof(part), "%.*s", (int)strlen(w->dir) - 1, w->dir);
    assert_int_equal(ask(e, part, r.id.pid).n, 0); /* a part of a name is no folder */
    assert_int_equal(ask(e, "/nowhere", r.id.pid).n, 0);
    world_start(w, w->root, "./victim");
    exes_forget(e);
    assert_int_equal(exes_each(e, w->dir, see, &some, &err), 0);
    assert_int_equal(some.n, 1); /* it had seen enough */
    exes_free(e);
}

static void what_was_read_stays_until_it_is_forgotten(void **state)
{
    struct world *w = *state;
    struct exes *e = exes_new();
    struct spawn_result r;

    assert_int_equal(ask(e, w->dir, 0).n, 0);
    r = world_start(w, w->root, "./victim");
    assert_false(ask(e, w->dir, r.id.pid).has_wanted);
    exes_forget(e);
    assert_true(ask(e, w->dir, r.id.pid).has_wanted);
    exes_free(e);
}

static void a_failed_reading_is_not_kept(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct exes *e = exes_new();
    struct seen s = { .wanted = r.id.pid, .most = SIZE_MAX };
    struct err err;

    sys_fault("open", 1, EMFILE);
    assert_int_equal(exes_each(e, w->dir, see, &s, &err), -1);
    sys_fault("open", 0, 0);
    assert_true(ask(e, w->dir, r.id.pid).has_wanted);
    exes_free(e);
    exes_free(NULL);
}

int main(void)
{
#define EXES_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        EXES_TEST(who_runs_a_file_of_the_folder_is_named),
        EXES_TEST(what_was_read_stays_until_it_is_forgotten),
        EXES_TEST(a_failed_reading_is_not_kept),
    };

    if (geteuid() != 0)
        return WORLD_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
