/* SPDX-License-Identifier: MIT */
/* arena.h - memory with one lifetime.
 *
 * A request, a message or a config load owns an arena; everything built for it
 * is allocated there and freed together.  Nothing in an arena is freed alone,
 * and nothing in it may be kept after arena_free() or arena_reset().  An arena
 * that is all zeroes is empty and ready. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *head; /* newest block; older ones behind it */
    char *free, *end;         /* what is left of it */
};

/* For an empty one that lives long and holds little (a process that is kept, a result):
 * its first block has this size, not the 2 KiB that suit a request.  Those that follow
 * double as ever, so a guess that is too small costs little.  After arena_free() it is
 * like any other. */
void arena_init(struct arena *a, size_t first_bytes);
size_t
arena_used(const struct arena *a); /* bytes; one that is to hold the same begins with so many */

/* Its first block is this memory (at least 64 bytes, aligned for anything), which stays
 * the caller's, to be freed after the arena. */
void arena_init_in(struct arena *a, void *memory, size_t size);

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned for anything */
char *arena_bytes(struct arena *a, size_t n);    /* neither; for text */
char *arena_strdup(struct arena *a, const char *s);
char *arena_memdup(struct arena *a, const char *s, size_t n); /* and a NUL; s may be NULL for 0 */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void arena_reset(struct arena *a); /* empty again, one ordinary block kept for next time */
void arena_free(struct arena *a);  /* empty and usable again */

#endif
