/* SPDX-License-Identifier: MIT */
/* migrations.h - the steps that create and change the tables.
 *
 * A released step is never changed; a new step is appended.  All missing steps run in one
 * transaction, version numbers included: if one fails, the program that wrote the data can still
 * use it. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

#include "store/db.h"

struct migration {
    const char *about;
    const char *const *sql; /* ends with NULL */
};

extern const struct migration store_migrations[]; /* ends with a NULL about */

/* Runs the steps that the database lacks.  ERR_CONFLICT for data of a newer program. */
int migrations_run(struct db *db, const struct migration *steps, struct err *err);

#endif
