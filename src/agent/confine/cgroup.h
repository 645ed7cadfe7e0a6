/* SPDX-License-Identifier: MIT */
/* cgroup.h - a cgroup per process, to know all its members, to kill them together and to limit
 * their resources.
 *
 * All groups of this agent are in one folder, named after its data folder, below the agent's own
 * cgroup. cgroup v2 is used for membership and killing, and for caps if the controllers are
 * available there. Controllers that are not (a host with v1, or both) are used in a v1 folder of
 * the same name. Names are made by outlog_name(), never taken unchanged from outside. A group is
 * created when its process is started, and removed some seconds after it has become empty, so that
 * a restart finds it. Processes that the agent did not start are never moved.
 *
 * On some kernels a process that is created in a group is killed if the group was ever killed (seen
 * on Linux 6.18). So such a group is created again before it is used.
 *
 * In v2 a cgroup that enables controllers for its children can not have processes of its own. So
 * with the first caps the agent moves to `holdfast-agent` beside its groups, and later agents look
 * for the groups from there. It does not leave the cgroup of a systemd service, because that
 * service could not be restarted: its unit needs DelegateSubgroup=holdfast-agent, otherwise there
 * are no caps. */
#ifndef AGENT_CONFINE_CGROUP_H
#define AGENT_CONFINE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/confine/facility.h"
#include "base/mem/arena.h"
#include "base/text/err.h"
#include "model/extra.h"

/* Which processes get a group. */
enum cgroup_use { CGROUPS_WHEN_NEEDED, CGROUPS_ALL, CGROUPS_OFF };

struct cgroups;

/* Never fails: missing facilities are marked in *f, with the reason. Facilities that must not be
 * used (HAS_CGROUP, HAS_CGROUP_KILL, HAS_CGROUP_CAPS) are false in *f before the call. `mounts` and
 * `ours`: see cgroup_place.h; NULL: read them. Removes empty groups of a previous agent. */
struct cgroups *cgroups_open(const char *data_dir, enum cgroup_use use, const char *mounts,
                             const char *ours, struct facilities *f);
void cgroups_close(struct cgroups *c); /* groups with members stay; NULL is allowed */

/* Descriptors by which spawn.h puts a child into a group; closed by cgroup_leave(). */
enum { CGROUP_JOINS = 4 };
struct cgroup_way {
    int born;               /* folder to create the child in; -1: none */
    int join[CGROUP_JOINS]; /* files that the child itself writes "0" to */
    int n_join;
    bool may_be_dead; /* spawn() may fail because another program has killed the group */
};

bool cgroup_is_wanted(const struct cgroups *c, const struct proc_caps *caps);

/* Whether a process can have a group of version 2, whatever the setting `cgroups` says of others;
 * if not, facilities.why[HAS_CGROUP] has the reason. */
bool cgroups_are_possible(const struct cgroups *c);
int cgroups_use(struct cgroups *c,
                struct err *err); /* before a start that needs one, on the loop */

/* Called before a start with these caps, on the loop: prepares the controllers. CODE_SYSTEM: the
 * text says which one is not available, and why. */
int cgroups_prepare(struct cgroups *c, const struct proc_caps *caps, struct err *err);

/* Creates the group if needed and sets its caps; any thread. */
int cgroup_enter(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                 struct cgroup_way *ret, struct err *err);
/* After spawn() has failed with may_be_dead set: creates the group anew, or lets the child enter it
 * by itself. */
int cgroup_enter_dead(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                      struct cgroup_way *ret, struct err *err);
void cgroup_leave(struct cgroup_way *way);

/* In the form of find.h: "/a/b"; NULL: there are no groups. */
const char *cgroup_path(const struct cgroups *c, const char *name, struct arena *a);
/* Its v2 folder in the file system; false: there is none. */
bool cgroup_folder(const struct cgroups *c, const char *name, char *to, size_t size);
bool cgroup_has(const struct cgroups *c, const char *name, int64_t pid);

/* Pids, to be freed by the caller; empty if there is no such group. */
int cgroup_members(const struct cgroups *c, const char *name, int64_t **ret, size_t *ret_n,
                   struct err *err);

/* By the path of its folder, with the groups that its processes have made in it; any thread. */
int cgroup_list(const char *folder, int64_t **ret, size_t *ret_n, struct err *err);
int cgroup_end(const char *folder, struct err *err); /* cgroup.kill; then cgroup_note_killed() */
void cgroup_note_killed(const struct cgroups *c, const char *name); /* any thread */
bool cgroup_has_kill(const struct cgroups *c);

/* Whether the group exists, and has members that have not ended. */
struct cgroup_state {
    bool exists, is_populated;
};
struct cgroup_state cgroup_look(const struct cgroups *c, const char *name);

/* Sends SIGKILL to all members. A missing group is no error. */
int cgroup_kill(const struct cgroups *c, const char *name, const char *boot_id, struct err *err);

/* Whether any group exists. */
bool cgroups_are_used(const struct cgroups *c);

/* A process with this group has ended, or could not be started. cgroups_tidy() removes such groups
 * when they are empty, and their folder with the last one. No process may be about to enter a group
 * during that call. */
void cgroup_ended(struct cgroups *c, const char *name);
void cgroup_entered(struct cgroups *c, const char *name); /* a process has been started in it */
void cgroups_tidy(struct cgroups *c);

#endif
