/* SPDX-License-Identifier: MIT */
/* A watched file with new content restarts or reloads its process, once the content stays. */
#include "agent/supervise/core_filewatch.h"

#include "model/why_write.h"
#include "tests/lib/core_rig.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccc"

static struct rig_proc *p;

static struct message_command watching(int64_t op, int64_t x, int64_t y)
{
    static struct proc_watch files[2];
    struct message_command m = rig_command(op, "p");

    files[0] = (struct proc_watch){ "/etc/x", x };
    files[1] = (struct proc_watch){ "/etc/y", y };
    m.spec.extra.watch = (struct list){ files, 2 };
    m.spec.control.reload_cmd = "reload";
    return m;
}

static void see(const char *path, const char *md5)
{
    core_on_file(rig.core, "space", "p", path, md5, *md5 ? "" : "is not there", rig.now_ms);
    rig_settle();
}

static void start(int64_t x, int64_t y)
{
    const struct message_command m = watching(PROC_OP_START, x, y);

    p = rig_proc("p");
    rig_tell(&m);
    rig_pass(6000);
    assert_int_equal(rig_code(m.item), CODE_OK);
    assert_int_equal(p->files, 2);
    see("/etc/x", A);
    see("/etc/y", A);
    rig_pass(10000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(p->files_again, 0);
}

/* The content stays, and is read once more. */
static void change(const char *path, const char *md5)
{
    int asked = p->files_again;

    see(path, md5);
    rig_pass(FILEWATCH_MS);
    assert_int_equal(p->files_again, asked + 1);
    see(path, md5);
}

static const char *why(void)
{
    static char text[600];
    struct buf b = { 0 };

    core_tell_now(rig.core);
    why_write(&p->view, LANG_EN, rig.wall_ms / 1000, &b);
    snprintf(text, sizeof(text), "%s", buf_text(&b));
    buf_free(&b);
    return text;
}

static void new_content_restarts_it_and_why_says_so(void **state)
{
    int64_t pid;

    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_REPORT);
    pid = p->pid;
    change("/etc/x", B);
    rig_pass(7000);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid && p->pid != pid);
    assert_int_equal(rig_count_events("process_config_changed"), 1);
    assert_int_equal(rig_count_events("process_restart_success"), 1);
    assert_non_null(strstr(why(), "restarted once; the last time because /etc/x had changed"));
    see("/etc/x", B); /* that is what it runs with */
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 2);
    rig_die(p, 1); /* has another reason */
    rig_pass(20000);
    assert_null(strstr(why(), "/etc/x"));
}

static void a_change_has_to_last(void **state)
{
    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_REPORT);
    for (int i = 0; i < 8; i++) { /* it is being written */
        see("/etc/x", i & 1 ? B : C);
        rig_pass(FILEWATCH_MS - 500);
    }
    assert_int_equal(p->files_again, 0);
    rig_pass(500);
    assert_int_equal(p->files_again, 1);
    see("/etc/x", C); /* and more, as is seen now */
    rig_pass(FILEWATCH_MS);
    assert_int_equal(p->files_again, 2);
    see("/etc/x", A); /* it is taken back */
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_count_events("process_config_changed"), 0);
}

static void a_reload_runs_its_command_alone(void **state)
{
    int64_t pid;

    (void)state;
    start(ON_CHANGE_RELOAD, ON_CHANGE_REPORT);
    pid = p->pid;
    change("/etc/x", B);
    rig_pass(5000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(p->pid, pid);
    assert_null(strstr(why(), "/etc/x"));
    p->status = 1;
    rig_pass(FILEWATCH_EACH_MS);
    change("/etc/x", C);
    rig_pass(5000);
    assert_int_equal(p->runs, 3);
    assert_int_equal(rig_count_events("process_config_changed"), 3);
    assert_non_null(strstr(rig.event, "p could not be reloaded: "));
}

static void a_report_is_an_event_alone(void **state)
{
    (void)state;
    start(ON_CHANGE_REPORT, ON_CHANGE_REPORT);
    change("/etc/x", B);
    change("/etc/y", B);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_count_events("process_config_changed"), 2);
    assert_string_equal(rig.event, "/etc/y of p has changed: nothing is done");
}

static void several_changes_are_one_restart(void **state)
{
    (void)state;
    start(ON_CHANGE_RELOAD, ON_CHANGE_RESTART);
    see("/etc/x", B);
    rig_pass(1000);
    see("/etc/y", B);
    rig_pass(FILEWATCH_MS);
    assert_int_equal(p->files_again, 1);
    see("/etc/x", B);
    assert_int_equal(p->runs, 1); /* the other may have changed again */
    see("/etc/y", B);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 2);
    assert_non_null(strstr(why(), "because /etc/y had changed"));
}

static void there_is_at_most_one_in_30_seconds(void **state)
{
    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_REPORT);
    change("/etc/x", B);
    rig_pass(10000);
    assert_int_equal(p->runs, 2);
    change("/etc/x", C);
    rig_pass(10000);
    assert_int_equal(p->runs, 2);
    rig_pass(FILEWATCH_EACH_MS - 20000);
    see("/etc/x", C); /* it is read again */
    rig_pass(10000);
    assert_int_equal(p->runs, 3);
}

static void what_changes_while_it_is_down_or_starts_is_no_change(void **state)
{
    struct message_command m;

    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_RESTART);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    see("/etc/x", B);
    m = watching(PROC_OP_START, ON_CHANGE_RESTART, ON_CHANGE_RESTART);
    rig_tell(&m);
    rig_pass(1000);
    see("/etc/y", B);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 2);
    assert_int_equal(rig_count_events("process_config_changed"), 0);
    see("/etc/y", C); /* but this is */
    rig_pass(FILEWATCH_MS);
    rig_operate(PROC_OP_STOP, "p");
    rig_pass(6000);
    see("/etc/y", C);
    rig_pass(60 * 1000);
    assert_int_equal(p->pid, 0);
}

static void one_that_is_gone_is_reported_once_and_nothing_is_done(void **state)
{
    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_RESTART);
    see("/etc/x", "");
    see("/etc/x", "");
    assert_int_equal(rig_count_events("process_config_changed"), 1);
    assert_string_equal(rig.event, "/etc/x of p is not there; nothing is done");
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    see("/etc/x", A); /* an editor puts it back as it was */
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    see("/etc/y", B);
    rig_pass(1000);
    see("/etc/y", ""); /* before it has lasted */
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
}

static void one_that_is_not_hosted_is_left_alone(void **state)
{
    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_RESTART);
    rig_operate(PROC_OP_UNHOST, "p");
    rig_pass(1000);
    assert_int_equal(p->files, 0);
    see("/etc/x", B);
    rig_pass(60 * 1000);
    assert_int_equal(p->runs, 1);
    assert_int_equal(rig_count_events("process_config_changed"), 0);
}

static void a_reload_needs_a_command(void **state)
{
    struct message_command m = watching(PROC_OP_START, ON_CHANGE_REPORT, ON_CHANGE_RELOAD);

    (void)state;
    m.spec.control.reload_cmd = "";
    rig_tell(&m);
    rig_pass(1000);
    assert_int_equal(rig_code(m.item), CODE_PARAM);
    assert_string_equal(rig_result(m.item)->text,
                        "spec.control.reload_cmd: required where watch.on_change is reload");
}

/* The next agent ends what this one has begun, and knows why. */
static void a_crash_of_ours_during_the_restart_loses_nothing(void **state)
{
    (void)state;
    start(ON_CHANGE_RESTART, ON_CHANGE_REPORT);
    p->hangs = true;
    change("/etc/x", B);
    rig_pass(1000);
    assert_int_equal(p->runs, 2);
    rig_crash(true);
    p->hangs = false;
    rig_come_up(p, ++rig.next_pid);
    rig_end(p, 0);
    rig_pass(20000);
    assert_int_equal(p->runs, 2);
    assert_true(p->pid > 0);
    assert_non_null(strstr(why(), "because /etc/x had changed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(new_content_restarts_it_and_why_says_so),
        RIG_TEST(a_change_has_to_last),
        RIG_TEST(a_reload_runs_its_command_alone),
        RIG_TEST(a_report_is_an_event_alone),
        RIG_TEST(several_changes_are_one_restart),
        RIG_TEST(there_is_at_most_one_in_30_seconds),
        RIG_TEST(what_changes_while_it_is_down_or_starts_is_no_change),
        RIG_TEST(one_that_is_gone_is_reported_once_and_nothing_is_done),
        RIG_TEST(one_that_is_not_hosted_is_left_alone),
        RIG_TEST(a_reload_needs_a_command),
        RIG_TEST(a_crash_of_ours_during_the_restart_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
