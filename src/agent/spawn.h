/* SPDX-License-Identifier: MIT */
/* spawn.h - starts a command as a user would have it, and nothing of ours with it.
 *
 * The child gets: a session of its own; setup_path as working directory; the user's
 * ids and all groups; standard input from /dev/null, output and errors to out_fd;
 * no other descriptor; HOME, USER, LOGNAME, SHELL of the user, PATH (SPAWN_PATH),
 * LANG (C.UTF-8) and the extra pairs, which win; the resource limits that the
 * agent was started with, or others that are asked for; umask 022; every signal at its default and
 * not blocked; oom_score_adj 0 (an ordinary user may be refused that, and goes on).
 *
 * What can fail, fails before the program runs: either there is no process and *err
 * says which step failed, or there is one and its identity and pidfd are known.  A
 * clone that is refused (EAGAIN, ENOMEM) is such a failure; it is never tried again
 * here.
 *
 * The child shares our memory until it execs, so a start costs the same whatever
 * the size of the agent, and almost the same however many descriptors it has open.
 * The calling thread waits that long: for a setup_path on a dead network disk, for
 * ever.  A spawner belongs to one thread; several threads may have one each. */
#ifndef AGENT_SPAWN_H
#define AGENT_SPAWN_H

#include <sys/resource.h>

#include "agent/ident.h"
#include "agent/user.h"
#include "base/err.h"

#define SPAWN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct spawner;

struct spawn_limit {
    const char *name; /* for texts: "nofile" */
    int resource;     /* RLIMIT_* */
    struct rlimit limit;
};

struct spawn_request {
    const char *command;    /* as command.h understands it */
    const char *setup_path; /* absolute */
    const struct user *user;
    const char *const *env; /* further "NAME=value", ends with NULL; may be NULL */
    int out_fd;             /* appended to; not taken over */
    int cgroup_fd;          /* a folder of cgroup v2 to be born in; -1: ours */
    const int *join;        /* files cgroup.procs that it goes to by itself, before all else */
    int n_join;
    int nice;                         /* 0: as ours */
    const struct spawn_limit *limits; /* instead of those the agent was started with */
    size_t n_limits;
};

struct spawn_result {
    struct ident id;
    int pidfd;      /* the caller's to close; as ident.h has it where there is none */
    bool is_direct; /* the program itself; false: a shell that runs it */
};

/* Make it early, while the numbers of free descriptors are low, for a start copies
 * those below its two.  SIGCHLD must not be ignored.  Realtime signals that somebody
 * made us ignore are set to their default here, once for all children; of the others those that
 * are ignored now, and SIGPIPE, are reset in each child. */
int spawner_new(const char *boot_id, struct spawner **ret, struct err *err);
int spawner_copy(const struct spawner *from, struct spawner **ret, struct err *err); /* own slots */
void spawner_free(struct spawner *s); /* NULL is fine */

/* Changes a limit of the agent's own (RLIMIT_NOFILE, say); nothing else does, so that
 * children get back what was changed, and nothing need be asked at each start. */
int spawner_own_limit(struct spawner *s, int resource, const struct rlimit *limit, struct err *err);

/* Codes: CODE_DENIED if we are not root and not that user; ERR_INVALID for an empty
 * command; ERR_SYSTEM, with the errno, for a step that failed ("chdir /x: No such
 * file or directory"). */
int spawn(struct spawner *s, const struct spawn_request *r, struct spawn_result *ret,
          struct err *err);

#endif
