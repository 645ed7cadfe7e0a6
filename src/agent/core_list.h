/* SPDX-License-Identifier: MIT */
/* core_list.h - the list of hosted processes, for who writes it down elsewhere, and for
 * what somebody else has made of it. */
#ifndef AGENT_CORE_LIST_H
#define AGENT_CORE_LIST_H

#include <stdint.h>

#include "model/proc.h"

struct core;

struct core_hosted {
    struct proc_meta meta; /* without labels */
    const struct proc_spec *spec;
    int64_t op, since_s; /* what hosted it with this spec, and when */
};

uint64_t core_list_changes(const struct core *c); /* so far: another number, another list */
void core_each_hosted(const struct core *c, void (*fn)(void *arg, const struct core_hosted *h),
                      void *arg);

/* Between core_replay() and core_start(): what is not there yet is hosted, as operation 3
 * does it, or has this spec now; or it is no longer hosted, and left alone. */
void core_host(struct core *c, const struct core_hosted *h);
void core_unhost(struct core *c, const struct proc_meta *meta);
void core_tell_edited(struct core *c, const char *text); /* an event, after core_start() */

#endif
