/* SPDX-License-Identifier: MIT */
/* agent_family.h - the family of a process (family.h): whether any member is left, which, and
 * signals to them.
 *
 * families_has() is called on the loop, after each end of a process: with a cgroup of its own it
 * reads one file of the kernel, otherwise it asks for members of the process groups that are known.
 * A worker does the rest, because it reads memory of the processes. */
#ifndef AGENT_SHELL_AGENT_FAMILY_H
#define AGENT_SHELL_AGENT_FAMILY_H

#include "agent/shell/agent_effect.h"
#include "agent/supervise/core_effects.h"

struct agent_base;
struct disk;
struct families;
struct list;
struct listener;
struct owner_ask;
struct probes;
struct watches;

/* All of it must live longer. */
struct family_parts {
    struct agent_base *agent;
    struct effects *effects;
    struct disk *disk;
    struct probes *probes;
    struct watches *watches;
};

struct families *families_new(const struct family_parts *parts);
void families_free(struct families *f); /* no worker has a job of it; NULL is allowed */

/* The setting scope_by_name: struct proc_word, copied. NULL: none. */
void families_set(struct families *f, const struct list *names);

/* Whether only its main process is ever ended. */
bool families_is_alone(const struct families *f, const struct proc_spec *spec);

/* Effects of the core: see core_effects.h. */
bool families_has(struct families *f, const struct core_family *family);
void families_add(struct families *f, const struct core_family *family); /* -> core_on_family() */
/* The answers for this operation are not awaited any more: no member gets a signal from now on. */
void families_drop(struct families *f, uint64_t op);
void families_add_siblings(struct families *f,
                           const struct core_family *family); /* -> core_on_siblings() */

/* Whose listener is at this address ("": 127.0.0.1 or ::1)?  fn() is called once, never from within
 * the call; all arguments are copied.  Of the family its spec is not used. */
typedef void owner_fn(void *arg, const struct listener *found);
struct owner_ask *families_ask_owner(struct families *f, const struct core_family *family,
                                     const struct proc_identity *identity, const char *host,
                                     int64_t port, owner_fn *fn, void *arg);
void owner_forget(struct owner_ask *ask); /* fn() is not called any more; NULL is allowed */

enum probe_fate family_carry_out(struct effect *effect);

#endif
