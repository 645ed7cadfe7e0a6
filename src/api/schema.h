/* SPDX-License-Identifier: MIT */
/* schema.h - shapes as JSON Schema (2020-12), as OpenAPI 3.1 has it. */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include "base/buf.h"
#include "wire/shape.h"

enum { SCHEMA_SHAPES_MAX = 512 };

/* Shapes, each once, those inside them too.  Zeroes are none. */
struct schemas {
    const struct shape *all[SCHEMA_SHAPES_MAX];
    size_t n;
};

void schemas_add(struct schemas *s, const struct shape *shape); /* NULL is fine */

/* Appends `"name":{...},` for all of them, without the last comma. */
void schemas_write(const struct schemas *s, struct buf *out);

/* Appends {"$ref":"#/components/schemas/name"}. */
void schemas_ref(const struct schemas *s, const struct shape *shape, struct buf *out);

/* Appends the schema of one field. */
void schemas_field(const struct schemas *s, const struct field *f, struct buf *out);

/* Whether a value can stand in a query as plain text, a list of words among them. */
bool schema_is_plain(const struct field *f);

#endif
