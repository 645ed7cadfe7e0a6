/* SPDX-License-Identifier: MIT */
/* table.c - see table.h. */
#include "cli/table.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "cli/width.h"

enum { GAP = 2, LAST_MIN = 8, LAST_GOOD = 30, GONE = 0 /* width of a column that is left out */ };

struct cell {
    const char *text;
    enum style style;
    size_t width;
};

void table_init(struct table *t, const struct column *columns, size_t n_columns)
{
    *t = (struct table){ .columns = columns, .n_columns = n_columns };
}

void table_done(struct table *t)
{
    free(t->cells);
    arena_free(&t->arena);
}

void table_add(struct table *t, enum style style, const char *text)
{
    const char *clean = width_clean(&t->arena, text && *text ? text : "-");

    if (t->n_cells == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cells = xresize(t->cells, t->cap * sizeof(*t->cells));
    }
    t->cells[t->n_cells++] = (struct cell){ clean, style, width_text(clean) };
}

void table_add_number(struct table *t, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    table_add(t, STYLE_PLAIN, text);
}

void table_add_text(struct table *t, enum style style, enum lang lang, enum text id)
{
    table_add(t, style, text_get(lang, id));
}

static bool is_hidden(const struct table *t, size_t column)
{
    for (size_t i = column; i < t->n_cells; i += t->n_columns) {
        if (strcmp(t->cells[i].text, "-") != 0)
            return false;
    }
    return t->columns[column].hides;
}

static size_t column_width(const struct table *t, size_t column, enum lang lang)
{
    size_t width = width_text(text_get(lang, t->columns[column].head));

    if (is_hidden(t, column))
        return GONE;
    for (size_t i = column; i < t->n_cells; i += t->n_columns) {
        if (t->cells[i].width > width)
            width = t->cells[i].width;
    }
    return width;
}

static size_t width_before_last(const struct table *t, const size_t *widths)
{
    size_t before = 0;

    for (size_t i = 0; i + 1 < t->n_columns; i++)
        before += widths[i] == GONE ? 0 : widths[i] + GAP;
    return before;
}

/* The last column has no blanks behind it, so that lines end with their text. */
static void put_cell(const struct table *t, size_t column, const struct cell *c,
                     const size_t *widths, struct arena *a, struct out *out)
{
    bool last = column + 1 == t->n_columns;
    size_t width = widths[column], blanks = c->width < width ? width - c->width : 0;

    if (width == GONE)
        return;
    if (last && t->columns[column].wraps) {
        out_wrapped(out, width_before_last(t, widths), c->style, c->text);
        return;
    }
    if (t->columns[column].right)
        out_blanks(out, blanks);
    if (c->width > width)
        out_styled(out, c->style,
                   arena_printf(a, "%.*s…", (int)width_cut(c->text, width - 1), c->text));
    else
        out_styled(out, c->style, c->text);
    if (!last && !t->columns[column].right)
        out_blanks(out, blanks);
    out_puts(out, last ? "\n" : "  ");
}

/* The next column to leave out; n_columns: none. */
static size_t next_to_go(const struct table *t, const size_t *widths)
{
    size_t next = t->n_columns;

    for (size_t i = 0; i + 1 < t->n_columns; i++) {
        unsigned goes = widths[i] == GONE ? 0 : t->columns[i].goes;

        if (goes && (next == t->n_columns || goes < t->columns[next].goes))
            next = i;
    }
    return next;
}

/* The last column, which holds the explanation, gets the rest of the line; the least important
 * columns are left out for it. */
static void fit(const struct table *t, const struct out *out, size_t *widths)
{
    size_t *last = &widths[t->n_columns - 1], want = *last < LAST_GOOD ? *last : LAST_GOOD;
    size_t before = width_before_last(t, widths), next, room;

    if (!out->terminal)
        return;
    while (before + want > out->width && (next = next_to_go(t, widths)) < t->n_columns) {
        widths[next] = GONE;
        before = width_before_last(t, widths);
    }
    room = before < out->width ? out->width - before : 0;
    if (room < LAST_MIN)
        room = LAST_MIN; /* the line is broken anyway; this way in one place only */
    if (room < *last)
        *last = room;
}

void table_put(const struct table *t, struct out *out)
{
    struct arena a = { 0 };
    size_t *widths = arena_alloc(&a, t->n_columns * sizeof(*widths));

    for (size_t i = 0; i < t->n_columns; i++)
        widths[i] = column_width(t, i, out->lang);
    fit(t, out, widths);
    for (size_t i = 0; i < t->n_columns; i++) {
        const char *head = text_get(out->lang, t->columns[i].head);

        put_cell(t, i, &(struct cell){ head, STYLE_HEAD, width_text(head) }, widths, &a, out);
    }
    for (size_t i = 0; i < t->n_cells; i++)
        put_cell(t, i % t->n_columns, &t->cells[i], widths, &a, out);
    arena_free(&a);
}
