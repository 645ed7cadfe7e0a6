/* SPDX-License-Identifier: MIT */
/* ident.h - one process and no other.
 *
 * A pid alone names nobody for long.  A process is its pid, the tick it started at
 * and the boot it started in; none of those ever changes, exec included.  To act on
 * it, ident_open() turns that into a pidfd, which stays with the process even after
 * it is gone and its pid belongs to another.  Nothing in the agent sends a signal
 * in any other way.  Where the kernel has no pidfd (before 5.4) the descriptor is the
 * process's folder in /proc (ident_folder.h): all of this works with it, but no loop can
 * wait for it. */
#ifndef AGENT_IDENT_H
#define AGENT_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/procfs.h"
#include "base/err.h"

struct ident {
    int64_t pid, start_ticks;
    char boot_id[BOOT_ID_SIZE];
};

enum end_kind {
    END_NOT_YET,
    END_UNKNOWN, /* ended, and the kernel does not say how (or not yet: is_unreaped) */
    END_EXIT,
    END_SIGNAL,
};

struct end {
    enum end_kind kind;
    int code; /* exit code, or signal */
    bool has_core;
    bool is_unreaped; /* END_UNKNOWN: it can be asked again when its parent has reaped it */
};

bool ident_equal(const struct ident *a, const struct ident *b);

/* Who has this pid now, with a pidfd that is the caller's to close.  Pid 1, we
 * ourselves and threads are refused with ERR_DENIED, since nobody may ask us to
 * act on those; ERR_NOT_FOUND if there is none, or it has ended. */
int ident_of(int64_t pid, const char *boot_id, struct ident *ret, int *ret_pidfd, struct err *err);

/* A pidfd of this very process; ERR_NOT_FOUND if it is gone, whoever has its pid. */
int ident_open(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err);

/* The same, but a child of ours that has ended, and that nobody has reaped, will do: how it
 * ended is still to be had. */
int ident_adopt(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err);

/* Whether a session of this number, which somebody is in, is the one that `leader` (which
 * may have ended) made with setsid(). */
bool ident_made_session(const struct ident *leader, int64_t session);

/* ERR_NOT_FOUND if it has ended. */
int ident_signal(int pidfd, int number, struct err *err);

/* Whether all of its threads have ended. */
int ident_has_ended(int pidfd, bool *ret, struct err *err);

/* How it ended; does not wait.  A child of ours is reaped by this, so its end is
 * told once.  Of others the kernel tells (Linux 6.15) after their parent has reaped
 * them, when the pidfd reports POLLHUP; before that they are END_UNKNOWN, is_unreaped.
 * A kernel that can not be asked says END_UNKNOWN alone. */
int ident_end(int pidfd, struct end *ret, struct err *err);

/* The same, but a child is not reaped: ret_is_left says that ident_end() is still to do
 * it, which takes the kernel a while, and until when its pid is given to nobody else. */
int ident_look_at_end(int pidfd, struct end *ret, bool *ret_is_left, struct err *err);

/* Reaps children that ended and that nobody holds a pidfd of: a subreaper inherits
 * any number of them.  is_held(pid) says whether somebody does; such a one is left
 * for ident_end(), and until it has been there none behind it is seen, so this is
 * called again after each ident_end().  ret_any: there were such children. */
int ident_reap_strays(bool (*is_held)(void *arg, pid_t pid), void *arg, bool *ret_any,
                      struct err *err);

#endif
