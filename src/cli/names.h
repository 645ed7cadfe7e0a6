/* SPDX-License-Identifier: MIT */
/* names.h - names of processes as people give them: those of this host may be shortened, and one
 * that does not exist was perhaps misspelt. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "cli/cli.h"

/* With --local: cli->names gets the processes that the words select, each as NAMESPACE/NAME and
 * once.  A word is NAMESPACE/NAME or NAMESPACE:NAME; NAME, if one namespace has it; NAMESPACE/, or
 * NAMESPACE if no process has that name; or `all`.  A new NAME with --spec is default/NAME.  Words
 * for one process are completed in place.  An error names the candidates or the nearest name. */
int names_select(struct cli *cli, struct err *err);

/* The error about a process that does not exist, with the nearest name that does; the exit status
 * is 1.  Returns -1. */
int names_unknown(struct cli *cli, const char *word, struct err *err);

/* After a request about the process that the first word names: the same if the server has refused
 * it because no host has that process; other errors stay.  Returns -1. */
int names_explain(struct cli *cli, struct err *err);

#endif
