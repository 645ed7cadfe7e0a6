/* SPDX-License-Identifier: MIT */
/* mem.h - memory that is always there: out of memory aborts, and a restart is
 * our recovery path.  Every size an outsider can choose is limited before it
 * gets here. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xalloc(size_t size); /* zeroed; free() it */
void *xresize(void *p, size_t size);
char *xstrdup(const char *s);
char *xmemdup(const char *s, size_t n); /* n bytes and a NUL; s may be NULL if n is 0 */
char *xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For a program that is to be small.  All threads use one heap, if it is said before there
 * are others, and large pieces stand outside of it, so that they leave no holes.  And what
 * is free, or is only a copy of what the files of the program and its libraries hold,
 * goes back to the system: what is needed comes again by itself. */
void mem_share_heap(void);
void mem_give_back(void);

#endif
