/* SPDX-License-Identifier: MIT */
/* agent_trim.c - what is kept of what processes say is bounded, in bytes and in days; see
 * agent_said.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#include "agent/agent_in.h"
#include "base/mem.h"
#include "base/sys.h"

enum {
    GROWTH_MS = 1000,       /* between two looks at what has grown */
    READS_MAX = 64,         /* of the kernel's news of it, in one look */
    WALK_FILES = 256,       /* of the folder, in one step */
    WALK_MS = 3600 * 1000,  /* between two walks through it */
    KEEP_S = 7 * 24 * 3600, /* what processes have said that nobody knows any more */
};

struct trims {
    struct agent *agent;
    int fd; /* -1: there is no inotify */
    struct watch *watch;
    struct timer growth;
    struct map known;  /* names of the files of all processes; while a walk's step lasts */
    struct map bounds; /* struct bound, by file: processes with one of their own */
    bool is_walking, has_missed; /* has_missed: the kernel had more news than it keeps */
    int64_t walked_ms;
};

struct bound {
    uint64_t max_bytes;
    size_t n;
    char file[];
};

uint64_t trims_max(const struct trims *t, const char *file)
{
    const struct bound *b = t->bounds.n ? map_find(&t->bounds, file, strcspn(file, "~")) : NULL;

    return b ? b->max_bytes : (uint64_t)t->agent->o.output_max_bytes;
}

void trims_set_max(struct trims *t, const char *file, int64_t max_bytes)
{
    size_t n = strcspn(file, "~");
    struct bound *b;

    if (t->bounds.n)
        free(map_del(&t->bounds, file, n));
    if (max_bytes <= 0)
        return;
    b = xalloc(sizeof(*b) + n + 1);
    *b = (struct bound){ .max_bytes = (uint64_t)max_bytes, .n = n };
    memcpy(b->file, file, n);
    map_put(&t->bounds, b->file, n, b);
}

static void trim(struct trims *t, const char *name)
{
    struct agent *a = t->agent;
    struct err err;
    bool trimmed;

    if (outlog_trim(a->outlog, name, trims_max(t, name), &trimmed, &err))
        LOG(a->log, LOG_WARN, "output can not be trimmed; it is tried again when there is more",
            log_err(&err));
}

/* ---- through all of them */

static void add_known(void *trims, const char *space, const char *name,
                      const struct proc_spec *spec)
{
    struct trims *t = trims;
    char file[OUTLOG_NAME_SIZE], *old;

    (void)spec;
    said_name(space, name, "start", file);
    old = map_del_str(&t->known, file);
    free(old);
    old = xstrdup(file);
    map_put_str(&t->known, old, old);
}

static bool is_known(struct trims *t, const char *process)
{
    if (!t->known.n)
        core_each(t->agent->core, add_known, t);
    return map_find_str(&t->known, process) != NULL;
}

static void forget_known(struct trims *t)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&t->known, &at));)
        free(e->value);
    map_free(&t->known);
}

static void on_file(void *trims, const char *name, const char *process, int64_t wall_s)
{
    struct trims *t = trims;
    struct agent *a = t->agent;
    int64_t now_s = clock_wall_ms(loop_clock(a->loop)) / 1000;
    struct err err;

    if (now_s - wall_s < KEEP_S || is_known(t, process))
        trim(t, name);
    else if (outlog_remove(a->outlog, name, &err))
        LOG(a->log, LOG_WARN, "old output can not be removed", log_err(&err));
}

static void walk(struct trims *t, size_t files)
{
    t->is_walking = outlog_walk(t->agent->outlog, files, on_file, t);
    forget_known(t);
    if (!t->is_walking)
        t->walked_ms = loop_now_ms(t->agent->loop);
}

void trims_on_tick(struct trims *t)
{
    int64_t since_ms = loop_now_ms(t->agent->loop) - t->walked_ms;

    if (t->fd < 0)
        walk(t, SIZE_MAX);
    else if (t->is_walking || since_ms >= WALK_MS)
        walk(t, WALK_FILES);
}

/* ---- those that grow */

static void on_news(struct trims *t, const struct inotify_event *e, struct map *seen)
{
    if (e->mask & IN_Q_OVERFLOW)
        t->has_missed = true;
    if (!e->len || strchr(e->name, '.') || map_find_str(seen, e->name))
        return; /* those with a "." are what we write ourselves */
    map_put_str(seen, e->name, (void *)(uintptr_t)e->name);
    trim(t, e->name);
}

/* Bytes of news; 0: there is none left. */
static size_t read_news(struct trims *t)
{
    _Alignas(struct inotify_event) char news[16384];
    struct map seen = { 0 };
    ssize_t got = sys_read(t->fd, news, sizeof(news));

    for (ssize_t at = 0; at < got;) {
        const struct inotify_event *e = (const void *)(news + at);

        on_news(t, e, &seen);
        at += (ssize_t)(sizeof(*e) + e->len);
    }
    map_free(&seen);
    return got > 0 ? (size_t)got : 0;
}

static void on_growth(void *trims)
{
    struct trims *t = trims;
    struct err err;
    int reads = 0;

    while (reads < READS_MAX && read_news(t))
        reads++;
    if (t->has_missed) {
        t->has_missed = false;
        walk(t, SIZE_MAX);
    }
    if (watch_want(t->watch, WATCH_READ, &err)) {
        LOG(t->agent->log, LOG_WARN, "output that grows is looked at again", log_err(&err));
        timer_set(t->agent->loop, &t->growth, GROWTH_MS);
    }
}

/* However much is said, we are woken once. */
static void on_ready(void *trims, unsigned ready)
{
    struct trims *t = trims;
    struct err ignored; /* then we are woken once more */

    (void)ready;
    (void)watch_want(t->watch, 0, &ignored);
    if (!t->growth.place)
        timer_set(t->agent->loop, &t->growth, GROWTH_MS);
}

/* ---- its life */

static int listen_to(struct trims *t, struct err *err)
{
    struct agent *a = t->agent;
    char *path = xprintf("%s/output", a->o.dir);

    t->fd = sys_inotify(path, IN_MODIFY | IN_ONLYDIR);
    if (t->fd < 0)
        err_sys(err, "watch %s", path);
    free(path);
    if (t->fd < 0)
        return -1;
    if (!watch_new(a->loop, t->fd, on_ready, t, &t->watch, err) &&
        !watch_want(t->watch, WATCH_READ, err))
        return 0;
    watch_free(t->watch);
    t->watch = NULL;
    sys_close(t->fd);
    t->fd = -1;
    return -1;
}

static void set_known_max(void *trims, const char *space, const char *name,
                          const struct proc_spec *spec)
{
    char file[OUTLOG_NAME_SIZE];

    if (!spec->extra.log_max_bytes)
        return;
    said_name(space, name, "start", file);
    trims_set_max(trims, file, spec->extra.log_max_bytes);
}

struct trims *trims_new(struct agent *a)
{
    struct trims *t = xalloc(sizeof(*t));
    struct err err;

    t->agent = a;
    core_each(a->core, set_known_max, t);
    t->is_walking = true; /* what grew before us */
    timer_init(&t->growth, on_growth, t);
    if (listen_to(t, &err))
        LOG(a->log, LOG_WARN, "output is looked at every 10 s, and may grow large meanwhile",
            log_err(&err));
    return t;
}

void trims_free(struct trims *t)
{
    struct map_entry *e;

    if (!t)
        return;
    timer_stop(t->agent->loop, &t->growth);
    watch_free(t->watch);
    sys_close(t->fd);
    forget_known(t);
    for (size_t at = 0; (e = map_next(&t->bounds, &at));)
        free(e->value);
    map_free(&t->bounds);
    free(t);
}
