/* SPDX-License-Identifier: MIT */
/* confirm.h - asks the user at the terminal before an action that cannot be undone; --yes skips
 * the question. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "cli/cli.h"

/* Call it before the first request: -1 and an err if there is no terminal to ask at. */
int confirm_check(struct cli *cli, struct err *err);

/* Returns false, after printing that nothing was done, if the user declines or the terminal is
 * gone. */
bool confirm(struct cli *cli, enum text question, const char *const *args);

#endif
