/* SPDX-License-Identifier: MIT */
/* store_probe.c - see store_probe.h. */
#include "store/store_probe.h"

#include "store/verb.h"

/* Changes no value, but is written to the disk like any other change. */
static const struct query touch = { "UPDATE schema_version SET version = version" };

/* On a full file system the existing WAL may still have room for a while, so that is checked
 * too. */
static int probe(struct db *db, const void *in, struct arena *a, void *out, struct err *err)
{
    (void)in, (void)out;
    if (db_room(db, err))
        return -1;
    return db_run(db, &touch, NULL, a, NULL, err);
}

const struct store_verb store_probe = VERB_RUN("probe", DB_WRITE, probe, sizeof(struct list));
