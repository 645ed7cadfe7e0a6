/* SPDX-License-Identifier: MIT */
/* Signals by name and by number, and what is no signal. */
#include "model/signal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void names_and_numbers_are_read(void **state)
{
    const struct {
        const char *name;
        int number;
    } cases[] = {
        { "HUP", SIGHUP },
        { "SIGHUP", SIGHUP },
        { "hup", SIGHUP },
        { "sigusr1", SIGUSR1 },
        { "WINCH", SIGWINCH },
        { "KILL", SIGKILL },
        { "SYS", SIGSYS },
        { "RTMIN", SIGRTMIN },
        { "RTMIN+3", SIGRTMIN + 3 },
        { "SIGRTMIN+1", SIGRTMIN + 1 },
        { "RTMAX", SIGRTMAX },
        { "RTMAX-2", SIGRTMAX - 2 },
        { "RTMIN+30", 64 },
        { "1", 1 },
        { "09", 9 },
        { "64", 64 },
        { "33", 33 },
        { "", 0 },
        { "0", 0 },
        { "65", 0 },
        { "100", 0 },
        { "-1", 0 },
        { "+1", 0 },
        { "1 ", 0 },
        { "HUPP", 0 },
        { "SIG", 0 },
        { "SIGSIGHUP", 0 },
        { "RTMIN+31", 0 },
        { "RTMIN-1", 0 },
        { "RTMIN+", 0 },
        { "RTMAX-31", 0 },
        { "RTMAX+0", 0 },
        { "RTMIN+1x", 0 },
        { "RTMIN+100", 0 },
        { "HUP\n", 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (signal_number(cases[i].name) != cases[i].number)
            fail_msg("%s: %d", cases[i].name, signal_number(cases[i].name));
        assert_int_equal(signal_check(cases[i].name) != NULL, *cases[i].name && !cases[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
