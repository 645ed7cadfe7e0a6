/* SPDX-License-Identifier: MIT */
/* task_key.h - the key of an item: the names by which its caller looks for the result.
 *
 * A host that was named in several ways has all names in one key, one per line.  Callers may use
 * any text as the name of a host, so a line feed within a name is escaped.  Before escapes existed,
 * names had no control characters: keys stored by older versions are read unchanged. */
#ifndef SERVER_DISPATCH_TASK_KEY_H
#define SERVER_DISPATCH_TASK_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem/arena.h"

struct task_name {
    const char *text; /* as the caller spelled it */
    size_t n;         /* length; not NUL-terminated */
};

/* The name as a line of a key; the name itself if nothing in it needs escaping. */
const char *task_key_line(const char *name, struct arena *a);

/* Reads the name in the line at *at and moves *at to the next line; false: no more. */
bool task_key_next(const char **at, struct arena *a, struct task_name *ret);

/* The first name of a key, NUL-terminated. */
const char *task_key_first(const char *key, struct arena *a);

#endif
