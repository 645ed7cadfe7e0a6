/* SPDX-License-Identifier: MIT */
/* agent_piddir.c - see agent_piddir.h. */
#include "agent/shell/agent_piddir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/identify/pidfile.h"
#include "agent/identify/procfs.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/workers.h"
#include "base/io/file.h"
#include "base/io/log.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

char *piddir_path(const char *setting, const char *data_dir)
{
    if (setting && *setting)
        return xstrdup(setting);
    return geteuid() == 0 ? xstrdup("/run/holdfast") : xprintf("%s/pids", data_dir);
}

/* A slash at its end would follow a link. */
static int piddir_open(const char *dir, int *ret_fd, struct err *err)
{
    char *path = xstrdup(dir);
    size_t n = strlen(path);
    int result;

    while (n > 1 && path[n - 1] == '/')
        path[--n] = '\0';
    result = file_open_own_folder(path, ret_fd, err);
    free(path);
    return result;
}

/* Its mode does not depend on the agent's umask. */
void piddir_make(const struct agent_base *a)
{
    mode_t old = umask(022);
    int result = sys_mkdir(a->pid_dir, 0755), fd = -1;
    struct err err;

    if (result && errno != EEXIST)
        err_sys(&err, "pid_dir %s", a->pid_dir);
    else
        result = piddir_open(a->pid_dir, &fd, &err);
    if (result)
        LOG(a->log, LOG_WARN, "pid files are not kept", log_err(&err));
    sys_close(fd);
    umask(old);
}

bool piddir_has(const char *dir, const char *path)
{
    size_t n = strlen(dir);
    const char *name;

    while (n > 1 && dir[n - 1] == '/')
        n--;
    if (strncmp(path, dir, n) != 0 || path[n] != '/')
        return false;
    name = path + n + 1;
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

bool piddir_keeps(const char *dir, const char *path)
{
    struct err ignored;
    int fd;

    if (!piddir_has(dir, path) || piddir_open(dir, &fd, &ignored))
        return false;
    sys_close(fd);
    return true;
}

static int read_pid(int dir, const char *name, int64_t *ret)
{
    char text[64];
    struct err ignored;
    int fd = sys_openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, text, sizeof(text));

    sys_close(fd);
    return n < 0 ? -1 : pidfile_parse(text, (size_t)n, ret, &ignored);
}

static bool is_gone(int64_t pid)
{
    struct procfs_stat st;
    struct err err;

    return procfs_stat((pid_t)pid, &st, &err) && err.code == ERR_NOT_FOUND;
}

/* Not a lock of the file: its owner, a managed user, could hold that one. Paths elsewhere may
 * block, and take no lock. */
int piddir_write(struct agent_base *a, struct pidfiles *known, const char *path, uid_t uid,
                 gid_t gid, int64_t pid, int64_t since_ticks, struct err *err)
{
    bool is_locked = piddir_keeps(a->pid_dir, path);
    int result;

    if (is_locked)
        pthread_mutex_lock(&a->pid_lock);
    result = pidfile_write(known, path, uid, gid, pid, since_ticks, err);
    if (is_locked)
        pthread_mutex_unlock(&a->pid_lock);
    return result;
}

void piddir_drop(struct agent_base *a, const char *path, int64_t pid)
{
    struct err ignored; /* logged at the start of the agent */
    const char *name;
    int64_t named;
    int fd;

    if (!piddir_has(a->pid_dir, path) || piddir_open(a->pid_dir, &fd, &ignored))
        return;
    name = strrchr(path, '/') + 1;
    pthread_mutex_lock(&a->pid_lock);
    if (!read_pid(fd, name, &named) && (named == pid || is_gone(named)))
        (void)sys_unlinkat(fd, name); /* what stays is replaced by the next start */
    pthread_mutex_unlock(&a->pid_lock);
    sys_close(fd);
}

struct drop_job {
    struct worker_job job;
    struct agent_base *agent;
    char *path;
    int64_t pid;
};

static void drop_work(struct worker_job *job, struct spawner *s)
{
    struct drop_job *d = job->arg;

    (void)s;
    piddir_drop(d->agent, d->path, d->pid);
}

static void drop_done(struct worker_job *job)
{
    struct drop_job *d = job->arg;

    free(d->path);
    free(d);
}

void piddir_drop_later(struct agent_base *a, const char *path, int64_t pid)
{
    struct drop_job *d;

    if (!piddir_has(a->pid_dir, path) || a->is_closing)
        return;
    d = xalloc(sizeof(*d));
    d->job = (struct worker_job){ .work = drop_work, .done = drop_done, .arg = d };
    d->agent = a;
    d->path = xstrdup(path);
    d->pid = pid;
    workers_put(a->workers, "pid_dir", &d->job);
}
