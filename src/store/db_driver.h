/* SPDX-License-Identifier: MIT */
/* db_driver.h - what a database must offer to stand behind db.h. */
#ifndef STORE_DB_DRIVER_H
#define STORE_DB_DRIVER_H

#include "store/db.h"

/* One argument or column: a number, or a text if `text` is set. */
struct cell {
    const char *text;
    int64_t number;
};

enum { CELLS_MAX = 32 }; /* of one query, arguments or columns */

/* `sets` times `width` arguments: the query runs once for each set, in order. */
struct db_args {
    const struct cell *cells;
    size_t width, sets;
};

/* Given each row; what it returns other than 0 ends the query. */
typedef int db_row_fn(void *ctx, const struct cell *cells, size_t n, struct err *err);

struct db {
    const struct db_driver *driver;
};

struct db_driver {
    const char *scheme; /* what its URLs begin with */
    int (*open)(const char *url, enum db_mode mode, struct db **ret, struct err *err);
    void (*close)(struct db *db);
    int (*begin)(struct db *db, enum db_mode mode, struct err *err);
    int (*commit)(struct db *db, struct err *err);
    void (*rollback)(struct db *db);
    bool (*is_in)(const struct db *db);
    int (*run)(struct db *db, const char *sql, const struct db_args *args, db_row_fn *on_row,
               void *ctx, struct err *err);
    void (*rest)(struct db *db);
};

extern const struct db_driver db_sqlite;

#endif
