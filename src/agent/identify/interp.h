/* SPDX-License-Identifier: MIT */
/* interp.h - finds the script argument of interpreters. A process `python3 -u /opt/x/app.py` is
 * known to users as app.py. */
#ifndef AGENT_IDENTIFY_INTERP_H
#define AGENT_IDENTIFY_INTERP_H

#include <stdbool.h>
#include <stddef.h>

/* `exe` is the program's file name, cmdline its arguments, each terminated by NUL. NULL: not a
 * known interpreter, or it runs no script (`sh -c`, a module, standard input). */
const char *interp_script(const char *exe, const char *cmdline, size_t n);

bool interp_is_one(const char *exe); /* by file name; also bash-static and the like */

#endif
