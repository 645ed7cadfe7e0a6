/* SPDX-License-Identifier: MIT */
/* sys_signal.c - see sys_signal.h.
 *
 * Raw calls, because libc keeps two signals to itself, and a sanitizer some more. */
#include "base/sys_signal.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

enum { SET_BYTES = 8, NUMBERS = 32 };

/* An action of the kernel's form, and a set of signals, with all fields 0. */
static const unsigned long none[8];

unsigned sys_ignored_signals(void)
{
    unsigned ignored = 0;

    for (int number = 1; number < NUMBERS; number++) {
        unsigned long action[8] = { 0 }; /* the first field is what is done */

        if (!syscall(SYS_rt_sigaction, number, NULL, action, SET_BYTES) &&
            action[0] == (unsigned long)SIG_IGN)
            ignored |= 1U << number;
    }
    return ignored;
}

IN_CHILD void sys_default_signals(unsigned which)
{
    for (int number = 1; number < NUMBERS; number++) {
        if (which & 1U << number)
            syscall(SYS_rt_sigaction, number, none, NULL, SET_BYTES); /* KILL and STOP refuse */
    }
}

IN_CHILD void sys_unblock_signals(void)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, SET_BYTES);
}
