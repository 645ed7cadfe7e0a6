/* SPDX-License-Identifier: MIT */
/* map.h - values found by a key of bytes.
 *
 * Keys are not copied: they must live as long as their entry, and usually are
 * a member of the value.  The hash is keyed with random bytes, because keys
 * come from outside; yet the order of map_next() is the order in which keys
 * were put, so that a run can be repeated exactly.  A map that is all zeroes is
 * empty and ready. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
    const char *key;
    void *value; /* NULL: deleted */
    uint32_t key_len, hash;
};

struct map {
    struct map_entry *entries; /* in the order they were put */
    uint32_t *index;           /* entry number + 1, by hash; 0 is free */
    size_t n;                  /* live entries */
    size_t used, cap;          /* entries written, and slots of the index */
    uint64_t seed[2];
};

void *map_find(const struct map *m, const char *key, size_t len); /* NULL if none */
void *map_find_str(const struct map *m, const char *key);

/* Puts a value (not NULL); gives back the one it replaces, or NULL.  The new
 * key replaces the old one too. */
void *map_put(struct map *m, const char *key, size_t len, void *value);
void *map_put_str(struct map *m, const char *key, void *value);

/* Takes an entry out and gives its value back, or NULL if there is none. */
void *map_del(struct map *m, const char *key, size_t len);
void *map_del_str(struct map *m, const char *key);

/* The next entry, NULL at the end; *at starts at 0.  Deleting is allowed meanwhile, but
 * the entry is not to be looked at after it; putting is not. */
struct map_entry *map_next(const struct map *m, size_t *at);

void map_free(struct map *m); /* the values are not touched */

/* The keyed hash itself (SipHash-1-3), and a key for it. */
uint64_t map_hash(const uint64_t seed[2], const char *bytes, size_t n);
void map_seed(uint64_t seed[2]);

#endif
