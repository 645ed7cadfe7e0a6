/* SPDX-License-Identifier: MIT */
/* traces.c - see traces.h. */
#include "agent/shell/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/mem.h"

/* An operation on an ended process may still end its family. */
enum { TRACES_MAX = 1024, TRACE_MS = 10 * 60 * 1000 };

struct ended {
    TAILQ_ENTRY(ended) link;
    struct trace trace;
    char *kin; /* of trace */
    int64_t ended_ms;
    char key[]; /* "space:name" */
};

struct traces {
    TAILQ_HEAD(ended_list, ended) list; /* the oldest first */
    size_t n;
};

struct traces *traces_new(void)
{
    struct traces *t = xalloc(sizeof(*t));

    TAILQ_INIT(&t->list);
    return t;
}

static void drop_oldest(struct traces *t)
{
    struct ended *e = TAILQ_FIRST(&t->list);

    TAILQ_REMOVE(&t->list, e, link);
    t->n--;
    free(e->kin);
    free(e);
}

void traces_free(struct traces *t)
{
    if (!t)
        return;
    while (t->n)
        drop_oldest(t);
    free(t);
}

void traces_put(struct traces *t, const struct trace *trace, const char *space, const char *name,
                int64_t now_ms)
{
    size_t n = strlen(space) + strlen(name) + 2;
    struct ended *e = xalloc(sizeof(*e) + n);

    e->trace = *trace;
    e->trace.kin = e->kin = trace->kin ? xstrdup(trace->kin) : NULL;
    e->ended_ms = now_ms;
    snprintf(e->key, n, "%s:%s", space, name);
    TAILQ_INSERT_TAIL(&t->list, e, link);
    if (++t->n > TRACES_MAX)
        drop_oldest(t);
}

const struct trace *traces_find(const struct traces *t, struct core_ident ident)
{
    const struct ended *e;

    TAILQ_FOREACH_REVERSE(e, &t->list, ended_list, link)
    {
        if (core_is_same(e->trace.ident, ident))
            return &e->trace;
    }
    return NULL;
}

bool trace_is_among(pid_t session, const pid_t *sessions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (session && session == sessions[i])
            return true;
    }
    return false;
}

static bool has_key(const struct ended *e, const char *space, const char *name)
{
    size_t n = strlen(space);

    return !strncmp(e->key, space, n) && e->key[n] == ':' && !strcmp(e->key + n + 1, name);
}

uint64_t traces_find_program(const struct traces *t, const char *space, const char *name)
{
    const struct ended *e;

    TAILQ_FOREACH_REVERSE(e, &t->list, ended_list, link)
    {
        if (e->trace.program && has_key(e, space, name))
            return e->trace.program;
    }
    return 0;
}

bool traces_have(const struct traces *t, const pid_t *sessions, size_t n, const char *space,
                 const char *name)
{
    const struct ended *e;

    TAILQ_FOREACH(e, &t->list, link) {
        if (trace_is_among(e->trace.session, sessions, n) && !has_key(e, space, name))
            return true;
    }
    return false;
}

void traces_drop_old(struct traces *t, int64_t now_ms)
{
    while (t->n && now_ms - TAILQ_FIRST(&t->list)->ended_ms > TRACE_MS)
        drop_oldest(t);
}
