/* SPDX-License-Identifier: MIT */
/* agent_upgrade.h - upgrade in place: execve() of the program file at the agent's path in this
 * process. Pid and children stay the same, so exit codes are still received.
 *
 * The file is first run with --version: a file that is missing, broken, slow or another program is
 * refused, and the agent continues. Then, when no command is about to start, the journal is written
 * and synced, and the file is executed with the same arguments and environment. The new program
 * needs only the journal. It adopts running processes as after a crash, but is still their parent:
 * processes that ended meanwhile wait to be reaped. Limits, ignored signals, umask and working
 * directory are those of the first start of the agent.
 *
 * Signals (SIGHUP, SIGUSR2, SIGTERM, SIGINT) are blocked once the file is accepted. The loop still
 * processes earlier signals; later ones stay pending for the new program, which unblocks them when
 * its handlers are installed. If execve() fails the agent continues. */
#ifndef AGENT_SHELL_AGENT_UPGRADE_H
#define AGENT_SHELL_AGENT_UPGRADE_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/text/err.h"

struct agent_base;
struct disk;
struct effects;
struct local;
struct notices;
struct spawner;
struct upgrades;
struct watches;

/* Start parameters of this program. */
struct agent_program {
    const char *name; /* expected in the --version output: "holdfast-agent" */
    char *path;       /* absolute; symbolic links are resolved at each upgrade */
    char *const *argv;
    struct rlimit files;  /* original RLIMIT_NOFILE */
    bool is_pipe_ignored; /* SIGPIPE was ignored */
};

/* find: call it before any of these is changed. ready: call it after all signal handlers are
 * installed. */
int agent_program_find(const char *name, char *const *argv, struct agent_program *ret,
                       struct err *err);
void agent_program_ready(void);

/* What an upgrade needs; all of it must live longer. */
struct upgrade_parts {
    struct agent_base *agent;
    const struct effects *effects;
    struct disk *disk;
    struct notices *notices;
    struct watches *watches;
    const struct local *local;
    struct spawner *spawner;
};

struct upgrades *upgrades_new(const struct upgrade_parts *parts);
void upgrades_free(struct upgrades *all); /* NULL is allowed */

/* Starts an upgrade; the result is logged. `program` must live as long as the upgrades. */
void upgrade_start(struct upgrades *all, const struct agent_program *program);
void upgrade_settle(struct upgrades *all); /* executes the new program when possible */

#endif
