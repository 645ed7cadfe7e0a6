/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/auth/refusal.h"
#include "api/describe/code_page.h"

static void every_code_and_every_refusal_says_what_to_do(void **state)
{
    (void)state;
    for (const struct code_info *c = code_table; c->name; c++) {
        if (!code_page_advice(c->number))
            fail_msg("code %d: it has no advice", c->number);
    }
    assert_null(code_page_advice(4711));
    for (int why = 0; why < REFUSALS; why++) {
        if (!code_page_refusal_advice(why))
            fail_msg("refusal %d: it has no advice", why);
    }
}

static void assert_has(struct buf *page, const char *text)
{
    if (!strstr(buf_text(page), text))
        fail_msg("not on the page: %s", text);
}

/* As clients of each dialect get them, in both languages. */
static void every_code_is_on_the_page(void **state)
{
    struct buf page = { 0 };
    char text[64];

    (void)state;
    code_page_write(&page);
    for (const struct code_info *c = code_table; c->name; c++) {
        snprintf(text, sizeof(text), "| %d | `%s` |", c->number, c->name);
        assert_has(&page, text);
        assert_has(&page, c->text[LANG_ZH]);
    }
    assert_has(&page, "| 1 | `INVALID` | 400 | 1000811 | 1000811 | 1241002 |");
    assert_has(&page, "| 2 | `MALFORMED` | 400 | 1306000 | 1640001 | 1306000 |");
    assert_has(&page, "| 823 | `DENIED` | 403 | 1000823 | 1000823 | 9900403 |");
    assert_has(&page, "| `NO_BUSINESS` | 404 | - | - | 1243049 |");
    assert_has(&page, "| none, HTTP 404 | 1640401 `API_NOT_FOUND`, HTTP 404 | 404 `NOT_FOUND` |");
    for (int why = 0; why < REFUSALS; why++)
        assert_has(&page, code_page_refusal_advice(why));
    buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_and_every_refusal_says_what_to_do),
        cmocka_unit_test(every_code_is_on_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
