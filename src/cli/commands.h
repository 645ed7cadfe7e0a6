/* SPDX-License-Identifier: MIT */
/* commands.h - the table of all commands of the command line.
 * Parsing, help, suggestions and tests use these rows. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/text.h"

struct cli;

/* What a command may ask: a server, the agent of this host (--local), both, or neither: it reads
 * files. */
enum command_place { OF_SERVER, OF_BOTH, OF_AGENT, OF_FILES };

struct command {
    const char *name; /* "ps", "app create" */
    const char *words;
    size_t words_min, words_max;
    uint64_t options; /* a bit for each option, without the global ones */
    enum text help;
    int op; /* enum proc_op; -1: not an operation */

    /* Returns the exit status, or -1 and an err. */
    int (*run)(struct cli *cli, struct err *err);
    enum command_place place;
};

extern const struct command cli_commands[]; /* terminated by a NULL name */

/* Returns NULL if there is no command of that name. */
const struct command *command_find(const char *name);

/* Whether its words are names of processes, of which --local takes several, shorter ones and groups
 * (names.h). */
bool command_has_names(const struct command *c);

/* Whether it is the first word of commands with several words ("app"). */
bool command_is_group(const char *word);

/* Appends the help for everything (""), for a group or for one command. */
void command_help(struct out *o, const char *name);

#endif
