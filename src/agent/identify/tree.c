/* SPDX-License-Identifier: MIT */
/* tree.c - see tree.h. */
#include "agent/identify/tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { ROUNDS_MAX = 1000 };

struct growth {
    const struct ident *root;
    struct tree *tree;
    struct map seen; /* by pid of members */
    size_t cap;
    bool stop; /* send SIGSTOP to each new member */
    const struct tree_spared *spared;
    int64_t parent;
    struct err *err;
    int result;
};

static bool is_seen(const struct growth *g, int64_t pid)
{
    return map_find(&g->seen, (const char *)&pid, sizeof(pid)) != NULL;
}

/* Keys are allocated one by one, because members move when the list grows; freed with the map. */
static void tree_remember(struct growth *g, int64_t pid)
{
    int64_t *key = xalloc(sizeof(*key));

    *key = pid;
    map_put(&g->seen, (const char *)key, sizeof(*key), key);
}

static void tree_forget(struct growth *g)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&g->seen, &at)) != NULL;)
        free(e->value);
    map_free(&g->seen);
}

/* False, with an error: the tree is full. */
static bool tree_add(struct growth *g, const struct ident *id)
{
    if (g->tree->n >= TREE_MAX) {
        g->result = err_set(g->err, ERR_LIMIT, "more than %d processes descend from %lld", TREE_MAX,
                            (long long)g->root->pid);
        return false;
    }
    if (g->tree->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 16;
        g->tree->members = xresize(g->tree->members, g->cap * sizeof(*id));
    }
    g->tree->members[g->tree->n++] = *id;
    tree_remember(g, id->pid);
    return true;
}

/* Ended processes are no members; an error of one process does not stop the walk. */
static bool tree_take(struct growth *g, int64_t pid,
                      bool (*belongs)(struct growth *, const struct procfs_stat *))
{
    struct procfs_stat st;
    struct ident id;
    struct err why;
    int fd;
    bool goes_on = true;

    if (is_seen(g, pid))
        return true;
    if (ident_of(pid, g->root->boot_id, &id, &fd, &why)) {
        if (why.code == ERR_SYSTEM)
            g->result = (*g->err = why, -1);
        return g->result == 0;
    }
    if (!procfs_stat((pid_t)pid, &st, &why) && st.start_ticks == id.start_ticks &&
        belongs(g, &st) && !(g->spared && g->spared->fn(g->spared->arg, &id))) {
        if (g->stop)
            (void)ident_signal(fd, SIGSTOP, &why); /* SIGKILL reports EPERM */
        goes_on = tree_add(g, &id);
    }
    sys_close(fd);
    return goes_on;
}

static bool is_child(struct growth *g, const struct procfs_stat *st)
{
    return st->ppid == g->parent;
}

static bool is_in_session(struct growth *g, const struct procfs_stat *st)
{
    return ident_made_session(g->root, st->session);
}

static bool is_root(struct growth *g, const struct procfs_stat *st)
{
    return st->start_ticks == g->root->start_ticks;
}

static bool tree_on_child(void *arg, pid_t pid)
{
    return tree_take(arg, pid, is_child);
}

static bool tree_on_process(void *arg, pid_t pid)
{
    struct growth *g = arg;
    struct procfs_stat st;
    struct err why;

    if (is_seen(g, pid) || procfs_stat(pid, &st, &why) || st.session != g->root->pid)
        return true;
    return tree_take(g, pid, is_in_session);
}

/* One pass over all members, including new ones. */
static int grow(struct growth *g, bool with_session)
{
    struct err why;

    if (with_session && procfs_each(tree_on_process, g, g->err))
        return -1;
    for (size_t i = 0; i < g->tree->n && !g->result; i++) {
        g->parent = g->tree->members[i].pid;
        if (procfs_each_child((pid_t)g->parent, tree_on_child, g, &why) && !g->result &&
            why.code != ERR_NOT_FOUND)
            g->result = (*g->err = why, -1);
    }
    return g->result;
}

static int grow_from_root(struct growth *g, bool with_session)
{
    if (!tree_take(g, g->root->pid, is_root) || g->result)
        return -1;
    return grow(g, with_session);
}

int tree_read(const struct ident *root, bool with_session, struct tree *ret, struct err *err)
{
    struct tree tree = { 0 };
    struct growth g = { .root = root, .tree = &tree, .err = err };
    int result = grow_from_root(&g, with_session);

    tree_forget(&g);
    if (result)
        tree_done(&tree);
    else
        *ret = tree;
    return result;
}

void tree_done(struct tree *t)
{
    free(t->members);
    *t = (struct tree){ 0 };
}

static int kill_all(const struct tree *t, const struct ident *root, size_t *ret_n, struct err *err)
{
    struct err why, refused = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        int fd;

        if (ident_open(&t->members[i], root->boot_id, &fd, &why)) {
            if (why.code != ERR_NOT_FOUND)
                refused = why;
            continue;
        }
        if (!ident_signal(fd, SIGKILL, &why))
            n++;
        else if (why.code != ERR_NOT_FOUND)
            refused = why;
        sys_close(fd);
    }
    if (refused.code)
        return err_set(err, refused.sys == EPERM ? ERR_DENIED : refused.code, "%s", refused.text);
    *ret_n = n;
    return 0;
}

int tree_kill(const struct ident *root, bool with_session, const struct tree_spared *spared,
              size_t *ret_n, struct err *err)
{
    struct tree tree = { 0 };
    struct growth g = { .root = root, .tree = &tree, .err = err, .stop = true, .spared = spared };
    int result = grow_from_root(&g, with_session);
    size_t before = 0, killed = 0;
    struct err second;

    for (int i = 0; i < ROUNDS_MAX && !result && tree.n > before; i++) {
        before = tree.n;
        result = grow(&g, with_session);
    }
    tree_forget(&g);
    if (kill_all(&tree, root, &killed, result ? &second : err)) /* all are stopped */
        result = -1;
    if (!result)
        *ret_n = killed;
    tree_done(&tree);
    return result;
}
