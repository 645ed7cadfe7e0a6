/* SPDX-License-Identifier: MIT */
/* config.h - a program's settings, from four sources through one field table.
 *
 * Later sources win: the default in the row, the configuration file, the environment, the
 * command line.  The setting `log.level` of a program with the prefix HOLDFAST_SERVER is
 *
 *     log: { level: debug }            in the file
 *     HOLDFAST_SERVER_LOG_LEVEL=debug  in the environment
 *     --log-level debug                on the command line
 *
 * Unknown settings are errors in all three.  --help and the reference are generated from the
 * same rows.
 *
 * A setting that no longer does anything keeps its row, with FIELD_NO_EFFECT: an
 * installation that still sets it starts, and the program logs that it has no effect. */
#ifndef WIRE_JSON_CONFIG_H
#define WIRE_JSON_CONFIG_H

#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/text/err.h"
#include "wire/json/shape.h"

struct config_signal {
    const char *name, *doc; /* "SIGHUP" and its effect, for --help and the reference */
};

struct config_spec {
    const char *program;      /* "holdfast-server" */
    const char *about;        /* one line for --help */
    const char *env_prefix;   /* "HOLDFAST_SERVER" */
    const char *default_file; /* read if it exists */
    const struct shape *shape;
    const struct config_signal
        *signals; /* signals that the program handles; a NULL name ends the list; NULL: none */
};

struct config_loaded {
    const char *show; /* text of --help or --version, to print before the exit; else NULL */
    const char *file; /* the file that was read, or NULL */
    const char *const *no_effect; /* settings without effect that were given; NULL ends them */
};

/* Fills *out (unless there is something to show); its text lives in the arena.  `env` is the
 * environment in the format of main(). */
int config_load(const struct config_spec *spec, int argc, char *const *argv, char *const *env,
                struct arena *a, void *out, struct config_loaded *ret, struct err *err);

/* The settings as a Markdown table. */
void config_doc(const struct config_spec *spec, struct buf *out);

#endif
