/* SPDX-License-Identifier: MIT */
/* scopes.h - businesses, and sets of them, in memory: which there are, what they are called,
 * and which businesses a set has.
 *
 * The store has them; scopes_load() reads it at start, and from then on whoever has changed
 * one in the store puts it here.  Hosts say themselves which business they are in, so a
 * business is there when it is listed or when a host is in it. */
#ifndef SERVER_SCOPES_H
#define SERVER_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "server/fleet.h"
#include "store/store.h"

enum scope_kind { SCOPE_BIZ, SCOPE_BIZ_SET };

struct scope {
    int64_t id; /* first, for by_id.h */
    const char *name;
    const int64_t *businesses; /* of a set, in order */
    size_t n_businesses;
};

struct scopes;

struct scopes *scopes_new(const struct fleet *fleet); /* NULL: nobody has hosts */
void scopes_free(struct scopes *s);                   /* NULL is fine */
int scopes_load(struct scopes *s, struct store *store, struct err *err); /* blocks; once */

/* Whether there is such a one; 0 is none. */
bool scopes_has(const struct scopes *s, enum scope_kind kind, int64_t id);

/* Whether it has this business: a business has itself.  A set that there is not has none. */
bool scopes_covers(const struct scopes *s, enum scope_kind kind, int64_t id, int64_t biz_id);

/* Those that are listed: by id, and in the order of ids.  NULL: none.  Good until the next
 * change. */
const struct scope *scopes_find(const struct scopes *s, enum scope_kind kind, int64_t id);
const struct scope *scopes_next(const struct scopes *s, enum scope_kind kind, int64_t after);
const struct scope *scopes_set_with(const struct scopes *s, int64_t biz_id); /* the first */

/* Copied; in place of the one with its id. */
void scopes_put(struct scopes *s, enum scope_kind kind, const struct scope *scope);
void scopes_del(struct scopes *s, enum scope_kind kind, int64_t id);

#endif
