/* SPDX-License-Identifier: MIT */
#include "cli/draft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

static void expect_quoted(const char *text, const char *yaml)
{
    struct buf b = { 0 };

    draft_quote(&b, text);
    assert_string_equal(buf_text(&b), yaml);
    buf_free(&b);
}

static void a_text_stays_that_text_in_yaml(void **state)
{
    static const char *const cases[][2] = {
        { "/usr/bin/web -p 80", "/usr/bin/web -p 80" },
        { "cd /srv && exec ./web", "cd /srv && exec ./web" },
        { "", "\"\"" },
        { "8080", "\"8080\"" },
        { "1e3", "\"1e3\"" },
        { "-x", "\"-x\"" },
        { "true", "\"true\"" },
        { "No", "\"No\"" },
        { "null", "\"null\"" },
        { "~", "\"~\"" },
        { "a: b", "\"a: b\"" },
        { "a:", "\"a:\"" },
        { "a #b", "\"a #b\"" },
        { "a ", "\"a \"" },
        { " a", "\" a\"" },
        { "{a}", "\"{a}\"" },
        { "*a", "\"*a\"" },
        { "a\nb\tc", "\"a\\u000ab\\u0009c\"" },
        { "say \"hi\" \\", "\"say \\\"hi\\\" \\\\\"" },
        { "\xe4\xb8\xad", "\"\xe4\xb8\xad\"" },
        { "a\xc2\x85\x62", "\"a\\u0085b\"" },
        { "\xe2\x80\xa8", "\"\\u2028\"" },
        { "\xef\xbb\xbf", "\"\\ufeff\"" },
        { "a\xff", "\"a\xef\xbf\xbd\"" },
        { "\x7f", "\"\\u007f\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_quoted(cases[i][0], cases[i][1]);
}

static void a_draft_is_written_in_the_order_of_its_keys(void **state)
{
    struct draft d = { 0 };
    struct buf b = { 0 };

    (void)state;
    draft_item_number(&d, "exit_codes", 0);
    draft_part(&d, "environment", "PORT", "80");
    draft_part_float(&d, "caps", "cpu", 12.5);
    draft_item_number(&d, "exit_codes", 2);
    draft_text(&d, "name", "old");
    draft_part(&d, "environment", "MODE", "a,b");
    draft_text(&d, "name", "web");
    draft_yes(&d, "keep_trying");
    draft_item(&d, "after", "db, x");
    draft_text(&d, "user", "app");
    draft_drop(&d, "user");
    draft_write(&d, "  - ", "    ", &b);
    assert_string_equal(buf_text(&b), "  - name: web\n"
                                      "    keep_trying: true\n"
                                      "    exit_codes: [0, 2]\n"
                                      "    environment:\n"
                                      "      PORT: \"80\"\n"
                                      "      MODE: a,b\n"
                                      "    caps:\n"
                                      "      cpu: 12.5\n"
                                      "    after: [\"db, x\"]\n");
    assert_string_equal(draft_find(&d, "name"), "web");
    assert_null(draft_find(&d, "user"));
    buf_free(&b);
    draft_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_stays_that_text_in_yaml),
        cmocka_unit_test(a_draft_is_written_in_the_order_of_its_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
