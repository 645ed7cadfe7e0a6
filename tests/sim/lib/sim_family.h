/* SPDX-License-Identifier: MIT */
/* sim_family.h - workers that outlive their main process, and starts in two steps.
 *
 * As long as a worker of an earlier run lives, it has the port, and a new start fails.  So a
 * process comes back in a calm world only if the agent ends what is left of its family.  In a start
 * of two steps a helper with the name of the process runs first; then the command becomes the
 * process. */
#ifndef TESTS_SIM_LIB_SIM_FAMILY_H
#define TESTS_SIM_LIB_SIM_FAMILY_H

#include "agent/supervise/core.h"

struct host;
struct message_result;
struct process;

void family_begin(struct host *h, struct process *main); /* perhaps it has workers */
bool family_holds_port(struct host *h, int key);         /* a worker of an earlier run lives */
struct process *family_helper(struct host *h,
                              int64_t command); /* of a start in two steps, or NULL */
void family_two_steps(struct host *h, struct process *command);

/* A successful stop without a stop command leaves nothing of the family. */
void family_check_stop(struct host *h, const struct message_result *m);

/* Effects of the core. */
bool family_has(void *host, const struct core_family *f);
void family_ask(void *host, const struct core_family *f);
bool family_is_alive(void *host, struct core_ident ident);

#endif
