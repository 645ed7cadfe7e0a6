/* SPDX-License-Identifier: MIT */
/* agent.h - the agent of this host: the supervision core (core.h) with its system effects.
 *
 * The data folder contains `journal` (the only authoritative state) and `output/` (output of
 * processes). Only one agent uses a folder at a time. Managed processes do not depend on the agent:
 * it may exit or be killed, and the next agent in the same folder continues from the journal.
 *
 * The owner transports messages: messages of the server come in by agent_on_*(), messages to the
 * server go out by send(), which must not call back.
 *
 * A journal write that fails (disk full) is logged and retried. Until it succeeds no command is
 * accepted or run, but hosted processes are still restarted. */
#ifndef AGENT_SHELL_AGENT_H
#define AGENT_SHELL_AGENT_H

#include <stdint.h>

#include "agent/shell/agent_local.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "link/message.h"

struct agent;
struct agent_program;
struct list;
struct policy;

struct agent_options {
    const char *dir;
    const char *pid_dir;                       /* agent_piddir.h; NULL or "": the default */
    int64_t output_max_bytes;                  /* limit per process */
    int64_t at_once;                           /* concurrent operations; 0: default */
    int64_t limit_interval_ms, limit_grace_ms; /* core_use.h; interval 0: default for both */
    const struct policy *policy;               /* policy.h, copied; NULL: everything is allowed */
    const char *specs;                         /* agent_specs.h; NULL or "": none */
    const char *proc_file;                     /* agent_proc.h; NULL or "": `.proc` in the folder */
    /* agent_local.h. NULL: no local control; "": default path. Both must stay valid until
     * agent_set() replaces them. */
    const char *local_socket, *local_group;
    const char *without;              /* facilities to disable (facility.h); NULL: none */
    int64_t cgroups;                  /* enum cgroup_use */
    const struct list *scope_by_name; /* agent_family.h, copied; NULL: none */
    void (*send)(void *arg, unsigned type, const struct shape *s, const void *message);
    void (*link)(void *arg, struct agent_link *ret); /* NULL: no server connection */
    void *arg;
};

/* Reads the journal and adopts running processes. Makes this process a child subreaper and may
 * install a SIGCHLD handler on the loop: the loop must not run before this returns, nor after
 * agent_free(). ERR_MALFORMED, with file and offset: the journal is damaged. ERR_CONFLICT: another
 * agent uses the folder. On failure nothing has been changed. */
int agent_new(struct loop *loop, struct log *log, const struct agent_options *o, struct agent **ret,
              struct err *err);
/* Syncs the journal first. NULL is allowed. False: a worker thread hangs in the kernel and its
 * memory is not freed; the program must end by _exit(). */
bool agent_free(struct agent *a);

/* Applies new options; the folder and send() do not change. */
void agent_set(struct agent *a, const struct agent_options *o);

/* Starts an upgrade in place (agent_upgrade.h); the result is logged. */
void agent_upgrade(struct agent *a, const struct agent_program *program);

/* Texts are valid until the next call or agent_free(). */
void agent_fill_hello(struct agent *a, struct message_hello *hello);
void agent_on_up(struct agent *a, const struct message_welcome *welcome);
void agent_on_message(struct agent *a, unsigned type, const void *message);
void agent_on_down(struct agent *a);

#endif
