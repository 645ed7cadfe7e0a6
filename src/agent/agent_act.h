/* SPDX-License-Identifier: MIT */
/* agent_act.h - what the core has asked for and is not done yet, for the agent's own
 * sources: looks and news in `acts`, commands in `runs`, and in `starting` those that
 * another thread is just starting.  Looks at commands that run already are in `checks`:
 * while there are others to start they are taken few at a time.
 *
 * First everybody is looked for who can be, then the journal is written, once, and then
 * the commands run.  A command that is alone is started at once: a thread more would
 * only take time.  Of many the starters (agent_help.h) start some each, so that the loop
 * goes on while a new process comes about. */
#ifndef AGENT_AGENT_ACT_H
#define AGENT_AGENT_ACT_H

#include <sys/queue.h>

#include "agent/core.h"
#include "agent/outlog.h"
#include "agent/spawn.h"
#include "agent/user.h"
#include "base/arena.h"

struct agent;
struct held;

enum act_kind { ACT_RUN, ACT_PROBE, ACT_GONE };

TAILQ_HEAD(act_list, act);

/* What spec.holdfast asks for. */
struct act_extra {
    const char *env_file; /* "": none */
    int64_t commands;     /* enum policy_commands, when it was asked for */
    struct proc_caps caps;
    int nice;
    struct spawn_limit *limits;
    size_t n_limits;
};

struct act {
    TAILQ_ENTRY(act) link;
    struct act_list *list; /* that it is in */
    enum act_kind kind;
    struct arena arena;
    struct core_run run;           /* ACT_RUN */
    const char *const *env;        /* ACT_RUN: as spawn() wants it */
    const struct act_extra *extra; /* ACT_RUN: NULL: nothing of that */
    bool is_grouped;               /* ACT_RUN: it gets a cgroup of its own */
    struct core_look look;         /* ACT_PROBE */
    const struct core_ident *all;  /* ACT_PROBE, where several are expected: those that fit */
    size_t n_all;
    struct proc_identity identity;
    struct held *gone; /* ACT_GONE: held, and not there any more */
    bool waits;        /* for its user to be looked up */
    bool is_late;      /* ACT_RUN, starting: it is not wanted any more */
    int64_t again_ms;  /* it could not be done, and is not tried before this */
    bool has_failed;   /* that, or it took too long */
    struct err failure;

    /* ACT_RUN: as whom and where to, and then what has come of it unless it failed.  A
     * starter's while it is starting, as is all that run_start() reads. */
    const struct user *user;
    char output[OUTLOG_NAME_SIZE];
    uint64_t out_from, out_size; /* position of the file's first byte, and its size */
    struct spawn_result began;
};

struct act *act_new(struct agent *a, enum act_kind kind);
void act_move(struct act *act, struct act_list *to);
void act_free(struct act *act);
void act_identity(struct act *act, const struct proc_identity *from); /* a copy */

/* The user an act needs; NULL: it waits until somebody has said, or has failed. */
const struct user *act_user(struct agent *a, struct act *act, const char *name);

/* agent_run.c */
enum run_fate { RUN_WAITS, RUN_HAS_NO_ROOM, RUN_IS_STARTING, RUN_DONE };
enum run_fate run_carry_out(struct agent *a, struct act *act, bool is_alone);
void run_start(const struct agent *a, struct act *act, struct spawner *s); /* of any thread */
void run_started(struct agent *a, struct act *act);
void runs_collect(struct agent *a);              /* which run_start() is done with */
void runs_tell(struct agent *a, int64_t now_ms); /* the server, of what has changed */

bool probe_carry_out(struct agent *a, struct act *act); /* false: not now, it stays */

#endif
