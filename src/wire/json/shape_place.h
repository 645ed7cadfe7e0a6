/* SPDX-License-Identifier: MIT */
/* shape_place.h - the position of the reader in a document: a chain of names and indexes on the
 * C stack, formatted only when there is an error. */
#ifndef WIRE_JSON_SHAPE_PLACE_H
#define WIRE_JSON_SHAPE_PLACE_H

#include <stddef.h>

#include "base/mem/buf.h"

struct shape_place {
    const struct shape_place *up; /* NULL: the outermost object */
    const char *name;             /* in the caller's spelling; NULL: an item of a list */
    size_t n;                     /* bytes of the name, or the index */
};

/* Appends "items[2].name"; nothing for NULL. */
void shape_place_print(const struct shape_place *p, struct buf *to);

/* Appends text from outside so that it is visible and stays on one line: unchanged, or as a JSON
 * string if it is empty or has control characters. */
void shape_show(const char *text, size_t n, struct buf *to);

#endif
