/* SPDX-License-Identifier: MIT */
/* scopes.h - businesses and business sets in memory: names, and the businesses of each set.
 *
 * scopes_load() reads the store at start; afterwards the code that changes one in the store puts
 * it here too.  A business exists when it is listed or when a host is in it. */
#ifndef SERVER_FLEET_SCOPES_H
#define SERVER_FLEET_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "server/fleet/fleet.h"
#include "store/store.h"

enum scope_kind { SCOPE_BIZ, SCOPE_BIZ_SET };

struct scope {
    int64_t id; /* first, for by_id.h */
    const char *name;
    const int64_t *businesses; /* of a set, sorted */
    size_t n_businesses;
};

struct scopes;

struct scopes *scopes_new(const struct fleet *fleet);                    /* NULL: no hosts */
void scopes_free(struct scopes *s);                                      /* NULL is allowed */
int scopes_load(struct scopes *s, struct store *store, struct err *err); /* blocks; once */

/* Whether it exists; 0 never does. */
bool scopes_has(const struct scopes *s, enum scope_kind kind, int64_t id);

/* Whether it contains this business.  A business contains itself; an unknown set contains none. */
bool scopes_covers(const struct scopes *s, enum scope_kind kind, int64_t id, int64_t biz_id);

/* The listed ones: by id, and sorted by id.  NULL: none.  Valid until the next change. */
const struct scope *scopes_find(const struct scopes *s, enum scope_kind kind, int64_t id);
const struct scope *scopes_next(const struct scopes *s, enum scope_kind kind, int64_t after);
const struct scope *scopes_set_with(const struct scopes *s,
                                    int64_t biz_id); /* the first set with it */

/* Copied; replaces the one with this id. */
void scopes_put(struct scopes *s, enum scope_kind kind, const struct scope *scope);
void scopes_del(struct scopes *s, enum scope_kind kind, int64_t id);

#endif
