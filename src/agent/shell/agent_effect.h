/* SPDX-License-Identifier: MIT */
/* agent_effect.h - effects requested by the core and not completed yet.
 *
 * Lists: `waiting` has probes and reports, `runs` has commands, `starting` has commands that a
 * worker is starting, `checks` has probes of running commands. While other commands are waiting to
 * start, only a few checks are taken at a time. Order within a turn: probes, one write of the
 * journal, then commands.
 *
 * The loop itself opens no path of a managed user and starts no process, because both can block.
 * The workers (workers.h) do that; `probing` has the probes given to them. A start that takes long
 * moves from `starting` to `stuck`, where nothing else waits for it. After START_MS its child is
 * killed. If that does not end it either, the command has failed, and its effect is in `lost` until
 * the thread returns. */
#ifndef AGENT_SHELL_AGENT_EFFECT_H
#define AGENT_SHELL_AGENT_EFFECT_H

#include <sys/queue.h>

#include "agent/exec/outlog_folder.h"
#include "agent/exec/spawn.h"
#include "agent/identify/find.h"
#include "agent/identify/user.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"

struct agent_base;
struct effects;
struct effect_family;
struct effect_probe;
struct families;
struct job_thread;
struct others;
struct policy_check;
struct probes;
struct runs;
struct watched;

enum effect_kind { EFFECT_RUN, EFFECT_PROBE, EFFECT_FAMILY, EFFECT_GONE };

/* What became of an effect that was carried out; runs have their own. */
enum probe_fate { PROBE_WAITS, PROBE_HAS_NO_ROOM, PROBE_IS_SENT, PROBE_DONE };

TAILQ_HEAD(effect_list, effect);

/* Options of spec.holdfast. */
struct effect_extra {
    const char *env_file; /* "": none */
    int64_t commands;     /* enum policy_commands at the time of the request */
    const char *group;    /* name of its cgroup, if it is grouped */
    struct proc_caps caps;
    int nice;
    struct spawn_limit *limits;
    size_t n_limits;
};

struct effect {
    TAILQ_ENTRY(effect) link;
    struct effect_list *list; /* the list it is in */
    struct effects *effects;
    struct runs *runs;         /* EFFECT_RUN */
    struct probes *probes;     /* EFFECT_PROBE */
    struct families *families; /* EFFECT_FAMILY */
    struct worker_job job;     /* a running job owns all but `link`, `list`, is_late */
    const char *owner;         /* owner of the job (workers.h); NULL: not determined yet */
    enum effect_kind kind;
    struct arena arena;
    struct core_run run;              /* EFFECT_RUN */
    const char *const *env;           /* EFFECT_RUN: in the form of spawn() */
    const struct effect_extra *extra; /* EFFECT_RUN; NULL: no options */
    const struct policy_check *check; /* before start or probe; NULL: none */
    bool needs_group;                 /* EFFECT_RUN: its scope needs one */
    bool is_grouped;                  /* EFFECT_RUN: in the cgroup of its process */
    struct core_look look;            /* EFFECT_PROBE; of EFFECT_FAMILY the id alone */
    const struct core_ident *all;     /* EFFECT_PROBE of several: the matches */
    size_t n_all;
    struct effect_probe *probe;   /* EFFECT_PROBE: input and result of the worker */
    struct effect_family *family; /* EFFECT_FAMILY */
    struct others *others;        /* EFFECT_PROBE: snapshot for the worker, with a reference */
    struct proc_identity identity;
    struct watched *gone; /* EFFECT_GONE: a watched process that has ended */
    bool waits;           /* for a user look-up */
    bool is_late;         /* EFFECT_RUN, starting: cancelled */
    bool is_given_up;     /* EFFECT_RUN, lost: reported to the core as failed */
    int64_t sent_ms;      /* system clock, when given to the workers or first refused by them */
    bool is_slow;         /* takes long; its operation has released its slot */
    int64_t kill_ms;      /* EFFECT_RUN, stuck: when its child was killed; 0: not killed */
    struct spawn_progress progress;
    int64_t again_ms; /* after a failure: not retried before this time */
    bool has_failed;  /* it failed or timed out */
    struct err failure;
    struct err late; /* EFFECT_RUN with kill_ms: the reason */

    /* The user it runs as; for a run also its output file and, unless it failed, its result. */
    const struct user *user;
    char output[OUTLOG_NAME_SIZE];
    uint64_t out_from; /* offset in the file where its output begins */
    struct spawn_result began;
};

/* Only effect_*() change the lists. */
struct effects {
    struct agent_base *agent;
    struct effect_list waiting, runs, starting, checks, probing, stuck, lost;
    struct job_thread *lookups; /* of users */
    struct users users;
    struct map looking_up; /* struct user_job, by user name */
};

void effects_init(struct effects *e, struct agent_base *a); /* the owner sets lookups later */
void effects_done(struct effects *e);                       /* its lists are empty */
bool effects_are_busy(const struct effects *e);             /* one can be executed now */

struct effect *effect_new(struct effects *e, enum effect_kind kind);
void effect_move(struct effect *effect, struct effect_list *to);
void effect_free(struct effect *effect);
void effect_identity(struct effect *effect, const struct proc_identity *from); /* stores a copy */

/* The owner of its jobs (workers.h): the user, so that all jobs of a user share one limit. Jobs of
 * root are counted by the first two components of their path, so that a dead network disk blocks
 * only the processes on it. */
const char *effect_owner(struct effect *effect);
const char *owner_of(const char *user, const char *path, struct arena *a);

/* Gives it to a worker as a job of this owner; done() is called on the loop. */
void effect_send(struct effect *effect, const char *owner,
                 void (*work)(struct worker_job *job, struct spawner *s),
                 void (*done)(struct worker_job *job));

/* The workers have no room for it now. If that lasts, its operation releases its slot. */
void effect_wait_for_room(struct effect *effect, uint64_t op);

/* The user of an effect; NULL: it waits for the look-up, or the look-up failed. */
const struct user *effect_user(struct effect *effect, const char *name);

#endif
