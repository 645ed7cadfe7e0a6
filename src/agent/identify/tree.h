/* SPDX-License-Identifier: MIT */
/* tree.h - a process and all its descendants. With with_session also members of the session that
 * `root` created, whose parents have ended and that are now children of the agent or of init. That
 * reads every process of the host; without it the cost depends on the tree's size. */
#ifndef AGENT_IDENTIFY_TREE_H
#define AGENT_IDENTIFY_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/identify/ident.h"
#include "base/text/err.h"

enum { TREE_MAX = 32768 }; /* members; more than this: ERR_LIMIT */

/* All zero: an empty tree. */
struct tree {
    struct ident *members; /* parents come before their children */
    size_t n;
};

/* A root that has ended has no children and is not a member. */
int tree_read(const struct ident *root, bool with_session, struct tree *ret, struct err *err);
void tree_done(struct tree *t); /* the tree is empty and usable afterwards */

/* Processes that a kill leaves alone, with all that descends from them. */
struct tree_spared {
    bool (*fn)(void *arg, const struct ident *id);
    void *arg;
};

/* Sends SIGKILL to the whole tree, but for what is spared (NULL: nothing). First all members are
 * stopped, parents first, until no new ones are found, so that a fork bomb is caught as a whole.
 * The agent itself and pid 1 are never members. *ret_n: number of killed processes. Processes that
 * the agent may not signal are left; the result is ERR_DENIED after all others are dead. */
int tree_kill(const struct ident *root, bool with_session, const struct tree_spared *spared,
              size_t *ret_n, struct err *err);

#endif
