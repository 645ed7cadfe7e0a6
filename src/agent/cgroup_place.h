/* SPDX-License-Identifier: MIT */
/* cgroup_place.h - where our own cgroups are, out of what the kernel says of mounts and of
 * us.  Text alone: nothing is opened. */
#ifndef AGENT_CGROUP_PLACE_H
#define AGENT_CGROUP_PLACE_H

#include <stdbool.h>

enum { CGROUP_PATH_SIZE = 4096 };

struct cgroup_place {
    char folder[CGROUP_PATH_SIZE]; /* in the file system */
    char inside[CGROUP_PATH_SIZE]; /* as /proc/PID/cgroup has it: "/a/b"; "" at the top */
};

/* `mounts` is /proc/self/mountinfo, `ours` /proc/self/cgroup.  `controller` "": the one
 * hierarchy of version 2; else that of version 1 with it ("memory").  False: there is none,
 * or it can not be reached from here (a container that sees another part of it). */
bool cgroup_find_place(const char *mounts, const char *ours, const char *controller,
                       struct cgroup_place *ret);

#endif
