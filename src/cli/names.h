/* SPDX-License-Identifier: MIT */
/* names.h - names of processes as people give them: those of this host may be shortened, and one
 * that does not exist was perhaps misspelt. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/cli.h"

/* With --local: replaces words that are not NAMESPACE/NAME by that: NAME, if only one namespace has
 * it, or NAMESPACE:NAME. */
int names_complete(struct cli *cli, struct err *err);

/* The error about a process that does not exist, with the nearest name that does; the exit status
 * is 1.  Returns -1. */
int names_unknown(struct cli *cli, const char *word, struct err *err);

/* After a request about the process that the first word names: the same if the server has refused
 * it because no host has that process; other errors stay.  Returns -1. */
int names_explain(struct cli *cli, struct err *err);

#endif
