/* SPDX-License-Identifier: MIT */
/* fuzz_csv.c - any bytes: what is read as rows and written again, every field in quotes, is
 * read as the same rows. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "cli/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_cell(const char *text, struct buf *to)
{
    buf_addc(to, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_addc(to, '"');
        buf_addc(to, *text);
    }
    buf_addc(to, '"');
}

/* Places only ever go on. */
static void check_place(const struct csv_row *row, size_t *line)
{
    if (!row->n || row->n > CSV_CELLS_MAX)
        abort();
    for (size_t i = 0; i < row->n; i++) {
        if (row->cells[i].line < *line || !row->cells[i].column)
            abort();
        *line = row->cells[i].line;
    }
}

/* False: it is no table. */
static bool copy(const char *text, size_t n, struct buf *to)
{
    struct arena a = { 0 };
    struct csv_row row;
    struct err err = { 0 };
    struct csv csv;
    size_t line = 1;
    int more;

    csv_begin(&csv, text, n);
    while ((more = csv_next(&csv, &a, &row, &err)) > 0) {
        check_place(&row, &line);
        for (size_t i = 0; i < row.n; i++) {
            if (i)
                buf_addc(to, ',');
            write_cell(row.cells[i].text, to);
        }
        buf_addc(to, '\n');
    }
    if (more < 0 && (err.code != ERR_MALFORMED || !strchr(err.text, ':')))
        abort();
    arena_free(&a);
    return more == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf once = { 0 }, twice = { 0 };

    if (copy((const char *)data, size, &once)) {
        if (!copy(once.len ? buf_data(&once) : "", once.len, &twice) || once.len != twice.len ||
            (once.len && memcmp(buf_data(&once), buf_data(&twice), once.len) != 0))
            abort();
    }
    buf_free(&once);
    buf_free(&twice);
    return 0;
}
