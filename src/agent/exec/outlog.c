/* SPDX-License-Identifier: MIT */
/* outlog.c - see outlog.h. */
#include "agent/exec/outlog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/exec/outlog_hold.h"
#include "agent/exec/outlog_times.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"

TAILQ_HEAD(outlog_turns, outlog_turn);

struct outlog {
    struct outlog_folder folder;
    struct held_files *held;
    pthread_mutex_t lock;  /* of `trimmed` and `turns`; not held in blocking calls */
    pthread_cond_t on_end; /* signalled at the end of a trim or a read */
    struct map trimmed;    /* struct trimmed by name; trimmed files only */
    struct outlog_turns turns;
    struct outlog_times *times;
    DIR *walk; /* open during a walk */
};

const struct outlog_folder *outlog_folder(const struct outlog *o)
{
    return &o->folder;
}

/* --- Positions ---------------------------------------------------------- */

static void lock(const struct outlog *o)
{
    pthread_mutex_lock((pthread_mutex_t *)&o->lock);
}

static void unlock(const struct outlog *o)
{
    pthread_mutex_unlock((pthread_mutex_t *)&o->lock);
}

struct trimmed outlog_trimmed(const struct outlog *o, const char *name)
{
    const struct trimmed *found;
    struct trimmed t = { .base = 0 };

    lock(o);
    found = map_find_str(&o->trimmed, name);
    if (found)
        t = *found;
    unlock(o);
    return t;
}

/* Called with the lock held. */
static struct trimmed *get_trimmed(struct outlog *o, const char *name)
{
    struct trimmed *t = map_find_str(&o->trimmed, name);

    if (t)
        return t;
    t = xalloc(sizeof(*t));
    snprintf(t->name, sizeof(t->name), "%s", name);
    map_put_str(&o->trimmed, t->name, t);
    return t;
}

void outlog_begin_trim(struct outlog *o, const char *name)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + OUTLOG_READER_MS;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    const struct trimmed *t;
    bool is_late = false;

    lock(o);
    while ((t = get_trimmed(o, name))->is_busy || (t->readers && !is_late)) {
        if (t->is_busy)
            pthread_cond_wait(&o->on_end, &o->lock);
        else
            is_late = pthread_cond_timedwait(&o->on_end, &o->lock, &until) == ETIMEDOUT;
    }
    get_trimmed(o, name)->is_busy = true;
    unlock(o);
}

/* A file that was never trimmed has no counter, and needs none unless its first trim runs just now.
 */
static void count_reader(const struct outlog *o, const char *name, int n)
{
    struct trimmed *t;

    lock(o);
    t = map_find_str(&o->trimmed, name);
    if (t && t->readers + n >= 0)
        t->readers += n;
    unlock(o);
}

void outlog_begin_read(const struct outlog *o, const char *name)
{
    count_reader(o, name, 1);
}

void outlog_end_read(const struct outlog *o, const char *name)
{
    count_reader(o, name, -1);
    pthread_cond_broadcast((pthread_cond_t *)&o->on_end);
}

/* ---- turns */

enum { TURNS_AT_ONCE = 4 }; /* per trim: the file grows meanwhile */

/* The first that waits for this file, which is not in the list any more; NULL: none. */
static struct outlog_turn *outlog_take_turn(struct outlog *o, const char *name)
{
    struct outlog_turn *t;

    lock(o);
    TAILQ_FOREACH(t, &o->turns, link) {
        if (!strcmp(t->name, name))
            break;
    }
    if (t) {
        TAILQ_REMOVE(&o->turns, t, link);
        t->state = OUTLOG_TURN_RUNS;
    }
    unlock(o);
    return t;
}

static void run_turn(struct outlog *o, struct outlog_turn *t)
{
    bool is_dropped;

    t->run(t);
    lock(o);
    is_dropped = t->state == OUTLOG_TURN_DROPPED;
    t->state = OUTLOG_TURN_DONE;
    unlock(o);
    if (is_dropped)
        t->free(t);
}

void outlog_turn_put(struct outlog *o, struct outlog_turn *t)
{
    t->state = OUTLOG_TURN_WAITS;
    lock(o);
    TAILQ_INSERT_TAIL(&o->turns, t, link);
    unlock(o);
}

bool outlog_turn_is_done(struct outlog *o, const struct outlog_turn *t)
{
    bool is_done;

    lock(o);
    is_done = t->state == OUTLOG_TURN_DONE;
    unlock(o);
    return is_done;
}

void outlog_turn_drop(struct outlog *o, struct outlog_turn *t)
{
    bool runs;

    lock(o);
    runs = t->state == OUTLOG_TURN_RUNS;
    if (t->state == OUTLOG_TURN_WAITS)
        TAILQ_REMOVE(&o->turns, t, link);
    t->state = OUTLOG_TURN_DROPPED;
    unlock(o);
    if (!runs)
        t->free(t);
}

void outlog_end_trim(struct outlog *o, const char *name)
{
    struct outlog_turn *t;

    for (int i = 0; i < TURNS_AT_ONCE && (t = outlog_take_turn(o, name)); i++)
        run_turn(o, t);
    lock(o);
    get_trimmed(o, name)->is_busy = false;
    pthread_cond_broadcast(&o->on_end);
    unlock(o);
}

void outlog_change(struct outlog *o, const char *name)
{
    lock(o);
    get_trimmed(o, name)->changes |= 1;
    unlock(o);
}

void outlog_set_trimmed(struct outlog *o, const char *name, uint64_t base, uint64_t older,
                        uint64_t dropped)
{
    struct trimmed *t;

    lock(o);
    t = get_trimmed(o, name);
    t->base = base;
    t->older = older;
    t->dropped = dropped;
    t->changes = (t->changes | 1) + 1;
    outlog_times_set_size(o->times, name, 0); /* it has another size now */
    pthread_cond_broadcast(&o->on_end);
    unlock(o);
}

void outlog_keep_trimmed(struct outlog *o, const char *name)
{
    struct trimmed t = outlog_trimmed(o, name);

    outlog_set_trimmed(o, name, t.base, t.older, t.dropped);
}

int outlog_rounds(enum outlog_wait wait)
{
    return wait == OUTLOG_MAY_WAIT ? OUTLOG_ROUNDS : 1;
}

/* The end of a trim wakes it, because the next one begins a few milliseconds later. */
static void wait_steady(const struct outlog *o, const char *name)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + OUTLOG_TRY_MS;
    struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
    const struct trimmed *t;
    bool is_late = false;

    lock(o);
    while ((t = map_find_str(&o->trimmed, name)) && t->changes & 1 && !is_late)
        is_late = pthread_cond_timedwait((pthread_cond_t *)&o->on_end, (pthread_mutex_t *)&o->lock,
                                         &until) == ETIMEDOUT;
    unlock(o);
}

struct trimmed outlog_steady(const struct outlog *o, const char *name, enum outlog_wait wait)
{
    if (wait == OUTLOG_MAY_WAIT)
        wait_steady(o, name);
    return outlog_trimmed(o, name);
}

bool outlog_is_steady(const struct outlog *o, const char *name, const struct trimmed *t)
{
    return !(t->changes & 1) && outlog_trimmed(o, name).changes == t->changes;
}

uint64_t outlog_base(const struct outlog *o, const char *name)
{
    return outlog_trimmed(o, name).base;
}

struct outlog_space outlog_space(const struct outlog *o, const char *name)
{
    struct stat st;

    return sys_lstat(o->folder.dir, name, &st) ? (struct outlog_space){ 0 } : outlog_space_of(&st);
}

uint64_t outlog_size(const struct outlog *o, const char *name)
{
    return outlog_space(o, name).size;
}

/* Called with the lock held, so the agent itself does not begin to shorten the file meanwhile; the
 * first look may be older than one of another thread. */
static bool has_shrunk(const struct outlog *o, const char *name, uint64_t before, uint64_t size,
                       uint64_t *ret_size)
{
    *ret_size = size >= before ? size : outlog_size(o, name);
    return *ret_size < before;
}

void outlog_note_size(const struct outlog *o, const char *name, struct trimmed *t, uint64_t size)
{
    const struct trimmed *now;
    struct trimmed *changed;
    uint64_t before;

    lock(o);
    now = map_find_str(&o->trimmed, name);
    if (!(t->changes & 1) && t->changes == (now ? now->changes : 0)) {
        before = outlog_times_size(o->times, name);
        if (has_shrunk(o, name, before, size, &size)) {
            changed = get_trimmed((struct outlog *)o, name);
            changed->base += before;
            changed->older = changed->dropped = 0;
            changed->changes += 2;
            *t = *changed;
        }
        if (size != before)
            outlog_times_set_size(o->times, name, size);
    }
    unlock(o);
}

static bool read_end(const struct outlog *o, const char *name, enum outlog_wait wait, uint64_t *ret)
{
    struct trimmed t;
    uint64_t size;
    bool is_steady;
    int tries = 0;

    outlog_begin_read(o, name);
    do {
        t = outlog_steady(o, name, wait);
        size = outlog_size(o, name);
        outlog_note_size(o, name, &t, size);
        is_steady = outlog_is_steady(o, name, &t);
    } while (!is_steady && ++tries < outlog_rounds(wait));
    outlog_end_read(o, name);
    *ret = t.base + size;
    return is_steady;
}

uint64_t outlog_end(const struct outlog *o, const char *name, enum outlog_wait wait)
{
    uint64_t end;

    (void)read_end(o, name, wait, &end); /* an estimate is good enough here */
    return end;
}

bool outlog_try_end(const struct outlog *o, const char *name, uint64_t *ret)
{
    return read_end(o, name, OUTLOG_NO_WAIT, ret);
}

/* --- Files kept open ---------------------------------------------------- */

int outlog_hold(struct outlog *o, const char *name, int *ret_fd, struct err *err)
{
    return held_files_open(o->held, name, ret_fd, err);
}

void outlog_keep_open(struct outlog *o, const char *name)
{
    held_files_keep(o->held, name);
}

void outlog_let_go(struct outlog *o, const char *name)
{
    held_files_let_go(o->held, name);
}

void outlog_keep_all_open(struct outlog *o)
{
    held_files_keep_all(o->held);
}

bool outlog_is_searching(const struct outlog *o)
{
    return held_files_are_searched(o->held);
}

/* --- Folder walk -------------------------------------------------------- */

void outlog_note_time(struct outlog *o, const char *name, uint64_t end)
{
    outlog_times_note(o->times, name, clock_mono_ms(&clock_system), end);
}

uint64_t outlog_since(const struct outlog *o, const char *name, int64_t age_ms)
{
    return outlog_times_find(o->times, name, clock_mono_ms(&clock_system) - age_ms);
}

int outlog_remove(struct outlog *o, const char *name, struct err *err)
{
    char old[OUTLOG_OLD_SIZE];

    outlog_old_name(name, ".1", old);
    if (sys_unlinkat(o->folder.dir, name) && errno != ENOENT)
        return outlog_trouble(&o->folder, name, "unlink", err);
    if (sys_unlinkat(o->folder.dir, old) && errno != ENOENT)
        return outlog_trouble(&o->folder, old, "unlink", err);
    outlog_let_go(o, name);
    outlog_times_forget(o->times, name);
    lock(o);
    free(map_del_str(&o->trimmed, name));
    unlock(o);
    return 0;
}

/* The name without its suffix (for example ".1"); false: another suffix, or the name is too long.
 */
static bool cut_end(const char *file, const char *end, char to[OUTLOG_NAME_SIZE])
{
    size_t n = strlen(file), m = strlen(end);

    if (n <= m || n - m >= OUTLOG_NAME_SIZE || strcmp(file + n - m, end) != 0)
        return false;
    memcpy(to, file, n - m);
    to[n - m] = '\0';
    return true;
}

/* Positions from a previous agent. On errors positions start from 0; the agent starts anyway. */
static void outlog_read_head(struct outlog *o, const char *file, const char *name)
{
    char head[OUTLOG_HEAD_SIZE + 1] = { 0 }, again[OUTLOG_HEAD_SIZE + 1];
    unsigned long long base = 0;
    struct err ignored;
    uint64_t older;
    struct stat st;
    ssize_t got;
    int fd;

    if (outlog_open_file(&o->folder, file, O_RDONLY, &fd, &st, &ignored))
        return;
    got = sys_pread(fd, head, OUTLOG_HEAD_SIZE, 0);
    sys_close(fd);
    if (got != OUTLOG_HEAD_SIZE)
        return;
    base = strtoull(head + strcspn(head, "0123456789"), NULL, 10);
    snprintf(again, sizeof(again), OUTLOG_HEAD, base);
    older = (uint64_t)st.st_size - OUTLOG_HEAD_SIZE;
    if (!strcmp(head, again)) /* otherwise not a file of the agent */
        outlog_set_trimmed(o, name, base, older < base ? older : base, 0);
}

static int find_trimmed(struct outlog *o, struct err *err)
{
    char name[OUTLOG_NAME_SIZE];
    struct dirent *entry;
    DIR *dir = outlog_open_dir(&o->folder);

    if (!dir)
        return err_sys(err, "read %s", o->folder.path);
    while ((entry = readdir(dir))) {
        if (cut_end(entry->d_name, ".1", name))
            outlog_read_head(o, entry->d_name, name);
    }
    closedir(dir);
    return 0;
}

/* Files of an unknown kind are not reported. */
static void outlog_tell(const struct outlog *o, const char *file, outlog_fn *each, void *arg)
{
    char name[OUTLOG_NAME_SIZE], process[OUTLOG_NAME_SIZE];
    struct stat st;

    if (!sys_lstat(o->folder.dir, file, &st) && S_ISREG(st.st_mode) &&
        (cut_end(file, ".1", name) || cut_end(file, ".2", name) || cut_end(file, "", name))) {
        snprintf(process, sizeof(process), "%.*s", (int)strcspn(name, "~"), name);
        each(arg, name, process, st.st_mtime);
    }
}

bool outlog_walk(struct outlog *o, size_t n, outlog_fn *each, void *arg)
{
    struct dirent *entry = NULL;

    if (!o->walk)
        o->walk = outlog_open_dir(&o->folder);
    for (; o->walk && n > 0 && (entry = readdir(o->walk)); n--) {
        if (entry->d_name[0] != '.')
            outlog_tell(o, entry->d_name, each, arg);
    }
    if (entry)
        return true;
    if (o->walk)
        closedir(o->walk);
    o->walk = NULL;
    return false;
}

/* --- Open and close ----------------------------------------------------- */

static void outlog_init_lock(struct outlog *o)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&o->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&o->on_end, &attr);
    pthread_condattr_destroy(&attr);
}

int outlog_open(const char *path, struct outlog **ret, struct err *err)
{
    struct outlog *o = xalloc(sizeof(*o));

    TAILQ_INIT(&o->turns);
    outlog_init_lock(o);
    o->times = outlog_times_new();
    if (outlog_folder_open(&o->folder, path, err) || find_trimmed(o, err)) {
        outlog_close(o);
        return -1;
    }
    o->held = held_files_new(&o->folder);
    *ret = o;
    return 0;
}

void outlog_close(struct outlog *o)
{
    struct map_entry *e;

    if (!o)
        return;
    for (size_t at = 0; (e = map_next(&o->trimmed, &at));)
        free(e->value);
    map_free(&o->trimmed);
    held_files_free(o->held);
    outlog_times_free(o->times);
    if (o->walk)
        closedir(o->walk);
    outlog_folder_close(&o->folder);
    pthread_cond_destroy(&o->on_end);
    pthread_mutex_destroy(&o->lock);
    free(o);
}
