/* SPDX-License-Identifier: MIT */
/* db.h - a database, seen as one verb.
 *
 * A query is written once, in the SQL that SQLite and PostgreSQL share: $1, $2 ...
 * for arguments, ON CONFLICT for upserts, RETURNING for what changed, and only
 * two types of column, BIGINT and TEXT, none of them NULL.  Its arguments and
 * columns are the fields of a shape, in order, so nobody binds or unpacks by hand.
 *
 * A driver knows its library and nothing of our tables; the files beside this one
 * know our tables and no library.  A connection belongs to one thread at a time.
 *
 * Failures: ERR_CONFLICT when a UNIQUE or a reference is broken, ERR_UNAVAILABLE
 * when trying again may help (no space, locked, not reachable), else ERR_SYSTEM.
 * The text names the database and says what to do. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/shape.h"

struct query {
    const char *sql;
    const struct shape *in;   /* the first arguments; NULL: none */
    const struct shape *each; /* further ones, from each item of a list: see db_run_each() */
    const struct shape *out;  /* the columns; NULL: no rows */
    const char *conflict;     /* what ERR_CONFLICT means here, for people */
};

/* Rows of the field tables of such shapes. */
/* clang-format off */
#define DB_FIELD(kind, s, m) { #m, .type = kind, .offset = offsetof(struct s, m) }
#define DB_TEXT(s, m)        DB_FIELD(FIELD_STR, s, m)  /* TEXT; NULL is written as "" */
#define DB_JSON(s, m)        DB_FIELD(FIELD_RAW, s, m)  /* TEXT; "" is NULL, both ways */
#define DB_NUMBER(s, m)      DB_FIELD(FIELD_INT, s, m)  /* BIGINT */
#define DB_FLAG(s, m)        DB_FIELD(FIELD_BOOL, s, m) /* BIGINT, 0 or 1 */
#define DB_PART(s, m, shape) { #m, .type = FIELD_OBJ, .offset = offsetof(struct s, m), .sub = &(shape) }
#define DB_SHAPE(s, table)   { #s, sizeof(struct s), table }
/* clang-format on */

enum db_mode { DB_READ, DB_WRITE };

struct db;

/* By URL: "sqlite:/var/lib/holdfast/holdfast.db".  A connection for DB_WRITE checks
 * the data first; SQLite has one at a time, and another is refused by naming the
 * process that has it.  One for DB_READ needs one for DB_WRITE to be open. */
int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err);
void db_close(struct db *db); /* NULL is fine */

/* A transaction.  Reads inside of one see one state.  A commit that fails has
 * rolled back; db_is_in() says whether a failed query took the transaction along
 * (a full disk may). */
int db_begin(struct db *db, enum db_mode mode, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
bool db_is_in(const struct db *db);

/* A part of a transaction that can be taken back alone. */
int db_part_begin(struct db *db, struct err *err);
int db_part_keep(struct db *db, struct err *err);
int db_part_undo(struct db *db, struct err *err);

/* Runs q with the fields of *in.  Its rows, if q has any, become a list of structs
 * of q->out in the arena; *ret_rows may be NULL if they do not matter. */
int db_run(struct db *db, const struct query *q, const void *in, struct arena *a,
           struct list *ret_rows, struct err *err);

/* Runs q once for each item of a list, with the fields of *in and then those of the
 * item; the rows of all of them become one list. */
int db_run_each(struct db *db, const struct query *q, const void *in, const struct list *items,
                struct arena *a, struct list *ret_rows, struct err *err);

/* Housekeeping that nobody should wait for; called when nothing waits. */
void db_rest(struct db *db);

#endif
