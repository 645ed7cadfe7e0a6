/* SPDX-License-Identifier: MIT */
/* arena.h - memory with one lifetime.
 *
 * A request, a message or a config load owns an arena; everything built for it is allocated
 * there and freed together.  Nothing in an arena is freed alone, and pointers into it are
 * invalid after arena_free() or arena_reset().  An arena of all zeroes is empty and ready. */
#ifndef BASE_MEM_ARENA_H
#define BASE_MEM_ARENA_H

#include <stddef.h>

#include "base/text/msg.h"

struct arena {
    struct arena_block *head; /* newest block, linked to the older ones */
    char *free, *end;         /* free part of the newest block */
};

/* For an empty arena that lives long and holds little (a process, a result): its first block has
 * first_bytes instead of the 2 KiB that suit a request.  Further blocks double in size as usual,
 * so a guess that is too small costs little.  arena_free() resets this. */
void arena_init(struct arena *a, size_t first_bytes);
/* Bytes in use: a good first_bytes for an arena with the same contents. */
size_t arena_used(const struct arena *a);

/* Uses `memory` (at least 64 bytes, maximally aligned) as the first block.  The caller still
 * owns it and frees it after the arena. */
void arena_init_in(struct arena *a, void *memory, size_t size);

void *arena_alloc(struct arena *a, size_t size); /* zeroed, maximally aligned */
char *arena_bytes(struct arena *a, size_t n);    /* neither zeroed nor aligned; for text */
char *arena_strdup(struct arena *a, const char *s);
/* Appends a NUL; s may be NULL if n is 0. */
char *arena_memdup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_msg(struct arena *a, const char *fmt, ...) MSG_FORMAT(2, 3); /* base/text/msg.h */

void arena_reset(struct arena *a); /* empty again; keeps one ordinary block for reuse */
void arena_free(struct arena *a);  /* empty again and usable */

#endif
