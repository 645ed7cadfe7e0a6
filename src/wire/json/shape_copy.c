/* SPDX-License-Identifier: MIT */
/* shape_copy.c - deep copy of a struct by its field table. */
#include <string.h>

#include "wire/json/shape.h"

/* "" is shared: most optional texts are empty. */
static const char *shape_copy_copy_text(const char *text, struct arena *a)
{
    return *text ? arena_strdup(a, text) : "";
}

static void own_fields(const struct shape *s, struct arena *a, void *out);

static void own_list(const struct shape *sub, struct arena *a, struct list *l)
{
    const void *from = l->items;

    if (!l->n) {
        l->items = NULL;
        return;
    }
    l->items = arena_alloc(a, l->n * sub->size);
    memcpy(l->items, from, l->n * sub->size);
    for (size_t i = 0; i < l->n; i++)
        own_fields(sub, a, (char *)l->items + i * sub->size);
}

/* The member's own bytes are copied already; this copies what it points to. */
static void own_field(const struct field *f, struct arena *a, void *at)
{
    const char **text = at;
    struct scalar *scalar = at;

    switch (f->type) {
    case FIELD_INT:
    case FIELD_FLOAT:
    case FIELD_BOOL:
    case FIELD_ENUM: return;
    case FIELD_STR: *text = *text ? shape_copy_copy_text(*text, a) : ""; return;
    case FIELD_RAW: *text = *text ? shape_copy_copy_text(*text, a) : NULL; return;
    case FIELD_SCALAR:
        scalar->text = scalar->text ? shape_copy_copy_text(scalar->text, a) : NULL;
        return;
    case FIELD_OBJ: own_fields(f->sub, a, at); return;
    case FIELD_LIST:
    case FIELD_MAP: own_list(f->sub, a, at); return;
    }
}

static void own_fields(const struct shape *s, struct arena *a, void *out)
{
    for (const struct field *f = s->fields; f->name; f++) {
        if (!(f->flags & FIELD_MSG)) /* the member of the row above */
            own_field(f, a, (char *)out + f->offset);
    }
}

void shape_copy(const struct shape *s, const void *in, struct arena *a, void *out)
{
    memcpy(out, in, s->size);
    own_fields(s, a, out);
}
