/* SPDX-License-Identifier: MIT */
/* from_supervisord.h - maps a supervisord.conf, with the files that it includes, to specs. */
#ifndef CLI_FROM_SUPERVISORD_H
#define CLI_FROM_SUPERVISORD_H

#include "cli/plan.h"

/* Adds its processes.  Fails if a file cannot be read, or is not a file of this kind. */
int from_supervisord(struct plan *p, const char *path, struct err *err);

/* The same of settings that were read already; `here` is the folder of the main file. */
int from_supervisord_settings(struct plan *p, const struct list *settings, const char *here,
                              struct err *err);

#endif
