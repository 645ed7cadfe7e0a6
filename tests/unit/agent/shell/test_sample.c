/* SPDX-License-Identifier: MIT */
#include "agent/shell/sample.h"

#include <sys/prctl.h>

#include "agent/shell/sample_scan.h"
#include "base/os/sys_old.h"
#include "tests/lib/agent_world.h"

enum { MB = 1 << 20 };

static struct core_ident who(const struct spawn_result *r)
{
    return (struct core_ident){ r->id.pid, r->id.start_ticks };
}

static struct core_sample read_now(struct sampler *s, const struct spawn_result *r)
{
    struct core_sample got;
    struct err err;

    if (sampler_read(s, who(r), NULL, &got, &err))
        fail_msg("%s", err.text);
    sampler_forget(s);
    return got;
}

static struct sampler *new_sampler(void)
{
    struct sampler *s;
    struct err err;

    if (sampler_new(&s, &err))
        fail_msg("%s", err.text);
    return s;
}

/* ---- both ways: by lists of children, and by a look at all */

static void count_all(struct world *w, struct sampler *s)
{
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 5");
    struct spawn_result line = world_start(w, w->nobody, "./victim --forks 4");
    struct spawn_result shell =
        world_start(w, w->nobody, "./victim --children 2 & ./victim & wait");

    WAIT_UNTIL(read_now(s, &r).processes == 6);
    WAIT_UNTIL(read_now(s, &line).processes == 5);
    WAIT_UNTIL(read_now(s, &shell).processes == 5);
    assert_false(read_now(s, &r).is_partial);
    assert_true(read_now(s, &r).rss_bytes > 0);
}

static void measure(struct world *w, struct sampler *s)
{
    struct spawn_result big =
        world_start(w, w->nobody, world_text("./victim --children 1 --grow %d", 64 * MB));
    struct spawn_result burner = world_start(w, w->nobody, "./victim --children 1 --burn");
    struct spawn_result brief = world_start(w, w->nobody, "./victim --brief");

    WAIT_UNTIL(read_now(s, &big).rss_bytes >= 64 * MB);
    assert_true(read_now(s, &big).rss_bytes < 256 * MB);
    WAIT_UNTIL(read_now(s, &burner).cpu_us >= 200 * 1000);
    WAIT_UNTIL(read_now(s, &brief).cpu_us >= 200 * 1000); /* though each has ended */
}

static void a_process_is_counted_with_all_its_descendants(void **state)
{
    struct sampler *s = new_sampler();

    count_all(*state, s);
    measure(*state, s);
    sampler_free(s);
}

static void the_same_where_the_kernel_lists_no_children(void **state)
{
    struct sampler *s;

    sys_do_without(SYS_CHILDREN);
    s = new_sampler();
    count_all(*state, s);
    measure(*state, s);
    sampler_free(s);
    sys_do_without(0);
}

static void one_look_at_all_does_for_a_turn(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    struct core_sample got;
    struct sampler *s;
    struct err err;
    struct spawn_result later;

    sys_do_without(SYS_CHILDREN);
    s = new_sampler();
    assert_int_equal(sampler_read(s, who(&r), NULL, &got, &err), 0);
    later = world_start(w, w->nobody, "./victim");
    assert_int_equal(sampler_read(s, who(&later), NULL, &got, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    sampler_forget(s);
    assert_int_equal(sampler_read(s, who(&later), NULL, &got, &err), 0);
    sampler_free(s);
    sys_do_without(0);
}

static void one_that_ended_or_is_another_is_not_found(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    struct core_ident other = { r.id.pid, r.id.start_ticks + 1 };
    struct sampler *s = new_sampler();
    struct core_sample got;
    struct err err = { 0 };

    assert_int_equal(sampler_read(s, other, NULL, &got, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    world_kill(r.id.pid);
    world_end(&r);
    assert_int_equal(sampler_read(s, who(&r), NULL, &got, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    sampler_free(s);
}

/* ---- by a cgroup: a folder with the same files does for that */

static void a_cgroup_says_who_belongs_to_it_and_what_all_have_used(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim");
    struct spawn_result far = world_start(w, w->nobody, "./victim"); /* no descendant */
    const char *procs = world_text("%s/cgroup.procs", w->dir),
               *cpu = world_text("%s/cpu.stat", w->dir);
    struct sampler *s = new_sampler();
    struct core_sample got;
    struct err err;

    world_write(procs, world_text("%lld\n%lld\n", (long long)r.id.pid, (long long)far.id.pid));
    world_write(cpu, "usage_usec 123456789\nuser_usec 1\nsystem_usec 2\n");
    assert_int_equal(sampler_read(s, who(&r), w->dir, &got, &err), 0);
    assert_int_equal(got.processes, 2);
    assert_int_equal(got.cpu_us, 123456789);
    world_write(cpu, "nothing of that\n");
    assert_int_equal(sampler_read(s, who(&r), w->dir, &got, &err), 0);
    assert_true(got.processes == 2 && got.cpu_us < 60 * 1000000);
    world_write(procs, world_text("%lld\n", (long long)far.id.pid)); /* it is elsewhere */
    assert_int_equal(sampler_read(s, who(&r), w->dir, &got, &err), 0);
    assert_int_equal(got.processes, 1);
    assert_int_equal(sampler_read(s, who(&r), "/no/such/folder", &got, &err), 0);
    assert_int_equal(got.processes, 1);
    sampler_free(s);
}

/* ---- what others say */

static void numbers_come_in_pieces_and_there_may_be_too_many(void **state)
{
    static const char text[] = "12 345 99999999999999999999 6\n\n7 ";
    static const pid_t expected[] = { 12, 345, 6, 7 };
    pid_t to[8];

    (void)state;
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        int64_t pid = 0;
        size_t n = 0;

        assert_true(sample_take_pids(text, cut, &pid, to, &n, 8));
        assert_true(sample_take_pids(text + cut, sizeof(text) - 1 - cut, &pid, to, &n, 8));
        assert_int_equal(n, ARRAY_LEN(expected));
        assert_memory_equal(to, expected, sizeof(expected));
    }
    for (size_t max = 0; max < ARRAY_LEN(expected); max++) {
        int64_t pid = 0;
        size_t n = 0;

        assert_false(sample_take_pids(text, sizeof(text) - 1, &pid, to, &n, max));
        assert_int_equal(n, max);
    }
}

static void cpu_stat_is_read_strictly(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        { "usage_usec 12\n", 12 },
        { "nr 1\nusage_usec 12\nuser_usec 4\n", 12 },
        { "usage_usec 0", 0 },
        { "", -1 },
        { "usage_usec ", -1 },
        { "usage_usec x", -1 },
        { "usage_usec -4", -1 },
        { "core_usage_usec 4\n", -1 },
        { "usage_usec 99999999999999999999\n", -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *exact = xmemdup(cases[i].text, strlen(cases[i].text));

        assert_int_equal(sample_parse_cpu_us(exact, strlen(cases[i].text)), cases[i].us);
        free(exact);
    }
}

/* A name that looks like the rest of the line, and numbers that no machine has. */
static void a_hostile_stat_does_no_harm(void **state)
{
    static const char text[] = "77 (a) R 1 1 1 0 -1 ) S 5 6 7 0 -1 4194560 0 0 0 0 "
                               "9223372036854775807 9223372036854775807 "
                               "-5 99999999999999999999 20 0 1 0 1234 0 9223372036854775807 0\n";
    struct procfs_stat st;
    struct err err;

    (void)state;
    assert_int_equal(procfs_parse_stat(text, sizeof(text) - 1, &st, &err), 0);
    assert_int_equal(st.ppid, 5);
    assert_int_equal(st.start_ticks, 1234);
    assert_int_equal(st.waited_user_ticks, -5);
    assert_true(scan_ticks(&st) > 0 && scan_ticks(&st) < INT64_MAX / 10000 / SAMPLE_MEMBERS_MAX);
    assert_true(scan_sane(st.rss_pages) < INT64_MAX / 65536);
    assert_int_equal(scan_sane(-1), 0);
}

static void a_call_that_fails_is_an_error_or_a_gap_and_no_crash(void **state)
{
    static const char *const calls[] = { "openat", "read", "fdopendir" };
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 2");
    struct sampler *s = new_sampler();

    WAIT_UNTIL(read_now(s, &r).processes == 3);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        for (long nth = 1; nth < 20; nth++) {
            struct core_sample got = { 0 };
            struct err err;

            sys_fault(calls[i], nth, EMFILE);
            if (!sampler_read(s, who(&r), NULL, &got, &err))
                assert_in_range(got.processes, 1, 3);
            sys_fault("any", 0, 0);
        }
    }
    assert_int_equal(read_now(s, &r).processes, 3);
    sampler_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_process_is_counted_with_all_its_descendants, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(the_same_where_the_kernel_lists_no_children, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(one_look_at_all_does_for_a_turn, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(one_that_ended_or_is_another_is_not_found, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_cgroup_says_who_belongs_to_it_and_what_all_have_used,
                                        world_setup, world_teardown),
        cmocka_unit_test(numbers_come_in_pieces_and_there_may_be_too_many),
        cmocka_unit_test(cpu_stat_is_read_strictly),
        cmocka_unit_test(a_hostile_stat_does_no_harm),
        cmocka_unit_test_setup_teardown(a_call_that_fails_is_an_error_or_a_gap_and_no_crash,
                                        world_setup, world_teardown),
    };

    if (geteuid() != 0)
        return WORLD_SKIPPED;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
