/* SPDX-License-Identifier: MIT */
/* sys_signal.c - see sys_signal.h.
 *
 * Uses raw system calls, because libc hides two signals, and sanitizers hide some more. */
#include "base/os/sys_signal.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os/in_child.h"

enum { SET_BYTES = 8, NUMBERS = 32 };

/* A struct sigaction in the kernel's layout, or a signal set, with all fields 0. */
static const unsigned long none[8];

unsigned sys_ignored_signals(void)
{
    unsigned ignored = 0;

    for (int number = 1; number < NUMBERS; number++) {
        unsigned long action[8] = { 0 }; /* the first field is the handler */

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
            /* Fails for SIGKILL and SIGSTOP. */
            syscall(SYS_rt_sigaction, number, none, NULL, SET_BYTES);
    }
}

IN_CHILD void sys_unblock_signals(void)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, SET_BYTES);
}
