/* SPDX-License-Identifier: MIT */
/* args.h - parses the command line by the rows of commands.h.
 *
 * Options may stand anywhere, as "--name value" or "--name=value"; all words after "--" are
 * plain words.  Option names cannot be abbreviated, because a new option could make an
 * abbreviation ambiguous.  That is why this uses neither argp nor getopt_long.  The reader of
 * config.h knows no commands, so it only gets the options that are settings. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/mem/arena.h"
#include "base/text/err.h"
#include "cli/options.h"

/* Reads an integer; -1 if the text is not one. */
int args_number(const char *text, int64_t *ret);

/* How many words name a process: not the signal at the end. */
size_t args_processes(const struct args *args);

int args_read(int argc, char *const *argv, enum lang lang, struct arena *a, struct args *ret,
              struct err *err);

#endif
