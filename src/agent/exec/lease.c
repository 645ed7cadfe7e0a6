/* SPDX-License-Identifier: MIT */
/* lease.c - see lease.h. */
#include "agent/exec/lease.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/sysmacros.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_lease.h"
#include "base/os/time.h"

enum { LOCKS_MAX = 4 << 20, FDINFO_MAX = 64 << 10, MOUNTS_MAX = 16 << 20 };

struct search {
    LIST_ENTRY(search) link; /* in the list while its thread may hang */
    struct lease_finder *finder;
    struct stat file;
    int fd;       /* result; -1: none */
    bool is_done; /* fd is set; the caller frees this */
    bool is_left; /* the caller has given up; the thread frees this */
};

struct lease_finder {
    dev_t dev; /* device of the folder's file system, as in /proc/locks */

    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t on_done;
    LIST_HEAD(, search) searches;
    size_t n;    /* number of searches */
    size_t refs; /* one for the owner and one for each thread */
};

/* ---- /proc/locks */

/* Pid of the holder of the first lease on this file, from lines like "1: LEASE ACTIVE WRITE 1234
 * fe:00:5678 0 EOF"; 0: none. The device is compared, too, because a file on FUSE may have the same
 * inode number. */
static pid_t parse_holder(const char *text, dev_t dev, ino_t inode)
{
    unsigned long long found;
    unsigned major, minor;
    const char *at = text;
    long pid;

    while ((at = strstr(at, "LEASE "))) {
        if (sscanf(at, "LEASE %*s %*s %ld %x:%x:%llu", &pid, &major, &minor, &found) == 4 &&
            makedev(major, minor) == dev && found == inode)
            return (pid_t)pid;
        at++;
    }
    return 0;
}

static pid_t read_holder(const char *path, size_t max_bytes, const struct search *s)
{
    struct buf text = { 0 };
    struct err ignored; /* on failure it is not found */
    pid_t pid;

    if (file_read(path, max_bytes, &text, &ignored))
        return 0;
    pid = parse_holder(buf_text(&text), s->finder->dev, s->file.st_ino);
    buf_free(&text);
    return pid;
}

/* Finds the device of this mount in lines like "36 35 98:0 / /mnt rw ...". */
static bool parse_mount(const char *text, long mount, dev_t *ret)
{
    unsigned major, minor;
    long id;

    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (sscanf(at, "%ld %*d %u:%u", &id, &major, &minor) == 3 && id == mount) {
            *ret = makedev(major, minor);
            return true;
        }
    }
    return false;
}

/* Avoids st_dev where possible: Btrfs has another number there. */
static dev_t find_dev(int folder)
{
    struct buf info = { 0 }, mounts = { 0 };
    const char *line;
    char path[64];
    struct stat st = { 0 };
    struct err ignored; /* on failure st_dev is used */
    dev_t dev;

    (void)sys_fstat(folder, &st); /* on failure no lease is found */
    dev = st.st_dev;
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", folder);
    if (!file_read(path, FDINFO_MAX, &info, &ignored) &&
        !file_read("/proc/self/mountinfo", MOUNTS_MAX, &mounts, &ignored) &&
        (line = strstr(buf_text(&info), "mnt_id:")))
        (void)parse_mount(buf_text(&mounts), strtol(line + strlen("mnt_id:"), NULL, 10), &dev);
    buf_free(&info);
    buf_free(&mounts);
    return dev;
}

/* ---- search thread; nothing else depends on it */

/* Whether the descriptor can refer to a file with a path. Reading the fdinfo of an epoll descriptor
 * can block: its lock is held while events are copied to the memory of the process. */
static bool has_path(pid_t pid, const char *number)
{
    char path[64 + NAME_MAX], first;

    snprintf(path, sizeof(path), "/proc/%ld/fd/%s", (long)pid, number);
    return sys_readlinkat(AT_FDCWD, path, &first, 1) == 1 && first == '/';
}

/* fdinfo tells which descriptor has the lease. It is read before the duplication and after it,
 * because the process may have replaced the file. fstat() of a file on FUSE could block.
 * *ret_wrong: a descriptor to be closed last. */
static int duplicate(const struct search *s, pid_t pid, int pidfd, const char *number,
                     int *ret_wrong)
{
    char path[64 + NAME_MAX];
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%s", (long)pid, number);
    if (!has_path(pid, number) || !read_holder(path, FDINFO_MAX, s))
        return -1;
    fd = sys_pidfd_getfd(pidfd, (int)strtol(number, NULL, 10));
    if (fd < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    if (read_holder(path, FDINFO_MAX, s))
        return fd;
    *ret_wrong = fd;
    return -1;
}

static int duplicate_leased(const struct search *s, pid_t pid, int *ret_wrong)
{
    char path[64];
    int pidfd = sys_pidfd_open(pid), folder = -1, fd = -1;
    struct dirent *entry;
    DIR *dir = NULL;

    snprintf(path, sizeof(path), "/proc/%ld/fdinfo", (long)pid);
    if (pidfd >= 0)
        folder = sys_open(path, O_RDONLY | O_DIRECTORY, 0);
    if (folder >= 0)
        dir = sys_fdopendir(folder);
    if (!dir)
        sys_close(folder);
    while (dir && fd < 0 && *ret_wrong < 0 && (entry = readdir(dir))) {
        if (entry->d_name[0] != '.')
            fd = duplicate(s, pid, pidfd, entry->d_name, ret_wrong);
    }
    if (dir)
        closedir(dir);
    sys_close(pidfd);
    return fd;
}

static void unref(struct lease_finder *f)
{
    size_t left;

    pthread_mutex_lock(&f->lock);
    left = --f->refs;
    pthread_mutex_unlock(&f->lock);
    if (left)
        return;
    pthread_cond_destroy(&f->on_done);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Called with the lock held. */
static struct search *add_search(struct lease_finder *f, const struct stat *file)
{
    struct search *s = xalloc(sizeof(*s));

    *s = (struct search){ .finder = f, .file = *file, .fd = -1 };
    LIST_INSERT_HEAD(&f->searches, s, link);
    f->n++;
    return s;
}

/* Called with the lock held. */
static void remove_search(struct lease_finder *f, struct search *s)
{
    LIST_REMOVE(s, link);
    f->n--;
}

/* Called with the lock held. False: the caller has given up, and this thread closes the result. */
static bool hand_over(struct search *s, int fd)
{
    bool is_left = s->is_left;

    s->fd = fd;
    s->is_done = true;
    pthread_cond_broadcast(&s->finder->on_done);
    return !is_left;
}

/* The caller gets the result before `wrong` is closed, because that can block; the thread counts as
 * busy until then. */
static void end_search(struct search *s, int fd, int wrong)
{
    struct lease_finder *f = s->finder;
    struct search *closing = NULL;
    bool is_taken;

    pthread_mutex_lock(&f->lock);
    remove_search(f, s);
    if (wrong >= 0)
        closing = add_search(f, &s->file);
    is_taken = hand_over(s, fd);
    pthread_mutex_unlock(&f->lock);
    if (!is_taken) {
        sys_close(fd);
        free(s);
    }
    if (closing) {
        sys_close(wrong);
        pthread_mutex_lock(&f->lock);
        remove_search(f, closing);
        pthread_mutex_unlock(&f->lock);
        free(closing);
    }
    unref(f);
}

static void *run_search(void *arg)
{
    struct search *s = arg;
    pid_t pid = read_holder("/proc/locks", LOCKS_MAX, s);
    int wrong = -1, fd = pid > 0 ? duplicate_leased(s, pid, &wrong) : -1;

    end_search(s, fd, wrong);
    return NULL;
}

/* ---- caller */

/* Called with the lock held. */
static bool lease_has_room(const struct lease_finder *f, uid_t uid)
{
    const struct search *s;
    size_t n = 0;

    LIST_FOREACH(s, &f->searches, link)
        n += s->file.st_uid == uid;
    return f->n < LEASE_MAX && n < LEASE_PER_USER;
}

static bool lease_start_thread(struct search *s)
{
    sigset_t all, old;
    pthread_t id;
    int number;

    sigfillset(&all); /* only the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&id, NULL, run_search, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!number)
        pthread_detach(id);
    return !number;
}

/* Called with the lock held. NULL: too many searches, or no thread. */
static struct search *begin_search(struct lease_finder *f, const struct stat *file)
{
    struct search *s;

    if (!lease_has_room(f, file->st_uid))
        return NULL;
    s = add_search(f, file);
    f->refs++;
    if (lease_start_thread(s))
        return s;
    remove_search(f, s);
    f->refs--;
    free(s);
    return NULL;
}

int lease_remove(struct lease_finder *f, const struct stat *file)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + LEASE_WAIT_MS;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    struct search *s;
    int fd = -1;

    pthread_mutex_lock(&f->lock);
    s = begin_search(f, file);
    while (s && !s->is_done && !pthread_cond_timedwait(&f->on_done, &f->lock, &until))
        ;
    if (s && s->is_done) {
        fd = s->fd;
        free(s);
    } else if (s) {
        s->is_left = true;
    }
    pthread_mutex_unlock(&f->lock);
    /* Here and not on the thread: the caller has to open the file before the process takes the next
     * lease.  If it fails the lease may be gone already; the open tells. */
    if (fd >= 0)
        (void)sys_unlease(fd);
    return fd;
}

bool lease_finder_is_busy(struct lease_finder *f)
{
    bool is_busy;

    pthread_mutex_lock(&f->lock);
    is_busy = f->refs > 1;
    pthread_mutex_unlock(&f->lock);
    return is_busy;
}

struct lease_finder *lease_finder_new(int folder)
{
    struct lease_finder *f = xalloc(sizeof(*f));
    pthread_condattr_t attr;

    f->dev = find_dev(folder);
    f->refs = 1;
    LIST_INIT(&f->searches);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->on_done, &attr);
    pthread_condattr_destroy(&attr);
    return f;
}

void lease_finder_free(struct lease_finder *f)
{
    if (f)
        unref(f);
}
