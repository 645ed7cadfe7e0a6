/* SPDX-License-Identifier: MIT */
/* cgroup_place.h - finds the agent's own cgroup in the text of mountinfo and cgroup files. Opens no
 * files. */
#ifndef AGENT_CONFINE_CGROUP_PLACE_H
#define AGENT_CONFINE_CGROUP_PLACE_H

#include <stdbool.h>

enum { CGROUP_PATH_SIZE = 4096 };

struct cgroup_place {
    char folder[CGROUP_PATH_SIZE]; /* path in the file system */
    char inside[CGROUP_PATH_SIZE]; /* as in /proc/PID/cgroup: "/a/b"; "": the root */
};

/* `mounts` is /proc/self/mountinfo, `ours` /proc/self/cgroup. `controller` "": the v2 hierarchy;
 * otherwise the v1 hierarchy of that controller ("memory"). False: there is none, or it is not
 * accessible (a container that sees another part of it). */
bool cgroup_find_place(const char *mounts, const char *ours, const char *controller,
                       struct cgroup_place *ret);

#endif
