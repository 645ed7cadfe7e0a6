/* SPDX-License-Identifier: MIT */
/* agent_watch.h - processes that are held until they end, for the agent's own sources: our
 * commands, and those that the core watches; a foreground process is both.
 *
 * A pidfd wakes the loop.  Where the kernel has none, each is looked at once a second and
 * when a child has ended (facility.h).
 *
 * How one ended that is no child of ours (who was found again) is known when its parent has
 * reaped it, a moment after it woke us.  Until then, but not for long, it is still held. */
#ifndef AGENT_AGENT_WATCH_H
#define AGENT_AGENT_WATCH_H

#include <sys/queue.h>

#include "agent/core_hands.h"
#include "agent/ident.h"
#include "base/crowd.h"

struct agent;

/* A process that we hold: a command of ours, one that is watched, or both. */
struct held {
    struct agent *agent;
    int64_t pid; /* its key */
    struct ident id;
    int pidfd;                  /* -1: there was no descriptor left; tried again */
    TAILQ_ENTRY(held) link;     /* of those that are not attached, or have ended */
    int64_t ended_ms, ask_ms;   /* not 0: it has, and how is asked again then */
    bool is_attached;           /* its end wakes the loop */
    bool is_watched, is_killed; /* killed: by us */
    bool wants_output;          /* what the run says is wanted also if it succeeds */
    int status;                 /* that it ended with */
    uint64_t run;               /* 0: no command of ours */
    char *output;               /* of the run: name of its file, */
    uint64_t out_from;          /* and where in it what it says begins */
};

struct ident watch_ident(const struct agent *a, struct core_ident ident);
struct held *watch_hold(struct agent *a, const struct ident *id, int pidfd); /* takes the fd */
struct held *watch_adopt(struct agent *a, struct core_ident ident); /* gone is told later */
struct held *watch_find_run(const struct agent *a, uint64_t run);
void watch_set_run(struct held *h, uint64_t run, const char *output, uint64_t out_from);
void watch_gone(struct held *h); /* that is detached; reports to the core */
void watch_free_held(struct held *h);
void watch_retry(struct agent *a); /* those without a descriptor, or without a known end */
void watch_reap(struct agent *a);
const struct ident *watch_alive(const struct agent *a, int64_t pid); /* held; NULL: who knows? */
bool watch_has_ended(const struct agent *a, int64_t pid);            /* a child of ours, just now */
void watch_bury(struct agent *a); /* those that have: nobody waits for them any more */
int watch_open(struct agent *a, struct err *err);
void watch_start(struct agent *a); /* the core has been started */
void watch_done(struct agent *a);
void hand_watch(void *agent, struct core_ident ident);
void hand_signal(void *agent, struct core_ident ident, int number, bool with_children);

#endif
