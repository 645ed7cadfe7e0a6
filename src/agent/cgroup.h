/* SPDX-License-Identifier: MIT */
/* cgroup.h - a group of the kernel's for a process, so that all its members are known, can
 * be ended together, and be bounded.
 *
 * The groups of this agent stand in one folder, named for its data folder, below the cgroup
 * that the agent itself is in: on version 2 for members and for ending them, and for caps
 * with the controllers that are to be had there; those that are not (a host with version 1,
 * or both) in a folder of the same name in version 1.  Names are made by outlog_name(),
 * never taken from outside as they are.
 *
 * A group is made when its process is started, and removed when nobody is in it.  Who was
 * not started by us is never moved.  On version 2 a cgroup with controllers for those below
 * it may have no processes of its own, so with the first caps the agent moves to
 * `holdfast-agent` beside its groups, and looks for them there ever after; but not out of
 * the cgroup of a systemd service, which could not be started again then: its unit says
 * DelegateSubgroup=holdfast-agent, or there are no caps. */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/facility.h"
#include "base/arena.h"
#include "base/err.h"
#include "model/extra.h"

/* The processes that get a group. */
enum cgroup_use { CGROUPS_WHEN_NEEDED, CGROUPS_ALL, CGROUPS_OFF };

struct cgroups;

/* Never fails: what can not be done is in *f, with the reason.  Whatever it may not use of
 * HAS_CGROUP, HAS_CGROUP_KILL and HAS_CGROUP_CAPS is false in *f before.  `mounts` and `ours`
 * as cgroup_place.h has them; NULL: read them.  Empty groups that an agent before us left
 * are removed. */
struct cgroups *cgroups_open(const char *data_dir, enum cgroup_use use, const char *mounts,
                             const char *ours, struct facilities *f);
void cgroups_close(struct cgroups *c); /* groups with somebody in them stay; NULL is fine */

/* The way into a group: descriptors for spawn.h, closed by cgroup_leave(). */
enum { CGROUP_JOINS = 4 };
struct cgroup_way {
    int born;               /* a folder to be born in; -1: none */
    int join[CGROUP_JOINS]; /* files that the child writes "0" to, itself */
    int n_join;
};

bool cgroup_is_wanted(const struct cgroups *c, const struct proc_caps *caps);
bool caps_are_set(const struct proc_caps *caps);

/* Before a start with these caps, on the loop's thread: makes ready what they need.
 * CODE_SYSTEM, and which can not be had, why. */
int cgroups_prepare(struct cgroups *c, const struct proc_caps *caps, struct err *err);

/* Makes the group if need be and sets its caps; of any thread. */
int cgroup_enter(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                 struct cgroup_way *ret, struct err *err);
void cgroup_leave(struct cgroup_way *way);

/* As find.h wants it: "/a/b"; NULL: there are no groups. */
const char *cgroup_path(const struct cgroups *c, const char *name, struct arena *a);
/* Its folder in the file system, of version 2; whether there may be one. */
bool cgroup_folder(const struct cgroups *c, const char *name, char *to, size_t size);
bool cgroup_has(const struct cgroups *c, const char *name, int64_t pid);

/* Pids, free() them; none if there is no such group. */
int cgroup_members(const struct cgroups *c, const char *name, int64_t **ret, size_t *ret_n,
                   struct err *err);

/* SIGKILL to all of it.  No such group is nothing to do. */
int cgroup_kill(const struct cgroups *c, const char *name, const char *boot_id, struct err *err);

/* Whether there is any, so that it is worth to look. */
bool cgroups_are_used(const struct cgroups *c);

/* A process with this group has ended; cgroups_tidy() removes the groups of those, if they
 * are empty.  Nobody must be about to enter one then. */
void cgroup_ended(struct cgroups *c, const char *name);
void cgroups_tidy(struct cgroups *c);

#endif
