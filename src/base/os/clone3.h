/* SPDX-License-Identifier: MIT */
/* clone3.h - the raw clone3 system call, only for base/os/sys.c.
 *
 * The child runs on a new stack, so it cannot return from this call.  It calls child(arg), which
 * must not return either. */
#ifndef BASE_OS_CLONE3_H
#define BASE_OS_CLONE3_H

#include <linux/sched.h>
#include <linux/types.h>

/* Returns the pid, or -errno. */
long clone3_onto_stack(struct clone_args *args, void (*child)(void *), void *child_arg);

#endif
