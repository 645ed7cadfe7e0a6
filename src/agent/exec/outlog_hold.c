/* SPDX-License-Identifier: MIT */
/* outlog_hold.c - see outlog_hold.h. */
#include "agent/exec/outlog_hold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/exec/lease.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"

/* The share (1/n) of the agent's descriptors, so that enough are left for processes and
 * connections. */
enum { HELD_PART = 4 };

enum { LOWEST = STDERR_FILENO + 1 };

struct held_file {
    int fd;
    bool is_leased; /* a duplicate of the writer's descriptor: lease.h */
    char name[];
};

struct held_files {
    const struct outlog_folder *folder;
    pthread_mutex_t lock; /* of the map; not held in blocking calls */
    struct map held;      /* struct held_file, by name */
    struct lease_finder *leases;
};

struct held_files *held_files_new(const struct outlog_folder *f)
{
    struct held_files *all = xalloc(sizeof(*all));

    all->folder = f;
    pthread_mutex_init(&all->lock, NULL);
    all->leases = lease_finder_new(f->dir);
    return all;
}

static bool outlog_hold_has_room(struct held_files *all)
{
    struct rlimit limit;
    size_t n;

    pthread_mutex_lock(&all->lock);
    n = all->held.n;
    pthread_mutex_unlock(&all->lock);
    return !sys_prlimit(RLIMIT_NOFILE, NULL, &limit) && n < limit.rlim_cur / HELD_PART;
}

/* A writer that takes and releases its lease all the time is caught by one of these attempts. */
enum { OPEN_TRIES = 20, OPEN_MS = 500 };

/* The writer of a file that was not kept open may have a lease. */
static int outlog_hold_open_file(const struct held_files *all, const char *name, int *ret_fd,
                                 bool *ret_leased, struct err *err)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + OPEN_MS;
    struct stat st;
    struct err why;
    int leased = -1;

    *ret_leased = false;
    for (int i = 0; i < OPEN_TRIES && leased < 0; i++) {
        if (!outlog_open_file(all->folder, name, O_RDWR, ret_fd, &st, err))
            return 0;
        if (err->sys != EWOULDBLOCK || sys_lstat(all->folder->dir, name, &st))
            return -1;
        leased = lease_remove(all->leases, &st);
        if (leased < 0 && clock_mono_ms(&clock_system) >= until_ms)
            return -1;
    }
    if (leased < 0)
        return -1;
    if (!outlog_open_file(all->folder, name, O_RDWR, ret_fd, &st, &why)) {
        sys_close(leased);
        return 0;
    }
    *ret_fd = leased;
    *ret_leased = true;
    return 0;
}

/* Whether the name still refers to the file of this descriptor. */
static bool is_named(const struct held_files *all, const char *name, int fd)
{
    struct stat held, now;

    return !sys_fstat(fd, &held) && !sys_lstat(all->folder->dir, name, &now) &&
           held.st_dev == now.st_dev && held.st_ino == now.st_ino;
}

/* Returns a duplicate, because another thread may close the file; -1: none. */
static int duplicate(struct held_files *all, const char *name, bool *ret_leased)
{
    const struct held_file *h;
    int fd = -1;

    pthread_mutex_lock(&all->lock);
    h = map_find_str(&all->held, name);
    if (h) {
        fd = sys_dupfd(h->fd, LOWEST);
        *ret_leased = h->is_leased;
    }
    pthread_mutex_unlock(&all->lock);
    if (fd < 0 || is_named(all, name, fd))
        return fd;
    sys_close(fd);
    held_files_let_go(all, name);
    return -1;
}

static void outlog_hold_put(struct held_files *all, const char *name, int fd, bool is_leased)
{
    size_t n = strlen(name) + 1;
    struct held_file *h = xalloc(sizeof(*h) + n), *old;

    h->fd = fd;
    h->is_leased = is_leased;
    memcpy(h->name, name, n);
    pthread_mutex_lock(&all->lock);
    old = map_del_str(&all->held, name);
    map_put_str(&all->held, h->name, h);
    pthread_mutex_unlock(&all->lock);
    if (old)
        sys_close(old->fd);
    free(old);
}

int held_files_open(struct held_files *all, const char *name, int *ret_fd, struct err *err)
{
    bool is_leased = false;
    int fd = duplicate(all, name, &is_leased), copy;

    if (fd >= 0 && !is_leased) {
        *ret_fd = fd;
        return 0;
    }
    sys_close(fd); /* there may be no lease any more */
    if (outlog_hold_open_file(all, name, &fd, &is_leased, err))
        return -1;
    copy = outlog_hold_has_room(all) ? sys_dupfd(fd, LOWEST) : -1;
    if (copy >= 0)
        outlog_hold_put(all, name, copy, is_leased);
    *ret_fd = fd;
    return 0;
}

void held_files_keep(struct held_files *all, const char *name)
{
    struct err ignored; /* on failure it is opened when it is trimmed */
    int fd;

    if (!held_files_open(all, name, &fd, &ignored))
        sys_close(fd);
}

void held_files_keep_all(struct held_files *all)
{
    struct dirent *entry;
    DIR *dir = outlog_open_dir(all->folder);

    while (dir && (entry = readdir(dir))) {
        if (!strchr(entry->d_name, '.') && strlen(entry->d_name) < OUTLOG_NAME_SIZE)
            held_files_keep(all, entry->d_name);
    }
    if (dir)
        closedir(dir);
}

bool held_files_are_searched(const struct held_files *all)
{
    return lease_finder_is_busy(all->leases);
}

void held_files_let_go(struct held_files *all, const char *name)
{
    struct held_file *h;

    pthread_mutex_lock(&all->lock);
    h = map_del_str(&all->held, name);
    pthread_mutex_unlock(&all->lock);
    if (h)
        sys_close(h->fd);
    free(h);
}

void held_files_free(struct held_files *all)
{
    struct map_entry *e;

    if (!all)
        return;
    for (size_t at = 0; (e = map_next(&all->held, &at));) {
        struct held_file *h = e->value;

        sys_close(h->fd);
        free(h);
    }
    map_free(&all->held);
    lease_finder_free(all->leases);
    pthread_mutex_destroy(&all->lock);
    free(all);
}
