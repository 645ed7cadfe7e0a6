/* SPDX-License-Identifier: MIT */
/* agent_upgrade.h - the program file at our own path takes our place, in this very
 * process: same pid, same children, so exit codes still come.
 *
 * First the file is run with --version: one that is missing, broken, slow or something
 * else is refused, and all goes on.  Then, when no command is about to begin, the journal
 * is written and synced, and the file executed with our arguments and environment.  The
 * journal is all that the new program needs; it adopts what runs as after a crash, but is
 * still the parent of it: who ended meanwhile waits to be reaped.  Limits, ignored signals,
 * umask and folder are as they were when the agent was first started.
 *
 * Signals (SIGHUP, SIGUSR2, SIGTERM, SIGINT) are blocked as soon as the file has been found
 * good: what came before that the loop still hears of, what comes later waits for the new
 * program, which lets it through when it can catch it.
 *
 * If the execve fails all goes on, too. */
#ifndef AGENT_AGENT_UPGRADE_H
#define AGENT_AGENT_UPGRADE_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"

struct agent;
struct upgrade;

/* How we were started. */
struct agent_program {
    const char *name; /* that it says with its version: "holdfast-agent" */
    char *path;       /* absolute; links in it are followed anew each time */
    char *const *argv;
    struct rlimit files;  /* RLIMIT_NOFILE */
    bool is_pipe_ignored; /* SIGPIPE */
};

/* Before anything is changed, and after all that is to be caught is. */
int agent_program_find(const char *name, char *const *argv, struct agent_program *ret,
                       struct err *err);
void agent_program_ready(void);

/* Begins it; what comes of it is logged.  `program` lives as long as the agent. */
void agent_upgrade(struct agent *a, const struct agent_program *program);

/* For the agent's own sources. */
void upgrade_settle(struct agent *a);                   /* becomes it, if it can be now */
bool upgrade_is_held(const struct agent *a, pid_t pid); /* it is ours to reap */
void upgrade_done(struct agent *a);

#endif
