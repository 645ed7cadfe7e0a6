/* SPDX-License-Identifier: MIT */
/* options.h - the table of all options of the command line, and struct args, which holds their
 * values and the words of a command. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/text.h"
#include "wire/json/field.h"

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
    OPTION_RELAY,
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
    OPTION_SPECS,
    OPTION_ALLOW_EMPTY,
    OPTION_PID,
    OPTION_TIMESTAMPS,
    OPTION_GREP,
    OPTION_OUTPUT,
    OPTION_FORCE,
    /* Global options: every command has those from here on. */
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
    OPTION_IS_LIST,         /* struct list of struct word; may be given several times */
    OPTION_IS_NUMBER,       /* int64_t */
    OPTION_IS_SECONDS,      /* int64_t: "90", "5m" */
    OPTION_IS_SETTING,      /* a row of settings.h, which checks it; a flag if `value` is NULL */
};

struct option {
    const char *name;  /* without the dashes */
    const char *value; /* placeholder of its value in the help; NULL: no value */
    enum option_kind kind;
    size_t offset; /* offset of its member in struct args */
    enum text help;
};

extern const struct option cli_options[OPTIONS];

enum { ARGS_WORDS_MAX = 256 };

struct word {
    const char *text;
};

struct command;

struct args {
    const struct command *command; /* NULL: only show help or the version */
    const char *about;             /* what --help is about; "": everything */
    bool help, version;
    const char *words[ARGS_WORDS_MAX]; /* words after the command */
    size_t n_words;
    uint64_t given; /* a bit for each option */

    struct list hosts, rights, spaces, businesses; /* struct word */
    struct list business_sets, operations;         /* struct word */
    const char *signatures, *hosted;               /* "", or the text behind "=" */
    const char *spec, *note, *what, *local; /* local: path of the socket, "" if none was given */
    const char *specs;
    const char *pid_dir; /* with --local: where the agent keeps pid files; NULL: not asked for */
    bool allow_empty;
    int64_t pid;
    const char *state, *text, *by, *user, *route, *grep; /* NULL: not given */
    const char *output;                                  /* NULL: not given */
    bool force, no_wait, wait, rotate, follow, dry_run, idempotent, failed, open, yes, relay,
        timestamps;
    int64_t host_id, until_s, expect;
    int64_t timeout_s, cloud, ttl_s, uses, lines, since_s, rate;

    char **settings; /* argv for config_load() */
    int n_settings;
};

static inline bool args_has(const struct args *args, enum option_id id)
{
    return args->given >> id & 1;
}

#endif
