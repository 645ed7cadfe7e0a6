/* SPDX-License-Identifier: MIT */
/* clone3.h - the system call as such, for base/sys.c alone.
 *
 * 0 can not be returned in the child, whose new stack has nowhere to return to, so the
 * child goes from here into child(arg), which must not return either. */
#ifndef BASE_CLONE3_H
#define BASE_CLONE3_H

#include <linux/sched.h>
#include <linux/types.h>

/* Gives the pid, or minus the error. */
long clone3_onto_stack(struct clone_args *args, void (*child)(void *), void *child_arg);

#endif
