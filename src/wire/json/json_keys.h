/* SPDX-License-Identifier: MIT */
/* json_keys.h - the keys seen in the objects that are open, so that a repeated key is noticed,
 * in constant time however many keys a hostile body has.
 *
 * Keys form a stack: an object remembers its height when it opens, and its keys are removed when
 * it closes.  Memory is bounded by the maximal number of keys of open objects; a few of them fit
 * into this struct.  A struct of all zeroes is empty and ready. */
#ifndef WIRE_JSON_JSON_KEYS_H
#define WIRE_JSON_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_key {
    const char *p;
    uint32_t len, hash;
    uint32_t slot; /* position in the index + 1; 0: not in the index */
};

enum { JSON_KEYS_FEW = 16 };

struct json_keys {
    struct json_key few[JSON_KEYS_FEW], *many; /* `many` is used once there are more */
    uint32_t *index;                           /* stack position + 1; 0: free */
    size_t n, cap, index_cap, indexed;
    uint64_t seed[2];
};

void json_keys_free(struct json_keys *k);

/* Removes the keys above the mark.  The height of the stack is k->n. */
void json_keys_pop(struct json_keys *k, size_t mark);

/* False if the key is already in the stack above the mark.  The key is not copied. */
bool json_keys_push(struct json_keys *k, size_t mark, const char *key, size_t len);

#endif
