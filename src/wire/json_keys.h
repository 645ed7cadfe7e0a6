/* SPDX-License-Identifier: MIT */
/* json_keys.h - the keys seen in the objects that are open, so that a repeated
 * one is noticed, in constant time however many keys a hostile body has.
 *
 * Keys form a stack: an object remembers its height when it opens, and its
 * keys are taken off when it closes.  Memory is bounded by the most keys that
 * are open at one time; a few of them take none but this struct.  One that is
 * all zeroes is empty and ready. */
#ifndef WIRE_JSON_KEYS_H
#define WIRE_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_key {
    const char *p;
    uint32_t len, hash;
    uint32_t slot; /* where the index points here, + 1; 0: nowhere */
};

enum { JSON_KEYS_FEW = 16 };

struct json_keys {
    struct json_key few[JSON_KEYS_FEW], *many; /* `many` once they are more */
    uint32_t *index;                           /* stack position + 1; 0 is free */
    size_t n, cap, index_cap, indexed;
    uint64_t seed[2];
};

void json_keys_free(struct json_keys *k);

/* The height of the stack is k->n. */
void json_keys_pop(struct json_keys *k, size_t mark);

/* False if the key is there already, above the mark.  It is not copied. */
bool json_keys_push(struct json_keys *k, size_t mark, const char *key, size_t len);

#endif
