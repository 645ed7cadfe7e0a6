/* SPDX-License-Identifier: MIT */
/* Where several processes are expected: all that fit, and the eldest of them. */
#include "agent/find.h"
#include "tests/lib/agent_world.h"

static struct find_want want(struct world *w)
{
    return (struct find_want){
        .pid_path = "", .proc_name = "victim", .setup_path = w->dir, .user = w->root
    };
}

static bool is_it(void *arg, const struct ident *id)
{
    return id->pid == *(const int64_t *)arg;
}

static void all_that_fit_are_found_but_others_are_not(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r[3];
    struct ident *all;
    struct err err;
    size_t n, seen = 0;

    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = world_start(w, w->root, "./victim");
        WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r[i].id.pid)));
    }
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < ARRAY_LEN(r); j++)
            seen += all[i].pid == r[j].id.pid && all[i].start_ticks == r[j].id.start_ticks;
    }
    assert_int_equal(n, ARRAY_LEN(r));
    assert_int_equal(seen, ARRAY_LEN(r));
    free(all);
    f.is_others = is_it;
    f.arg = &r[1].id.pid;
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    assert_int_equal(n, ARRAY_LEN(r) - 1);
    free(all);
    f.setup_path = "/there/is/no/such/folder";
    assert_int_equal(find_all(&f, w->boot_id, &all, &n, &err), 0);
    assert_int_equal(n, 0);
    free(all);
}

static void of_several_the_eldest_is_meant_where_several_are_expected(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r[2];
    struct find_result got;
    struct err err;

    for (size_t i = 0; i < ARRAY_LEN(r); i++) {
        r[i] = world_start(w, w->root, "./victim");
        WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r[i].id.pid)));
    }
    assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
    assert_int_equal(got.kind, FIND_MISMATCH); /* which of them? */
    f.is_of_many = true;
    assert_int_equal(find_process(&f, w->boot_id, &got, &err), 0);
    assert_int_equal(got.kind, FIND_FOUND);
    assert_int_equal(got.id.start_ticks, r[0].id.start_ticks);
    sys_close(got.pidfd);
}

/* Whatever call fails: an error, or fewer are found; never more, and nothing is left open. */
static void every_call_that_fails_is_an_error_or_hides_one(void **state)
{
    struct world *w = *state;
    struct find_want f = want(w);
    struct spawn_result r = world_start(w, w->root, "./victim");
    int failed = 0;

    WAIT_UNTIL(strstr(world_read(w->out), world_text("%lld", (long long)r.id.pid)));
    for (long nth = 1; nth < 100000; nth++) {
        struct ident *all;
        struct err err;
        size_t n;

        sys_fault("any", nth, EMFILE);
        if (find_all(&f, w->boot_id, &all, &n, &err)) {
            failed++;
        } else {
            assert_true(n <= 1);
            free(all);
        }
        if (!sys_fault_hit())
            break;
    }
    sys_fault("any", 0, 0);
    assert_true(failed > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_that_fit_are_found_but_others_are_not),
        TEST(of_several_the_eldest_is_meant_where_several_are_expected),
        TEST(every_call_that_fails_is_an_error_or_hides_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
