/* SPDX-License-Identifier: MIT */
/* cgroup_files.c - see cgroup_files.h. */
#include "agent/confine/cgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/os/sys.h"

enum { DEPTH_MAX = 8 }; /* of groups that a process has created below its own */

int cgroup_write(int dir, const char *file, const char *text)
{
    int fd = sys_openat(dir, file, O_WRONLY, 0), result, error;

    if (fd < 0)
        return -1;
    result = sys_write(fd, text, strlen(text)) < 0 ? -1 : 0;
    error = errno;
    sys_close(fd);
    errno = error;
    return result;
}

int cgroup_open_folder(const char *path)
{
    return sys_open(path, O_RDONLY | O_DIRECTORY, 0);
}

int cgroup_make(int dir, const char *name, bool *ret_is_new)
{
    int fd = sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    *ret_is_new = false;
    if (fd >= 0 || errno != ENOENT)
        return fd;
    *ret_is_new = !sys_mkdirat(dir, name, 0755);
    if (!*ret_is_new && errno != EEXIST)
        return -1;
    return sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static bool is_group(const struct dirent *d)
{
    return d->d_name[0] != '.' && d->d_type == DT_DIR;
}

/* A folder has two links, and one for each folder in it; one link: it can not be told. */
bool cgroup_has_groups(int dir)
{
    struct stat st;

    return !sys_fstat(dir, &st) && st.st_nlink != 2;
}

/* False: the group is not empty and was not removed. */
static bool remove_group(int dir, const char *name, int depth)
{
    DIR *all;
    int fd;

    if (!sys_rmdirat(dir, name) || errno == ENOENT)
        return true;
    if (depth >= DEPTH_MAX)
        return false;
    fd = sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    all = fd < 0 || !cgroup_has_groups(fd) ? NULL : sys_fdopendir(fd);
    if (!all) {
        sys_close(fd);
        return false;
    }
    for (struct dirent *d; (d = readdir(all));) {
        if (is_group(d))
            (void)remove_group(dirfd(all), d->d_name, depth + 1);
    }
    closedir(all);
    return !sys_rmdirat(dir, name);
}

bool cgroup_remove(int dir, const char *name)
{
    return remove_group(dir, name, 0);
}

bool cgroup_sweep(int groups, cgroup_left_fn *left, void *arg)
{
    int fd = sys_openat(groups, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *all = fd < 0 ? NULL : sys_fdopendir(fd);
    bool stays = false;

    if (!all) {
        sys_close(fd);
        return false;
    }
    for (struct dirent *d; (d = readdir(all));) {
        if (!is_group(d) || remove_group(groups, d->d_name, 0))
            continue;
        stays = true;
        if (left)
            left(arg, d->d_name);
    }
    closedir(all);
    return stays;
}
