/* SPDX-License-Identifier: MIT */
/* place.h - where a path leads once every symbolic link is followed.
 *
 * What is not there yet (a pid file) is where its deepest folder that exists leads to, with
 * the rest behind it: names only, no `..` and no link that leads nowhere, since nobody
 * knows where those will lead.  What can be reached only through /proc (a file that was
 * removed, another mount namespace) is nowhere. */
#ifndef AGENT_PLACE_H
#define AGENT_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* The texts of failures begin with the path. */
int place_resolve(const char *path, char ret[PATH_MAX], struct err *err);

/* Whether a resolved path is this folder or below it. */
bool place_is_under(const char *path, const char *folder);

#endif
