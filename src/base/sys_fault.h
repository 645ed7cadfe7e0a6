/* SPDX-License-Identifier: MIT */
/* sys_fault.h - for base/sys_*.c: planted faults (sys.h) reach their calls too. */
#ifndef BASE_SYS_FAULT_H
#define BASE_SYS_FAULT_H

#include <stdbool.h>

#ifdef HOLDFAST_FAULT
/* Whether this call, by its name in sys.c's table, is to fail now; errno is set. */
bool sys_fails(const char *call);
#else
static inline bool sys_fails(const char *call)
{
    (void)call;
    return false;
}
#endif

#endif
