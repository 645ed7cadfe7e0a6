/* SPDX-License-Identifier: MIT */
/* agent_files.c - see agent_files.h. */
#include "agent/agent_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "agent/agent_in.h"
#include "agent/config_file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_inotify.h"

enum {
    SOON_MS = 200,       /* so that what is written in several steps is read once */
    SLOW_MS = 60 * 1000, /* where the kernel tells nothing */
    READS_AT_ONCE = 4,   /* on their way to the thread */
    LEAVE_MS = 1000,     /* at the end: for one that reads a dead disk */
    NEWS_MAX = 4,        /* reads of the kernel's news in one go: each looks at all files */
    WANTED = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
    GONE = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT,
};

struct folder {
    char *path;
    int wd; /* -1: not watched */
    size_t users;
};

struct file {
    TAILQ_ENTRY(file) link;
    struct files *all;
    struct folder *folder;
    char *space, *name, *path;
    struct config_mark mark;
    bool is_due, is_read; /* it is being read */
    bool is_link;
    bool is_dropped; /* nobody wants it; freed when it has been read */
};

struct read_job {
    struct job job;
    struct file *file; /* the loop's */
    char *path;
    struct config_mark mark;
    struct config_content content;
};

struct files {
    struct agent *agent;
    TAILQ_HEAD(, file) list;
    struct map folders, by_wd; /* struct folder, by path and by the bytes of wd */
    int fd;                    /* -1: there is no inotify */
    struct watch *watch;
    struct help *help; /* NULL until it is needed */
    size_t reads;
    struct timer soon, slow;
};

/* ---- folders */

static void watch_folder(struct files *f, struct folder *d)
{
    if (f->fd < 0 || d->wd >= 0)
        return;
    d->wd = sys_inotify_add(f->fd, d->path, WANTED);
    if (d->wd >= 0)
        map_put(&f->by_wd, (const char *)&d->wd, sizeof(d->wd), d);
}

/* Two paths of one folder have one watch: the last has it, the other is looked at. */
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
        watch_folder(f, d);
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

/* ---- what is in them */

static void free_file(struct file *file)
{
    TAILQ_REMOVE(&file->all->list, file, link);
    leave_folder(file->all, file->folder);
    free(file->space);
    free(file->name);
    free(file->path);
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
    TAILQ_FOREACH(file, &f->list, link)
    {
        if (is_slow(file)) {
            timer_set(f->agent->loop, &f->slow, SLOW_MS);
            return;
        }
    }
}

static void work(struct job *job)
{
    struct read_job *r = (struct read_job *)job;

    config_file_read(r->path, &r->mark, &r->content);
}

static void tell(struct files *f, const struct file *file, const struct config_content *content)
{
    struct agent *a = f->agent;

    core_on_file(a->core, file->space, file->name, file->path, content->md5, content->why,
                 agent_now_ms(a));
    agent_wake(a);
}

static void on_read(struct agent *a, struct job *job)
{
    struct read_job *r = (struct read_job *)job;
    struct files *f = a->files;
    struct file *file = r->file;

    f->reads--;
    file->is_read = false;
    file->is_link = r->content.is_link;
    file->mark = r->mark;
    if (!file->is_dropped && !r->content.is_same && !a->disk.is_closing)
        tell(f, file, &r->content);
    if (file->is_dropped)
        free_file(file);
    free(r->path);
    free(r);
    if (a->disk.is_closing)
        return;
    read_soon(f);
    look_slowly(f);
}

static void start_read(struct files *f, struct file *file)
{
    struct read_job *r = xalloc(sizeof(*r));

    r->job.work = work;
    r->file = file;
    r->path = xstrdup(file->path);
    r->mark = file->mark;
    file->is_due = false;
    file->is_read = true;
    f->reads++;
    (void)help_do(f->help, &r->job); /* there is room for more than READS_AT_ONCE */
}

static void on_soon(void *files)
{
    struct files *f = files;
    struct file *file;
    struct err err;

    if (!f->help && help_new(f->agent, on_read, NULL, &f->help, &err)) {
        LOG(f->agent->log, LOG_WARN, "files of configmaps are not looked at for now",
            log_err(&err));
        timer_set(f->agent->loop, &f->soon, SLOW_MS);
        return;
    }
    TAILQ_FOREACH(file, &f->list, link)
    {
        if (f->reads >= READS_AT_ONCE)
            return; /* the next ones when one of them is back */
        if (file->is_due && !file->is_read && !file->is_dropped)
            start_read(f, file);
    }
}

static void on_slow(void *files)
{
    struct files *f = files;
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link)
    {
        if (!is_slow(file))
            continue;
        watch_folder(f, file->folder); /* it may be there by now */
        file->is_due = true;
        read_soon(f);
    }
    look_slowly(f);
}

/* ---- news */

static void mark_due(struct files *f, const struct folder *d, const char *name)
{
    struct file *file;

    TAILQ_FOREACH(file, &f->list, link)
    {
        if (d && (file->folder != d || (name && strcmp(strrchr(file->path, '/') + 1, name) != 0)))
            continue;
        file->is_due = true;
        read_soon(f);
    }
}

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

static void on_ready(void *files, unsigned ready)
{
    (void)ready;
    for (int i = 0; i < NEWS_MAX && read_news(files); i++)
        ;
}

/* ---- which files */

static void drop(struct files *f, const char *space, const char *name)
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

void hand_files(void *agent, const char *space, const char *name, const struct list *files)
{
    struct agent *a = agent;
    struct files *f = a->files;
    const struct proc_config_file *wanted = files->items;

    drop(f, space, name);
    for (size_t i = 0; i < files->n; i++) {
        struct file *file;

        if (wanted[i].path[0] != '/')
            continue; /* one without a path; the model lets nothing else through */
        file = xalloc(sizeof(*file));
        file->all = f;
        file->space = xstrdup(space);
        file->name = xstrdup(name);
        file->path = xstrdup(wanted[i].path);
        file->folder = use_folder(f, file->path);
        file->is_due = true;
        TAILQ_INSERT_TAIL(&f->list, file, link);
        read_soon(f);
    }
    look_slowly(f);
}

/* ---- its life */

static int listen_to(struct files *f, struct err *err)
{
    f->fd = f->agent->facilities.has[HAS_INOTIFY] ? sys_inotify_new() : -1;
    if (f->fd < 0)
        return err_set(err, ERR_SYSTEM, "inotify: %s", strerror(errno));
    return watch_new(f->agent->loop, f->fd, on_ready, f, &f->watch, err) ||
                   watch_want(f->watch, WATCH_READ, err)
               ? -1
               : 0;
}

struct files *files_new(struct agent *a)
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
    help_leave(f->help, LEAVE_MS);
    timer_stop(f->agent->loop, &f->soon);
    timer_stop(f->agent->loop, &f->slow);
    for (file = TAILQ_FIRST(&f->list); file; file = next) {
        next = TAILQ_NEXT(file, link);
        if (!file->is_read) /* else a thread still hangs on it */
            free_file(file);
    }
    watch_free(f->watch);
    sys_close(f->fd);
    map_free(&f->folders);
    map_free(&f->by_wd);
    free(f);
}
