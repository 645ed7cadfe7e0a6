/* SPDX-License-Identifier: MIT */
/* local.h - the agent of this host, asked over its unix socket (link/local.h) in place of a
 * server: with --local.  What it says comes as the same views, so the same tables and JSON
 * show it.
 *
 * A question has a connection of its own.  Failures are ERR_UNAVAILABLE where trying again
 * may help, and name the socket. */
#ifndef CLI_LOCAL_H
#define CLI_LOCAL_H

#include "cli/cli.h"
#include "cli/watch.h"
#include "link/local.h"
#include "model/log.h"

/* Where the agent is looked for unless somebody says where. */
#define LOCAL_RUN_PATH  "/run/holdfast-agent.sock"
#define LOCAL_DATA_PATH "/var/lib/holdfast-agent/control.sock"

/* The socket, by the command line, the settings, or what is there. */
const char *local_path(const struct args *args, const struct cli_settings *s);

/* Names that are no NAMESPACE/NAME yet are looked up: NAME, where only one namespace has it,
 * or NAMESPACE:NAME.  Returns an exit status where one is not known, -1 and err on failure,
 * or CLI_OK. */
int local_find_names(struct cli *cli, struct err *err);

/* By namespace and name; one word alone may be either. */
int local_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                        struct err *err);
int local_get_log(struct cli *cli, const struct log_ask *ask, struct arena *a, struct log_view *ret,
                  struct err *err);
int local_get_facts(struct cli *cli, struct local_facts *ret, struct err *err);

/* The operation on all that the words name, at the same time; w as after watch_task(), or, where
 * nobody waits, with all of it left. */
int local_operate(struct cli *cli, struct watch *w, struct err *err);

/* Lines that tell of the agent and how much it looks after. */
void local_put_facts(struct cli *cli, const struct local_facts *f);

/* Tables name hosts; this one has a name. */
void local_name_hosts(struct cli *cli, const struct list *processes);

#endif
