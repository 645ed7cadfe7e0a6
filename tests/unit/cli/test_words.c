/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "cli/options.h"

/* The words, each in brackets, or the error. */
static void expect(enum words_kind kind, const char *text, const char *words)
{
    struct arena a = { 0 };
    struct buf b = { 0 };
    struct list list;
    struct err err = { 0 };

    if (words_split(text, kind, &a, &list, &err)) {
        buf_puts(&b, err.text);
    } else {
        const struct word *w = list.items;

        for (size_t i = 0; i < list.n; i++)
            buf_printf(&b, "[%s]", w[i].text);
    }
    assert_string_equal(buf_text(&b), words);
    buf_free(&b);
    arena_free(&a);
}

static void lines_are_split_as_their_supervisor_does(void **state)
{
    (void)state;
    expect(WORDS_SHLEX, " a  'b c'd \"e \\\" \\x\" f\\ g\n''", "[a][b cd][e \" \\x][f g][]");
    expect(WORDS_SHLEX, "a 'b", "a quote that is not closed");
    expect(WORDS_SHLEX, "a \\", "a backslash at the end");
    expect(WORDS_SHLEX, "", "");
    expect(WORDS_SYSTEMD, "a \"b\\tc\" d\\se '\\'' \\d", "[a][b\tc][d e]['][\\d]");
}

static void expect_put(const char *word, bool has_variables, const char *line)
{
    struct buf b = { 0 };

    words_put(&b, word, has_variables);
    assert_string_equal(buf_text(&b), line);
    buf_free(&b);
}

static void a_word_is_one_word_for_a_shell(void **state)
{
    (void)state;
    expect_put("a/b-c=d", false, "a/b-c=d");
    expect_put("", false, "''");
    expect_put("a b", false, "'a b'");
    expect_put("it's", false, "'it'\\''s'");
    expect_put("$HOME", false, "'$HOME'");
    expect_put("$HOME", true, "$HOME");
    expect_put("${A}/x y", true, "\"${A}/x y\"");
    expect_put("a$$b`c\"", true, "\"a\\$b\\`c\\\"\"");
    expect_put("$(rm x)", true, "\"\\$(rm x)\"");
    expect_put("${A;rm x}", true, "\"\\${A;rm x}\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_split_as_their_supervisor_does),
        cmocka_unit_test(a_word_is_one_word_for_a_shell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
