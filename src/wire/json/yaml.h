/* SPDX-License-Identifier: MIT */
/* yaml.h - configuration files: YAML read through the field tables.
 *
 * A file is one mapping.  Plain and quoted scalars are texts that the field interprets, so
 * `port: 7020` and `port: "7020"` are the same; an empty value, ~ and null are null.  JSON is
 * valid YAML.  Anchors, aliases, tags, several documents and keys that are not scalars are
 * errors.  Errors name the line. */
#ifndef WIRE_JSON_YAML_H
#define WIRE_JSON_YAML_H

#include <stddef.h>

#include "base/mem/arena.h"
#include "base/text/err.h"
#include "wire/json/shape.h"

enum { YAML_SIZE_MAX = 1 << 20 };

/* Reads onto *out with SHAPE_STRICT | SHAPE_TEXT | SHAPE_OVERLAY | SHAPE_UNITS: settings that the
 * text does not mention keep their value.  Errors begin with "NAME:LINE: ". */
int yaml_read(const struct shape *s, const char *name, const char *text, size_t n, struct arena *a,
              void *out, struct err *err);

/* The same from a file. */
int yaml_read_file(const struct shape *s, const char *path, struct arena *a, void *out,
                   struct err *err);

#endif
