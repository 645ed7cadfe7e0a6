/* SPDX-License-Identifier: MIT */
/* commands.h - every command and every option of the command line, one row each.
 * Reading the words, help, suggestions and tests all go by these rows. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/out.h"
#include "cli/text.h"

struct cli;

enum option_id {
    OPTION_HOST,
    OPTION_SPEC,
    OPTION_NO_WAIT,
    OPTION_WAIT,
    OPTION_TIMEOUT,
    OPTION_RIGHT,
    OPTION_NAMESPACE,
    OPTION_BIZ,
    OPTION_BIZ_SET,
    OPTION_OPERATION,
    OPTION_RATE,
    OPTION_SIGNATURES,
    OPTION_ROTATE,
    OPTION_CLOUD,
    OPTION_TTL,
    OPTION_USES,
    OPTION_NOTE,
    OPTION_LINES,
    OPTION_COMMAND,
    OPTION_FOLLOW,
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTION_HOST_ID,
    OPTION_STATE,
    OPTION_MATCH,
    OPTION_DRY_RUN,
    OPTION_BY,
    OPTION_USER,
    OPTION_ROUTE,
    OPTION_EXPECT,
    OPTION_IDEMPOTENT,
    OPTION_FAILED,
    OPTION_OPEN,
    OPTION_HOSTED,
    OPTION_YES,
    /* From here on every command has them. */
    OPTION_SERVER,
    OPTION_SOCKET,
    OPTION_LOCAL,
    OPTION_APP,
    OPTION_SECRET_FILE,
    OPTION_CA,
    OPTION_LANG,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_COLOR,
    OPTION_CONFIG,
    OPTION_HELP,
    OPTION_VERSION,
    OPTIONS,
    OPTIONS_GLOBAL = OPTION_SERVER,
};

enum option_kind {
    OPTION_IS_FLAG,         /* bool */
    OPTION_IS_TEXT,         /* const char * */
    OPTION_IS_FLAG_OR_TEXT, /* const char *: "--name", or "--name=value" */
    OPTION_IS_LIST,         /* struct list of struct word; one a time it is given */
    OPTION_IS_NUMBER,       /* int64_t */
    OPTION_IS_SECONDS,      /* int64_t: "90", "5m" */
    OPTION_IS_SETTING,      /* of settings.h, which checks it; with `value` NULL a flag */
};

struct option {
    const char *name;  /* without its dashes */
    const char *value; /* what stands behind it in the help; NULL: nothing */
    enum option_kind kind;
    size_t offset; /* of the member of struct args */
    enum text help;
};

/* Whom a command asks: the agent of this host with --local, else a server. */
enum command_place { OF_SERVER, OF_BOTH, OF_AGENT };

struct command {
    const char *name; /* "ps", "app create" */
    const char *words;
    size_t words_min, words_max;
    uint64_t options; /* a bit each, without the global ones */
    enum text help;
    int op; /* enum proc_op; -1: no operation */

    /* The exit status, or -1 and an err. */
    int (*run)(struct cli *cli, struct err *err);
    enum command_place place;
};

extern const struct option cli_options[OPTIONS];
extern const struct command cli_commands[]; /* ends with a NULL name */

/* The row of that name; NULL if none. */
const struct command *command_find(const char *name);

/* Whether names of several words begin with this one ("app"). */
bool command_is_group(const char *word);

/* Appends the help of all, of a group or of one command. */
void command_help(struct out *o, const char *name);

#endif
