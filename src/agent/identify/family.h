/* SPDX-License-Identifier: MIT */
/* family.h - the family of a process: which processes belong to its main process.
 *
 * Family: the command that started the main process, while it runs; descendants of both; sessions
 * that the main process leads; members of the cgroup that only this process uses. The main process
 * itself may have ended; it is never in the result.
 *
 * Not family, with all that descends from it: siblings, which the start command started besides
 * the main process; the main process of any other spec; kernel threads; the agent. Commands of the
 * agent (stop, kill, version, health) are its children in sessions of their own, outside of the
 * cgroup, so nothing ties them to a process.
 *
 * An orphan is a process whose parent is not in the family: its parent has ended. It belongs to the
 * family if the cgroup, a session or a group ties it to this main process alone. If siblings were
 * recorded, it may be a child of a sibling as well, unless its session was made by the main
 * process, or it was seen to descend from that; then it is doubtful: named, but not signalled.
 *
 * A process that no agent started (start.pid 0) has only its descendants, and its session if it
 * leads that.
 *
 * Usable on any thread. It reads names of processes from their memory, so it may block as long as
 * their user likes (workers.h). */
#ifndef AGENT_IDENTIFY_FAMILY_H
#define AGENT_IDENTIFY_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/identify/ident.h"
#include "base/mem/arena.h"
#include "base/text/err.h"
#include "model/extra.h"

enum {
    FAMILY_NAMED_MAX = 10,    /* members in a text; more are counted */
    FAMILY_SIBLINGS_MAX = 200 /* more are recorded as "*" */
};

/* The cgroup of the process, as its folder is reached by the caller. */
struct family_cgroup {
    int (*list)(void *arg, int64_t **ret, size_t *ret_n, struct err *err); /* pids, to be freed */
    int (*kill)(void *arg, struct err *err); /* SIGKILL to all at once; NULL: not possible */
    void *arg;
};

struct family_want {
    const char *boot_id;
    struct ident main, start;           /* pid 0: none */
    const struct family_cgroup *cgroup; /* NULL: it has none of its own */
    const char *siblings;               /* as from family_siblings(); "": none were recorded */
    enum proc_scope scope;              /* SCOPE_DEFAULT: SCOPE_FAMILY */
    const char *proc_name;

    /* What is remembered of the main process; 0: unknown. */
    int64_t session, group;
    /* When it ended, in the unit of procfs_stat.start_ticks; INT64_MAX: it lives; 0: unknown. The
     * number of a session or group may be used again afterwards, so a process that began later does
     * not belong to the family by it. Where the time is unknown, only a process with the name of
     * the main process does. */
    int64_t ended_ticks;
    uint64_t program;       /* program_of() */
    const char *kin;        /* what descended from it: family.kin; "" or NULL: nothing */
    bool is_session_shared; /* with the main process of another spec, which may have ended, too */

    /* The main process has ended by itself: a member that leads a session of its own, and runs
     * another program, is not signalled, and neither is what descends from it. */
    bool has_crashed;

    /* Whether it is the main process of another spec; may be NULL. */
    bool (*is_others)(void *arg, const struct ident *id);
    /* Nothing gets a signal any more; may be NULL.  Asked before each signal, so it is to be true
     * before a process begins that must get none. */
    bool (*is_dropped)(void *arg);
    void *arg;
};

struct family {
    size_t n;           /* members to be ended */
    bool may_be_main;   /* one of these has the name of the process */
    const char *names;  /* of these: "nginx (12), nginx (13)"; "": none */
    const char *others; /* of the doubtful ones, and of those left alone after a crash */
    const char *kin;    /* if siblings were recorded: what descends from the living main process */
};

/* Finds the family, and sends the signal to its members if `number` is not 0. A SIGKILL ends all
 * of them, however fast they fork: each is stopped first, until no new one is found; then it waits
 * a moment until they have ended. The result has those that the signal was sent to. A process that
 * may not be signalled is skipped. Texts are in the arena. */
int family_find(const struct family_want *w, int number, struct arena *a, struct family *ret,
                struct err *err);

/* What else the start command has started: "PID:TICKS PID:TICKS"; "": nothing; "*": too many. Only
 * processes tied to the start by cgroup, session or group, that do not descend from the main
 * process. The start command and what led from it to the main process are none. */
int family_siblings(const struct family_want *w, struct arena *a, const char **ret,
                    const char **ret_kin, struct err *err);

/* Pids of the main process and of all that may belong to it: members, those that are doubtful, and
 * siblings. The scope does not matter. In the arena. */
int family_list(const struct family_want *w, struct arena *a, int64_t **ret, size_t *ret_n,
                struct err *err);

#endif
