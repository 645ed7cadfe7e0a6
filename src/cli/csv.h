/* SPDX-License-Identifier: MIT */
/* csv.h - comma separated values as people and their spreadsheets write them: quoted fields
 * with commas, quotes and line ends in them, lines that end with CR LF, a byte order mark in
 * front, semicolons or tabs in place of commas (the first line says which).
 *
 * A row knows where it stands, for whoever has to say what is wrong with it.  Lines without
 * anything are no rows. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum { CSV_CELLS_MAX = 64 };

struct csv_cell {
    const char *text;
    size_t line, column; /* of its first byte, from 1; columns are bytes */
};

struct csv_row {
    struct csv_cell cells[CSV_CELLS_MAX];
    size_t n;
};

struct csv {
    const char *at, *end;
    const char *line_start;
    size_t line;
    char comma;
};

/* The text is the caller's, and outlives the reading. */
void csv_begin(struct csv *c, const char *text, size_t n);

/* 1: a row, its texts in the arena; 0: there are no more; -1: what is wrong, by line and
 * column ("7:12: ..."). */
int csv_next(struct csv *c, struct arena *a, struct csv_row *ret, struct err *err);

#endif
