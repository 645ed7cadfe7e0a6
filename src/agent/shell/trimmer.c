/* SPDX-License-Identifier: MIT */
/* trimmer.c - see trimmer.h. */
#include "agent/shell/trimmer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/queue.h>

#include "agent/exec/outlog_trim.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "base/os/time.h"

enum {
    NEWS_MS = 10,     /* delay between event and check, so that many files are checked together */
    RATE_MS = 2,      /* time to measure the growth of an unknown file */
    KNOWN_MS = 1000,  /* time for which sizes are remembered */
    AHEAD_MS = 100,   /* a file that will exceed its limit by then gets its own thread */
    CALM_MS = 500,    /* until this time has passed without that */
    WAIT_MAX_MS = 50, /* longest interval between two checks of such a thread */
    THREADS_MAX = 16,
    NICE = -20, /* of these threads: a file must not grow while they wait for a CPU */
};

/* Growth between two checks, and growth during a copy, at the expected rate of a busy host. */
enum { STEP_BYTES = 4 << 20, STEP_MIN_BYTES = 256 << 10, COPY_BYTES = 8 << 20 };
#define COPY_BYTES_PER_S 200000000u
#define FAST_BYTES_PER_S 32000000u

struct bound {
    uint64_t max_bytes;
    size_t n;
    char file[];
};

struct file {
    struct trimmer *trimmer;
    uint64_t end;              /* at the last check: the position */
    struct outlog_space space; /* and the bytes used */
    uint64_t rate;             /* bytes per second */
    int64_t looked_us;         /* 0: never */
    int fd;                    /* for outlog_drop(); -1: none */
    bool has_complained;       /* a full disk is logged only once */
    char name[OUTLOG_NAME_SIZE];
};

struct asked {
    STAILQ_ENTRY(asked) link;
    char name[];
};

STAILQ_HEAD(asked_list, asked);

struct trimmer {
    struct outlog *o;
    struct log *log;
    char *path;
    uint64_t max_bytes;
    int news, wake; /* inotify (-1: none), eventfd */

    /* Used by the watcher thread only. */
    struct map files; /* struct file, by name: files checked recently */
    int64_t forgot_ms;

    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t on_end;
    struct map bounds;  /* struct bound, by file: processes with their own limit */
    struct map threads; /* struct file, by name */
    struct asked_list asked;
    bool is_watching; /* the watcher thread is running */
    bool is_closing;
};

/* ---- limits */

uint64_t trimmer_max(struct trimmer *t, const char *file)
{
    const struct bound *b;
    uint64_t max_bytes;

    pthread_mutex_lock(&t->lock);
    b = t->bounds.n ? map_find(&t->bounds, file, strcspn(file, "~")) : NULL;
    max_bytes = b ? b->max_bytes : t->max_bytes;
    pthread_mutex_unlock(&t->lock);
    return max_bytes;
}

void trimmer_set_all(struct trimmer *t, uint64_t max_bytes)
{
    pthread_mutex_lock(&t->lock);
    t->max_bytes = max_bytes;
    pthread_mutex_unlock(&t->lock);
}

static struct bound *new_bound(const char *file, size_t n, int64_t max_bytes)
{
    struct bound *b = xalloc(sizeof(*b) + n + 1);

    *b = (struct bound){ .max_bytes = (uint64_t)max_bytes, .n = n };
    memcpy(b->file, file, n);
    return b;
}

void trimmer_set_max(struct trimmer *t, const char *file, int64_t max_bytes)
{
    struct bound *b = max_bytes > 0 ? new_bound(file, strcspn(file, "~"), max_bytes) : NULL;

    pthread_mutex_lock(&t->lock);
    if (t->bounds.n)
        free(map_del(&t->bounds, file, strcspn(file, "~")));
    if (b)
        map_put(&t->bounds, b->file, b->n, b);
    pthread_mutex_unlock(&t->lock);
}

/* ---- one file */

static void pause_ms(int64_t ms)
{
    (void)sys_poll(NULL, 0, (int)ms); /* an interrupted wait does no harm */
}

/* The rate decreases slowly, so that a pause of the writer does not look like its end. */
static void measure(struct file *f)
{
    int64_t now_us = time_mono_us(), us = now_us - f->looked_us;
    struct trimmed now = outlog_trimmed(f->trimmer->o, f->name);
    uint64_t end, grown, rate;

    f->space = outlog_space(f->trimmer->o, f->name);
    outlog_note_size(f->trimmer->o, f->name, &now, f->space.size);
    end = outlog_base(f->trimmer->o, f->name) + f->space.size;
    if (f->looked_us && us > 0) {
        grown = end > f->end ? end - f->end : 0;
        rate = grown * 1000000 / (uint64_t)us;
        f->rate = rate > f->rate ? rate : (3 * f->rate + rate) / 4;
    }
    if (end != f->end || !f->looked_us)
        outlog_note_time(f->trimmer->o, f->name, end);
    f->end = end;
    f->looked_us = now_us;
}

static bool is_over_soon(const struct file *f, uint64_t max_bytes)
{
    return f->space.size + f->rate * AHEAD_MS / 1000 > max_bytes ||
           outlog_is_over(&f->space, max_bytes);
}

/* Bytes that can be copied before the file has grown much. */
static uint64_t keep_bytes(const struct file *f)
{
    return f->rate ? (uint64_t)COPY_BYTES * COPY_BYTES_PER_S / f->rate : UINT64_MAX;
}

/* Size at which it is trimmed: smaller than the limit for a file that grows fast. */
static uint64_t trim_at(const struct file *f, uint64_t max_bytes)
{
    return keep_bytes(f) < max_bytes && max_bytes > COPY_BYTES ? COPY_BYTES : max_bytes;
}

/* Removing a few bytes at the front would wait for the disk, while the file grows by many times its
 * limit. */
static bool is_too_fast(const struct file *f, uint64_t max_bytes)
{
    return max_bytes < COPY_BYTES && f->rate > FAST_BYTES_PER_S;
}

static int trimmer_drop(struct file *f, uint64_t keep, struct err *err)
{
    struct outlog *o = f->trimmer->o;

    if (f->fd < 0 && outlog_hold(o, f->name, &f->fd, err))
        return -1;
    if (!outlog_drop(o, f->name, f->fd, keep, err))
        return 0;
    sys_close(f->fd); /* the name may refer to another file by now */
    f->fd = -1;
    return -1;
}

/* The log may be freed already if this thread returned too late for the shutdown. */
static void complain(struct file *f, const struct err *err)
{
    struct trimmer *t = f->trimmer;

    pthread_mutex_lock(&t->lock);
    if (!f->has_complained && !t->is_closing)
        LOG(t->log, LOG_WARN, "output can not be trimmed; it is tried again", log_err(err));
    pthread_mutex_unlock(&t->lock);
    f->has_complained = true;
}

static void trimmer_trim(struct file *f, uint64_t max_bytes)
{
    uint64_t keep = keep_bytes(f);
    struct err err = { 0 };
    bool ignored;
    int result;

    if (f->space.size > trim_at(f, max_bytes) && (keep < max_bytes || is_too_fast(f, max_bytes)))
        result = trimmer_drop(f, keep < max_bytes ? keep : max_bytes, &err);
    else
        result = outlog_trim(f->trimmer->o, f->name, max_bytes, &ignored, &err);
    if (result)
        complain(f, &err);
}

/* The faster it grows, the sooner. */
static int64_t next_look_ms(const struct file *f, uint64_t max_bytes)
{
    uint64_t at = trim_at(f, max_bytes), step = f->space.size < at ? at - f->space.size : 0, ms;

    step = step < STEP_BYTES ? step : STEP_BYTES;
    step = step > STEP_MIN_BYTES ? step : STEP_MIN_BYTES;
    ms = f->rate ? step * 1000 / f->rate : WAIT_MAX_MS;
    return ms < 1 ? 1 : ms < WAIT_MAX_MS ? (int64_t)ms : WAIT_MAX_MS;
}

static bool is_closing(struct trimmer *t)
{
    bool closing;

    pthread_mutex_lock(&t->lock);
    closing = t->is_closing;
    pthread_mutex_unlock(&t->lock);
    return closing;
}

/* ---- requested checks */

static void wake(struct trimmer *t)
{
    const uint64_t one = 1;

    (void)sys_write(t->wake, &one, sizeof(one)); /* on failure it is awake */
}

/* Called with the lock held. */
static void trimmer_ask(struct trimmer *t, const char *name)
{
    struct asked *a = xalloc(sizeof(*a) + strlen(name) + 1);

    memcpy(a->name, name, strlen(name) + 1);
    STAILQ_INSERT_TAIL(&t->asked, a, link);
    wake(t);
}

void trimmer_look(struct trimmer *t, const char *name)
{
    pthread_mutex_lock(&t->lock);
    trimmer_ask(t, name);
    pthread_mutex_unlock(&t->lock);
}

/* ---- thread of a file */

/* Events of the file were left to this thread, so one more check is requested. */
static void end_thread(struct file *f)
{
    struct trimmer *t = f->trimmer;

    sys_close(f->fd);
    pthread_mutex_lock(&t->lock);
    (void)map_del_str(&t->threads, f->name); /* the entry is f itself */
    trimmer_ask(t, f->name);
    pthread_cond_signal(&t->on_end);
    pthread_mutex_unlock(&t->lock);
    free(f);
}

static void *trim_until_calm(void *file)
{
    struct file *f = file;
    int64_t busy_us = time_mono_us();

    (void)sys_setpriority(NICE); /* without the privilege it runs at normal priority */
    if (!f->rate) {
        measure(f);
        pause_ms(RATE_MS);
    }
    while (!is_closing(f->trimmer)) {
        uint64_t max_bytes = trimmer_max(f->trimmer, f->name);

        measure(f);
        if (is_over_soon(f, max_bytes))
            busy_us = f->looked_us;
        else if (f->looked_us - busy_us > CALM_MS * 1000)
            break;
        if (f->space.size > trim_at(f, max_bytes) || outlog_is_over(&f->space, max_bytes))
            trimmer_trim(f, max_bytes);
        pause_ms(next_look_ms(f, max_bytes));
    }
    end_thread(f);
    return NULL;
}

/* ---- watcher thread */

static int trimmer_start_thread(void *(*run)(void *arg), void *arg, struct err *err)
{
    sigset_t all, old;
    pthread_t id;
    int number;

    sigfillset(&all); /* only the loop handles signals */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&id, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number) {
        errno = number;
        return err_sys(err, "start a thread");
    }
    pthread_detach(id);
    return 0;
}

/* False: too many threads, or creation failed. */
static bool begin_thread(struct trimmer *t, const struct file *from)
{
    struct file *f = xalloc(sizeof(*f));
    struct err ignored;
    bool has_room;

    *f = *from;
    pthread_mutex_lock(&t->lock);
    has_room = t->threads.n < THREADS_MAX;
    if (has_room)
        map_put_str(&t->threads, f->name, f);
    pthread_mutex_unlock(&t->lock);
    if (has_room && !trimmer_start_thread(trim_until_calm, f, &ignored))
        return true;
    if (has_room)
        end_thread(f);
    else
        free(f);
    return false;
}

static bool has_thread(struct trimmer *t, const char *name)
{
    bool has;

    pthread_mutex_lock(&t->lock);
    has = map_find_str(&t->threads, name) != NULL;
    pthread_mutex_unlock(&t->lock);
    return has;
}

static struct file *get_file(struct trimmer *t, const char *name)
{
    struct file *f = map_find_str(&t->files, name);

    if (f)
        return f;
    f = xalloc(sizeof(*f));
    f->trimmer = t;
    f->fd = -1;
    snprintf(f->name, sizeof(f->name), "%s", name);
    map_put_str(&t->files, f->name, f);
    return f;
}

static void forget_files(struct trimmer *t)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&t->files, &at));)
        free(e->value);
    map_free(&t->files);
}

/* No thread is available for it, so the excess is dropped at once. */
static void drop_all(struct file *f, uint64_t max_bytes)
{
    struct err ignored; /* retried at the next check */
    bool is_trimmed;

    if (f->space.size <= max_bytes) {
        if (outlog_is_over(&f->space, max_bytes))
            (void)outlog_trim(f->trimmer->o, f->name, max_bytes, &is_trimmed, &ignored);
        return;
    }
    if (trimmer_drop(f, 0, &ignored))
        return;
    sys_close(f->fd);
    f->fd = -1;
}

static void look(struct trimmer *t, const char *name)
{
    struct file *f;

    if (strchr(name, '.') || strlen(name) >= OUTLOG_NAME_SIZE || has_thread(t, name))
        return; /* files with a "." are written by the agent itself */
    f = get_file(t, name);
    if (f->looked_us && time_mono_us() - f->looked_us < RATE_MS * 1000)
        return; /* a repeated event */
    measure(f);
    if (!is_over_soon(f, trimmer_max(t, name)) || begin_thread(t, f))
        return;
    drop_all(f, trimmer_max(t, name));
    trimmer_look(t, name);
}

static void look_at_all(struct trimmer *t)
{
    struct dirent *entry;
    int fd = sys_open(t->path, O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);

    if (!dir)
        sys_close(fd);
    while (dir && (entry = readdir(dir)))
        look(t, entry->d_name);
    if (dir)
        closedir(dir);
}

/* True: there were events. */
static bool read_news(struct trimmer *t)
{
    _Alignas(struct inotify_event) char news[16384];
    ssize_t got = t->news < 0 ? 0 : sys_read(t->news, news, sizeof(news));
    bool has_missed = false;

    for (ssize_t at = 0; at < got;) {
        const struct inotify_event *e = (const void *)(news + at);

        if (e->len)
            look(t, e->name);
        has_missed |= (e->mask & IN_Q_OVERFLOW) != 0; /* the event queue of the kernel overflowed */
        at += (ssize_t)(sizeof(*e) + e->len);
    }
    if (has_missed)
        look_at_all(t);
    return got > 0;
}

/* True: some file must be checked again, because there was no thread for it. */
static bool look_at_asked(struct trimmer *t)
{
    struct asked_list asked = STAILQ_HEAD_INITIALIZER(asked);
    struct asked *a;
    bool again;

    pthread_mutex_lock(&t->lock);
    STAILQ_CONCAT(&asked, &t->asked);
    pthread_mutex_unlock(&t->lock);
    while ((a = STAILQ_FIRST(&asked))) {
        STAILQ_REMOVE_HEAD(&asked, link);
        look(t, a->name);
        free(a);
    }
    pthread_mutex_lock(&t->lock);
    again = !STAILQ_EMPTY(&t->asked);
    pthread_mutex_unlock(&t->lock);
    return again;
}

static void *watch(void *trimmer)
{
    enum { READS_MAX = 64 };
    struct trimmer *t = trimmer;
    uint64_t ignored;
    bool again = false;

    (void)sys_setpriority(NICE);
    outlog_keep_all_open(t->o);
    while (!is_closing(t)) {
        struct pollfd fds[2] = { { .fd = t->wake, .events = POLLIN },
                                 { .fd = t->news, .events = POLLIN } };

        (void)sys_poll(fds, 2, again ? NEWS_MS : -1);
        pause_ms(NEWS_MS);
        (void)sys_read(t->wake, &ignored, sizeof(ignored));
        if (clock_mono_ms(&clock_system) - t->forgot_ms > KNOWN_MS) {
            forget_files(t);
            t->forgot_ms = clock_mono_ms(&clock_system);
        }
        again = look_at_asked(t);
        for (int i = 0; i < READS_MAX && read_news(t);)
            i++;
    }
    pthread_mutex_lock(&t->lock);
    t->is_watching = false;
    pthread_cond_signal(&t->on_end);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool trimmer_has_news(const struct trimmer *t)
{
    return t->news >= 0;
}

/* ---- start and end */

static void trimmer_init_lock(struct trimmer *t)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->on_end, &attr);
    pthread_condattr_destroy(&attr);
}

int trimmer_new(struct outlog *o, const char *path, uint64_t max_bytes, struct log *log,
                struct trimmer **ret, struct err *err)
{
    struct trimmer *t = xalloc(sizeof(*t));

    *t = (struct trimmer){ .o = o, .log = log, .path = xstrdup(path), .max_bytes = max_bytes };
    trimmer_init_lock(t);
    STAILQ_INIT(&t->asked);
    t->news = sys_inotify(path, IN_MODIFY | IN_ONLYDIR);
    if (t->news < 0) {
        err_sys(err, "watch %s", path);
        LOG(log, LOG_WARN, "output is looked at every 10 s, and may grow large meanwhile",
            log_err(err));
    }
    t->wake = sys_eventfd();
    t->is_watching = t->wake >= 0;
    if (t->wake < 0)
        err_sys(err, "eventfd");
    else if (trimmer_start_thread(watch, t, err))
        t->is_watching = false;
    if (!t->is_watching) {
        (void)trimmer_free(t, 0); /* no thread is running that could hang */
        return -1;
    }
    *ret = t;
    return 0;
}

/* False: some have not ended in time. */
static bool end_threads(struct trimmer *t, int64_t wait_ms)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + wait_ms;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    bool is_late = false, has_ended;

    pthread_mutex_lock(&t->lock);
    t->is_closing = true;
    if (t->is_watching)
        wake(t);
    while ((t->is_watching || t->threads.n > 0) && !is_late)
        is_late = pthread_cond_timedwait(&t->on_end, &t->lock, &until) == ETIMEDOUT;
    has_ended = !t->is_watching && !t->threads.n;
    pthread_mutex_unlock(&t->lock);
    return has_ended;
}

bool trimmer_free(struct trimmer *t, int64_t wait_ms)
{
    struct map_entry *e;
    struct asked *a;

    if (!t)
        return true;
    if (!end_threads(t, wait_ms))
        return false;
    while ((a = STAILQ_FIRST(&t->asked))) {
        STAILQ_REMOVE_HEAD(&t->asked, link);
        free(a);
    }
    for (size_t at = 0; (e = map_next(&t->bounds, &at));)
        free(e->value);
    map_free(&t->bounds);
    map_free(&t->threads);
    forget_files(t);
    sys_close(t->news);
    sys_close(t->wake);
    pthread_cond_destroy(&t->on_end);
    pthread_mutex_destroy(&t->lock);
    free(t->path);
    free(t);
    return true;
}
