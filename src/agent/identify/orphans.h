/* SPDX-License-Identifier: MIT */
/* orphans.h - orphans that may have belonged to a main process that has ended: for a person to
 * look at, when its next start fails.
 *
 * Without a cgroup nothing ties an orphan to its main process that has left the session and the
 * group. It may still hold a port, or memory, that the next start needs. Named is an orphan (its
 * parent is pid 1 or the agent) that runs the same program file with the same real uid, and that is
 * not the main process of a spec, nor in the session of one. None is signalled.
 *
 * Reads one link of every process on the host. Any thread. */
#ifndef AGENT_IDENTIFY_ORPHANS_H
#define AGENT_IDENTIFY_ORPHANS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/identify/ident.h"
#include "base/mem/arena.h"
#include "base/text/err.h"

enum { ORPHANS_NAMED_MAX = 10 }; /* in a text; more are counted */

struct orphans_want {
    const char *boot_id;
    uint64_t program; /* program_of() of the main process */
    uid_t uid;
    bool (*is_others)(void *arg, const struct ident *id); /* a main process; may be NULL */
    void *arg;
};

/* "postgres (12), postgres (13)"; "": none. The text is in the arena. */
int orphans_name(const struct orphans_want *w, struct arena *a, const char **ret, struct err *err);

#endif
