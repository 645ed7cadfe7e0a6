/* SPDX-License-Identifier: MIT */
/* db.h - a database behind one interface: run a query.
 *
 * A query is written once, in the SQL that SQLite and PostgreSQL share: $1, $2 ... for arguments,
 * ON CONFLICT for upserts, RETURNING for changed rows, and only two column types, BIGINT and TEXT,
 * both NOT NULL.  Arguments and columns are the fields of a shape, in order, so no code binds or
 * unpacks them one by one.
 *
 * A driver knows its library and none of our tables; the other files of the store know our tables
 * and no library.  A connection belongs to one thread at a time.
 *
 * Failures: ERR_CONFLICT if a UNIQUE constraint or a reference is violated, ERR_UNAVAILABLE if a
 * retry may help (no space, locked, not reachable), else ERR_SYSTEM.  The text names the database
 * and says what to do. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "base/text/err.h"
#include "wire/json/shape.h"

struct query {
    const char *sql;
    const struct shape *in;   /* shape of the first arguments; NULL: none */
    const struct shape *each; /* shape of further arguments, one per item; see db_run_each() */
    const struct shape *out;  /* shape of the columns; NULL: no rows */
    const char *conflict;     /* message: explanation of ERR_CONFLICT for this query */
};

/* Rows for the field tables of these shapes. */
/* clang-format off */
#define DB_FIELD(kind, s, m) { #m, .type = kind, .offset = offsetof(struct s, m) }
#define DB_TEXT(s, m)        DB_FIELD(FIELD_STR, s, m)  /* TEXT; NULL is written as "" */
#define DB_JSON(s, m)        DB_FIELD(FIELD_RAW, s, m)  /* TEXT; "" in the table is NULL here */
#define DB_NUMBER(s, m)      DB_FIELD(FIELD_INT, s, m)  /* BIGINT */
#define DB_FLAG(s, m)        DB_FIELD(FIELD_BOOL, s, m) /* BIGINT, 0 or 1 */
#define DB_PART(s, m, shape) { #m, .type = FIELD_OBJ, .offset = offsetof(struct s, m), .sub = &(shape) }
#define DB_SHAPE(s, table)   { #s, sizeof(struct s), table }
/* clang-format on */

enum db_mode { DB_READ, DB_WRITE };

struct db;

/* url is "sqlite:/var/lib/holdfast/holdfast.db" or the like.  Opening for DB_WRITE checks the data
 * first.  SQLite allows one DB_WRITE connection; a second one is refused with the pid of the
 * process that has it.  A DB_READ connection needs an open DB_WRITE connection. */
int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err);
void db_close(struct db *db); /* NULL is fine */

/* Transactions.  Reads inside of one see one snapshot.  A failed commit has rolled back; db_is_in()
 * says whether a failed query has ended the transaction (a full disk may). */
int db_begin(struct db *db, enum db_mode mode, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
bool db_is_in(const struct db *db);

/* A savepoint: a part of a transaction that can be rolled back alone. */
int db_part_begin(struct db *db, struct err *err);
int db_part_keep(struct db *db, struct err *err);
int db_part_undo(struct db *db, struct err *err);

/* Runs q with the fields of *in.  Its rows, if it has any, become a list of structs of q->out in
 * the arena; ret_rows may be NULL if they are not needed. */
int db_run(struct db *db, const struct query *q, const void *in, struct arena *a,
           struct list *ret_rows, struct err *err);

/* Runs q once for each item of a list, with the fields of *in and then those of the item; the rows
 * of all runs become one list. */
int db_run_each(struct db *db, const struct query *q, const void *in, const struct list *items,
                struct arena *a, struct list *ret_rows, struct err *err);

/* Fails if the database has no space left or is read-only, as far as that is known without a
 * write. */
int db_room(struct db *db, struct err *err);

/* Housekeeping without a caller that waits for it; called when the queue is empty. */
void db_rest(struct db *db);

/* ---- Interface of a driver, for db.c and db_sqlite.c only. */

/* One argument or column: a number, or a text if `text` is set. */
struct cell {
    const char *text;
    int64_t number;
};

enum { CELLS_MAX = 32 }; /* limit of the arguments and of the columns of a query */

/* `sets` times `width` arguments: the query runs once for each set, in order. */
struct db_args {
    const struct cell *cells;
    size_t width, sets;
};

/* Called with each row; a result other than 0 ends the query. */
typedef int db_row_fn(void *ctx, const struct cell *cells, size_t n, struct err *err);

struct db {
    const struct db_driver *driver;
};

struct db_driver {
    const char *scheme; /* start of its URLs */
    int (*open)(const char *url, enum db_mode mode, struct db **ret, struct err *err);
    void (*close)(struct db *db);
    int (*begin)(struct db *db, enum db_mode mode, struct err *err);
    int (*commit)(struct db *db, struct err *err);
    void (*rollback)(struct db *db);
    bool (*is_in)(const struct db *db);
    int (*run)(struct db *db, const char *sql, const struct db_args *args, db_row_fn *on_row,
               void *ctx, struct err *err);
    int (*room)(struct db *db, struct err *err);
    void (*rest)(struct db *db);
};

extern const struct db_driver db_sqlite;

#endif
