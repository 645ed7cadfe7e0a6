/* SPDX-License-Identifier: MIT */
/* envfile.h - reads environment variables for the commands of a process from a file on its host.
 * One `NAME=value` per line; a value in single or double quotes is taken literally, otherwise
 * surrounding blanks are removed. Empty lines and lines that begin with # are ignored. There is no
 * expansion and no escape character: it is not a shell.
 *
 * The file is read with the agent's privileges and passed to a process of another user. So it must
 * belong to root or to that user, that user must have read access, and symbolic links are followed
 * as for pid files (walk.h). Its content never appears in a text. */
#ifndef AGENT_EXEC_ENVFILE_H
#define AGENT_EXEC_ENVFILE_H

#include <stddef.h>

#include "agent/identify/user.h"
#include "base/mem/arena.h"
#include "base/text/err.h"

enum { ENVFILE_MAX_BYTES = 64 * 1024, ENVFILE_MAX_LINES = 1024 /* lines with a variable */ };

/* "NAME=value" strings, NULL-terminated, in the arena. The text of an error begins "line N". */
int envfile_parse(const char *text, size_t n, struct arena *a, const char *const **ret,
                  struct err *err);

int envfile_read(const char *path, const struct user *user, struct arena *a,
                 const char *const **ret, struct err *err);

#endif
