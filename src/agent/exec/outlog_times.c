/* SPDX-License-Identifier: MIT */
/* outlog_times.c - see outlog_times.h. */
#include "agent/exec/outlog_times.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"

enum { FIRST = 4 };

struct moment {
    int64_t ms;
    uint64_t end;
};

struct times {
    size_t n, cap;
    uint64_t size;     /* outlog_times_size() */
    struct moment *at; /* oldest first */
    char file[];
};

struct outlog_times {
    pthread_mutex_t lock;
    struct map files; /* struct times */
};

struct outlog_times *outlog_times_new(void)
{
    struct outlog_times *t = xalloc(sizeof(*t));

    pthread_mutex_init(&t->lock, NULL);
    return t;
}

static void free_times(struct times *f)
{
    if (!f)
        return;
    free(f->at);
    free(f);
}

void outlog_times_free(struct outlog_times *t)
{
    struct map_entry *e;

    if (!t)
        return;
    for (size_t at = 0; (e = map_next(&t->files, &at));)
        free_times(e->value);
    map_free(&t->files);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

static struct times *get(struct outlog_times *t, const char *file)
{
    struct times *f = map_find_str(&t->files, file);
    size_t n = strlen(file) + 1;

    if (f)
        return f;
    f = xalloc(sizeof(*f) + n);
    memcpy(f->file, file, n);
    map_put_str(&t->files, f->file, f);
    return f;
}

/* Every other one of the older half goes. */
static void thin_out(struct times *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        if (i >= f->n / 2 || i % 2 == 0)
            f->at[n++] = f->at[i];
    }
    f->n = n;
}

static void add(struct times *f, int64_t now_ms, uint64_t end)
{
    if (f->n == OUTLOG_TIMES_MAX)
        thin_out(f);
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : FIRST;
        f->at = xresize(f->at, f->cap * sizeof(*f->at));
    }
    f->at[f->n++] = (struct moment){ now_ms, end };
}

/* The last pair moves on until it is far enough from the one before it. */
static void note(struct times *f, int64_t now_ms, uint64_t end)
{
    if (f->n && end == f->at[f->n - 1].end)
        return;
    if (f->n && end < f->at[f->n - 1].end)
        f->n = 0; /* the file was truncated, or is another one */
    if (f->n >= 2 && now_ms - f->at[f->n - 2].ms < OUTLOG_TIMES_STEP_MS)
        f->at[f->n - 1] = (struct moment){ now_ms, end };
    else
        add(f, now_ms, end);
}

void outlog_times_note(struct outlog_times *t, const char *file, int64_t now_ms, uint64_t end)
{
    pthread_mutex_lock(&t->lock);
    note(get(t, file), now_ms, end);
    pthread_mutex_unlock(&t->lock);
}

void outlog_times_forget(struct outlog_times *t, const char *file)
{
    pthread_mutex_lock(&t->lock);
    free_times(map_del_str(&t->files, file));
    pthread_mutex_unlock(&t->lock);
}

uint64_t outlog_times_size(struct outlog_times *t, const char *file)
{
    const struct times *f;
    uint64_t size;

    pthread_mutex_lock(&t->lock);
    f = map_find_str(&t->files, file);
    size = f ? f->size : 0;
    pthread_mutex_unlock(&t->lock);
    return size;
}

/* A file that is only asked for takes no memory. */
void outlog_times_set_size(struct outlog_times *t, const char *file, uint64_t size)
{
    struct times *f;

    pthread_mutex_lock(&t->lock);
    f = size ? get(t, file) : map_find_str(&t->files, file);
    if (f)
        f->size = size;
    pthread_mutex_unlock(&t->lock);
}

uint64_t outlog_times_find(struct outlog_times *t, const char *file, int64_t then_ms)
{
    const struct times *f;
    uint64_t end = 0;

    pthread_mutex_lock(&t->lock);
    f = map_find_str(&t->files, file);
    for (size_t i = 0; f && i < f->n && f->at[i].ms <= then_ms; i++)
        end = f->at[i].end;
    pthread_mutex_unlock(&t->lock);
    return end;
}
