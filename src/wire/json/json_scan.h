/* SPDX-License-Identifier: MIT */
/* json_scan.h - finds a few values of the outermost object without allocating memory: for
 * credentials, before the caller is authenticated.
 *
 * A wanted value that is a string or a number is copied to `to`; null counts as absent.  A value
 * of another type, too long for `to`, or given twice (even as null) is an error.  The text is
 * read by the same reader as shape_read(), so both see the same value.  After a failure nothing
 * counts as found. */
#ifndef WIRE_JSON_JSON_SCAN_H
#define WIRE_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/err.h"

struct json_want {
    const char *key;
    char *to;
    size_t size;
    bool found;
};

/* At most 64 wants. */
int json_scan(const char *text, size_t n, struct json_want *wants, size_t n_wants, struct err *err);

#endif
