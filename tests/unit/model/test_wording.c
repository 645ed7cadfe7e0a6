/* SPDX-License-Identifier: MIT */
#include "model/wording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem.h"

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
    /* What somebody else says stays. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_of_ours_are_told_in_chinese),
        cmocka_unit_test(english_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
