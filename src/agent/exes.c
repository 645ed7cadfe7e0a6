/* SPDX-License-Identifier: MIT */
/* exes.c - see exes.h. */
#include "agent/exes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

struct exe {
    pid_t pid;
    const char *path;
};

struct exes {
    struct arena arena;
    struct exe *list; /* by path */
    size_t n, cap;
    int64_t read_ms; /* when reading began */
    bool is_read;
};

struct exes *exes_new(void)
{
    return xalloc(sizeof(struct exes));
}

/* Nothing is kept for next time: it may be long until then. */
void exes_forget(struct exes *e)
{
    arena_free(&e->arena);
    free(e->list);
    e->list = NULL;
    e->n = e->cap = 0;
    e->is_read = false;
}

void exes_free(struct exes *e)
{
    if (!e)
        return;
    exes_forget(e);
    free(e);
}

/* Kernel threads run no file, and of some processes we may not know. */
static bool on_process(void *exes, pid_t pid)
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

static int compare(const void *a, const void *b)
{
    const struct exe *x = a, *y = b;

    return strcmp(x->path, y->path);
}

static int read_all(struct exes *e, int64_t now_ms, struct err *err)
{
    exes_forget(e);
    if (procfs_each(on_process, e, err))
        return -1;
    if (e->n)
        qsort(e->list, e->n, sizeof(*e->list), compare);
    e->read_ms = now_ms;
    e->is_read = true;
    return 0;
}

/* The first whose path is not before the folder's; it, or those behind it, are those
 * whose path begins with the folder's. */
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

/* In the same millisecond it may have been a moment too early. */
static bool is_answered(const struct exes *e, struct exes_question q)
{
    return e->is_read && e->read_ms > q.since_ms && q.now_ms - e->read_ms <= exes_serve_ms(e->n);
}

int exes_each(struct exes *e, struct exes_question q, const char *folder, procfs_fn *fn, void *arg,
              struct err *err)
{
    size_t n = strlen(folder);

    if (!is_answered(e, q) && read_all(e, q.now_ms, err))
        return -1;
    for (size_t i = first_under(e, folder); i < e->n; i++) {
        const char *path = e->list[i].path;

        if (strncmp(path, folder, n) != 0)
            break;
        if (path[n] == '/' && !fn(arg, e->list[i].pid))
            break;
    }
    return 0;
}
