/* SPDX-License-Identifier: MIT */
/* unit_names.h - the names of a systemd unit, and the specifiers (%n, %i ...) that stand for them
 * and for folders of the system's manager. */
#ifndef CLI_UNIT_NAMES_H
#define CLI_UNIT_NAMES_H

#include <stdbool.h>

#include "base/mem/arena.h"
#include "base/text/err.h"

struct unit_names {
    const char *unit, *name, *prefix; /* "web@1.service", "web@1", "web" */
    const char *instance;             /* "1"; NULL: none */
    const char *host;
    bool is_template; /* "web@.service" */
};

void unit_names_init(struct unit_names *n, const char *path, const char *host, struct arena *a);

/* The text with its specifiers replaced; fails for one whose value is not known from the unit. */
int unit_names_expand(const struct unit_names *n, struct arena *a, const char *text,
                      const char **ret, struct err *err);

#endif
