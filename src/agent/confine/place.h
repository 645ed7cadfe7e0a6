/* SPDX-License-Identifier: MIT */
/* place.h - resolves all symbolic links of a path. A path that does not exist yet (a pid file)
 * resolves to its deepest existing folder with the rest appended; the rest must be plain names,
 * without `..` and dangling links, because their later target is unknown. A file that can be
 * reached only through /proc (removed, or in another mount namespace) has no path. */
#ifndef AGENT_CONFINE_PLACE_H
#define AGENT_CONFINE_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/text/err.h"

/* The text of an error begins with the path. */
int place_resolve(const char *path, char ret[PATH_MAX], struct err *err);

/* Whether a resolved path is this folder or below it. */
bool place_is_under(const char *path, const char *folder);

#endif
