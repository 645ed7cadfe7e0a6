/* SPDX-License-Identifier: MIT */
/* local.h - requests to the agent of this host over its unix socket (link/local.h), instead of a
 * server: for --local.  The answers have the same types as the server's, so the same tables and
 * JSON show them.
 *
 * Each request has a connection of its own.  Failures are ERR_UNAVAILABLE if trying again may
 * help, and name the socket. */
#ifndef CLI_LOCAL_H
#define CLI_LOCAL_H

#include "cli/cli.h"
#include "link/local.h"
#include "model/log.h"

/* Default paths of the agent's socket. */
#define LOCAL_RUN_PATH  "/run/holdfast-agent.sock"
#define LOCAL_DATA_PATH "/var/lib/holdfast-agent/control.sock"

/* The socket's path: from the command line, the settings, or the default path that exists. */
const char *local_path(const struct args *args, const struct cli_settings *s);

struct process_ask;

/* The processes that `ask` selects, of the server or, with --local, of the agent. */
int cli_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                      struct err *err);

/* By namespace and name; a single word may be either. */
int local_get_processes(struct cli *cli, const struct process_ask *ask, struct list *ret,
                        struct err *err);
int local_get_log(struct cli *cli, const struct log_ask *ask, struct arena *a, struct log_view *ret,
                  struct err *err);
int local_get_facts(struct cli *cli, struct local_facts *ret, struct err *err);

/* The folder in which the agent keeps pid files, for specs that name none. */
int local_get_pid_dir(struct cli *cli, const char **ret, struct err *err);

/* How the agent runs processes: struct local_spec.  "": any namespace or name. */
int local_get_specs(struct cli *cli, const char *space, const char *name, struct list *ret,
                    struct err *err);

/* Events of this host with a greater id than `after`, oldest first: struct event_view. */
int local_get_events(struct cli *cli, int64_t after, struct list *ret, struct err *err);

/* The name of this host. */
const char *local_host(struct arena *a);

/* The agent's texts, in the reader's language; one that is no message stays as it is. */
const char *local_readable(struct cli *cli, const char *text);
void local_make_readable(struct cli *cli, struct proc_view *v);

/* Prints lines about the agent and the number of its processes. */
void local_put_facts(struct cli *cli, const struct local_facts *f);

/* Sets the name of this host in the processes, because tables show hosts. */
void local_name_hosts(struct cli *cli, const struct list *processes);

#endif
