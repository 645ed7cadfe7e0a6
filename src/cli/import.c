/* SPDX-License-Identifier: MIT */
/* import.c - see import.h. */
#include "cli/import.h"

#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "cli/csv.h"
#include "model/translate.h"
#include "wire/json/field.h"

/* ---- JSON ---- */

static bool is_list(const struct buf *b)
{
    size_t n = 0;

    while (n < b->len && strchr(" \t\r\n", buf_data(b)[n]))
        n++;
    return n < b->len && buf_data(b)[n] == '[';
}

static int read_json(const struct buf *file, struct arena *a, struct import_file *ret,
                     struct err *err)
{
    struct buf whole = { 0 };
    int bad;

    if (is_list(file))
        buf_puts(&whole, "{\"hosts\":");
    if (file->len)
        buf_add(&whole, buf_data(file), file->len);
    if (is_list(file))
        buf_addc(&whole, '}');
    bad = shape_read(&host_import_ask_shape, buf_data(&whole), whole.len, SHAPE_STRICT, a,
                     &ret->ask, err);
    buf_free(&whole);
    return bad;
}

/* ---- CSV ---- */

struct reading {
    const char *path;
    enum lang lang;
    struct arena *arena;
    const struct field *fields[CSV_CELLS_MAX]; /* the field of each column */
    size_t n_fields;
};

static int fail_at(const struct reading *r, const struct csv_cell *cell, enum text id,
                   const char *what, struct err *err)
{
    const char *line = arena_printf(r->arena, "%zu", cell->line);
    const char *column = arena_printf(r->arena, "%zu", cell->column);

    return text_err(err, ERR_INVALID, r->lang, id, TEXT_ARGS(r->path, line, column, what));
}

static const struct field *find_field(const char *name)
{
    for (const struct field *f = host_set_ask_shape.fields; f->name; f++) {
        if (!strcmp(f->name, name) || (f->also && field_is_also(f->also, name, strlen(name))))
            return f;
    }
    return NULL;
}

static int import_read_head(struct reading *r, const struct csv_row *row, struct err *err)
{
    for (size_t i = 0; i < row->n; i++) {
        const struct field *f = find_field(row->cells[i].text);

        if (!f)
            return fail_at(r, &row->cells[i], TEXT_IMPORT_UNKNOWN, row->cells[i].text, err);
        for (size_t k = 0; k < i; k++) {
            if (r->fields[k] == f)
                return fail_at(r, &row->cells[i], TEXT_IMPORT_TWICE, f->name, err);
        }
        r->fields[i] = f;
    }
    r->n_fields = row->n;
    return 0;
}

/* The cell that an error of the shape is about: the error begins with the field's name. */
static const struct csv_cell *cell_of(const struct reading *r, const struct csv_row *row,
                                      const char *text)
{
    for (size_t i = 0; i < row->n; i++) {
        size_t n = strlen(r->fields[i]->name);

        if (!strncmp(text, r->fields[i]->name, n) && (text[n] == ':' || text[n] == '.'))
            return &row->cells[i];
    }
    return &row->cells[0];
}

/* An empty cell counts as absent. */
static int import_read_row(const struct reading *r, const struct csv_row *row,
                           struct host_set_ask *ret, struct err *err)
{
    struct buf json = { 0 };
    int bad;

    if (row->n > r->n_fields)
        return fail_at(r, &row->cells[r->n_fields], TEXT_IMPORT_TOO_MANY, "", err);
    buf_addc(&json, '{');
    for (size_t i = 0; i < row->n; i++) {
        const char *text = row->cells[i].text;

        if (!*text)
            continue;
        buf_printf(&json, "%s\"%s\":", json.len > 1 ? "," : "", r->fields[i]->name);
        buf_quote(&json, text, strlen(text));
    }
    buf_addc(&json, '}');
    bad = shape_read(&host_set_ask_shape, buf_data(&json), json.len, SHAPE_STRICT | SHAPE_TEXT,
                     r->arena, ret, err);
    buf_free(&json);
    if (bad)
        return fail_at(r, cell_of(r, row, err->text), TEXT_IMPORT_BAD,
                       translate(err_msg(err), r->lang, r->arena), err);
    return 0;
}

/* Spreadsheets often end with blank rows. */
static bool import_is_blank(const struct csv_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        if (*row->cells[i].text)
            return false;
    }
    return true;
}

/* Reading continues, so that all wrong lines are reported at once. */
static void note_wrong(const struct reading *r, struct import_file *file, const struct err *err)
{
    if (!file->wrong)
        file->wrong = arena_alloc(r->arena, (IMPORT_MAX + 1) * sizeof(*file->wrong));
    file->wrong[file->n_wrong++] =
        arena_strdup(r->arena, translate(err_msg(err), r->lang, r->arena));
}

/* An error that ends reading is reported after the wrong lines. */
static int fail_rows(const struct reading *r, struct import_file *file, int failed,
                     const struct err *err)
{
    if (file->n_wrong)
        note_wrong(r, file, err);
    return failed;
}

static int read_rows(struct reading *r, struct csv *csv, struct import_file *ret, struct err *err)
{
    struct csv_row *row = arena_alloc(r->arena, sizeof(*row));
    struct host_set_ask *hosts = arena_alloc(r->arena, IMPORT_MAX * sizeof(*hosts));
    size_t n = 0;
    int more;

    ret->lines = arena_alloc(r->arena, IMPORT_MAX * sizeof(*ret->lines));
    while ((more = csv_next(csv, r->arena, row, err)) > 0) {
        if (import_is_blank(row))
            continue;
        if (!r->n_fields) {
            if (import_read_head(r, row, err))
                return -1;
            continue;
        }
        if (n == IMPORT_MAX)
            return fail_rows(r, ret, fail_at(r, &row->cells[0], TEXT_IMPORT_TOO_LONG, "10000", err),
                             err);
        if (import_read_row(r, row, &hosts[n], err))
            note_wrong(r, ret, err);
        ret->lines[n++] = row->cells[0].line;
    }
    if (more < 0)
        return fail_rows(r, ret, err_set(err, ERR_INVALID, "%s:%s", r->path, err_msg(err)), err);
    if (ret->n_wrong)
        return -1;
    if (!n)
        return text_err(err, ERR_INVALID, r->lang, TEXT_IMPORT_EMPTY, TEXT_ARGS(r->path));
    ret->ask.hosts = (struct list){ hosts, n };
    return 0;
}

int import_read(const char *path, enum lang lang, struct arena *a, struct import_file *ret,
                struct err *err)
{
    struct reading r = { .path = path, .lang = lang, .arena = a };
    size_t n = strlen(path);
    struct buf file = { 0 };
    struct csv csv;
    int bad;

    *ret = (struct import_file){ 0 };
    if (file_read(path, IMPORT_BYTES_MAX, &file, err))
        return -1;
    if (n > 5 && !strcmp(path + n - 5, ".json")) {
        bad = read_json(&file, a, ret, err);
        if (bad)
            err_wrap(err, "%s", path);
    } else {
        csv_begin(&csv, file.len ? buf_data(&file) : "", file.len);
        bad = read_rows(&r, &csv, ret, err);
    }
    buf_free(&file);
    return bad ? -1 : 0;
}
