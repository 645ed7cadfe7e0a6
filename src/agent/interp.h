/* SPDX-License-Identifier: MIT */
/* interp.h - programs that run a script: which argument is the script.
 *
 * A process of `python3 -u /opt/x/app.py` is app.py to those who look after it. */
#ifndef AGENT_INTERP_H
#define AGENT_INTERP_H

#include <stdbool.h>
#include <stddef.h>

/* `exe` is the program's file name, cmdline its arguments with a NUL behind each.
 * NULL if it is no interpreter we know or runs no script (`sh -c`, a module, its
 * own input). */
const char *interp_script(const char *exe, const char *cmdline, size_t n);

bool interp_is_one(const char *exe); /* by its file name, bash-static too */

#endif
