/* SPDX-License-Identifier: MIT */
/* What the agent says can be read in every language: results, events and causes are messages, and
 * stay such in the journal. */
#include "tests/lib/core_rig.h"

static int64_t operate(int64_t op, const char *name)
{
    int64_t item = rig_operate(op, name);

    rig_pass(6000);
    return item;
}

static const char *failed_chinese(const char *name)
{
    (void)rig_cause(name);
    return translate(rig_proc(name)->failed_text, LANG_ZH, &rig_proc(name)->arena);
}

static void assert_texts(int64_t item, const char *text, const char *chinese)
{
    assert_true(rig_result(item)->is_message);
    assert_string_equal(rig_result(item)->text, text);
    assert_string_equal(rig_result(item)->chinese, chinese);
}

static void how_an_operation_ended_is_said_in_chinese(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "q");

    (void)state;
    assert_texts(operate(PROC_OP_START, "p"), "success", "成功");
    assert_texts(operate(PROC_OP_START, "p"), "process (p) is already running with pid 1002",
                 "进程 (p) 已在运行，PID 1002");
    rig_proc("r")->elsewhere = "it is another";
    assert_texts(operate(PROC_OP_START, "r"),
                 "start process (r) failed, for post-check status not alive, please refer to agent "
                 "log for details: it is another",
                 "start process (r) failed, for post-check status not alive, please refer to agent "
                 "log for details: it is another");
    assert_string_equal(failed_chinese("r"), "操作后检查时未存活：it is another");
    m.spec.control.start_cmd = "";
    rig_tell(&m);
    rig_settle();
    assert_texts(m.item, "spec.control.start_cmd: required for this operation",
                 "spec.control.start_cmd：该操作必填");
}

/* GSE's sentence, which clients compare, is the same in both. */
static void how_a_command_failed_is_said_in_chinese(void **state)
{
    struct message_command m = rig_command(PROC_OP_START, "p");

    (void)state;
    rig_proc("p")->status = 7;
    rig_proc("p")->output = "no such file";
    assert_texts(operate(PROC_OP_START, "p"),
                 "Script exit code non-zero. Error msessage: [no such file]",
                 "Script exit code non-zero. Error msessage: [no such file]");
    assert_string_equal(failed_chinese("p"), "命令以退出码 7 结束");
    shape_defaults(&proc_spec_shape, &m.spec);
    rig_tell(&m);
    rig_settle();
    assert_string_equal(
        rig_result(m.item)->chinese,
        "进程未注册；上一次 start 失败，其配置未保留：命令以退出码 7 结束（65535）");
}

static void what_happened_is_said_in_chinese(void **state)
{
    (void)state;
    operate(PROC_OP_START, "p");
    rig_pass(60 * 1000);
    rig_die(rig_proc("p"), 1);
    rig_pass(6000);
    assert_true(rig.event_is_message);
    assert_string_equal(rig.event, "check p not running, and restart it success");
    assert_string_equal(rig.event_chinese, "检查到 p 未运行，重启成功");
    rig_proc("p")->elsewhere = "it is another";
    rig_die(rig_proc("p"), 1);
    while (!rig_count_events("process_restart_failed"))
        rig_pass(1000);
    assert_string_equal(rig.event,
                        "check p not running, and restart it failed: start process (p) failed, for "
                        "post-check status not alive, please refer to agent log for details: it "
                        "is another");
    assert_string_equal(rig.event_chinese,
                        "检查到 p 未运行，重启失败：start process (p) failed, for post-check "
                        "status not alive, please refer to agent log for details: it is another");
}

/* An agent of before it kept messages has written the English text alone. */
static void forget_messages(void)
{
    static const char key[] = "_msg\":\"";

    for (size_t i = 0; i < rig.n_records; i++) {
        char *json = rig.records[i].json, *at;

        while ((at = strstr(json, key))) {
            char *end_of = at + strlen(key), *begin = at;

            while (*end_of != '"')
                end_of += *end_of == '\\' ? 2 : 1;
            while (*begin != ',')
                begin--;
            memmove(begin, end_of + 1, strlen(end_of + 1) + 1);
        }
    }
}

static int64_t fail_and_crash(bool is_old_journal)
{
    int64_t item;

    operate(PROC_OP_START, "p");
    rig.stores_nothing = true;
    rig_die(rig_proc("p"), 1);
    rig_pass(6000);
    rig_proc("q")->elsewhere = "it is another";
    item = operate(PROC_OP_START, "q");
    assert_int_equal(rig_code(item), CODE_CHECK);
    rig.n_results = 0;
    rig.event_is_message = false;
    *rig.event = *rig.event_chinese = '\0';
    if (is_old_journal)
        forget_messages();
    rig_crash(true);
    core_on_message(rig.core, MESSAGE_WELCOME, &(struct message_welcome){ .wants_processes = true },
                    rig.now_ms);
    rig_settle();
    assert_int_equal(rig_code(item), CODE_CHECK);
    assert_int_equal(
        strncmp(rig_result(item)->text, "start process (q) failed, for post-check", 40), 0);
    assert_int_equal(rig_result(item)->is_message, !is_old_journal);
    assert_string_equal(rig.event, "check p not running, and restart it success");
    assert_int_equal(rig.event_is_message, !is_old_journal);
    assert_string_equal(rig_cause("q")->failed_text, "not alive at the post-check: it is another");
    assert_int_equal(msg_is(rig_proc("q")->failed_text), !is_old_journal);
    return item;
}

static void what_is_read_from_the_journal_is_said_in_chinese(void **state)
{
    int64_t item;

    (void)state;
    item = fail_and_crash(false);
    assert_string_equal(
        rig_result(item)->chinese,
        "start process (q) failed, for post-check status not alive, please refer to agent log for "
        "details: it is another");
    assert_string_equal(rig.event_chinese, "检查到 p 未运行，重启成功");
    assert_string_equal(failed_chinese("q"), "操作后检查时未存活：it is another");
}

static void a_journal_without_messages_is_read(void **state)
{
    (void)state;
    fail_and_crash(true);
}

/* A message is never cut: it stays whole, or it becomes its English sentence. */
static void a_long_text_is_cut_and_is_no_message_then(void **state)
{
    (void)state;
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        rig_set_up(state);
        rig_proc("p")->elsewhere = wide_text(i);
        operate(PROC_OP_START, "p");
        (void)rig_cause("p");
        assert_false(msg_is(rig_proc("p")->failed_text));
        assert_whole_text(rig_proc("p")->failed_text);
        assert_in_range(strlen(rig_proc("p")->failed_text), WHY_TEXT_BYTES - 3, WHY_TEXT_BYTES);
        rig_tear_down(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(how_an_operation_ended_is_said_in_chinese),
        RIG_TEST(how_a_command_failed_is_said_in_chinese),
        RIG_TEST(what_happened_is_said_in_chinese),
        RIG_TEST(what_is_read_from_the_journal_is_said_in_chinese),
        RIG_TEST(a_journal_without_messages_is_read),
        cmocka_unit_test(a_long_text_is_cut_and_is_no_message_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
