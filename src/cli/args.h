/* SPDX-License-Identifier: MIT */
/* args.h - what the words of the command line say, by the rows of commands.h.
 *
 * Options may stand anywhere, "--name value" or "--name=value"; after "--" all words
 * are plain ones.  Names are never shortened: what --no is today it might not be
 * tomorrow.  That is why this is neither argp nor getopt_long.  config.h's reader
 * knows no commands, so it gets the options that are settings, and nothing else. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "base/arena.h"
#include "cli/commands.h"
#include "wire/shape.h"

enum { ARGS_WORDS_MAX = 16 };

struct word {
    const char *text;
};

struct args {
    const struct command *command; /* NULL: only something to show */
    const char *about;             /* what --help is asked of; "": all */
    bool help, version;
    const char *words[ARGS_WORDS_MAX]; /* behind the command */
    size_t n_words;
    uint64_t given; /* a bit an option */

    struct list hosts, rights, spaces, businesses; /* struct word */
    struct list business_sets, operations;         /* struct word */
    const char *signatures, *hosted;               /* "", or what stands behind "=" */
    const char *spec, *note, *what, *local;        /* local: its path, "" if none was given */
    const char *state, *text, *by, *user, *route;  /* NULL: not given */
    bool no_wait, wait, rotate, follow, dry_run, idempotent, failed, open, yes;
    int64_t host_id, until_s, expect;
    int64_t timeout_s, cloud, ttl_s, uses, lines, since_s, rate;

    char **settings; /* argv for config_load() */
    int n_settings;
};

static inline bool args_has(const struct args *args, enum option_id id)
{
    return args->given >> id & 1;
}

/* Reads a whole number; -1: it is none. */
int args_number(const char *text, int64_t *ret);

int args_read(int argc, char *const *argv, enum lang lang, struct arena *a, struct args *ret,
              struct err *err);

#endif
