/* SPDX-License-Identifier: MIT */
/* csv.c - see csv.h. */
#include "cli/csv.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/text/utf8.h"

/* The separator that occurs first in the first line outside of quotes. */
static char find_comma(const char *p, const char *end)
{
    bool is_quoted = false;

    for (; p < end && (is_quoted || (*p != '\n' && *p != '\r')); p++) {
        if (*p == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && (*p == ',' || *p == ';' || *p == '\t'))
            return *p;
    }
    return ',';
}

void csv_begin(struct csv *c, const char *text, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";

    if (n >= 3 && !memcmp(text, mark, 3)) {
        text += 3;
        n -= 3;
    }
    *c = (struct csv){ text, text + n, text, 1, find_comma(text, text + n) };
}

static size_t column(const struct csv *c, const char *at)
{
    return (size_t)(at - c->line_start) + 1;
}

static int csv_fail(size_t line, size_t column, const char *text, struct err *err)
{
    return err_set(err, ERR_MALFORMED, "%zu:%zu: %s", line, column, text);
}

/* CR LF, LF, or CR alone (old spreadsheets). */
static bool eat_line_end(struct csv *c)
{
    if (c->at == c->end || (*c->at != '\n' && *c->at != '\r'))
        return false;
    c->at += c->at[0] == '\r' && c->end - c->at > 1 && c->at[1] == '\n' ? 2 : 1;
    c->line++;
    c->line_start = c->at;
    return true;
}

static bool ends_cell(const struct csv *c)
{
    return c->at == c->end || *c->at == c->comma || *c->at == '\n' || *c->at == '\r';
}

/* Starts behind the opening quote.  Two quotes stand for one; line ends are part of the field. */
static int read_quoted(struct csv *c, const struct csv_cell *cell, struct buf *to, struct err *err)
{
    while (c->at < c->end) {
        const char *from = c->at;

        if (*c->at == '"' && (c->end - c->at < 2 || c->at[1] != '"')) {
            c->at++;
            if (ends_cell(c))
                return 0;
            return csv_fail(c->line, column(c, c->at),
                            MSG("text behind a closing quote; a quote inside is written twice"),
                            err);
        }
        if (*c->at == '"')
            c->at += 2, from++;
        else if (!eat_line_end(c))
            c->at++;
        buf_add(to, from, (size_t)(c->at - from));
    }
    return csv_fail(cell->line, cell->column, MSG("a quote that is not closed"), err);
}

/* Blanks around the value are removed. */
static int read_plain(struct csv *c, struct buf *to, struct err *err)
{
    const char *from = c->at, *end;

    for (; !ends_cell(c); c->at++) {
        if (*c->at == '"')
            return csv_fail(c->line, column(c, c->at),
                            MSG("a quote inside of a field that does not begin with one"), err);
    }
    for (end = c->at; end > from && end[-1] == ' '; end--)
        ;
    while (from < end && *from == ' ')
        from++;
    buf_add(to, from, (size_t)(end - from));
    return 0;
}

static int check_text(const struct csv_cell *cell, struct buf *b, struct err *err)
{
    if (b->len && memchr(buf_data(b), '\0', b->len))
        return csv_fail(cell->line, cell->column, MSG("a byte of zero"), err);
    if (utf8_valid(buf_data(b), b->len) != b->len)
        return csv_fail(cell->line, cell->column, MSG("not UTF-8; save the file as UTF-8"), err);
    return 0;
}

static int read_cell(struct csv *c, struct arena *a, struct csv_cell *ret, struct err *err)
{
    struct buf b = { 0 };
    int bad;

    ret->line = c->line;
    ret->column = column(c, c->at);
    if (c->at < c->end && *c->at == '"') {
        c->at++;
        bad = read_quoted(c, ret, &b, err);
    } else {
        bad = read_plain(c, &b, err);
    }
    if (!bad)
        bad = check_text(ret, &b, err);
    if (!bad)
        ret->text = arena_memdup(a, buf_data(&b), b.len);
    buf_free(&b);
    return bad;
}

int csv_next(struct csv *c, struct arena *a, struct csv_row *ret, struct err *err)
{
    while (eat_line_end(c))
        ;
    if (c->at == c->end)
        return 0;
    for (ret->n = 0;; c->at++) {
        if (ret->n == CSV_CELLS_MAX)
            return csv_fail(c->line, column(c, c->at), MSG("more than 64 fields"), err);
        if (read_cell(c, a, &ret->cells[ret->n++], err))
            return -1;
        if (c->at == c->end || *c->at != c->comma)
            break;
    }
    eat_line_end(c);
    return 1;
}
