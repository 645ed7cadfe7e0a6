/* SPDX-License-Identifier: MIT */
/* sys_fault.h - lets planted faults (sys.h) reach the calls of base/os/sys_*.c. */
#ifndef BASE_OS_SYS_FAULT_H
#define BASE_OS_SYS_FAULT_H

#include <stdbool.h>

#ifdef HOLDFAST_FAULT
/* Whether the call with this name in the table of sys.c must fail now; errno is set then. */
bool sys_fails(const char *call);
#else
static inline bool sys_fails(const char *call)
{
    (void)call;
    return false;
}
#endif

#endif
