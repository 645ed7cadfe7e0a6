/* SPDX-License-Identifier: MIT */
/* shape_place.h - where the reader stands in a document: a chain of names and
 * indexes on the C stack, turned into text only when something is wrong. */
#ifndef WIRE_SHAPE_PLACE_H
#define WIRE_SHAPE_PLACE_H

#include <stddef.h>

#include "base/buf.h"

struct shape_place {
    const struct shape_place *up; /* NULL: the outermost object */
    const char *name;             /* as the caller wrote it; NULL: an item of a list */
    size_t n;                     /* bytes of the name, or the index */
};

/* Appends "items[2].name"; nothing for NULL. */
void shape_place_print(const struct shape_place *p, struct buf *to);

/* Appends text from outside so that it is seen and stays on its line: as it is,
 * or as a JSON string where it is empty or has control characters. */
void shape_show(const char *text, size_t n, struct buf *to);

#endif
