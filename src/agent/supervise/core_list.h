/* SPDX-License-Identifier: MIT */
/* core_list.h - the list of hosted processes, for a copy outside the journal, and the changes
 * that were made to that copy. */
#ifndef AGENT_SUPERVISE_CORE_LIST_H
#define AGENT_SUPERVISE_CORE_LIST_H

#include <stdint.h>

#include "model/proc.h"

struct core;

struct core_hosted {
    struct proc_meta meta; /* without labels */
    const struct proc_spec *spec;
    int64_t op, since_s; /* the operation that hosted it with this spec, and its time */
};

uint64_t core_list_changes(const struct core *c); /* a counter: it changes whenever the list does */
void core_each_hosted(const struct core *c, void (*fn)(void *arg, const struct core_hosted *h),
                      void *arg);

/* Between core_replay() and core_start().  core_host() hosts a process as operation 3 does, or
 * replaces its spec if it is hosted already.  core_unhost() ends hosting and leaves the process
 * running. */
void core_host(struct core *c, const struct core_hosted *h);
void core_unhost(struct core *c, const struct proc_meta *meta);
void core_tell_edited(struct core *c, const char *text); /* sends an event; after core_start() */

#endif
