/* SPDX-License-Identifier: MIT */
/* tree.h - a process and all that descends from it.
 *
 * With a session, also those whose parents ended and that are our children now or
 * init's: who is in the session that `root` made is its descendant for sure.  That
 * costs a look at every process of the host; without, the cost is the tree's own. */
#ifndef AGENT_TREE_H
#define AGENT_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/ident.h"
#include "base/err.h"

enum { TREE_MAX = 32768 }; /* members; more are ERR_LIMIT */

/* All zeroes is an empty tree. */
struct tree {
    struct ident *members; /* parents before their children */
    size_t n;
};

/* A root that has ended has no children; it is not among the members then. */
int tree_read(const struct ident *root, bool with_session, struct tree *ret, struct err *err);
void tree_done(struct tree *t); /* empty and usable again */

/* SIGKILL to all of it: first each is stopped, parents first, until no new ones are
 * found, so that one that forks without end is caught as a whole.  We ourselves and
 * pid 1 are never among them.  *ret_n: how many were killed.  Those that we may not
 * signal are left, and make it ERR_DENIED when all others are dead. */
int tree_kill(const struct ident *root, bool with_session, size_t *ret_n, struct err *err);

#endif
