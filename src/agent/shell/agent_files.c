/* SPDX-License-Identifier: MIT */
/* agent_files.c - see agent_files.h. */
#include "agent/shell/agent_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "agent/exec/config_file.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_inotify.h"

enum {
    SOON_MS = 200,       /* so that a file written in several steps is read once */
    SLOW_MS = 60 * 1000, /* polling interval without inotify */
    NEWS_MAX = 4,        /* reads of inotify events per turn: each event compares all files */
    WANTED = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
    GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT,
};

struct folder {
    char *path;
    int wd;            /* -1: not watched */
    bool is_new_watch; /* it may have ended before its number was known: add it again */
    size_t users;
};

struct file {
    TAILQ_ENTRY(file) link;
    struct files *all;
    struct folder *folder;
    char *space, *name, *path;
    char *owner; /* job owner of its reads (workers.h) */
    struct config_mark mark;
    bool is_due, is_read; /* is_read: a read is in progress */
    bool is_asked;        /* its content is to be read and told even if it seems unchanged */
    bool is_link;
    bool is_dropped; /* unused; freed when its read ends */
};

struct read_job {
    struct worker_job job;
    struct file *file; /* used by the loop only */
    char *path;
    struct config_mark mark;
    struct config_content content;
    int inotify; /* -1: its folder is watched already or can not be watched */
    char *folder;
    int wd;
};

struct files {
    struct agent_base *agent;
    TAILQ_HEAD(, file) list;
    struct map folders, by_wd; /* struct folder, by path and by the bytes of wd */
    int fd;                    /* -1: there is no inotify */
    struct watch *watch;
    struct timer soon, slow;
};

/* ---- watches of folders */

/* The worker has added the watch, because resolving the folder's path may block forever. */
static void note_watch(struct files *f, struct folder *d, int wd)
{
    if (d->wd >= 0 || wd < 0)
        return;
    d->wd = wd;
    map_put(&f->by_wd, (const char *)&d->wd, sizeof(d->wd), d);
}

/* Two paths of one folder share one watch: the last path owns it, the other is polled. */
static void unwatch_folder(struct files *f, struct folder *d, bool is_gone)
{
    if (d->wd < 0)
        return;
    if (map_find(&f->by_wd, (const char *)&d->wd, sizeof(d->wd)) == d) {
        map_del(&f->by_wd, (const char *)&d->wd, sizeof(d->wd));
        if (!is_gone)
            sys_inotify_del(f->fd, d->wd);
    }
    d->wd = -1;
}

static bool is_heard_of(const struct files *f, const struct folder *d)
{
    return d->wd >= 0 && map_find(&f->by_wd, (const char *)&d->wd, sizeof(d->wd)) == d;
}

static struct folder *use_folder(struct files *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash > path ? xmemdup(path, (size_t)(slash - path)) : xstrdup("/");
    struct folder *d = map_find_str(&f->folders, folder);

    if (d) {
        free(folder);
    } else {
        d = xalloc(sizeof(*d));
        d->path = folder;
        d->wd = -1;
        map_put_str(&f->folders, d->path, d);
    }
    d->users++;
    return d;
}

static void leave_folder(struct files *f, struct folder *d)
{
    if (--d->users > 0)
        return;
    unwatch_folder(f, d, false);
    map_del_str(&f->folders, d->path);
    free(d->path);
    free(d);
}

/* ---- content */

static void free_file(struct file *file)
{
    TAILQ_REMOVE(&file->all->list, file, link);
    leave_folder(file->all, file->folder);
    free(file->space);
    free(file->name);
    free(file->path);
    free(file->owner);
    free(file);
}

static void read_soon(struct files *f)
{
    if (!f->soon.place)
        timer_set(f->agent->loop, &f->soon, SOON_MS);
}

static bool is_slow(const struct file *file)
{
    return !file->is_dropped && (file->is_link || !is_heard_of(file->all, file->folder));
}

static void look_slowly(struct files *f)
{
    struct file *file;

    if (f->slow.place)
        return;
    TAILQ_FOREACH(file, &f->list, link) {
        if (is_slow(file)) {
            timer_set(f->agent->loop, &f->slow, SLOW_MS);
            return;
        }
    }
}

static void work(struct worker_job *job, struct spawner *s)
{
    struct read_job *r = job->arg;

    (void)s;
    if (r->inotify >= 0)
        r->wd = sys_inotify_add(r->inotify, r->folder, WANTED);
    config_file_read(r->path, &r->mark, &r->content);
}

static void files_tell(struct files *f, const struct file *file,
                       const struct config_content *content)
{
    struct agent_base *a = f->agent;

    core_on_file(a->core, file->space, file->name, file->path, content->md5, content->why,
                 agent_now_ms(a));
    agent_wake(a);
}

static void mark_due(struct files *f, const struct folder *d, const char *name)
{
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link) {
        if (d && (file->folder != d || (name && strcmp(strrchr(file->path, '/') + 1, name) != 0)))
            continue;
        file->is_due = true;
        read_soon(f);
    }
}

/* Changes between the worker's inotify_add_watch() and this point were not reported. So all files
 * are read again, and the watch is added again, which returns the same watch if it is still alive.
 */
static void files_on_watch(struct files *f, struct folder *d, int wd)
{
    if (wd < 0 || wd == d->wd) {
        d->is_new_watch = d->is_new_watch && wd < 0;
        return;
    }
    unwatch_folder(f, d, true);
    note_watch(f, d, wd);
    d->is_new_watch = true;
    mark_due(f, d, NULL);
}

static void on_read(struct worker_job *job)
{
    struct read_job *r = job->arg;
    struct file *file = r->file;
    struct files *f = file->all;
    struct agent_base *a = f->agent;

    file->is_read = false;
    file->is_link = r->content.is_link;
    file->mark = r->mark;
    files_on_watch(f, file->folder, r->wd);
    if (!file->is_dropped && !r->content.is_same && !a->is_closing)
        files_tell(f, file, &r->content);
    if (file->is_dropped)
        free_file(file);
    free(r->folder);
    free(r->path);
    free(r);
    if (a->is_closing)
        return;
    read_soon(f);
    look_slowly(f);
}

static void start_read(struct files *f, struct file *file)
{
    struct read_job *r = xalloc(sizeof(*r));

    r->job = (struct worker_job){ .work = work, .done = on_read, .arg = r };
    r->file = file;
    r->path = xstrdup(file->path);
    r->mark = file->is_asked ? (struct config_mark){ 0 } : file->mark;
    file->is_asked = false;
    r->inotify = file->folder->wd < 0 || file->folder->is_new_watch ? f->fd : -1;
    r->folder = xstrdup(file->folder->path);
    r->wd = -1;
    file->is_due = false;
    file->is_read = true;
    workers_put(f->agent->workers, file->owner, &r->job);
}

static void on_soon(void *files)
{
    struct files *f = files;
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link) {
        if (file->is_due && !file->is_read && !file->is_dropped &&
            workers_have_room(f->agent->workers, file->owner)) /* else retried later */
            start_read(f, file);
    }
}

static void on_slow(void *files)
{
    struct files *f = files;
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link) {
        if (!is_slow(file))
            continue;
        file->is_due = true;
        read_soon(f);
    }
    look_slowly(f);
}

/* ---- inotify events */

static void on_news(struct files *f, const struct inotify_event *e)
{
    struct folder *d = map_find(&f->by_wd, (const char *)&e->wd, sizeof(e->wd));

    if (e->mask & IN_Q_OVERFLOW) {
        mark_due(f, NULL, NULL);
        return;
    }
    if (!d)
        return;
    if (!(e->mask & GONE)) {
        mark_due(f, d, e->len ? e->name : "");
        return;
    }
    unwatch_folder(f, d, !(e->mask & IN_MOVE_SELF));
    mark_due(f, d, NULL);
    look_slowly(f);
}

static bool read_news(struct files *f)
{
    _Alignas(struct inotify_event) char news[4096];
    ssize_t got = sys_read(f->fd, news, sizeof(news));

    for (ssize_t at = 0; at < got;) {
        const struct inotify_event *e = (const void *)(news + at);

        on_news(f, e);
        at += (ssize_t)(sizeof(*e) + e->len);
    }
    return got > 0;
}

static void files_on_ready(void *files, unsigned ready)
{
    (void)ready;
    for (int i = 0; i < NEWS_MAX && read_news(files); i++)
        ;
}

/* ---- set of files */

static void files_drop(struct files *f, const char *space, const char *name)
{
    struct file *file, *next;

    for (file = TAILQ_FIRST(&f->list); file; file = next) {
        next = TAILQ_NEXT(file, link);
        if (strcmp(file->space, space) != 0 || strcmp(file->name, name) != 0)
            continue;
        if (file->is_read)
            file->is_dropped = true;
        else
            free_file(file);
    }
}

void files_again(struct files *f, const char *space, const char *name)
{
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link) {
        if (strcmp(file->space, space) != 0 || strcmp(file->name, name) != 0 || file->is_dropped)
            continue;
        file->is_due = file->is_asked = true;
        read_soon(f);
    }
}

static char *read_owner(const char *user, const char *path)
{
    struct arena a = { 0 };
    char *owner = xprintf("files:%s", owner_of(user, path, &a));

    arena_free(&a);
    return owner;
}

void files_set(struct files *f, const char *space, const char *name, const char *user,
               const struct list *files)
{
    const struct proc_config_file *wanted = files->items;

    files_drop(f, space, name);
    for (size_t i = 0; i < files->n; i++) {
        struct file *file;

        if (wanted[i].path[0] != '/')
            continue; /* an entry without a path; the model refuses all other defects */
        file = xalloc(sizeof(*file));
        file->all = f;
        file->space = xstrdup(space);
        file->name = xstrdup(name);
        file->path = xstrdup(wanted[i].path);
        file->owner = read_owner(user, file->path);
        file->folder = use_folder(f, file->path);
        file->is_due = true;
        TAILQ_INSERT_TAIL(&f->list, file, link);
        read_soon(f);
    }
    look_slowly(f);
}

/* ---- start and end */

static int listen_to(struct files *f, struct err *err)
{
    f->fd = f->agent->facilities.has[HAS_INOTIFY] ? sys_inotify_new() : -1;
    if (f->fd < 0)
        return err_sys(err, "inotify");
    return watch_new(f->agent->loop, f->fd, files_on_ready, f, &f->watch, err) ||
                   watch_want(f->watch, WATCH_READ, err)
               ? -1
               : 0;
}

struct files *files_new(struct agent_base *a)
{
    struct files *f = xalloc(sizeof(*f));
    struct err err;

    f->agent = a;
    TAILQ_INIT(&f->list);
    timer_init(&f->soon, on_soon, f);
    timer_init(&f->slow, on_slow, f);
    if (!listen_to(f, &err))
        return f;
    LOG(a->log, LOG_INFO, "files of configmaps are looked at once a minute", log_err(&err));
    watch_free(f->watch);
    f->watch = NULL;
    sys_close(f->fd);
    f->fd = -1;
    return f;
}

void files_free(struct files *f)
{
    struct file *file, *next;

    if (!f)
        return;
    timer_stop(f->agent->loop, &f->soon);
    timer_stop(f->agent->loop, &f->slow);
    for (file = TAILQ_FIRST(&f->list); file; file = next) {
        next = TAILQ_NEXT(file, link);
        if (!file->is_read) /* otherwise a thread still uses it */
            free_file(file);
    }
    watch_free(f->watch);
    sys_close(f->fd);
    map_free(&f->folders);
    map_free(&f->by_wd);
    free(f);
}
