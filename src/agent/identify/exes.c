/* SPDX-License-Identifier: MIT */
/* exes.c - see exes.h. */
#include "agent/identify/exes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/mem.h"

struct exe {
    pid_t pid;
    const char *path;
};

struct exes {
    pthread_mutex_t lock; /* of all below; not held while a user file is opened */
    struct arena arena;
    struct exe *list; /* sorted by path */
    size_t n, cap;
    int64_t read_ms; /* when the scan began */
    bool is_read;
};

struct exes *exes_new(void)
{
    struct exes *e = xalloc(sizeof(*e));

    pthread_mutex_init(&e->lock, NULL);
    return e;
}

static void forget(struct exes *e)
{
    arena_free(&e->arena);
    free(e->list);
    e->list = NULL;
    e->n = e->cap = 0;
    e->is_read = false;
}

/* Frees the memory: the next use may be much later. */
void exes_forget(struct exes *e)
{
    pthread_mutex_lock(&e->lock);
    forget(e);
    pthread_mutex_unlock(&e->lock);
}

void exes_free(struct exes *e)
{
    if (!e)
        return;
    forget(e);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Kernel threads have no executable, and some links may not be readable. */
static bool exes_on_process(void *exes, pid_t pid)
{
    struct exes *e = exes;
    char path[PROCFS_PATH_SIZE];
    struct err why;

    if (procfs_exe(pid, path, &why))
        return true;
    if (e->n == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 64;
        e->list = xresize(e->list, e->cap * sizeof(*e->list));
    }
    e->list[e->n++] = (struct exe){ pid, arena_strdup(&e->arena, path) };
    return true;
}

static int exes_compare(const void *a, const void *b)
{
    const struct exe *x = a, *y = b;

    return strcmp(x->path, y->path);
}

static int exes_read_all(struct exes *e, int64_t now_ms, struct err *err)
{
    forget(e);
    if (procfs_each(exes_on_process, e, err))
        return -1;
    if (e->n)
        qsort(e->list, e->n, sizeof(*e->list), exes_compare);
    e->read_ms = now_ms;
    e->is_read = true;
    return 0;
}

/* Index of the first path that is not before the folder's; paths under the folder begin there or
 * behind it. */
static size_t first_under(const struct exes *e, const char *folder)
{
    size_t from = 0, to = e->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(e->list[middle].path, folder) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t exes_serve_ms(size_t n)
{
    return EXES_MAX_MS * (1 + (int64_t)(n / EXES_SOME));
}

/* A scan in the same millisecond may have begun too early. */
static bool is_answered(const struct exes *e, struct exes_question q)
{
    return e->is_read && e->read_ms > q.since_ms && q.now_ms - e->read_ms <= exes_serve_ms(e->n);
}

struct pids {
    pid_t *list;
    size_t n, cap;
};

static void add_pid(struct pids *to, pid_t pid)
{
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 16;
        to->list = xresize(to->list, to->cap * sizeof(*to->list));
    }
    to->list[to->n++] = pid;
}

static void list_under(const struct exes *e, const char *folder, struct pids *to)
{
    size_t n = strlen(folder);

    for (size_t i = first_under(e, folder); i < e->n; i++) {
        const char *path = e->list[i].path;

        if (strncmp(path, folder, n) != 0)
            break;
        if (path[n] == '/')
            add_pid(to, e->list[i].pid);
    }
}

int exes_each(struct exes *e, struct exes_question q, const char *folder, procfs_fn *fn, void *arg,
              struct err *err)
{
    struct pids pids = { 0 };
    int result = 0;

    pthread_mutex_lock(&e->lock);
    if (!is_answered(e, q))
        result = exes_read_all(e, q.now_ms, err);
    if (!result)
        list_under(e, folder, &pids);
    pthread_mutex_unlock(&e->lock);
    for (size_t i = 0; i < pids.n && fn(arg, pids.list[i]); i++)
        continue;
    free(pids.list);
    return result;
}
