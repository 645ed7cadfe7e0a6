/* SPDX-License-Identifier: MIT */
/* envfile.h - variables for the commands of a process, out of a file on its host.
 *
 * `NAME=value` a line; what stands between single or double quotes is taken as it is, else
 * blanks around the value go.  Lines that are empty or begin with # are passed over.  Nothing
 * is expanded, and there are no escapes: it is no shell.
 *
 * The file is read with the agent's rights and given to a process of another user, so it
 * must belong to root or to that user, he must be able to read it himself, and symbolic links
 * are followed as for pid files (walk.h).  Its content is never repeated in a text. */
#ifndef AGENT_ENVFILE_H
#define AGENT_ENVFILE_H

#include <stddef.h>

#include "agent/user.h"
#include "base/arena.h"
#include "base/err.h"

enum { ENVFILE_MAX_BYTES = 64 * 1024, ENVFILE_MAX_LINES = 1024 /* with a variable */ };

/* "NAME=value" each, ends with NULL; all in the arena.  The text of an error begins
 * "line N". */
int envfile_parse(const char *text, size_t n, struct arena *a, const char *const **ret,
                  struct err *err);

int envfile_read(const char *path, const struct user *user, struct arena *a,
                 const char *const **ret, struct err *err);

#endif
