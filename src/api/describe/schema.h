/* SPDX-License-Identifier: MIT */
/* schema.h - shapes as JSON Schema (2020-12), as OpenAPI 3.1 has it. */
#ifndef API_DESCRIBE_SCHEMA_H
#define API_DESCRIBE_SCHEMA_H

#include "base/mem/buf.h"
#include "wire/json/shape.h"

enum { SCHEMA_SHAPES_MAX = 512 };

/* A set of shapes and the shapes nested in them.  All zero: empty. */
struct schemas {
    const struct shape *all[SCHEMA_SHAPES_MAX];
    size_t n;
};

void schemas_add(struct schemas *s, const struct shape *shape); /* NULL is allowed */

/* Appends `"name":{...},` for each, without the last comma. */
void schemas_write(const struct schemas *s, struct buf *out);

/* Appends {"$ref":"#/components/schemas/name"}. */
void schemas_ref(const struct schemas *s, const struct shape *shape, struct buf *out);

/* Appends the schema of one field. */
void schemas_field(const struct schemas *s, const struct field *f, struct buf *out);

/* Whether a query can contain the value as plain text; lists of words can be. */
bool schema_is_plain(const struct field *f);

#endif
