/* SPDX-License-Identifier: MIT */
/* oom.h - tells whether the kernel's OOM killer ended a process. The kernel counts its OOM kills
 * (oom_kill of /proc/vmstat, cgroups included), but names the victims only in its log, which is not
 * always readable. So the agent knows the number of recent OOM kills, and that a process was ended
 * by a SIGKILL that the agent did not send. That both are the same event is only possible: it may
 * have been an administrator's kill -9 within OOM_WINDOW_MS after an OOM kill. Each OOM kill is
 * assigned to one process at most. A process's own cgroup has its own counter (memory.events):
 * where it exists, it decides. */
#ifndef AGENT_CONFINE_OOM_H
#define AGENT_CONFINE_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/map.h"
#include "base/text/err.h"
#include "model/cause.h"

enum { OOM_WINDOW_MS = 20 * 1000 }; /* two ticks, because a killed process takes time to end */

struct oom {
    int64_t before, last; /* counter at the last tick but one, and at the last */
    struct map groups;    /* by name: counter of each cgroup at the last exit of its process */
};

/* Result of the cgroup's counter for the process that has just ended. */
enum oom_group { OOM_GROUP_UNKNOWN, OOM_GROUP_AS_BEFORE, OOM_GROUP_MORE };

int oom_kills(int64_t *ret, struct err *err); /* ERR_NOT_FOUND: the kernel has no counter */
bool oom_parse(const char *vmstat, int64_t *ret);
void oom_begin(struct oom *o, int64_t kills);
void oom_on_tick(struct oom *o, int64_t kills); /* called every OOM_WINDOW_MS / 2 */
void oom_done(struct oom *o);
bool oom_claim(struct oom *o, int64_t kills); /* a process was ended by SIGKILL: OOM? */

/* `folder` of its cgroup, which may not exist or have no counter. */
enum oom_group oom_look_at_group(struct oom *o, const char *name, const char *folder);

/* Called for a process that was ended by SIGKILL. */
enum proc_oom oom_judge(struct oom *o, enum oom_group group, int64_t kills);

#endif
