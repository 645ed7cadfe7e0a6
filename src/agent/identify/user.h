/* SPDX-License-Identifier: MIT */
/* user.h - a system account: the ids and paths needed to start a process. A look-up may ask a
 * directory server over the network and so may block; `struct users` caches the results. A user
 * that the directory no longer has is removed from the cache; an entry stays valid while the
 * directory does not answer. */
#ifndef AGENT_IDENTIFY_USER_H
#define AGENT_IDENTIFY_USER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/io/user_name.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "base/text/err.h"

enum { USERS_FRESH_MS = 60 * 1000 };

struct user {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* all groups, including gid */
    size_t groups_n;
    int64_t known_ms; /* time of the look-up */
};

/* Blocks. CODE_USER: there is no such user; ERR_UNAVAILABLE: the directory does not answer. */
int user_new(const char *name, struct user **ret, struct err *err);
void user_free(struct user *u); /* NULL is allowed */
struct user *user_copy(const struct user *u, struct arena *a);

/* Blocks. `name` is a name or a number. */
int group_find(const char *name, gid_t *ret, struct err *err);

/* All zero: an empty cache. A user is valid until the next call for the same name. */
struct users {
    struct map by_name;
};

/* NULL: no entry younger than USERS_FRESH_MS. Then look it up, here or in a thread that may block,
 * and call users_put(). */
const struct user *users_find(const struct users *c, const char *name, int64_t now_ms);
const struct user *users_put(struct users *c, struct user *u, int64_t now_ms); /* takes ownership */

/* The look-up failed: returns the old entry, renewed, or NULL. */
const struct user *users_fail(struct users *c, const char *name, const struct err *why,
                              int64_t now_ms);

/* Returns the cached user, otherwise looks it up (blocks) and caches it. */
int users_get(struct users *c, const char *name, int64_t now_ms, const struct user **ret,
              struct err *err);
void users_done(struct users *c);

#endif
