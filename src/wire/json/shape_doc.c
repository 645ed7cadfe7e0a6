/* SPDX-License-Identifier: MIT */
/* shape_doc.c - the reference: a field table as Markdown. */
#include <stdio.h>
#include <string.h>

#include "base/text/msg.h"
#include "wire/json/field.h"
#include "wire/json/shape.h"

/* Escapes text for a cell of a table, also within backticks. */
static void put_cell(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

static void put_type(const struct field *f, const char *page, struct buf *out)
{
    char expected[SHAPE_EXPECT_SIZE], english[SHAPE_EXPECT_SIZE];
    const char *text;

    field_expect(f, expected);
    text = msg_english(english, sizeof(english), expected);
    if (!strncmp(text, "a ", 2) || !strncmp(text, "an ", 3))
        text = strchr(text, ' ') + 1;
    put_cell(out, text);
    if (f->sub && f->sub->bare) {
        field_expect(f->sub->fields, expected);
        buf_puts(out, ", each ");
        put_cell(out, msg_english(english, sizeof(english), expected));
    } else if (f->sub) {
        buf_printf(out, ": [%s](%s#%s)", f->sub->name, page, f->sub->name);
    }
}

void field_default(const struct field *f, struct buf *out)
{
    const char *name;

    if (f->flags & FIELD_REQUIRED) {
        buf_puts(out, "required");
        return;
    }
    switch (f->type) {
    case FIELD_STR:
    case FIELD_RAW:
        if (f->fallback_text)
            buf_printf(out, "`%s`", f->fallback_text);
        return;
    case FIELD_INT:
    case FIELD_FLOAT: buf_printf(out, "`%lld`", (long long)f->fallback); return;
    case FIELD_BOOL: buf_printf(out, "`%s`", f->fallback ? "true" : "false"); return;
    case FIELD_ENUM:
        name = field_enum_name(f, f->fallback);
        if (!name || *name)
            buf_printf(out, "`%s`", name ? name : "?");
        return;
    case FIELD_OBJ:
    case FIELD_LIST:
    case FIELD_MAP:
    case FIELD_SCALAR: return;
    }
}

static void put_also(const char *also, struct buf *out)
{
    while (also && *also) {
        size_t n = strcspn(also, " ");

        buf_printf(out, ", `%.*s`", (int)n, also);
        also += n + strspn(also + n, " ");
    }
}

void shape_doc(const struct shape *s, const char *page, struct buf *out)
{
    struct buf fallback = { 0 };

    buf_printf(out, "### %s\n\n", s->name);
    if (s->doc)
        buf_printf(out, "%s\n\n", s->doc);
    buf_puts(out, "| field | type | default | meaning |\n|---|---|---|---|\n");
    for (const struct field *f = s->fields; f->name; f++) {
        buf_printf(out, "| `%s`", f->name);
        put_also(f->also, out);
        buf_puts(out, " | ");
        put_type(f, page, out);
        buf_puts(out, " | ");
        field_default(f, &fallback);
        put_cell(out, buf_text(&fallback));
        buf_truncate(&fallback, 0);
        buf_puts(out, " | ");
        put_cell(out, f->doc ? f->doc : "");
        buf_puts(out, " |\n");
    }
    buf_addc(out, '\n');
    buf_free(&fallback);
}
