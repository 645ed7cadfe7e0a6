/* SPDX-License-Identifier: MIT */
/* json_keys.c - a stack, searched linearly while an object has few keys; the keys of an object
 * with more are found through a hash index.
 *
 * Linear probing needs no tombstones here: keys are removed in the reverse order of insertion,
 * so removing one restores the index exactly as it was before that key was added.  A rebuilt
 * index is filled in stack order and keeps that property. */
#include "wire/json/json_keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"

enum { INDEX_MIN = 64 };

static struct json_key *stack_of(struct json_keys *k)
{
    return k->many ? k->many : k->few;
}

void json_keys_free(struct json_keys *k)
{
    free(k->many);
    free(k->index);
    *k = (struct json_keys){ 0 };
}

void json_keys_pop(struct json_keys *k, size_t mark)
{
    struct json_key *stack = stack_of(k);

    while (k->n > mark) {
        uint32_t slot = stack[--k->n].slot;

        if (!slot)
            continue;
        k->index[slot - 1] = 0;
        k->indexed--;
    }
}

static void index_put(struct json_keys *k, size_t position)
{
    struct json_key *key = &stack_of(k)[position];
    size_t at = key->hash & (k->index_cap - 1);

    while (k->index[at])
        at = (at + 1) & (k->index_cap - 1);
    k->index[at] = (uint32_t)position + 1;
    key->slot = (uint32_t)at + 1;
    k->indexed++;
}

static void index_grow(struct json_keys *k)
{
    const struct json_key *stack = stack_of(k);

    if (!k->index_cap)
        map_seed(k->seed);
    k->index_cap = k->index_cap ? k->index_cap * 2 : INDEX_MIN;
    k->indexed = 0;
    free(k->index);
    k->index = xalloc(k->index_cap * sizeof(*k->index));
    for (size_t i = 0; i < k->n; i++) {
        if (stack[i].slot)
            index_put(k, i);
    }
}

static void index_add(struct json_keys *k, size_t position)
{
    struct json_key *key = &stack_of(k)[position];

    if (k->indexed >= k->index_cap / 2)
        index_grow(k);
    key->hash = (uint32_t)map_hash(k->seed, key->p, key->len);
    index_put(k, position);
}

static bool json_keys_is_key(const struct json_key *k, const char *key, size_t len)
{
    return k->len == len && memcmp(k->p, key, len) == 0;
}

static bool index_has(struct json_keys *k, size_t mark, const char *key, size_t len)
{
    const struct json_key *stack = stack_of(k);
    size_t at = (uint32_t)map_hash(k->seed, key, len) & (k->index_cap - 1);

    for (; k->index[at]; at = (at + 1) & (k->index_cap - 1)) {
        if (k->index[at] > mark && json_keys_is_key(&stack[k->index[at] - 1], key, len))
            return true;
    }
    return false;
}

static bool few_have(struct json_keys *k, size_t mark, const char *key, size_t len)
{
    const struct json_key *stack = stack_of(k);

    for (size_t i = mark; i < k->n; i++) {
        if (json_keys_is_key(&stack[i], key, len))
            return true;
    }
    return false;
}

static void stack_add(struct json_keys *k, const char *key, size_t len)
{
    size_t cap = k->many ? k->cap : JSON_KEYS_FEW;

    if (k->n == cap) {
        struct json_key *more = xresize(k->many, cap * 2 * sizeof(*more));

        if (!k->many)
            memcpy(more, k->few, sizeof(k->few));
        k->many = more;
        k->cap = cap * 2;
    }
    stack_of(k)[k->n++] = (struct json_key){ .p = key, .len = (uint32_t)len };
}

bool json_keys_push(struct json_keys *k, size_t mark, const char *key, size_t len)
{
    size_t here = k->n - mark;

    if (here <= JSON_KEYS_FEW ? few_have(k, mark, key, len) : index_has(k, mark, key, len))
        return false;
    stack_add(k, key, len);
    if (here < JSON_KEYS_FEW)
        return true;
    for (size_t i = here == JSON_KEYS_FEW ? mark : k->n - 1; i < k->n; i++)
        index_add(k, i);
    return true;
}
