/* SPDX-License-Identifier: MIT */
/* verb.h - the definition of one operation of the store, as in the tables of store_*.c. */
#ifndef STORE_VERB_H
#define STORE_VERB_H

#include "store/db.h"

/* Runs inside a transaction, which is rolled back if it fails.  It may run twice, so it must not
 * change *in.  What *out points to is in the arena. */
typedef int verb_fn(struct db *db, const void *in, struct arena *a, void *out, struct err *err);

struct store_verb {
    const char *name;
    enum db_mode mode;
    const struct query *query; /* takes *in, returns a struct list of its rows */
    verb_fn *run;              /* if one query is not enough; NULL otherwise */
    size_t out_size;           /* size of the result */
};

#define VERB_QUERY(n, m, q)                                                                        \
    {                                                                                              \
        .name = n, .mode = m, .query = q, .out_size = sizeof(struct list)                          \
    }
#define VERB_RUN(n, m, f, out)                                                                     \
    {                                                                                              \
        .name = n, .mode = m, .run = f, .out_size = out                                            \
    }

#endif
