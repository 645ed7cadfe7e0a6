/* SPDX-License-Identifier: MIT */
/* by_id.h - items sorted by id.  An item begins with its id, an int64_t; its owner frees it. */
#ifndef SERVER_FLEET_BY_ID_H
#define SERVER_FLEET_BY_ID_H

#include <stddef.h>
#include <stdint.h>

struct by_id { /* all zero: empty */
    void **items;
    size_t n, cap;
};

void *by_id_find(const struct by_id *l, int64_t id);    /* NULL: none */
void *by_id_next(const struct by_id *l, int64_t after); /* the first with a greater id */
void *by_id_put(struct by_id *l, void *item); /* returns the previous item of this id, or NULL */
void *by_id_del(struct by_id *l, int64_t id); /* returns the item, or NULL */
void by_id_done(struct by_id *l);             /* frees the list, not the items */

#endif
