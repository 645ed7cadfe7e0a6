/* SPDX-License-Identifier: MIT */
#include "agent/identify/procfs.h"

#include <sys/prctl.h>

#include "tests/lib/agent_world.h"
#include "tests/lib/random.h"

#define AFTER_NAME                                                                                 \
    " S 77 5 6 34816 -1 4194560 1 2 3 4 11 12 13 14 20 0 9 0 123456 1000 42 "                      \
    "18446744073709551615 1 1 0 0 0\n"

static void stat_is_read_whatever_the_name(void **state)
{
    static const struct {
        const char *text, *comm;
    } cases[] = {
        { "1234 (sshd)" AFTER_NAME, "sshd" },
        { "1234 (a b)" AFTER_NAME, "a b" },
        { "1234 ())" AFTER_NAME, ")" },
        { "1234 (()" AFTER_NAME, "(" },
        { "1234 (x) S 1 (y)" AFTER_NAME, "x) S 1 (y" },
        { "1234 (a) R 1 1 1 1)" AFTER_NAME, "a) R 1 1 1 1" },
        { "1234 (a\nb)" AFTER_NAME, "a\nb" },
        { "1234 ()" AFTER_NAME, "" },
        { "1234 (\xFF\xFE)" AFTER_NAME, "\xFF\xFE" },
        { "1234 (kworker/u8:0-events_unbound_and_much_more_than_anybody_would_write)" AFTER_NAME,
          "kworker/u8:0-events_unbound_and_much_more_than_anybody_would_wr" },
    };
    struct procfs_stat st;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (procfs_parse_stat(cases[i].text, strlen(cases[i].text), &st, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_string_equal(st.comm, cases[i].comm);
        assert_int_equal(st.pid, 1234);
        assert_int_equal(st.state, 'S');
        assert_int_equal(st.ppid, 77);
        assert_int_equal(st.session, 6);
        assert_int_equal(st.user_ticks, 11);
        assert_int_equal(st.system_ticks, 12);
        assert_int_equal(st.threads, 9);
        assert_int_equal(st.start_ticks, 123456);
        assert_int_equal(st.rss_pages, 42);
    }
}

static void what_is_no_stat_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        " ",
        "1234",
        "1234 (",
        "1234 (a",
        "1234 (a)",
        "1234 (a) S",
        "1234 (a) S 77",
        "1234 a" AFTER_NAME,
        "(a)" AFTER_NAME,
        "-1 (a)" AFTER_NAME,
        "0 (a)" AFTER_NAME,
        "99999999999 (a)" AFTER_NAME,
        "1234  (a)" AFTER_NAME,
        "x (a)" AFTER_NAME,
        "1234 (a)  S 77 5 6 34816 -1 1 1 2 3 4 11 12 13 14 20 0 9 0 123456 1000 42 \n",
        "1234 (a) S 77 x 6 34816 -1 4194560 1 2 3 4 11 12 13 14 20 0 9 0 123456 1000 42 \n",
        "1234 (a) S 77 5 6 34816 -1 4194560 1 2 3 4 11 12 13 14 20 0 9 0 123456 1000 42",
        "1234 (a) S 77 5 6 34816 -1 4194560 1 2 3 4 11 12 13 14 20 0 9 0 -5 1000 42 1\n",
        ") 1234 (" AFTER_NAME,
    };
    struct procfs_stat st;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        if (!procfs_parse_stat(cases[i], strlen(cases[i]), &st, &err))
            fail_msg("taken for a stat: %s", cases[i]);
        assert_int_equal(err.code, ERR_MALFORMED);
    }
}

/* Cut anywhere it is refused or gives what the whole gives; no byte behind it is
 * looked at (ASan watches). */
static void a_stat_cut_anywhere_does_no_harm(void **state)
{
    static const char whole[] = "1234 (a) S 1)" AFTER_NAME;
    struct procfs_stat st;
    struct err err;

    (void)state;
    for (size_t n = 0; n < sizeof(whole); n++) {
        char *part = malloc(n ? n : 1);

        memcpy(part, whole, n);
        if (!procfs_parse_stat(part, n, &st, &err))
            assert_true(st.start_ticks == 123456 && st.rss_pages == 42);
        free(part);
    }
}

static void numbers_too_large_stop_at_the_largest(void **state)
{
    static const char text[] = "1 (a) S 1 1 1 0 0 0 0 0 0 0 99999999999999999999999 0 0 0 0 0 1 0 "
                               "18446744073709551615 0 1 \n";
    struct procfs_stat st;
    struct err err;

    (void)state;
    assert_int_equal(procfs_parse_stat(text, sizeof(text) - 1, &st, &err), 0);
    assert_true(st.user_ticks == INT64_MAX && st.start_ticks == INT64_MAX);
}

static void the_real_uid_is_found(void **state)
{
    static const struct {
        const char *text;
        int result;
        uid_t uid;
    } cases[] = {
        { "Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\n", 0, 1000 },
        { "Name:\tx\nUid:\t0\t1000\t0\t0\n", 0, 0 },
        { "Name:\tx\nUid:\t4294967295\t0\n", 0, 4294967295 },
        { "Name:\tUid:\t7\nUid:\t8\t9\n", 0, 8 }, /* a name with that in it */
        { "Name:\tx\\nUid:\t7\t7\nUid:\t8\t9\n", 0, 8 },
        { "Name:\tx\nUid:\t4294967296\t0\n", -1, 0 },
        { "Name:\tx\nUid:\t99999999999999999999999999\t0\n", -1, 0 },
        { "Name:\tx\nUid:\t\t0\n", -1, 0 },
        { "Name:\tx\nUid:\t-1\t0\n", -1, 0 },
        { "Name:\tx\nUid:\t12", -1, 0 },
        { "Uid:\t1\t1\n", -1, 0 },
        { "", -1, 0 },
    };
    uid_t uid;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };
        int result = procfs_parse_uid(cases[i].text, strlen(cases[i].text), &uid, &err);

        if (result != cases[i].result || (!result && uid != cases[i].uid))
            fail_msg("case %zu: %d %u", i, result, (unsigned)uid);
    }
}

static void base_names_are_the_last_part(void **state)
{
    static const char *const cases[][2] = {
        { "/usr/bin/java", "java" },
        { "java", "java" },
        { "/a/b (deleted)", "b" },
        { "/a/ (deleted)", " (deleted)" },
        { "/", "" },
        { "", "" },
        { "/a/b/", "" },
        { "/a (deleted)/b", "b" },
        { "/a/-bash", "-bash" },
    };
    char name[PROCFS_NAME_SIZE];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        procfs_base_name(cases[i][0], name);
        assert_string_equal(name, cases[i][1]);
    }
}

static void names_come_from_exe_and_arguments(void **state)
{
    static const struct {
        const char *exe, *cmdline;
        size_t n;
        const char *argv0, *script;
    } cases[] = {
#define LINE(text) text, sizeof(text)
        { "java", LINE("/usr/bin/java\0-jar\0zookeeper.jar"), "java", "" },
        { "vim", LINE("vim\0/data/zookeeper/x"), "vim", "" },
        { "python3.11", LINE("python3\0-u\0/opt/x/app.py\0start"), "python3", "app.py" },
        { "bash", LINE("/bin/bash\0/opt/run.sh"), "bash", "run.sh" },
        { "bash", LINE("bash\0-c\0/opt/run.sh"), "bash", "" },
        { "x", LINE(""), "", "" },
        { "nginx", LINE("nginx: master process /usr/sbin/nginx"), "nginx", "" },
#undef LINE
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct procfs_names names = { 0 };

        snprintf(names.exe, sizeof(names.exe), "%s", cases[i].exe);
        procfs_parse_names(cases[i].cmdline, cases[i].n, &names);
        assert_string_equal(names.argv0, cases[i].argv0);
        assert_string_equal(names.script, cases[i].script);
    }
}

static void a_process_is_read_as_it_is(void **state)
{
    struct world *w = *state;
    struct spawn_result r;
    struct procfs_names names;
    char exe[PROCFS_PATH_SIZE];
    struct err err;
    uid_t uid;

    world_write(world_text("%s/sc.py", w->dir), "#!/bin/sh\n./victim &\nwait\n");
    assert_int_equal(chmod(world_text("%s/sc.py", w->dir), 0755), 0);
    r = world_start(w, w->nobody, "./sc.py --name a");
    WAIT_UNTIL(!procfs_names((pid_t)r.id.pid, &names, &err) && !strcmp(names.argv0, "sh"));
    assert_string_equal(names.comm, "sc.py");
    assert_string_equal(names.exe, "dash");
    assert_string_equal(names.script, "sc.py");
    assert_int_equal(procfs_uid((pid_t)r.id.pid, &uid, &err), 0);
    assert_int_equal(uid, w->nobody->uid);
    r = world_start(w, w->nobody, "exec ./victim --name 'renamed)x'");
    WAIT_UNTIL(!procfs_names((pid_t)r.id.pid, &names, &err) && !strcmp(names.comm, "renamed)x"));
    assert_string_equal(names.exe, "victim");
    assert_int_equal(unlink(w->victim), 0);
    assert_int_equal(procfs_exe((pid_t)r.id.pid, exe, &err), 0);
    assert_string_equal(exe, world_text("%s (deleted)", w->victim));
    assert_int_equal(procfs_names((pid_t)r.id.pid, &names, &err), 0);
    assert_string_equal(names.exe, "victim");
}

static void a_process_that_is_gone_is_not_found(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->root, "./victim --exit 0");
    struct procfs_stat st;
    struct procfs_names names;
    char text[PROCFS_PATH_SIZE];
    struct err err;
    uid_t uid;

    world_end(&r);
    assert_int_equal(procfs_stat((pid_t)r.id.pid, &st, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(procfs_names((pid_t)r.id.pid, &names, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(procfs_uid((pid_t)r.id.pid, &uid, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(procfs_exe((pid_t)r.id.pid, text, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(procfs_cgroup((pid_t)r.id.pid, text, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_kernel_thread_has_a_name_and_no_exe(void **state)
{
    struct procfs_names names;
    struct err err;

    (void)state;
    if (procfs_names(2, &names, &err) || strcmp(names.comm, "kthreadd") != 0)
        skip(); /* not in a container's own pids */
    assert_string_equal(names.exe, "");
    assert_string_equal(names.argv0, "");
}

static bool count_pid(void *arg, pid_t pid)
{
    int *n = arg;

    (void)pid;
    ++*n;
    return true;
}

static bool has_children(pid_t pid, int want)
{
    struct err err;
    int n = 0;

    return !procfs_each_child(pid, count_pid, &n, &err) && n == want;
}

static void children_are_listed(void **state)
{
    struct world *w = *state;
    struct spawn_result r = world_start(w, w->nobody, "./victim --children 300");
    int n = 0;
    struct err err;

    WAIT_UNTIL(has_children((pid_t)r.id.pid, 300));
    assert_true(has_children(getpid(), 1));
    assert_int_equal(procfs_each(count_pid, &n, &err), 0);
    assert_true(n > 300);
    r = world_start(w, w->nobody, "./victim");
    assert_true(has_children((pid_t)r.id.pid, 0));
}

static void every_call_that_fails_is_an_error(void **state)
{
    struct procfs_names names;
    char text[PROCFS_PATH_SIZE];
    struct procfs_stat st;
    uid_t uid;
    int n = 0;

    (void)state;
    for (int nth = 1; nth <= 2; nth++) {
        struct err err = { 0 };

        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_stat(getpid(), &st, &err), -1);
        assert_int_equal(err.sys, EIO);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_uid(getpid(), &uid, &err), -1);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_cgroup(getpid(), text, &err), -1);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_boot_id(text, &err), -1);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_each(count_pid, &n, &err), -1);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_each_child(getpid(), count_pid, &n, &err), -1);
        sys_fault("any", nth, EIO);
        assert_int_equal(procfs_names(getpid(), &names, &err), -1);
        assert_int_equal(err.sys, EIO);
    }
    sys_fault("any", 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_is_read_whatever_the_name),
        cmocka_unit_test(what_is_no_stat_is_refused),
        cmocka_unit_test(a_stat_cut_anywhere_does_no_harm),
        cmocka_unit_test(numbers_too_large_stop_at_the_largest),
        cmocka_unit_test(the_real_uid_is_found),
        cmocka_unit_test(base_names_are_the_last_part),
        cmocka_unit_test(names_come_from_exe_and_arguments),
        TEST(a_process_is_read_as_it_is),
        TEST(a_process_that_is_gone_is_not_found),
        cmocka_unit_test(a_kernel_thread_has_a_name_and_no_exe),
        TEST(children_are_listed),
        cmocka_unit_test(every_call_that_fails_is_an_error),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("procfs", tests, NULL, NULL);
}
