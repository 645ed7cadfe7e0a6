/* SPDX-License-Identifier: MIT */
/* ident.h - unique identity of a process.
 *
 * A pid alone is reused. A process is identified by its pid, its start tick and its boot id; none
 * of these ever changes, not even by exec. To act on it, ident_open() returns a pidfd, which refers
 * to this process even after it has ended and its pid is reused. The agent sends signals in no
 * other way. Without kernel support for pidfds (before 5.4) the descriptor is the process's folder
 * in /proc (ident_folder.h): all functions work with it, but a loop can not poll it. */
#ifndef AGENT_IDENTIFY_IDENT_H
#define AGENT_IDENTIFY_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/identify/procfs.h"
#include "base/text/err.h"

struct ident {
    int64_t pid, start_ticks;
    char boot_id[BOOT_ID_SIZE];
};

enum end_kind {
    END_NOT_YET,
    END_UNKNOWN, /* ended; exit status not available (or not yet: is_unreaped) */
    END_EXIT,
    END_SIGNAL,
};

struct end {
    enum end_kind kind;
    int code; /* exit code or signal number */
    bool has_core;
    bool is_unreaped; /* END_UNKNOWN: retry after its parent has reaped it */
};

bool ident_equal(const struct ident *a, const struct ident *b);

/* Identity of the process that has this pid now, with a pidfd that the caller closes. ERR_DENIED
 * for pid 1, the agent itself and threads, which the agent never acts on; ERR_NOT_FOUND if there is
 * no process or it has ended. */
int ident_of(int64_t pid, const char *boot_id, struct ident *ret, int *ret_pidfd, struct err *err);

/* A pidfd of exactly this process; ERR_NOT_FOUND if it is gone, even if its pid is reused. */
int ident_open(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err);

/* The same, but also accepts a child that has ended and is not reaped: its exit status is still
 * available. */
int ident_adopt(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err);

/* Whether the session with this number, which has members, is the one that `leader` (which may have
 * ended) created with setsid(). */
bool ident_made_session(const struct ident *leader, int64_t session);

/* ERR_NOT_FOUND if it has ended. */
int ident_signal(int pidfd, int number, struct err *err);
/* No error: it has ended, or may not be signalled. */
int ident_try_signal(const struct ident *id, int number, struct err *err);

/* Whether all of its threads have ended. */
int ident_check_ended(int pidfd, bool *ret, struct err *err);

/* Exit status; does not wait. Reaps a child, so its status is returned once. For other processes
 * the kernel (Linux 6.15) has the status after their parent has reaped them, when the pidfd reports
 * POLLHUP; before that the result is END_UNKNOWN with is_unreaped. Older kernels: END_UNKNOWN only.
 */
int ident_end(int pidfd, struct end *ret, struct err *err);

/* The same without reaping a child. ret_is_left: ident_end() still has to reap it, which takes some
 * time; until then its pid is not reused. */
int ident_look_at_end(int pidfd, struct end *ret, bool *ret_is_left, struct err *err);

/* Reaps ended children without a pidfd: a subreaper inherits any number of them. is_held(pid)
 * returns true for a child with a pidfd; that one is left for ident_end(), and hides further ones
 * until then, so this is called again after each ident_end(). ret_any: there were such children. */
int ident_reap_strays(bool (*is_held)(void *arg, pid_t pid), void *arg, bool *ret_any,
                      struct err *err);

#endif
