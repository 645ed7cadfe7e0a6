/* SPDX-License-Identifier: MIT */
/* user.c - see user.h. */
#include "agent/identify/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "model/code.h"

enum { ENTRY_MAX = 1 << 20, GROUPS_MAX = 65536 };

static const char *or_else(const char *text, const char *fallback)
{
    return text && text[0] ? text : fallback;
}

static void read_groups(const struct passwd *pw, struct user *u)
{
    int n = 16, room;

    do {
        room = n;
        u->groups = xresize(u->groups, (size_t)room * sizeof(*u->groups));
    } while (getgrouplist(pw->pw_name, pw->pw_gid, u->groups, &n) < 0 && n > room &&
             n <= GROUPS_MAX);
    u->groups_n = (size_t)(n < room ? n : room);
}

static struct user *from_entry(const struct passwd *pw)
{
    struct user *u = xalloc(sizeof(*u));

    u->name = xstrdup(pw->pw_name);
    u->home = xstrdup(or_else(pw->pw_dir, "/"));
    u->shell = xstrdup(or_else(pw->pw_shell, "/bin/sh"));
    u->uid = pw->pw_uid;
    u->gid = pw->pw_gid;
    read_groups(pw, u);
    return u;
}

/* Errors of getpwnam_r() that mean "no such user"; they differ between libcs and directory
 * services. */
static bool is_unknown(int error)
{
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

int user_new(const char *name, struct user **ret, struct err *err)
{
    struct passwd entry, *found = NULL;
    struct buf room = { 0 };
    int error;

    for (size_t size = 1024;; size *= 2) {
        error = getpwnam_r(name, &entry, buf_reserve(&room, size), size, &found);
        if (error == EINTR)
            continue;
        if (error != ERANGE || size >= ENTRY_MAX)
            break;
    }
    if (found)
        *ret = from_entry(found);
    buf_free(&room);
    if (found)
        return 0;
    if (is_unknown(error))
        return err_set(err, CODE_USER, "user %s: no such user", name);
    return err_set(err, ERR_UNAVAILABLE, "user %s: can not be looked up: %s", name,
                   strerror(error));
}

int group_find(const char *name, gid_t *ret, struct err *err)
{
    struct group entry, *found = NULL;
    struct buf room = { 0 };
    int error = ERANGE;
    char *end;
    unsigned long number = strtoul(name, &end, 10);

    for (size_t size = 1024; error == ERANGE && size < ENTRY_MAX; size *= 2)
        error = getgrnam_r(name, &entry, buf_reserve(&room, size), size, &found);
    if (found)
        *ret = found->gr_gid;
    else if (*name >= '0' && *name <= '9' && !*end && number < UINT32_MAX)
        *ret = (gid_t)number;
    else
        error = error ? error : ENOENT;
    buf_free(&room);
    if (found || !error)
        return 0;
    return err_set(err, ERR_NOT_FOUND, "group %s: no such group", name);
}

void user_free(struct user *u)
{
    if (!u)
        return;
    free(u->name);
    free(u->home);
    free(u->shell);
    free(u->groups);
    free(u);
}

struct user *user_copy(const struct user *u, struct arena *a)
{
    struct user *copy = arena_alloc(a, sizeof(*copy));

    *copy = *u;
    copy->name = arena_strdup(a, u->name);
    copy->home = arena_strdup(a, u->home);
    copy->shell = arena_strdup(a, u->shell);
    copy->groups = arena_alloc(a, u->groups_n * sizeof(*u->groups));
    memcpy(copy->groups, u->groups, u->groups_n * sizeof(*u->groups));
    return copy;
}

const struct user *users_find(const struct users *c, const char *name, int64_t now_ms)
{
    const struct user *u = map_find_str(&c->by_name, name);

    return u && now_ms - u->known_ms < USERS_FRESH_MS ? u : NULL;
}

const struct user *users_put(struct users *c, struct user *u, int64_t now_ms)
{
    u->known_ms = now_ms;
    user_free(map_put_str(&c->by_name, u->name, u));
    return u;
}

const struct user *users_fail(struct users *c, const char *name, const struct err *why,
                              int64_t now_ms)
{
    struct user *known = map_find_str(&c->by_name, name);

    if (known && why->code == ERR_UNAVAILABLE) {
        known->known_ms = now_ms;
        return known;
    }
    user_free(map_del_str(&c->by_name, name));
    return NULL;
}

int users_get(struct users *c, const char *name, int64_t now_ms, const struct user **ret,
              struct err *err)
{
    const struct user *known = users_find(c, name, now_ms);
    struct err why;
    struct user *u;

    if (known) {
        *ret = known;
        return 0;
    }
    if (!user_new(name, &u, &why)) {
        *ret = users_put(c, u, now_ms);
        return 0;
    }
    known = users_fail(c, name, &why, now_ms);
    if (known)
        *ret = known;
    else
        *err = why;
    return known ? 0 : -1;
}

void users_done(struct users *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->by_name, &at)) != NULL;)
        user_free(e->value);
    map_free(&c->by_name);
}
