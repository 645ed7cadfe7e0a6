/* SPDX-License-Identifier: MIT */
/* test_core_drift.c - files of a configmap: when one differs, and when it does not any more. */
#include "tests/lib/core_rig.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct message_command command(const char *path, const char *md5, const char *more)
{
    static struct proc_config_file files[3];
    struct message_command m = rig_command(PROC_OP_HOST, "p");

    files[0] = (struct proc_config_file){ path, md5 };
    files[1] = (struct proc_config_file){ "", "" }; /* as in many examples */
    files[2] = (struct proc_config_file){ more, A };
    m.spec.config_files = (struct list){ files, 3 };
    return m;
}

static void host(const char *path, const char *md5, const char *more)
{
    const struct message_command m = command(path, md5, more);

    rig_come_up(rig_proc("p"), 900);
    rig_operate(PROC_OP_QUERY, "p");
    rig_tell(&m);
    rig_settle();
    assert_int_equal(rig_code(m.item), CODE_OK);
}

static void see(const char *path, const char *md5, const char *why)
{
    core_on_file(rig.core, "space", "p", path, md5, why, rig.now_ms);
    rig_settle();
}

static void a_difference_is_told_once_and_its_end_once(void **state)
{
    (void)state;
    host("/etc/x", A, "");
    assert_int_equal(rig_proc("p")->files, 3);
    see("/etc/x", A, "");
    assert_int_equal(rig.n_events, 0);
    see("/etc/x", B, "");
    see("/etc/x", B, "");
    assert_string_equal(rig_cause("p")->drift, "/etc/x: md5 " B ", expected " A);
    see("/etc/x", "", "is not there");
    assert_string_equal(rig_cause("p")->drift, "/etc/x: is not there");
    assert_int_equal(rig_count_events("process_config_changed"), 1);
    see("/etc/x", A, "");
    assert_string_equal(rig_cause("p")->drift, "");
    assert_int_equal(rig_count_events("process_config_restored"), 1);
    assert_int_equal(rig_proc("p")->runs, 0);
}

static void how_an_md5_is_written_does_not_matter(void **state)
{
    (void)state;
    host("/etc/x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "");
    see("/etc/x", A, "");
    assert_int_equal(rig.n_events, 0);
}

static void several_are_named(void **state)
{
    (void)state;
    host("/etc/x", A, "/etc/y");
    see("/etc/y", B, "");
    see("/etc/x", "", "is a folder");
    assert_string_equal(rig_cause("p")->drift,
                        "/etc/x: is a folder; /etc/y: md5 " B ", expected " A);
    assert_int_equal(rig_count_events("process_config_changed"), 2);
}

static void without_an_md5_what_was_seen_first_is_expected(void **state)
{
    (void)state;
    host("/etc/x", "", "");
    see("/etc/x", B, "");
    assert_int_equal(rig.n_events, 0);
    see("/etc/x", A, "");
    assert_string_equal(rig_cause("p")->drift, "/etc/x: md5 " A ", expected " B);
}

static void what_has_been_told_is_not_told_again_after_a_crash_of_ours(void **state)
{
    (void)state;
    host("/etc/x", "", "/etc/y");
    see("/etc/x", B, "");
    see("/etc/x", A, "");
    see("/etc/y", "", "is not there");
    rig_crash(true);
    rig_settle();
    assert_int_equal(rig_proc("p")->files, 3);
    see("/etc/x", A, ""); /* and it is known what was expected */
    see("/etc/y", "", "is not there");
    assert_int_equal(rig_count_events("process_config_changed"), 2);
    see("/etc/x", B, "");
    assert_int_equal(rig_count_events("process_config_restored"), 1);
    assert_string_equal(rig_cause("p")->drift, "/etc/y: is not there");
}

static void another_spec_is_another_expectation(void **state)
{
    const struct message_command none = rig_command(PROC_OP_HOST, "p");

    (void)state;
    host("/etc/x", A, "");
    see("/etc/x", B, "");
    host("/etc/x", B, "");
    see("/etc/x", B, "");
    assert_string_equal(rig_cause("p")->drift, "");
    see("/etc/x", A, "");
    rig_tell(&none);
    rig_settle();
    assert_int_equal(rig_proc("p")->files, 0);
    assert_string_equal(rig_cause("p")->drift, "");
    see("/etc/x", A, ""); /* that was on its way */
    assert_string_equal(rig_cause("p")->drift, "");
}

static void of_one_that_nobody_knows_nothing_is_told(void **state)
{
    (void)state;
    core_on_file(rig.core, "space", "nobody", "/etc/x", A, "", rig.now_ms);
    rig_settle();
    assert_int_equal(rig.n_events, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_difference_is_told_once_and_its_end_once),
        RIG_TEST(how_an_md5_is_written_does_not_matter),
        RIG_TEST(several_are_named),
        RIG_TEST(without_an_md5_what_was_seen_first_is_expected),
        RIG_TEST(what_has_been_told_is_not_told_again_after_a_crash_of_ours),
        RIG_TEST(another_spec_is_another_expectation),
        RIG_TEST(of_one_that_nobody_knows_nothing_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
