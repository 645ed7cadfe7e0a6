/* SPDX-License-Identifier: MIT */
/* shape_text.h - a field in words: its names, what it expects, and what a plain
 * text means for it.  Shared by the reader, the reference and the flags. */
#ifndef WIRE_SHAPE_TEXT_H
#define WIRE_SHAPE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "wire/shape.h"

enum { SHAPE_EXPECT_SIZE = 200 };

/* "an integer from 1 to 3600", "a list of 1 to 10 items". */
void field_expect(const struct field *f, char to[SHAPE_EXPECT_SIZE]);

/* Writes the JSON that a plain text stands for; false if it can be none of this
 * type.  The JSON is not checked further. */
bool field_text_to_json(const struct field *f, const char *text, struct buf *out);

static inline bool field_is_called(const char *name, const char *key, size_t n)
{
    return (n == 0 || *name == *key) && strncmp(name, key, n) == 0 && name[n] == '\0';
}

bool field_is_also(const char *also, const char *key, size_t n);

/* What an absent field is, for the reference: "`60`", "required", or nothing. */
void field_default(const struct field *f, struct buf *out);

/* Why a name that no field has is refused, by `flags` of the reader: the names that a request
 * may have are not those of a file, and whoever wrote it looks elsewhere for them. */
void shape_no_such(const struct shape *s, const char *key, size_t n, unsigned flags,
                   char to[SHAPE_EXPECT_SIZE]);

const char *field_enum_name(const struct field *f, int64_t value); /* NULL if none */

#endif
