/* SPDX-License-Identifier: MIT */
/* arena.c - a list of blocks, each filled from front to back.  Blocks double in size: a large
 * request needs few blocks, a small one little memory. */
#include "base/mem/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"

enum { BLOCK_LEAST = 64, BLOCK_MIN = 2048, BLOCK_MAX = 256 * 1024, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size : 63, is_given : 1; /* memory of arena_init_in(), which the caller frees */
    _Alignas(ALIGN) char bytes[];
};

static void use(struct arena *a, struct arena_block *b)
{
    a->head = b;
    a->free = b->bytes;
    a->end = b->bytes + b->size;
}

static struct arena_block *allocate(size_t size)
{
    struct arena_block *b = malloc(sizeof(*b) + size);

    if (!b)
        abort();
    b->size = size;
    b->next = NULL;
    b->is_given = 0;
    return b;
}

void arena_init(struct arena *a, size_t first_bytes)
{
    if (first_bytes < BLOCK_LEAST)
        first_bytes = BLOCK_LEAST;
    use(a, allocate(first_bytes < BLOCK_MAX ? first_bytes : BLOCK_MAX));
}

size_t arena_used(const struct arena *a)
{
    size_t used = 0;

    for (const struct arena_block *b = a->head; b; b = b->next)
        used += b->size;
    return used - (size_t)(a->end - a->free);
}

void arena_init_in(struct arena *a, void *memory, size_t size)
{
    struct arena_block *b = memory;

    b->size = size - sizeof(*b);
    b->next = NULL;
    b->is_given = 1;
    use(a, b);
}

/* An allocation too large for an ordinary block gets a block of its own.  It is linked behind
 * the newest block, so that the free part of that one stays in use. */
static char *new_block(struct arena *a, size_t need)
{
    size_t size = a->head ? a->head->size * 2 : BLOCK_MIN;
    struct arena_block *b;

    if (size > BLOCK_MAX)
        size = BLOCK_MAX;
    if (need > size)
        size = need;
    b = allocate(size);
    b->next = a->head;
    if (a->head && size > BLOCK_MAX) {
        b->next = a->head->next;
        a->head->next = b;
        return b->bytes;
    }
    use(a, b);
    a->free += need;
    return b->bytes;
}

char *arena_bytes(struct arena *a, size_t n)
{
    char *p = a->free;

    if (n > SIZE_MAX / 4)
        abort();
    if (!a->head || (size_t)(a->end - a->free) < n)
        return new_block(a, n);
    a->free += n;
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t skip = -(uintptr_t)a->free & (ALIGN - 1);
    char *p;

    if (size > SIZE_MAX / 4)
        abort();
    if (!a->head || (size_t)(a->end - a->free) < skip + size) {
        p = new_block(a, size);
    } else {
        p = a->free + skip;
        a->free = p + size;
    }
    return memset(p, 0, size);
}

char *arena_memdup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_bytes(a, n < SIZE_MAX ? n + 1 : n);

    if (n > 0)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_memdup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    int n;
    char *s;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap); /* only measures */
    va_end(ap);
    if (n < 0)
        abort();
    s = arena_bytes(a, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

char *arena_msg(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    size_t size;
    char *s;

    va_start(ap, fmt);
    size = msg_vsize(fmt, ap);
    s = arena_bytes(a, size);
    msg_vprintf(s, size, fmt, ap);
    va_end(ap);
    return s;
}

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;

        if (!b->is_given)
            free(b);
        b = next;
    }
}

void arena_reset(struct arena *a)
{
    if (!a->head)
        return;
    if (a->head->size > BLOCK_MAX) {
        arena_free(a);
        return;
    }
    free_blocks(a->head->next);
    a->head->next = NULL;
    use(a, a->head);
}

void arena_free(struct arena *a)
{
    free_blocks(a->head);
    *a = (struct arena){ 0 };
}
