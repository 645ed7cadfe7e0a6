/* SPDX-License-Identifier: MIT */
/* from_systemd.h - maps service units of systemd, and the timers beside them, to specs. */
#ifndef CLI_FROM_SYSTEMD_H
#define CLI_FROM_SYSTEMD_H

#include "cli/plan.h"

/* Adds the process of NAME.service, or of the service of NAME.timer; the path ends so.  A unit that
 * was read before adds nothing.  Fails if a file cannot be read, or is not a unit. */
int from_systemd(struct plan *p, const char *path, struct err *err);

/* The same of settings that were read already; `timer` may be NULL. */
int from_systemd_settings(struct plan *p, const char *path, const struct list *service,
                          const struct list *timer, struct err *err);

/* To be called when all units have been added: `after` names processes of the plan only. */
void from_systemd_finish(struct plan *p);

#endif
