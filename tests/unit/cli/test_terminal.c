/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void keys_are_taken_one_after_the_other(void **state)
{
    static const struct {
        const char *bytes;
        size_t taken;
        int key;
    } cases[] = {
        { "q", 1, 'q' },
        { "sq", 1, 's' },
        { "\033[A", 3, KEY_UP },
        { "\033[Bx", 3, KEY_DOWN },
        { "\033OA", 3, KEY_UP },
        { "\033[5~", 4, KEY_PAGE_UP },
        { "\033[6~\033[A", 4, KEY_PAGE_DOWN },
        { "\033[H", 3, KEY_HOME },
        { "\033[F", 3, KEY_END },
        { "\033", 1, KEY_ESCAPE },
        { "\033x", 1, KEY_ESCAPE },
        { "\033[1;5Cq", 6, -1 }, /* not known: passed over as a whole */
        { "\033[12", 4, -1 },
        { "\377", 1, 255 },
    };
    int key = 0;

    (void)state;
    assert_int_equal(terminal_key("", 0, &key), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(terminal_key(cases[i].bytes, strlen(cases[i].bytes), &key),
                         cases[i].taken);
        assert_int_equal(key, cases[i].key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_taken_one_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
