/* SPDX-License-Identifier: MIT */
/* map.h - a hash map from byte strings to pointers.
 *
 * Keys are not copied: they must live as long as their entry, and usually are a member of the
 * value.  The hash is keyed with random bytes, because keys come from outside.  map_next()
 * nevertheless returns entries in the order of insertion, so that a run can be repeated exactly.
 * A map of all zeroes is empty and ready. */
#ifndef BASE_MEM_MAP_H
#define BASE_MEM_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    const char *key;
    void *value; /* NULL: deleted */
    uint32_t key_len, hash;
};

struct map {
    struct map_entry *entries; /* in the order of insertion */
    uint32_t *index;           /* entry number + 1, by hash; 0: free */
    size_t n;                  /* live entries */
    size_t used, cap;          /* entries written including deleted ones; slots of the index */
    uint64_t seed[2];
};

void *map_find(const struct map *m, const char *key, size_t len); /* NULL if none */
void *map_find_str(const struct map *m, const char *key);

/* Returns the replaced value, or NULL.  The value must not be NULL.  The new key pointer
 * replaces the old one too. */
void *map_put(struct map *m, const char *key, size_t len, void *value);
void *map_put_str(struct map *m, const char *key, void *value);

/* Removes an entry and returns its value; NULL if there is none. */
void *map_del(struct map *m, const char *key, size_t len);
void *map_del_str(struct map *m, const char *key);

/* Returns the next entry, NULL at the end; *at starts at 0.  Entries may be deleted during the
 * iteration, but a deleted entry must not be read any more.  Nothing may be put. */
struct map_entry *map_next(const struct map *m, size_t *at);

void map_free(struct map *m); /* does not touch the values */

/* The keyed hash (SipHash-1-3), and a new random key for it. */
uint64_t map_hash(const uint64_t seed[2], const char *bytes, size_t n);
void map_seed(uint64_t seed[2]);

#endif
