/* SPDX-License-Identifier: MIT */
/* verb.h - one thing that the store can be asked to do: a row of the tables in
 * store_apps.c, store_hosts.c, store_procs.c and store_tasks.c. */
#ifndef STORE_VERB_H
#define STORE_VERB_H

#include "store/db.h"

/* Runs inside a transaction, which is taken back when it fails.  It may run twice:
 * *in stays as it is.  What *out points to is in the arena. */
typedef int verb_fn(struct db *db, const void *in, struct arena *a, void *out, struct err *err);

struct store_verb {
    const char *name;
    enum db_mode mode;
    const struct query *query; /* from *in to a struct list of its rows */
    verb_fn *run;              /* where that is not enough */
    size_t out_size;           /* of what `run` gives */
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
