/* SPDX-License-Identifier: MIT */
/* migrations.h - how the tables came to be as they are, step by step.
 *
 * A step that was released is never changed: a new one is written behind it.  Those that
 * a database lacks are one transaction, their numbers included: where one fails, the
 * program that made the data can still use it. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

#include "store/db.h"

struct migration {
    const char *about;
    const char *const *sql; /* ends with NULL */
};

extern const struct migration store_migrations[]; /* ends with a NULL about */

/* Takes the steps that the database has not taken yet.  Data of a newer program
 * than this one is refused with ERR_CONFLICT. */
int migrations_run(struct db *db, const struct migration *steps, struct err *err);

#endif
