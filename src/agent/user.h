/* SPDX-License-Identifier: MIT */
/* user.h - a system account: what a process of it needs to be started.
 *
 * Looking one up may ask a directory server over the network and so may block;
 * `struct users` keeps what was found.  A user that the directory no longer knows
 * is forgotten; one it can not be asked about now stays as it was. */
#ifndef AGENT_USER_H
#define AGENT_USER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

enum { USERS_FRESH_MS = 60 * 1000, USER_NAME_SIZE = 64 };

struct user {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* all, gid among them */
    size_t groups_n;
    int64_t known_ms; /* when it was looked up */
};

/* Blocks.  CODE_USER if there is no such user, ERR_UNAVAILABLE if nobody can say. */
int user_new(const char *name, struct user **ret, struct err *err);
void user_free(struct user *u); /* NULL is fine */
struct user *user_copy(const struct user *u, struct arena *a);

/* Blocks.  The number as text for one that has no name, or a strange one: long, with colons
 * or what can not be printed. */
void user_name_of(uid_t uid, char to[USER_NAME_SIZE]);

/* Blocks.  A name, or a number. */
int group_find(const char *name, gid_t *ret, struct err *err);

/* All zeroes is an empty cache.  Users in it are good until the next call for the
 * same name. */
struct users {
    struct map by_name;
};

/* NULL if there is none younger than USERS_FRESH_MS: then look it up, here or in a
 * thread that may block, and put it. */
const struct user *users_find(const struct users *c, const char *name, int64_t now_ms);
const struct user *users_put(struct users *c, struct user *u, int64_t now_ms); /* takes it over */

/* It could not be looked up: the one that stays all the same, as good as new, or NULL. */
const struct user *users_fail(struct users *c, const char *name, const struct err *why,
                              int64_t now_ms);

/* Find, else look up (which blocks) and put. */
int users_get(struct users *c, const char *name, int64_t now_ms, const struct user **ret,
              struct err *err);
void users_done(struct users *c);

#endif
