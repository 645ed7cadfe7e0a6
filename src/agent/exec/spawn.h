/* SPDX-License-Identifier: MIT */
/* spawn.h - starts a command in a clean environment of its user. The child gets: a new session;
 * setup_path as working directory; the user's ids and all groups; standard input from /dev/null,
 * output and errors to out_fd; no other descriptor; HOME, USER, LOGNAME, SHELL of the user, PATH
 * (SPAWN_PATH), LANG (C.UTF-8) and the extra pairs, which win; the original resource limits of the
 * agent, or requested ones; umask 022; default action for every signal, none blocked; oom_score_adj
 * 0 (if an ordinary user is refused that, the start continues).
 *
 * Every step that can fail comes before the program runs: either there is no process and *err names
 * the failed step, or there is one and its identity and pidfd are known. A clone that fails
 * (EAGAIN, ENOMEM) is such a failure; it is not retried here.
 *
 * The child shares the agent's memory until exec, so the cost of a start does not depend on the
 * size of the agent, and hardly on its number of open descriptors. The calling thread blocks until
 * exec: forever, if setup_path is on a dead network disk or the user keeps the child stopped. So
 * the loop never calls this for a managed user; it calls spawn_kill() when a start takes too long.
 * A spawner belongs to one thread; each thread may have its own. */
#ifndef AGENT_EXEC_SPAWN_H
#define AGENT_EXEC_SPAWN_H

#include <pthread.h>
#include <sys/resource.h>

#include "agent/identify/ident.h"
#include "agent/identify/user.h"
#include "base/text/err.h"

#define SPAWN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct spawner;

struct spawn_limit {
    const char *name; /* for texts: "nofile" */
    int resource;     /* RLIMIT_* */
    struct rlimit limit;
};

/* A start in progress, for threads other than the one in spawn(). */
struct spawn_progress {
    pthread_mutex_t lock;
    pid_t pid;                  /* of the child; 0: not cloned yet */
    int pidfd;                  /* -1: none, or passed on in the result */
    volatile int step;          /* current step of the child */
    volatile bool is_cancelled; /* spawn_kill() was called: a child cloned later must not run */
};

void spawn_progress_init(struct spawn_progress *p);
/* Sends SIGKILL to a child that has not reached exec; a child cloned later is killed, too, and
 * spawn() fails. */
void spawn_kill(struct spawn_progress *p);
pid_t spawn_progress_pid(const struct spawn_progress *p);        /* 0: not cloned yet */
const char *spawn_progress_text(const struct spawn_progress *p); /* "chdir", "exec", ... */

struct spawn_request {
    const char *command;    /* see command.h */
    const char *setup_path; /* absolute; "": "/" */
    const struct user *user;
    const char *const *env; /* additional "NAME=value" strings, NULL-terminated; may be NULL */
    int out_fd;             /* opened for appending; stays with the caller */
    int cgroup_fd;          /* cgroup v2 folder to create the child in; -1: that of the agent */
    const int *join; /* cgroup.procs files that the child writes itself to, as its first step */
    int n_join;
    int nice;                         /* 0: that of the agent */
    const struct spawn_limit *limits; /* in place of the agent's original limits */
    size_t n_limits;
    struct spawn_progress *progress; /* may be NULL */
};

struct spawn_result {
    struct ident id;
    int pidfd;      /* the caller closes it; see ident.h for kernels without pidfd */
    bool is_direct; /* true: the program itself; false: a shell that runs it */
};

/* Create it early, while free descriptor numbers are low, because a start copies the descriptors
 * below its two slots. SIGCHLD must not be ignored. Ignored realtime signals are reset here, once
 * for all children; other signals ignored now, and SIGPIPE, are reset in each child. */
int spawner_new(const char *boot_id, struct spawner **ret, struct err *err);
int spawner_copy(const struct spawner *from, struct spawner **ret, struct err *err); /* own slots */
void spawner_free(struct spawner *s); /* NULL is allowed */

/* Changes a limit of the agent itself (for example RLIMIT_NOFILE). It is the only way to do so:
 * children get the original value back without a query at each start. */
int spawner_own_limit(struct spawner *s, int resource, const struct rlimit *limit, struct err *err);

/* CODE_DENIED: the agent is neither root nor that user; ERR_INVALID: empty command; ERR_SYSTEM,
 * with the errno: a step failed ("chdir /x: No such file or directory"); errno 0: the child was
 * killed before it ran. */
int spawn(struct spawner *s, const struct spawn_request *r, struct spawn_result *ret,
          struct err *err);

#endif
