/* SPDX-License-Identifier: MIT */
/* facility.h - kernel features, detected once at start, and the fallback for each. Each can be
 * disabled (setting `without`), to test the fallback on a kernel that has the feature, or to avoid
 * a feature that misbehaves. */
#ifndef AGENT_CONFINE_FACILITY_H
#define AGENT_CONFINE_FACILITY_H

#include <stdbool.h>
#include <stddef.h>

enum facility {
    HAS_PIDFD,         /* fallback: processes are polled once a second */
    HAS_PIDFD_INFO,    /* fallback: the exit status of a process that is not a child is unknown */
    HAS_CGROUP,        /* v2, writable; fallback: members are found by session and descent */
    HAS_CGROUP_KILL,   /* fallback: every member is signalled until none is left */
    HAS_CGROUP_CAPS,   /* limits of cpu, memory, pids, by v2 or v1; fallback: caps are refused */
    HAS_CHILDREN_FILE, /* /proc/PID/task/TID/children; fallback: all of /proc is read */
    HAS_INOTIFY,       /* fallback: files are polled */
    HAS_PASSRIGHTS,    /* SO_PASSRIGHTS; fallback: a thread closes descriptors sent with READY=1 */
    FACILITIES
};

struct facility_row {
    const char *name;    /* "pidfd" */
    const char *instead; /* description of the fallback, a message */
};
extern const struct facility_row facility_rows[FACILITIES];

enum { FACILITY_WHY_SIZE = 400 };

struct facilities {
    bool has[FACILITIES];
    char why[FACILITIES][FACILITY_WHY_SIZE]; /* reason if missing, a message */
};

/* `without`: names separated by blanks or commas; unknown names are ignored (the settings have been
 * validated). base/sys does not use disabled features either. For cgroups only `without` is applied
 * here: cgroups_open() detects the rest. */
void facilities_probe(struct facilities *f, const char *without);
const char *facilities_check(const char *without); /* NULL: valid; otherwise the error */

/* Marks a facility as missing; the first reason is kept. */
void facility_lacks(struct facilities *f, enum facility which, const char *why);

#endif
