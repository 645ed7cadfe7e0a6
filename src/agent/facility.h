/* SPDX-License-Identifier: MIT */
/* facility.h - what this kernel offers, found out once at the start, and what is done
 * without it.
 *
 * Each can be switched off (setting `without`), so that the way around it can be tested on
 * a kernel that has it, and be taken on one whose facility misbehaves. */
#ifndef AGENT_FACILITY_H
#define AGENT_FACILITY_H

#include <stdbool.h>
#include <stddef.h>

enum facility {
    HAS_PIDFD,         /* else: processes are looked at once a second */
    HAS_PIDFD_INFO,    /* else: how a process ended that is no child of ours is not known */
    HAS_CGROUP,        /* v2, writable: else session and descendants tell who belongs together */
    HAS_CGROUP_KILL,   /* else: every member is signalled, until none is left */
    HAS_CGROUP_CAPS,   /* cpu, memory, pids can be bounded, by v2 or v1: else who asks is refused */
    HAS_CHILDREN_FILE, /* /proc/PID/task/TID/children: else all of /proc is read */
    HAS_INOTIFY,       /* else: files are looked at from time to time */
    FACILITIES
};

struct facility_row {
    const char *name;    /* "pidfd" */
    const char *instead; /* what is done without it */
};
extern const struct facility_row facility_rows[FACILITIES];

enum { FACILITY_WHY_SIZE = 128 };

struct facilities {
    bool has[FACILITIES];
    char why[FACILITIES][FACILITY_WHY_SIZE]; /* not: the reason */
};

/* `without`: names with blanks or commas between; one that is unknown is ignored (the
 * settings have checked it).  From then on base/sys does without, too.  Those of cgroups are
 * only what was asked for: cgroups_open() finds out about them. */
void facilities_probe(struct facilities *f, const char *without);
const char *facilities_check(const char *without); /* NULL, or what is wrong */

/* It is not there after all; the first reason stays. */
void facility_lacks(struct facilities *f, enum facility which, const char *why);

#endif
