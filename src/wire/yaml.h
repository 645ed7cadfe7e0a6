/* SPDX-License-Identifier: MIT */
/* yaml.h - configuration files: YAML read through the field tables.
 *
 * A file is one mapping.  Plain and quoted scalars are texts whose meaning the
 * field decides, so `port: 7020` and `port: "7020"` are the same; an empty value,
 * ~ and null are null.  JSON reads as YAML.  Anchors, aliases, tags, several
 * documents and keys that are not scalars are refused.  Errors name the line. */
#ifndef WIRE_YAML_H
#define WIRE_YAML_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/shape.h"

enum { YAML_SIZE_MAX = 1 << 20 };

/* Reads onto *out as SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY do: what the text
 * does not mention stays as it is.  Errors begin "NAME:LINE: ". */
int yaml_read(const struct shape *s, const char *name, const char *text, size_t n, struct arena *a,
              void *out, struct err *err);

/* The same from a file. */
int yaml_read_file(const struct shape *s, const char *path, struct arena *a, void *out,
                   struct err *err);

#endif
