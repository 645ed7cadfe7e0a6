/* SPDX-License-Identifier: MIT */
/* agent_in.h - what the agent's sources share.  Not for others.
 *
 *   agent.c        its life; what happens reaches the core, what it asks for is queued
 *   agent_run.c    commands: begun, ended
 *   agent_probe.c  who is it?  and what the kernel says of it
 *   agent_watch.c  processes that are held by a pidfd, until they end
 *   agent_disk.c   the journal
 *   agent_help.c   a thread for what blocks
 *   agent_hello.c  what it says of itself
 *
 * The core must not be called out of a hand, so what it asks for waits as a `struct
 * act` until settle(), which writes the journal first: nothing is done whose record is
 * not in the file. */
#ifndef AGENT_AGENT_IN_H
#define AGENT_AGENT_IN_H

#include <sys/queue.h>

#include "agent/agent.h"
#include "agent/agent_disk.h"
#include "agent/agent_help.h"
#include "agent/core.h"
#include "agent/exes.h"
#include "agent/ident.h"
#include "agent/outlog.h"
#include "agent/spawn.h"
#include "agent/user.h"
#include "base/arena.h"
#include "base/map.h"

enum act_kind { ACT_RUN, ACT_PROBE, ACT_GONE };

struct act {
    TAILQ_ENTRY(act) link;
    enum act_kind kind;
    struct arena arena;
    struct core_run run;    /* ACT_RUN */
    const char *const *env; /* ACT_RUN: as spawn() wants it */
    struct core_look look;  /* ACT_PROBE */
    struct proc_identity identity;
    struct held *gone; /* ACT_GONE: held, and not there any more */
    bool waits;        /* for its user to be looked up */
    int64_t again_ms;  /* it could not be done, and is not tried before this */
    bool has_failed;   /* that, or it took too long */
    struct err failure;
};

/* A process that we hold: a command of ours, one that is watched, or both. */
struct held {
    struct agent *agent;
    int64_t pid; /* its key */
    struct ident id;
    int pidfd; /* -1: there was no descriptor left; tried again */
    struct watch *watch;
    bool is_watched;
    uint64_t run;      /* 0: no command of ours */
    char *output;      /* of the run: name of its file, */
    uint64_t out_from; /* and where in it what it says begins */
};

struct agent {
    struct loop *loop;
    struct log *log;
    struct agent_options o;
    struct core *core;
    struct disk disk;
    struct help *syncs, *lookups; /* apart: a directory that does not answer holds up no sync */
    struct spawner *spawner;
    struct outlog *outlog;
    struct users users;
    struct map looking_up; /* struct job, by user name */
    struct map held;       /* by pid's bytes */
    TAILQ_HEAD(, act) acts;
    struct act *in_work;
    struct exes *exes;
    bool has_dead; /* children that nobody holds may have to be reaped */
    char boot_id[BOOT_ID_SIZE];
    struct timer settle, tick;
    struct arena hello;
    char digest[DIGEST_TEXT_SIZE];
};

/* agent.c */
int64_t agent_now_ms(struct agent *a); /* for the core, which hears the wall's time too */
void agent_wake(struct agent *a);      /* settle() soon */
void agent_retry(struct agent *a);     /* settle() in a second */
struct act *act_new(struct agent *a, enum act_kind kind);
void act_free(struct agent *a, struct act *act);
void act_identity(struct act *act, const struct proc_identity *from); /* a copy */

/* The user an act needs; NULL: it waits until somebody has said, or has failed. */
const struct user *act_user(struct agent *a, struct act *act, const char *name);

/* agent_run.c: both report to the core */
bool run_carry_out(struct agent *a, struct act *act); /* false: not now, it stays */
void run_ended(struct agent *a, const struct held *h, int status);
void run_trim_outputs(struct agent *a);
void hand_run(void *agent, const struct core_run *run);
void hand_adopt(void *agent, const struct core_adopt *adopt);
void hand_end_run(void *agent, uint64_t id);

/* agent_probe.c */
bool probe_carry_out(struct agent *a, struct act *act);
void hand_probe(void *agent, const struct core_look *look);

/* agent_watch.c */
struct ident watch_ident(const struct agent *a, struct core_ident ident);
struct held *watch_hold(struct agent *a, const struct ident *id, int pidfd); /* takes the fd */
struct held *watch_adopt(struct agent *a, struct core_ident ident); /* gone is told later */
struct held *watch_find_run(const struct agent *a, uint64_t run);
void watch_gone(struct held *h); /* that is detached; reports to the core */
void watch_free_held(struct held *h);
void watch_retry(struct agent *a); /* those without a descriptor */
void watch_reap(struct agent *a);
void watch_done(struct agent *a);
void hand_watch(void *agent, struct core_ident ident);
void hand_signal(void *agent, struct core_ident ident, int number, bool with_children);

#endif
