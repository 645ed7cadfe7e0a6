/* SPDX-License-Identifier: MIT */
#include "model/wording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem.h"
#include "tests/lib/english.h"

/* clang-format off */
static const struct {
    const char *english, *chinese;
} cases[] = {
    { "no such host, or it has not joined", "没有这台主机，或其 Agent 尚未加入" },
    { "the agent is not connected", "Agent 未连接" }, /* of the codes */
    { "task T-1: no such task, or it has expired", "任务 T-1 不存在或已过期" },
    { "bk_biz_id: business 7 does not exist", "bk_biz_id：业务 7 不存在" },
    { "bk_scope_id: business set 7 does not exist", "bk_scope_id：业务集 7 不存在" },
    { "the host is not in business set 8000001", "主机不在业务集 8000001 中" },
    { "app few may not stop; it may: start, kill", "应用 few 不能执行 stop；可执行：start, kill" },
    { "x[1]: app few may not stop; it may: start", "x[1]：应用 few 不能执行 stop；可执行：start" },
    { "task : no such task, or it has expired", "任务  不存在或已过期" },
    { "task {0}: no such task, or it has expired", "任务 {0} 不存在或已过期" },
    { "a[2].b: required", "a[2].b：必填" },
    { "labels.a: b: given twice", "labels.a: b：重复出现" }, /* a colon in the path */
    { "hosts: 60000 targets in all, 50000 at most", "hosts：共 60000 个目标，至多 50000 个" },
    { "op: must be one of 0 (start), 1 (stop), not 5", "op：必须是 0 (start), 1 (stop) 之一，不能是 5" },
    { "op: must be an integer from 1 to 9, not a list", "op：必须是 1 到 9 的整数，不能是列表" },
    { "op: must be an integer, not required", "op：必须是整数，不能是 required" }, /* the value is the caller's */
    { "a: not valid JSON: byte 3: the text ends where ',' or '}' should be",
      "a：不是合法的 JSON：第 3 字节：应为 ',' 或 '}'，文本却已结束" },
    { "start process (p) failed, for post-check status not alive, please refer to agent log for details: pid file /a: "
      "Permission denied", "start 进程 (p) 失败，操作后检查的状态为未存活，详见 Agent 日志：PID 文件 /a：权限不足" },
    { "process (p) is not running: pid file /a b names 12 whose exe is sleep, expected p",
      "进程 (p) 未运行：PID 文件 /a b 指向 12，其程序是 sleep，应为 p" },
    { "process (p) is not running: there is no pid file /a, and no process of a file under /b fits p",
      "进程 (p) 未运行：没有 PID 文件 /a，且 /b 下没有程序文件符合 p 的进程" },
    { "env_file /e: line 3: more than 1024 variables", "env_file /e：第 3 行：变量超过 1024 个" },
    { "policy.commands: /bin/sh runs other programs (start_cmd)", "主机策略 policy.commands：/bin/sh 会运行其他程序（start_cmd）" },
    { "exec /a/p: Permission denied", "执行 /a/p 失败：权限不足" },
    /* A command's own words, whatever they are. */
    { "Script exit code non-zero. Error msessage: [a: required]", "Script exit code non-zero. Error msessage: [a: required]" },
    { "the command ran longer than 5 s and was ended; a process that is to stay needs auto_type 1 "
      "(Job's type 1); its output: [not running]",
      "命令执行超过 5 秒，已被终止；常驻进程须将 auto_type（Job 为 type）设为 1；其输出：[not running]" },
    { "the command ran longer than 5 s and was ended; its output: [not running]",
      "命令执行超过 5 秒，已被终止；其输出：[not running]" },
    { "its health command has not succeeded: not running", "健康检查命令未成功：not running" },
    /* What somebody else says stays. */
    { "a: b: c: d: e: f: g: h", "a: b: c: d: e: f: g: h" },
    { "sorry: it is broken", "sorry: it is broken" },
    { "", "" },
    { "task T-1", "task T-1" },
    { "task T-1: no such task, or it has expired, says init", "task T-1: no such task, or it has expired, says init" },
    { "no such host, or it has not joined\n", "no such host, or it has not joined\n" },
    { "100%: {0} 中", "100%: {0} 中" },
};
/* clang-format on */

static void sentences_of_ours_are_told_in_chinese(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        wording_put(&b, cases[i].english, LANG_ZH);
        assert_string_equal(buf_text(&b), cases[i].chinese);
        assert_string_equal(wording_in(cases[i].english, LANG_ZH, &a), cases[i].chinese);
        buf_free(&b);
    }
    arena_free(&a);
}

static void english_stays_as_it_is(void **state)
{
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_ptr_equal(wording_in(cases[i].english, LANG_EN, &a), cases[i].english);
    arena_free(&a);
}

/* "{0}" and "<0>" become "v0". */
static void put_sample(struct buf *to, const char *pattern, char left, char right)
{
    for (const char *p = pattern; *p; p++) {
        bool is_place = (p[0] == '{' && p[2] == '}') || (p[0] == left && p[1] && p[2] == right);

        if (is_place) {
            buf_printf(to, "v%c", p[1]);
            p += 2;
        } else {
            buf_addc(to, *p);
        }
    }
}

/* More texts than it remembers, each of them twice in a row, and all of them twice. */
static void what_was_said_before_is_said_again(void **state)
{
    struct wording_memo memo = { 0 };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        size_t n = i % ARRAY_LEN(cases);
        const char *first = wording_again(&memo, cases[n].english, LANG_ZH, &a);

        assert_string_equal(first, cases[n].chinese);
        assert_ptr_equal(wording_again(&memo, cases[n].english, LANG_ZH, &a), first);
        assert_ptr_equal(wording_again(&memo, cases[n].english, LANG_EN, &a), cases[n].english);
    }
    arena_free(&a);
}

/* None is hidden behind one before it, none loses a place, and none is half English. */
static void each_row_is_found_and_says_all(void **state)
{
    (void)state;
    for (const struct wording *w = wordings; w->text[LANG_EN]; w++) {
        struct buf english = { 0 }, chinese = { 0 }, got = { 0 };

        put_sample(&english, w->text[LANG_EN], '{', '}');
        put_sample(&chinese, w->text[LANG_ZH], '<', '>');
        wording_put(&got, buf_text(&english), LANG_ZH);
        assert_string_equal(buf_text(&got), buf_text(&chinese));
        for (char v[] = "v0"; strstr(buf_text(&english), v); v[1]++)
            assert_non_null(strstr(buf_text(&got), v));
        if (strcmp(w->text[LANG_EN], w->text[LANG_ZH]) != 0 && english_left(buf_text(&got)))
            fail_msg("%s", buf_text(&got));
        buf_free(&english);
        buf_free(&chinese);
        buf_free(&got);
    }
}

/* What an agent sends can be 8 KiB of anything; it must not take long to find no words for it. */
static void a_text_full_of_colons_is_soon_given_up(void **state)
{
    struct buf text = { 0 }, got = { 0 };

    (void)state;
    for (int i = 0; i < 2000; i++)
        buf_puts(&text, "a: (b, ");
    for (int i = 0; i < 20; i++)
        wording_put(&got, buf_text(&text), LANG_ZH);
    assert_int_equal(got.len, 20 * text.len);
    buf_free(&text);
    buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_of_ours_are_told_in_chinese),
        cmocka_unit_test(english_stays_as_it_is),
        cmocka_unit_test(what_was_said_before_is_said_again),
        cmocka_unit_test(each_row_is_found_and_says_all),
        cmocka_unit_test(a_text_full_of_colons_is_soon_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
