/* SPDX-License-Identifier: MIT */
/* cgroup_files.h - folders and files of the cgroup file system, version 1 and 2: the system calls
 * that cgroup.h and cgroup_caps.h are made of. A folder is a descriptor that the caller closes. */
#ifndef AGENT_CONFINE_CGROUP_FILES_H
#define AGENT_CONFINE_CGROUP_FILES_H

#include <stdbool.h>

/* The folder that has the groups of this agent. Owned by cgroup.c, which alone changes it. */
struct cgroup_parent {
    char *name;   /* of this folder in every hierarchy */
    char *folder; /* the agent's v2 cgroup, in which it is; NULL: none */
    int groups;   /* its v2 descriptor; -1: none. Replaced when the folder is created again */
};

/* Writes the text with one system call, as the kernel requires; -1 with errno. */
int cgroup_write(int dir, const char *file, const char *text);

/* -1 with errno; an existing group is no error. */
int cgroup_make(int dir, const char *name, bool *ret_is_new);
int cgroup_open_folder(const char *path); /* -1 with errno */

bool cgroup_has_groups(int dir); /* whether there are groups below it */

/* Removes a group and those below it; false: it is not empty and was not removed. */
bool cgroup_remove(int dir, const char *name);

/* Removes empty groups; true: some are left. `left`, if not NULL, gets their names. */
typedef void cgroup_left_fn(void *arg, const char *name);
bool cgroup_sweep(int groups, cgroup_left_fn *left, void *arg);

#endif
