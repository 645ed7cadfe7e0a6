/* SPDX-License-Identifier: MIT */
/* cgroup_in.h - what cgroup.c and cgroup_caps.c share.  Not for others. */
#ifndef AGENT_CGROUP_IN_H
#define AGENT_CGROUP_IN_H

#include "agent/cgroup.h"
#include "agent/cgroup_place.h"
#include "base/map.h"

#define CGROUP_LEAF "holdfast-agent" /* where the agent itself goes */

enum cap { CAP_CPU, CAP_MEM, CAP_PIDS, CAPS };

/* How one of the caps is set: nowhere, in the groups of version 2, in others of version 1. */
enum cap_way { CAP_NONE, CAP_V2, CAP_V1 };

struct cap_place {
    enum cap_way way;
    char *folder; /* CAP_V1: of our cgroup */
    int groups;   /* CAP_V1: where groups are made; -1: not yet */
    char why[128];
};

struct cgroups {
    enum cgroup_use use;
    char *name;     /* of our folder, everywhere */
    char *folder;   /* of our cgroup in version 2; NULL: none */
    char *inside;   /* of our groups, as /proc/PID/cgroup has it */
    int groups;     /* where they are made; -1: nowhere */
    bool is_born;   /* a process can be born in one; else it goes there itself */
    bool is_sticky; /* who is born in a group that was once ended is ended, too (seen on Linux 6.18)
                     */
    bool has_kill, has_subtree;
    bool is_used; /* a group has been made, or was there */
    struct cap_place caps[CAPS];
    struct map ended; /* names, of their own */
};

/* Writes all of it with one call, as the kernel wants it. */
int cgroup_write(int dir, const char *file, const char *text);

/* -1 with errno; one that is there already will do. */
int cgroup_make(int dir, const char *name, bool *ret_is_new);
int cgroup_open_folder(const char *path); /* -1 with errno */
bool cgroup_sweep(int groups);            /* those with nobody in them go; true: some stay */

/* The folder of our groups is there from now on; -1 with errno. */
int cgroup_use_groups(struct cgroups *c);

/* cgroup_caps.c */
void caps_find(struct cgroups *c, const char *mounts, const char *ours, struct facilities *f);
int caps_set(const struct cgroups *c, const char *name, int group, bool is_new,
             const struct proc_caps *caps, struct cgroup_way *way, struct err *err);
void caps_remove(const struct cgroups *c, const char *name);
void caps_close(struct cgroups *c);

#endif
