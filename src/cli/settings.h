/* SPDX-License-Identifier: MIT */
/* settings.h - settings of the command line: server, credentials and presentation.
 *
 * Read by wire/json/config.h: flags, environment (HOLDFAST_SERVER ...), and the file
 * ~/.config/holdfast/cli.yaml.  The secret has no flag, because other users can see flags, and
 * is not in that file: it comes from HOLDFAST_SECRET or a file of its own. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/options.h"
#include "cli/out.h"
#include "wire/json/config.h"

enum lang_wish { LANG_WISH_AUTO, LANG_WISH_EN, LANG_WISH_ZH };

struct cli_settings {
    const char *server, *socket, *local_socket, *app, *secret_file, *ca;
    int64_t lang;  /* enum lang_wish */
    int64_t color; /* enum colour_wish */
    bool json, quiet;
    const char *secret; /* not in the field table */
};

extern const struct shape cli_settings_shape;

/* The value of an environment variable; NULL if it is not set. */
const char *settings_env(char *const *env, const char *name);

/* The language before the settings are read, for errors about them. */
enum lang settings_lang(int argc, char *const *argv, char *const *env);

int settings_load(const struct args *args, char *const *env, enum lang lang, struct arena *a,
                  struct cli_settings *ret, struct err *err);

#endif
