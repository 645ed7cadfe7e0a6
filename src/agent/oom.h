/* SPDX-License-Identifier: MIT */
/* oom.h - was it the kernel, out of memory, that ended a process?
 *
 * The kernel counts whom it ends for that (oom_kill of /proc/vmstat, cgroups included) and
 * says their names in its log alone, which is not ours to read everywhere.  So what is
 * certain is that so many were ended lately, and that a process was ended by a SIGKILL not
 * of ours; that one was the other is likely, no more: an administrator's kill -9 within
 * OOM_WINDOW_MS after a death of that kind is taken for it.  Each such death accounts for
 * one process at most. */
#ifndef AGENT_OOM_H
#define AGENT_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { OOM_WINDOW_MS = 20 * 1000 }; /* two ticks: the dying takes its time */

struct oom {
    int64_t before, last; /* the kernel's count at the last tick but one, and at the last */
};

int oom_kills(int64_t *ret, struct err *err); /* ERR_NOT_FOUND: this kernel does not count */
bool oom_parse(const char *vmstat, int64_t *ret);
void oom_begin(struct oom *o, int64_t kills);
void oom_on_tick(struct oom *o, int64_t kills); /* every OOM_WINDOW_MS / 2 */
bool oom_claim(struct oom *o, int64_t kills);   /* one was ended by SIGKILL: so? */

#endif
