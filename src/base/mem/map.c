/* SPDX-License-Identifier: MIT */
/* map.c - an array of entries, and an open-addressed index into it.
 *
 * Invariants: the index holds exactly the live entries.  Between the slot of a key's hash and
 * the slot of its entry no slot is free, so a search finds it.  At most half of the slots are in
 * use.  The last entry of the array is live; other deleted entries stay in the array as holes
 * until the next rebuild. */
#include "base/mem/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { CAP_KEPT = 256, CAP_MIN = 16 };

static inline uint64_t rotl(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotl(v[1], 13) ^ v[0];
    v[3] = rotl(v[3], 16) ^ v[2];
    v[0] = rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotl(v[1], 17) ^ v[2];
    v[3] = rotl(v[3], 21) ^ v[0];
    v[2] = rotl(v[2], 32);
}

uint64_t map_hash(const uint64_t seed[2], const char *bytes, size_t n)
{
    uint64_t v[4] = { seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du,
                      seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u };
    uint64_t word, last = (uint64_t)n << 56;
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        memcpy(&word, bytes + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = 0;
    if (n > i)
        memcpy(&word, bytes + i, n - i);
    last |= word;
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int k = 0; k < 3; k++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* A system call per map would cost more than a small map.  So each thread draws one random
 * secret, and seeds are hashes of a counter with it. */
void map_seed(uint64_t seed[2])
{
    static _Thread_local uint64_t secret[2], number;

    if (number == 0)
        sys_random(secret, sizeof(secret));
    for (int i = 0; i < 2; i++) {
        number++;
        seed[i] = map_hash(secret, (const char *)&number, sizeof(number));
    }
}

/* key may be NULL if len is 0. */
static bool map_is_key(const struct map_entry *e, const char *key, size_t len, uint32_t hash)
{
    if (e->hash != hash || e->key_len != len)
        return false;
    return len == 0 || memcmp(e->key, key, len) == 0;
}

/* The slot of the key in the index, or the free slot where it belongs. */
static size_t map_slot_of(const struct map *m, const char *key, size_t len, uint32_t hash)
{
    size_t i = hash & (m->cap - 1);

    for (; m->index[i]; i = (i + 1) & (m->cap - 1)) {
        if (map_is_key(&m->entries[m->index[i] - 1], key, len, hash))
            break;
    }
    return i;
}

/* Copies the live entries to a new array and a new index that is at most a quarter full. */
static void rebuild(struct map *m)
{
    struct map old = *m;
    size_t cap = CAP_MIN;

    while (cap / 4 < m->n + 1)
        cap *= 2;
    if (!old.cap)
        map_seed(m->seed);
    /* Not zeroed, so that unused pages are never touched. */
    m->entries = xresize(NULL, cap / 2 * sizeof(*m->entries));
    m->index = xalloc(cap * sizeof(*m->index));
    m->cap = cap;
    m->used = 0;
    for (size_t i = 0; i < old.used; i++) {
        const struct map_entry *e = &old.entries[i];

        if (!e->value)
            continue;
        m->entries[m->used++] = *e;
        m->index[map_slot_of(m, e->key, e->key_len, e->hash)] = (uint32_t)m->used;
    }
    free(old.entries);
    free(old.index);
}

/* Empties a slot of the index, and moves up the entries behind it that a search would no longer
 * reach.  A deletion marker in the slot instead would make searches longer each time a key is
 * deleted and put again. */
static void clear_slot(struct map *m, size_t hole)
{
    size_t mask = m->cap - 1;

    for (size_t i = (hole + 1) & mask; m->index[i]; i = (i + 1) & mask) {
        size_t home = m->entries[m->index[i] - 1].hash & mask;

        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->index[hole] = m->index[i];
            hole = i;
        }
    }
    m->index[hole] = 0;
}

static struct map_entry *find(const struct map *m, const char *key, size_t len)
{
    size_t i;

    if (m->n == 0)
        return NULL;
    i = map_slot_of(m, key, len, (uint32_t)map_hash(m->seed, key, len));
    return m->index[i] ? &m->entries[m->index[i] - 1] : NULL;
}

/* True if there is no room, or far too much because most entries were deleted.  Either takes as
 * many puts or deletes since the last rebuild as the next rebuild costs, so rebuilds are
 * amortized. */
static bool needs_rebuild(const struct map *m)
{
    return m->used >= m->cap / 2 || (m->cap > CAP_MIN && m->n < m->cap / 16);
}

void *map_find(const struct map *m, const char *key, size_t len)
{
    const struct map_entry *e = find(m, key, len);

    return e ? e->value : NULL;
}

void *map_put(struct map *m, const char *key, size_t len, void *value)
{
    struct map_entry *e = find(m, key, len);
    uint32_t hash;

    if (!value || len > UINT32_MAX)
        abort();
    if (e) {
        void *before = e->value;

        e->key = key;
        e->value = value;
        return before;
    }
    if (needs_rebuild(m))
        rebuild(m);
    hash = (uint32_t)map_hash(m->seed, key, len);
    m->entries[m->used++] = (struct map_entry){ key, value, (uint32_t)len, hash };
    m->index[map_slot_of(m, key, len, hash)] = (uint32_t)m->used;
    m->n++;
    return NULL;
}

void *map_del(struct map *m, const char *key, size_t len)
{
    struct map_entry *e = find(m, key, len);
    void *value;

    if (!e)
        return NULL;
    value = e->value;
    clear_slot(m, map_slot_of(m, key, len, e->hash));
    e->value = NULL;
    m->n--;
    while (m->used > 0 && !m->entries[m->used - 1].value)
        m->used--;
    if (m->n == 0 && m->cap > CAP_KEPT)
        map_free(m);
    return value;
}

void *map_find_str(const struct map *m, const char *key)
{
    return map_find(m, key, strlen(key));
}

void *map_put_str(struct map *m, const char *key, void *value)
{
    return map_put(m, key, strlen(key), value);
}

void *map_del_str(struct map *m, const char *key)
{
    return map_del(m, key, strlen(key));
}

struct map_entry *map_next(const struct map *m, size_t *at)
{
    while (*at < m->used) {
        struct map_entry *e = &m->entries[(*at)++];

        if (e->value)
            return e;
    }
    return NULL;
}

void map_free(struct map *m)
{
    free(m->entries);
    free(m->index);
    *m = (struct map){ 0 };
}
