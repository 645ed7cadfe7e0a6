/* SPDX-License-Identifier: MIT */
/* agent_in.h - what the agent's sources share.  Not for others.
 *
 *   agent.c        its life; what happens reaches the core, what it asks for is queued
 *   agent_run.c    commands: begun, ended
 *   agent_probe.c  who is it?  and what the kernel says of it
 *   agent_watch.c  processes that are held by a pidfd, until they end
 *   agent_said.h   what processes say: agent_said.c, agent_trim.c
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
#include "agent/agent_help.h"
#include "agent/agent_proc.h"
#include "agent/agent_said.h"
#include "agent/agent_upgrade.h"
#include "agent/core.h"
#include "agent/exes.h"
#include "agent/ident.h"
#include "agent/outlog.h"
#include "agent/spawn.h"
#include "agent/user.h"
#include "base/arena.h"
#include "base/map.h"

/* A process that we hold: a command of ours, one that is watched, or both. */
struct held {
    struct agent *agent;
    int64_t pid; /* its key */
    struct ident id;
    int pidfd;           /* -1: there was no descriptor left; tried again */
    struct watch *watch; /* NULL: among the unwatched */
    TAILQ_ENTRY(held) link;
    bool is_watched, is_killed; /* killed: by us */
    int status;                 /* that it ended with */
    uint64_t run;               /* 0: no command of ours */
    char *output;               /* of the run: name of its file, */
    uint64_t out_from;          /* and where in it what it says begins */
};

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
    struct spawner *spawner;
    struct outlog *outlog;
    struct said *said;
    struct trims *trims;
    struct users users;
    struct map looking_up; /* struct job, by user name */
    struct map held;       /* by pid's bytes */
    struct map ended;      /* children that are still to be reaped: by pid's bytes */
    struct map unclaimed;  /* commands of an agent before us, not held yet: by pid's bytes */
    struct map runs_held;  /* those of them that are commands, by the run's bytes */
    TAILQ_HEAD(, held) unwatched;
    struct act_list acts, runs, starting;
    struct help *starters[STARTERS];
    uint64_t ops_then; /* operations when memory was last given back */
    struct exes *exes;
    bool has_dead;   /* children that nobody holds may have to be reaped, */
    int64_t reap_ms; /* not before this */
    char boot_id[BOOT_ID_SIZE];
    struct timer settle, tick;
    struct arena hello;
    char digest[DIGEST_TEXT_SIZE];
};

/* agent.c */
int64_t agent_now_ms(struct agent *a);     /* for the core, which hears the wall's time too */
void agent_wake(struct agent *a);          /* settle() soon */
void agent_retry(struct agent *a);         /* settle() in a second */
bool agent_is_busy(const struct agent *a); /* something is to be done now */

/* agent_run.c */
void run_ended(struct agent *a, const struct held *h, int status);
void hand_run(void *agent, const struct core_run *run);
void hand_adopt(void *agent, const struct core_adopt *adopt);
void hand_end_run(void *agent, uint64_t id);

void hand_probe(void *agent, const struct core_look *look);

/* agent_watch.c */
struct ident watch_ident(const struct agent *a, struct core_ident ident);
struct held *watch_hold(struct agent *a, const struct ident *id, int pidfd); /* takes the fd */
struct held *watch_adopt(struct agent *a, struct core_ident ident); /* gone is told later */
struct held *watch_find_run(const struct agent *a, uint64_t run);
void watch_set_run(struct held *h, uint64_t run, const char *output, uint64_t out_from);
void watch_gone(struct held *h); /* that is detached; reports to the core */
void watch_free_held(struct held *h);
void watch_retry(struct agent *a); /* those without a descriptor */
void watch_reap(struct agent *a);
const struct ident *watch_alive(const struct agent *a, int64_t pid); /* held; NULL: who knows? */
bool watch_has_ended(const struct agent *a, int64_t pid);            /* a child of ours, just now */
void watch_bury(struct agent *a);  /* those that have: nobody waits for them any more */
void watch_start(struct agent *a); /* the core has been started */
void watch_done(struct agent *a);
void hand_watch(void *agent, struct core_ident ident);
void hand_signal(void *agent, struct core_ident ident, int number, bool with_children);

#endif
