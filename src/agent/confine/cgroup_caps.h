/* SPDX-License-Identifier: MIT */
/* cgroup_caps.h - resource limits enforced by the kernel. v2 sets them in the group itself, in
 * which the process is created. In v1 each controller has its own folders, which the child enters
 * before exec: the kernel takes some milliseconds for that, but the program never runs without
 * limits.
 *
 * cgroup.h decides which process has a group and owns the struct; it gives the folder of its groups
 * to each call, because it may have created that again. */
#ifndef AGENT_CONFINE_CGROUP_CAPS_H
#define AGENT_CONFINE_CGROUP_CAPS_H

#include "agent/confine/cgroup_files.h"
#include "agent/confine/facility.h"
#include "base/text/err.h"
#include "model/extra.h"

#define CGROUP_LEAF "holdfast-agent" /* leaf for the agent itself */

enum cap { CAP_CPU, CAP_MEM, CAP_PIDS, CAPS };

/* How a cap is set: not available, in the v2 group, in a v1 group. */
enum cap_way { CAP_NONE, CAP_V2, CAP_V1 };

struct cap_place {
    enum cap_way way;
    char *folder; /* CAP_V1: of the agent's cgroup */
    int groups;   /* CAP_V1: parent folder of the groups; -1: not opened yet */
    char why[FACILITY_WHY_SIZE];
};

struct caps {
    struct cap_place places[CAPS];
    bool has_subtree; /* v2: a controller is enabled for the groups */
};

bool caps_are_set(const struct proc_caps *caps);

/* Finds the controllers, and marks what is missing in *f. Removes empty v1 groups of a previous
 * agent; `left` gets the names of the others. `mounts` and `ours`: see cgroup_place.h. */
void caps_find(struct caps *c, const struct cgroup_parent *at, const char *mounts, const char *ours,
               bool is_off, struct facilities *f, cgroup_left_fn *left, void *arg);

/* On the loop, before a start with these caps: enables the controllers. */
int caps_prepare(struct caps *c, const struct cgroup_parent *at, const struct proc_caps *caps,
                 struct err *err);

/* Any thread. `group`: of v2, -1: none. Appends the files that the child itself writes "0" to, one
 * per cap at most; the caller closes them, even on failure. */
int caps_set(const struct caps *c, const char *name, int group, bool is_new,
             const struct proc_caps *caps, int *join, int *n_join, struct err *err);

bool caps_remove(const struct caps *c, const char *name); /* false: it has members */
bool caps_remove_folders(struct caps *c, const struct cgroup_parent *at); /* false: in use */
void caps_done(struct caps *c, const struct cgroup_parent *at);

#endif
