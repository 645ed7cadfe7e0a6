/* SPDX-License-Identifier: MIT */
/* by_id.h - things in the order of their ids.  A thing begins with its id, an int64_t, and
 * is its owner's to free. */
#ifndef SERVER_BY_ID_H
#define SERVER_BY_ID_H

#include <stddef.h>
#include <stdint.h>

struct by_id { /* all zero: empty */
    void **items;
    size_t n, cap;
};

void *by_id_find(const struct by_id *l, int64_t id);    /* NULL: none */
void *by_id_next(const struct by_id *l, int64_t after); /* the first with a greater one */
void *by_id_put(struct by_id *l, void *item); /* returns the one of this id before, or NULL */
void *by_id_del(struct by_id *l, int64_t id); /* returns it, or NULL */
void by_id_done(struct by_id *l);             /* the list, not what is in it */

#endif
