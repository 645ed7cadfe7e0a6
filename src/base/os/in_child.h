/* SPDX-License-Identifier: MIT */
/* in_child.h - marks functions of a child that shares the memory of its parent (sys_clone3()). A
 * sanitizer does not know the stack that they run on, and would keep the frames that never return
 * in its record of the thread that waits. */
#ifndef BASE_OS_IN_CHILD_H
#define BASE_OS_IN_CHILD_H

#define IN_CHILD __attribute__((no_sanitize("address", "thread", "undefined")))

#endif
