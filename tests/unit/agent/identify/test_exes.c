/* SPDX-License-Identifier: MIT */
/* Which processes run a file under a folder: read once, asked often. */
#include "agent/identify/exes.h"

#include "tests/lib/agent_world.h"
#include "tests/lib/own_pids.h"

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

static struct seen ask_at(struct exes *e, int64_t since_ms, int64_t now_ms, const char *folder,
                          int64_t wanted)
{
    struct seen s = { .wanted = wanted, .most = SIZE_MAX };
    struct err err;

    assert_int_equal(
        exes_each(e, (struct exes_question){ since_ms, now_ms }, folder, see, &s, &err), 0);
    return s;
}

/* Of what is here already. */
static struct seen ask(struct exes *e, const char *folder, int64_t wanted)
{
    return ask_at(e, 0, 1, folder, wanted);
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
    assert_int_equal(exes_each(e, (struct exes_question){ 1, 2 }, w->dir, see, &some, &err), 0);
    assert_int_equal(some.n, 1); /* it had seen enough */
    exes_free(e);
}

/* A process that began after the list was read is seen by later questions only: earlier ones
 * were asked before it existed. */
static void what_was_read_answers_what_was_asked_before(void **state)
{
    static const struct {
        int64_t since_ms, now_ms;
        bool is_read;
    } cases[] = {
        { 0, 1000, false },   { 999, 1001, false }, { 999, 1000 + EXES_MAX_MS, false },
        { 1000, 1001, true }, { 1001, 1001, true }, { 999, 1001 + EXES_MAX_MS, true },
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct exes *e = exes_new();
        struct spawn_result r;

        assert_int_equal(ask_at(e, 900, 1000, "/nowhere", 0).n, 0);
        r = world_start(w, w->root, "./victim");
        assert_int_equal(ask_at(e, cases[i].since_ms, cases[i].now_ms, w->dir, r.id.pid).has_wanted,
                         cases[i].is_read);
        exes_forget(e);
        assert_true(ask_at(e, 0, 1000, w->dir, r.id.pid).has_wanted);
        exes_free(e);
    }
}

static void what_was_read_of_many_serves_longer(void **state)
{
    static const struct {
        size_t n;
        int64_t ms;
    } cases[] = { { 0, EXES_MAX_MS },
                  { EXES_SOME - 1, EXES_MAX_MS },
                  { EXES_SOME, 2 * EXES_MAX_MS },
                  { 5 * EXES_SOME + 1, 6 * EXES_MAX_MS } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(exes_serve_ms(cases[i].n), cases[i].ms);
}

static void a_failed_reading_is_not_kept(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct exes *e = exes_new();
    struct seen s = { .wanted = r.id.pid, .most = SIZE_MAX };
    struct err err;

    sys_fault("open", 1, EMFILE);
    assert_int_equal(exes_each(e, (struct exes_question){ 0, 1 }, w->dir, see, &s, &err), -1);
    sys_fault("open", 0, 0);
    assert_true(ask(e, w->dir, r.id.pid).has_wanted);
    exes_free(e);
    exes_free(NULL);
}

static int all_tests(void)
{
#define EXES_TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        EXES_TEST(who_runs_a_file_of_the_folder_is_named),
        EXES_TEST(what_was_read_answers_what_was_asked_before),
        EXES_TEST(what_was_read_of_many_serves_longer),
        EXES_TEST(a_failed_reading_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How long an answer serves depends on how many processes the host has. */
int main(void)
{
    return geteuid() ? WORLD_SKIPPED : own_pids_run(all_tests);
}
