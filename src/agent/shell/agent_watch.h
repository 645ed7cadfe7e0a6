/* SPDX-License-Identifier: MIT */
/* agent_watch.h - processes watched until they end: commands of the agent and processes of the
 * core; a foreground process is both. Their ends are reported to the core.
 *
 * A pidfd wakes the loop. Without pidfds each process is polled once a second and after the exit of
 * a child (facility.h). The exit status of a process that is not a child (it was adopted) is
 * available once its parent has reaped it, a moment after the pidfd became readable. Until then,
 * but only for a short time, it stays watched; late_exits.h corrects the status later. */
#ifndef AGENT_SHELL_AGENT_WATCH_H
#define AGENT_SHELL_AGENT_WATCH_H

#include <sys/queue.h>

#include "agent/identify/ident.h"
#include "agent/shell/traces.h"
#include "agent/supervise/core_effects.h"

struct agent_base;
struct disk;
struct effects;
struct output_reader;
struct watches;

/* A watched process: a command of the agent, a process of the core, or both. */
struct watched {
    struct watches *all;
    int64_t pid; /* its key */
    struct ident id;
    int pidfd;                  /* -1: no descriptor was available; retried */
    TAILQ_ENTRY(watched) link;  /* in the list of unattached or ended processes */
    int64_t ended_ms, ask_ms;   /* not 0: it has ended; ask_ms: next query of its exit status */
    bool is_attached;           /* its pidfd is in the epoll set */
    bool is_watched, is_killed; /* is_watched: by the core; is_killed: by the agent */
    bool wants_output;          /* output of the run is wanted on success, too */
    int status;                 /* exit status */
    uint64_t run;               /* 0: not a command of the agent */
    bool is_reaped;             /* before watch_bury() */
    bool is_host;               /* another main process was seen in the session that it leads */
    pid_t session, group;       /* 0: unknown */
    uint64_t program;           /* family.h; 0: unknown */
    char *kin;                  /* family.h; NULL: nothing is known */
    char *output;               /* of the run: name of its output file */
    uint64_t out_from;          /* and the offset where its output begins */
};

int watches_new(struct agent_base *a, struct effects *effects, struct disk *disk,
                struct output_reader *reader, struct watches **ret, struct err *err);
void watches_start(struct watches *w); /* called after the start of the core */
void watches_stop(struct watches *w);  /* nothing is watched any more; NULL is allowed */
void watches_free(struct watches *w);  /* NULL is allowed */

struct watched *watch_hold(struct watches *w, const struct ident *id, int pidfd); /* takes the fd */
struct watched *watch_adopt(struct watches *w, struct core_ident ident); /* exit: reported later */
void watch_process(struct watches *w, struct core_ident ident);          /* -> core_on_exit() */
struct watched *watch_find_run(const struct watches *w, uint64_t run);
void watch_set_run(struct watched *h, uint64_t run, const char *output, uint64_t out_from);
void watch_gone(struct watched *h); /* EFFECT_GONE: reports to the core, and frees it */
void watch_free_watched(struct watched *h);

const struct ident *watch_alive(const struct watches *w, int64_t pid); /* NULL: unknown */
bool watch_has_ended(const struct watches *w, int64_t pid); /* a child that has just ended */

/* Also of a process that has ended a while ago. */
struct trace watch_find_trace(const struct watches *w, struct core_ident ident);
void watch_set_kin(struct watches *w, struct core_ident ident, const char *kin);
uint64_t watch_find_program(const struct watches *w, const char *space, const char *name);
void watch_set_program(struct watches *w, struct core_ident ident, uint64_t program);

/* Whether a process of another name than space:name is, or was, in one of these sessions (0:
 * none). */
bool watch_is_shared(const struct watches *w, const pid_t *sessions, size_t n, const char *space,
                     const char *name);

/* Calls fn for the commands of the agent that run. */
void watch_each_run(const struct watches *w, void (*fn)(void *arg, const struct watched *run),
                    void *arg);
bool watch_lives(const struct watches *w, struct core_ident ident); /* true if it can not be said */

/* A child that has ended counts as a member of its process group until it is reaped. */
void watch_reap_ended(struct watches *w, int64_t pid);
void watch_on_tick(struct watches *w); /* forgets what is not needed any more */

void watch_retry(struct watches *w); /* retries processes without a descriptor or exit status */
void watch_bury(struct watches *w);  /* reaps ended children */

/* Children that are not watched: watch_expect_dead() says that some may have ended, and reaping
 * them takes a while. A child of that pid is left to the caller of watch_spare(); 0: none. */
void watch_expect_dead(struct watches *w);
bool watch_expects_dead(const struct watches *w);
void watch_reap(struct watches *w);
void watch_spare(struct watches *w, pid_t pid);

void watch_signal(struct watches *w, struct core_ident ident, int number, bool with_children);
/* As core_effects.deliver(). */
int watch_deliver(struct watches *w, struct core_ident ident, int number, struct err *err);

#endif
