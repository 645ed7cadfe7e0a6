/* SPDX-License-Identifier: MIT */
/* Promises of api/gse/content.h: results byte by byte, as strict clients read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/gse/content.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/proc.h"

static struct task_item item_of(int64_t op, int64_t code, const char *text)
{
    return (struct task_item){
        .agent = "0200",
        .key = "1:10.0.0.1:gse:proc-test",
        .op = op,
        .space = "gse",
        .name = "proc-test",
        .code = code,
        .text = text,
        .view = { .space = "gse", .name = "proc-test", .pid = -1 },
        .done_ms = 1522806980000,
        .setup_path = "/data/gsetest/",
        .proc_name = "proc_bin",
    };
}

static const char *content(const struct task_item *item, int64_t form, struct buf *b)
{
    buf_truncate(b, 0);
    content_write(item, form, "10.0.0.1", b);
    return buf_text(b);
}

#define STOPPED_HEAD                                                                               \
    "{\"ip\":\"10.0.0.1\",\"bk_agent_id\":\"0200\",\"utctime\":\"2018-04-04 09:56:20\","           \
    "\"utctime2\":\"2018-04-04 01:56:20\",\"timezone\":8,\"process\":[{\"procname\":\""
#define STOPPED_NEXT "\",\"instance\":[{\"cmdline\":\"\",\"processName\":\""
#define STOPPED_TAIL(pid)                                                                          \
    "\",\"version\":\"\",\"health\":\"\",\"isAuto\":false,\"cpuUsage\":0,\"cpuUsageAve\":0,"       \
    "\"phyMemUsage\":0,\"usePhyMem\":0,\"diskSize\":-1,\"freeVMem\":\"0\",\"pid\":" pid ","        \
    "\"startTime\":\"\",\"stat\":\"\",\"utime\":\"0\",\"stime\":\"0\",\"threadCount\":0,"          \
    "\"elapsedTime\":0,\"register_time\":0,\"last_start_time\":0,\"report_time\":1522806980}]}]}"

#define STOPPED(name, pid) STOPPED_HEAD name STOPPED_NEXT name STOPPED_TAIL(pid)

static void a_stopped_process_is_there_with_pid_minus_one(void **state)
{
    struct task_item item = item_of(PROC_OP_QUERY, CODE_OK, "success");
    struct buf b = { 0 };

    (void)state;
    assert_string_equal(content(&item, TASK_FORM_V2, &b), STOPPED("proc-test", "-1"));
    assert_string_equal(content(&item, TASK_FORM_V1, &b), STOPPED("proc-test", "-1"));
    assert_string_equal(content(&item, TASK_FORM_JOB, &b), STOPPED("proc_bin", "-1"));
    item.view.pid = 0; /* the process is not known to the host */
    assert_string_equal(content(&item, TASK_FORM_V2, &b), STOPPED("proc-test", "-1"));
    buf_free(&b);
}

/* Clients read -1 as stopped: an unknown state must not be -1. */
static void a_query_that_failed_has_pid_zero(void **state)
{
    static const int64_t codes[] = { CODE_OFFLINE, CODE_DEADLINE, CODE_DENIED, CODE_MATCH };
    struct task_item item = item_of(PROC_OP_QUERY, CODE_OK, "");
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        item.code = codes[i];
        item.view.pid = i % 2 ? -1 : 0;
        assert_string_equal(content(&item, TASK_FORM_V2, &b), STOPPED("proc-test", "0"));
    }
    assert_string_equal(content(&item, TASK_FORM_JOB, &b), STOPPED("proc_bin", "0"));
    buf_free(&b);
}

static void a_running_process_has_all_its_numbers(void **state)
{
    struct task_item item = item_of(PROC_OP_QUERY, CODE_OK, "success");
    struct buf b = { 0 };

    (void)state;
    item.view = (struct proc_view){
        .hosted = true,
        .pid = 4711,
        .cmdline = "./proc \"x\"",
        .version = "1.0\n",
        .health = "ok",
        .stat = "S",
        .start_time = "2018-04-04 09:00:00",
        .utime = "12",
        .stime = "3",
        .cpu_percent = 1.5,
        .cpu_percent_avg = 2,
        .mem_percent = 0.25,
        .mem_bytes = 123456789012,
        .threads = 7,
        .elapsed_s = 3380,
        .register_s = 1522800000,
        .last_start_s = 1522803600,
        .report_s = 1522806979,
    };
    assert_string_equal(
        strstr(content(&item, TASK_FORM_V2, &b), "{\"cmdline\""),
        "{\"cmdline\":\"./proc \\\"x\\\"\",\"processName\":\"proc-test\",\"version\":\"1.0\\n\","
        "\"health\":\"ok\",\"isAuto\":true,\"cpuUsage\":1.5,\"cpuUsageAve\":2,"
        "\"phyMemUsage\":0.25,\"usePhyMem\":123456789012,\"diskSize\":-1,\"freeVMem\":\"0\","
        "\"pid\":4711,\"startTime\":\"2018-04-04 09:00:00\",\"stat\":\"S\",\"utime\":\"12\","
        "\"stime\":\"3\",\"threadCount\":7,\"elapsedTime\":3380,\"register_time\":1522800000,"
        "\"last_start_time\":1522803600,\"report_time\":1522806979}]}]}");
    buf_free(&b);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* A query of many hosts for a name that many processes have. */
static void of_many_results_each_has_its_share_of_pids(void **state)
{
    static const struct {
        size_t n;
        const char *others;
    } cases[] = { { 1000, "4712 99 123456 7" }, { 100000, "4712 99" }, { 300000, "" } };
    struct task_item item = item_of(PROC_OP_QUERY, CODE_OK, "success");
    struct arena a = { 0 };

    (void)state;
    item.view.others = cases[0].others;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(result_share(&item, cases[i].n, LANG_EN, &a).view.others,
                            cases[i].others);
    arena_free(&a);
}

/* The first is the process itself; the others have only their pid. */
static void where_several_are_expected_all_are_listed(void **state)
{
    struct task_item item = item_of(PROC_OP_QUERY, CODE_OK, "success");
    struct buf b = { 0 };
    const char *first, *second;

    (void)state;
    item.view.pid = 4711;
    item.view.hosted = true;
    item.view.cmdline = "./proc";
    item.view.others = "4712 99";
    first = strstr(content(&item, TASK_FORM_V2, &b), "\"instance\":[{\"cmdline\":\"./proc\"");
    assert_non_null(first);
    assert_int_equal(count(first, "\"processName\":\"proc-test\""), 3);
    assert_int_equal(count(first, "\"isAuto\":true"), 3);
    assert_int_equal(count(first, "\"diskSize\":-1"), 3);
    second = strstr(first, "\"pid\":4712,");
    assert_non_null(second);
    assert_true(second > strstr(first, "\"pid\":4711,"));
    assert_non_null(strstr(second, "\"pid\":99,"));
    assert_string_equal(first + strlen(first) - 5, "}]}]}");
    item.view.others = "what is this";
    assert_int_equal(count(content(&item, TASK_FORM_V2, &b), "\"pid\":"), 1);
    buf_free(&b);
}

/* clang-format off */
#define VALUE(result, is_auto) "{\"value\":[{\"procName\":\"proc_bin\",\"setupPath\":\"/data/gsetest/\",\"funcID\":\"\"," \
    "\"instanceID\":\"\",\"bk_agent_id\":\"0200\",\"result\":\"" result "\",\"isAuto\":" is_auto "}]}"

static const struct {
    int64_t op, code;
    const char *text;
    bool hosted;
    const char *content;
} values[] = {
    { PROC_OP_START, CODE_OK, "success", true, VALUE("success", "true") },
    { PROC_OP_STOP, CODE_OK, "done", false, VALUE("success", "false") },
    { PROC_OP_HOST, CODE_OK, "", true, VALUE("success", "true") },
    { PROC_OP_UNHOST, CODE_OK, "", false, VALUE("success", "false") },
    { PROC_OP_RESTART, CODE_CHECK, "restart process (p) failed", false, VALUE("restart process (p) failed", "false") },
    { PROC_OP_RELOAD, CODE_COMMAND, "exit \"1\"", false, VALUE("exit \\\"1\\\"", "false") },
    { PROC_OP_KILL, CODE_NOT_RUNNING, "", false, VALUE("not running", "false") },
    { PROC_OP_START, CODE_RUNNING, "already running", true, VALUE("already running", "true") },
    { PROC_OP_START, CODE_OFFLINE, "no such host", false, VALUE("no such host", "false") },
    { 5, CODE_UNKNOWN_OP, "op_type 5", false, VALUE("op_type 5", "false") },
    { PROC_OP_START, CODE_WAITING, "in progress", false, "" },
    { PROC_OP_QUERY, CODE_WAITING, "in progress", false, "" },
};
/* clang-format on */

static void every_other_operation_has_one_value(void **state)
{
    struct buf b = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct task_item item = item_of(values[i].op, values[i].code, values[i].text);

        item.view.hosted = values[i].hosted;
        assert_string_equal(content(&item, TASK_FORM_V2, &b), values[i].content);
    }
    buf_free(&b);
}

static void a_result_has_code_message_and_content_as_a_string(void **state)
{
    struct task_item item = item_of(PROC_OP_START, CODE_WAITING, "");
    struct buf scratch = { 0 }, out = { 0 };

    (void)state;
    result_write(&item, TASK_FORM_V2, "", CONTENT_TEXT, &scratch, &out);
    assert_string_equal(buf_text(&out),
                        "{\"error_code\":115,\"error_msg\":\"handling\",\"content\":\"\"}");
    item.code = CODE_OK;
    item.text = "started with pid 7";
    buf_truncate(&out, 0);
    result_write(&item, TASK_FORM_V2, "", CONTENT_TEXT, &scratch, &out);
    assert_string_equal(
        buf_text(&out),
        "{\"error_code\":0,\"error_msg\":\"success\",\"content\":\"{\\\"value\\\":[{"
        "\\\"procName\\\":\\\"proc_bin\\\",\\\"setupPath\\\":\\\"/data/gsetest/\\\","
        "\\\"funcID\\\":\\\"\\\",\\\"instanceID\\\":\\\"\\\",\\\"bk_agent_id\\\":\\\"0200\\\","
        "\\\"result\\\":\\\"success\\\",\\\"isAuto\\\":false}]}\"}");
    buf_free(&scratch);
    buf_free(&out);
}

/* A target that was never on a host has no texts. */
static void what_is_not_there_is_an_empty_string(void **state)
{
    struct task_item item = { .key = "k", .op = PROC_OP_QUERY, .code = CODE_OFFLINE };
    struct buf b = { 0 };

    (void)state;
    assert_non_null(strstr(content(&item, TASK_FORM_V2, &b), "\"bk_agent_id\":\"\""));
    assert_non_null(strstr(buf_text(&b), "\"pid\":0,"));
    item.op = PROC_OP_START;
    assert_string_equal(content(&item, TASK_FORM_V2, &b),
                        "{\"value\":[{\"procName\":\"\",\"setupPath\":\"\",\"funcID\":\"\","
                        "\"instanceID\":\"\",\"bk_agent_id\":\"\",\"result\":\"the agent is not "
                        "connected\",\"isAuto\":false}]}");
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_many_results_each_has_its_share_of_pids),
        cmocka_unit_test(a_stopped_process_is_there_with_pid_minus_one),
        cmocka_unit_test(a_query_that_failed_has_pid_zero),
        cmocka_unit_test(a_running_process_has_all_its_numbers),
        cmocka_unit_test(where_several_are_expected_all_are_listed),
        cmocka_unit_test(every_other_operation_has_one_value),
        cmocka_unit_test(a_result_has_code_message_and_content_as_a_string),
        cmocka_unit_test(what_is_not_there_is_an_empty_string),
    };

    setenv("TZ", "CST-8", 1);
    tzset();
    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
