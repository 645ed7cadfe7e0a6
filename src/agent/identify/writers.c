/* SPDX-License-Identifier: MIT */
/* writers.c - see writers.h. */
#include "agent/identify/writers.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/os/sys.h"
#include "base/os/sys_xattr.h"

static bool may_own(const struct writers *w, uid_t uid)
{
    return uid == 0 || uid == w->uid || uid == w->owner;
}

static bool others_can_write(const struct writers *w, const struct stat *st)
{
    return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && st->st_gid != w->gid);
}

/* Needed only if the trusted group has write access: otherwise the ACL's mask allows no writes. */
static int check_acl(const char *path, const struct stat *st, bool *ret, struct err *err)
{
    *ret = false;
    if (!(st->st_mode & S_IWGRP))
        return 0;
    if (sys_lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0)
        *ret = true;
    else if (errno != ENODATA && errno != ENOTSUP)
        return err_sys(err, "ACL of %s", path);
    return 0;
}

int writers_check_file(const struct writers *w, const char *path, const struct stat *st,
                       struct err *err)
{
    unsigned mode = st->st_mode & 07777, uid = st->st_uid, gid = st->st_gid;
    bool is_acl;

    if (!may_own(w, st->st_uid))
        return err_set(err, ERR_DENIED,
                       "it belongs to uid %u, expected root or uid %u; change its owner", uid,
                       (unsigned)w->uid);
    if (others_can_write(w, st))
        return err_set(err, ERR_DENIED,
                       "it has mode 0%03o, uid %u and gid %u, so others than root and uid %u can "
                       "write to it; run `chmod go-w %s`",
                       mode, uid, gid, (unsigned)w->uid, path);
    if (check_acl(path, st, &is_acl, err))
        return -1;
    if (is_acl)
        return err_set(err, ERR_DENIED, "its ACL may let others write to it; run `setfacl -b %s`",
                       path);
    return 0;
}

static int writers_check_folder(const struct writers *w, const char *path, struct err *err)
{
    struct stat st;
    bool is_acl;

    if (sys_stat(path, &st))
        return err_sys(err, "%s", path);
    if (!may_own(w, st.st_uid))
        return err_set(err, ERR_DENIED,
                       "folder %s belongs to uid %u, expected root or uid %u; change its owner",
                       path, (unsigned)st.st_uid, (unsigned)w->uid);
    if (st.st_mode & S_ISVTX)
        return 0;
    if (others_can_write(w, &st))
        return err_set(err, ERR_DENIED,
                       "folder %s has mode 0%03o, uid %u and gid %u, so others than root and uid "
                       "%u can replace what is in it; run `chmod go-w` or `chmod +t` on it",
                       path, (unsigned)st.st_mode & 07777, (unsigned)st.st_uid, (unsigned)st.st_gid,
                       (unsigned)w->uid);
    if (check_acl(path, &st, &is_acl, err))
        return -1;
    if (is_acl)
        return err_set(err, ERR_DENIED,
                       "the ACL of folder %s may let others replace what is in it; run `setfacl "
                       "-b` on it",
                       path);
    return 0;
}

int writers_check_folders(const struct writers *w, const char *path, struct err *err)
{
    char folder[PATH_MAX];
    size_t n = strlen(path);

    if (path[0] != '/' || n >= sizeof(folder))
        return err_set(err, ERR_INVALID, "not an absolute path of at most %d bytes", PATH_MAX - 1);
    memcpy(folder, path, n + 1);
    for (size_t i = 0; i < n; i++) {
        char next = folder[i + 1];
        int result;

        if (folder[i] != '/' || next == '/')
            continue;
        folder[i + (i == 0)] = '\0';
        result = writers_check_folder(w, folder, err);
        folder[i + (i == 0)] = i == 0 ? next : '/';
        if (result)
            return -1;
    }
    return 0;
}
