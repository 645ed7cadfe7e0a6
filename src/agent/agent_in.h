/* SPDX-License-Identifier: MIT */
/* agent_in.h - what the agent's sources share.  Not for others.
 *
 *   agent.c        its life; what happens reaches the core, what it asks for is queued
 *   agent_run.c    commands: begun, ended
 *   agent_probe.c  who is it?  and what the kernel says of it
 *   agent_watch.h  processes that are held by a pidfd, until they end
 *   agent_said.h   what processes say: agent_said.c, agent_trim.c; agent_sample.h: what they use
 *   agent_local.h  control from the host itself
 *   agent_proc.h   the file .proc; agent_upgrade.h: another program in our place
 *   agent_disk.c   the journal; with agent_help.c, a thread for what blocks; agent_hello.c
 *
 * The core must not be called out of a hand, so what it asks for waits as a `struct
 * act` until settle(), which writes the journal first: nothing is done whose record is
 * not in the file. */
#ifndef AGENT_AGENT_IN_H
#define AGENT_AGENT_IN_H

#include <sys/queue.h>

#include "agent/agent.h"
#include "agent/agent_act.h"
#include "agent/agent_disk.h"
#include "agent/agent_files.h"
#include "agent/agent_help.h"
#include "agent/agent_local.h"
#include "agent/agent_notify.h"
#include "agent/agent_policy.h"
#include "agent/agent_port.h"
#include "agent/agent_proc.h"
#include "agent/agent_said.h"
#include "agent/agent_sample.h"
#include "agent/agent_upgrade.h"
#include "agent/agent_watch.h"
#include "agent/cgroup.h"
#include "agent/core.h"
#include "agent/exes.h"
#include "agent/ident.h"
#include "agent/outlog.h"
#include "agent/pidfile.h"
#include "agent/spawn.h"
#include "agent/user.h"
#include "base/arena.h"
#include "base/map.h"

enum { STARTERS = 2 };

struct agent {
    struct loop *loop;
    struct log *log;
    struct agent_options o;
    struct core *core;
    struct disk disk;
    struct proc_file proc;
    struct upgrade *upgrade;
    struct help *syncs, *lookups; /* apart: a directory that does not answer holds up no sync */
    struct facilities facilities;
    struct cgroups *cgroups;
    struct spawner *spawner;
    struct outlog *outlog;
    struct said *said;
    struct trims *trims;
    struct samples *samples;
    struct files *files;
    struct notices *notices;
    struct ports *ports;
    struct local *local;
    struct agent_policy policy;
    struct users users;
    struct map looking_up; /* struct job, by user name */
    struct map held;       /* by pid's bytes */
    struct map ended;      /* children that are still to be reaped: by pid's bytes */
    struct map unclaimed;  /* commands of an agent before us, not held yet: by pid's bytes */
    struct map runs_held;  /* those of them that are commands, by the run's bytes */
    struct crowd *crowd;   /* of those that are attached */
    TAILQ_HEAD(, held) unwatched, unburied; /* the latter are those in `ended` */
    struct act_list acts, runs, starting, checks;
    struct help *starters[STARTERS];
    uint64_t ops_then; /* operations when memory was last given back */
    struct exes *exes;
    struct pidfiles *pidfiles;
    bool has_dead;            /* children that nobody holds may have to be reaped, */
    int64_t reap_ms;          /* not before this */
    int64_t looked_ms;        /* at those who can not wake us */
    int64_t told_ms, lone_ms; /* the server was told of changes; a process was started alone */
    char boot_id[BOOT_ID_SIZE];
    int64_t started_s; /* since 1970 */
    struct timer settle, tick;
    struct arena hello;
    char digest[DIGEST_TEXT_SIZE];
};

/* agent.c */
int64_t agent_now_ms(struct agent *a); /* for the core, which hears the wall's time too */
void agent_wake(struct agent *a);      /* settle() soon */
void agent_settle_in(struct agent *a, int64_t in_ms); /* settle() then, or before */
bool agent_is_busy(const struct agent *a);            /* something is to be done now */

enum { AGENT_RETRY_MS = 1000 };

static inline void agent_retry(struct agent *a)
{
    agent_settle_in(a, AGENT_RETRY_MS);
}

/* agent_run.c */
void run_ended(struct agent *a, const struct held *h, int status);
void hand_run(void *agent, const struct core_run *run);
void hand_adopt(void *agent, const struct core_adopt *adopt);
void hand_end_run(void *agent, uint64_t id);

void hand_probe(void *agent, const struct core_look *look);

/* agent_hello.c */
void hand_figures(void *agent, struct message_figures *to);

#endif
