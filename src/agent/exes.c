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
    struct exe *list;
    size_t n, cap;
    bool is_read;
};

struct exes *exes_new(void)
{
    return xalloc(sizeof(struct exes));
}

void exes_forget(struct exes *e)
{
    arena_reset(&e->arena);
    e->n = 0;
    e->is_read = false;
}

void exes_free(struct exes *e)
{
    if (!e)
        return;
    arena_free(&e->arena);
    free(e->list);
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

int exes_each(struct exes *e, const char *folder, procfs_fn *fn, void *arg, struct err *err)
{
    size_t n = strlen(folder);

    if (!e->is_read) {
        exes_forget(e);
        if (procfs_each(on_process, e, err))
            return -1;
        e->is_read = true;
    }
    for (size_t i = 0; i < e->n; i++) {
        const char *path = e->list[i].path;

        if (!strncmp(path, folder, n) && path[n] == '/' && !fn(arg, e->list[i].pid))
            break;
    }
    return 0;
}
