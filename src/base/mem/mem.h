/* SPDX-License-Identifier: MIT */
/* mem.h - memory allocation that never fails: out of memory aborts, and a restart is our
 * recovery path.  Every size an outsider can choose is limited before it gets here. */
#ifndef BASE_MEM_MEM_H
#define BASE_MEM_MEM_H

#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xalloc(size_t size); /* zeroed; released by free() */
void *xresize(void *p, size_t size);
char *xstrdup(const char *s);
char *xmemdup(const char *s, size_t n); /* n bytes and a NUL; s may be NULL if n is 0 */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For a program that must stay small.  mem_share_heap() makes all threads use one heap (call it
 * before the first thread starts) and places large allocations outside of it, so that they leave
 * no holes.  mem_give_back() returns free memory to the system, and pages that can be read again
 * from the files of the program and its libraries. */
void mem_share_heap(void);
void mem_give_back(void);

#endif
