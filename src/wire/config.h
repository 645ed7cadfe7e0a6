/* SPDX-License-Identifier: MIT */
/* config.h - a program's settings, from four places through one field table.
 *
 * Later ones win: the row's default, the configuration file, the environment,
 * the command line.  A setting `log.level` of a program with the prefix
 * HOLDFAST_SERVER is
 *
 *     log: { level: debug }            in the file
 *     HOLDFAST_SERVER_LOG_LEVEL=debug  in the environment
 *     --log-level debug                on the command line
 *
 * Unknown settings are refused in all three.  --help and the reference are
 * made from the same rows. */
#ifndef WIRE_CONFIG_H
#define WIRE_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "wire/shape.h"

struct config_spec {
    const char *program;      /* "holdfast-server" */
    const char *about;        /* one line for --help */
    const char *env_prefix;   /* "HOLDFAST_SERVER" */
    const char *default_file; /* read if it is there */
    const struct shape *shape;
};

struct config_loaded {
    const char *show; /* --help or --version: to be printed, and that is all; else NULL */
    const char *file; /* the file that was read, or NULL */
};

/* Fills *out (unless there is something to show); text in it lives in the arena.
 * `env` is an environment as main gets it. */
int config_load(const struct config_spec *spec, int argc, char *const *argv, char *const *env,
                struct arena *a, void *out, struct config_loaded *ret, struct err *err);

/* The settings as a Markdown table. */
void config_doc(const struct config_spec *spec, struct buf *out);

#endif
