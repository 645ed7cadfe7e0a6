/* SPDX-License-Identifier: MIT */
/* confirm.h - asks whoever sits at the terminal whether to do what can not be undone; --yes
 * has answered already. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include "cli/cli.h"

/* Before the server is asked for anything: -1 and an err where there is nobody to ask. */
int confirm_check(struct cli *cli, struct err *err);

/* False: they do not want it, or can not be asked any more; that nothing was done is said. */
bool confirm(struct cli *cli, enum text question, const char *const *args);

#endif
