/* SPDX-License-Identifier: MIT */
/* groups.c - see groups.h. */
#include "server/registry/groups.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "link/message.h"
#include "server/fleet/pending_calls.h"
#include "store/store_groups.h"

enum { RESEND_MS = 5 * 1000 };

struct group {
    TAILQ_ENTRY(group) link;
    char *id, *space;
    struct group_resource resource;
    int64_t number;
    bool is_taken;
};

/* An agent that has groups. */
struct host {
    struct groups *all;
    char *agent;
    TAILQ_HEAD(, group) groups;
    struct timer resend;
};

struct groups {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct pending_calls *pending_calls;
    const struct fleet *fleet;
    groups_send_fn *send;
    void *arg;
    struct map hosts;
    int64_t last_number;
};

static void free_group(struct host *h, struct group *one)
{
    TAILQ_REMOVE(&h->groups, one, link);
    free(one->id);
    free(one->space);
    free(one);
}

static void free_host(struct host *h)
{
    timer_stop(h->all->loop, &h->resend);
    while (!TAILQ_EMPTY(&h->groups))
        free_group(h, TAILQ_FIRST(&h->groups));
    map_del_str(&h->all->hosts, h->agent);
    free(h->agent);
    free(h);
}

/* ---- sending to agents */

/* Repeats what the agent has not acknowledged; an offline agent gets it with its next session. */
static void groups_tell(void *arg)
{
    struct host *h = arg;
    struct groups *g = h->all;
    const struct fleet_host *known = fleet_find(g->fleet, h->agent);
    const struct group *one;
    bool is_waiting = false;

    if (!known || !known->epoch)
        return;
    TAILQ_FOREACH(one, &h->groups, link) {
        const struct message_group m = { one->number, { one->id, one->resource } };

        if (one->is_taken)
            continue;
        is_waiting = true;
        g->send(g->arg, h->agent, known->epoch, MESSAGE_GROUP, &message_group_shape, &m);
    }
    if (is_waiting)
        timer_set(g->loop, &h->resend, RESEND_MS);
}

static struct host *groups_host_of(struct groups *g, const char *agent)
{
    struct host *h = map_find_str(&g->hosts, agent);

    if (h)
        return h;
    h = xalloc(sizeof(*h));
    h->all = g;
    h->agent = xstrdup(agent);
    TAILQ_INIT(&h->groups);
    timer_init(&h->resend, groups_tell, h);
    map_put_str(&g->hosts, h->agent, h);
    return h;
}

void groups_on_session(struct groups *g, const char *agent)
{
    struct host *h = map_find_str(&g->hosts, agent);

    if (h)
        groups_tell(h);
}

static struct group *find_number(const struct host *h, int64_t number)
{
    struct group *one;

    TAILQ_FOREACH(one, &h->groups, link) {
        if (one->number == number)
            return one;
    }
    return NULL;
}

/* If this is not stored, the group is sent again after our next start, which is harmless. */
static void on_noted(void *arg, struct store_call *c)
{
    struct groups *g = arg;

    if (c->failed)
        LOG(g->log, LOG_WARN, "that an agent has a group is not stored; it is told once more later",
            log_err(&c->err));
    store_call_free(c);
}

static void note_taken(struct groups *g, const char *agent, int64_t number)
{
    struct store_call *c = store_call_new(&store_group_taken, on_noted, g);
    struct group_taken_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *ask = (struct group_taken_ask){ arena_strdup(&c->arena, agent), number };
    c->in = ask;
    if (pending_calls_submit(g->pending_calls, c, &err) == 0)
        return;
    LOG(g->log, LOG_WARN, "that an agent has a group is not stored; it is told once more later",
        log_err(&err));
    store_call_free(c);
}

void groups_on_taken(struct groups *g, const char *agent, const struct message_group_ref *m)
{
    const struct host *h = map_find_str(&g->hosts, agent);
    struct group *one = h ? find_number(h, m->id) : NULL;

    if (!one || one->is_taken)
        return;
    one->is_taken = true;
    note_taken(g, agent, one->number);
}

/* ---- setting */

static struct group *find_id(const struct host *h, const char *id)
{
    struct group *one;

    TAILQ_FOREACH(one, &h->groups, link) {
        if (!strcmp(one->id, id))
            return one;
    }
    return NULL;
}

bool groups_fit(const struct groups *g, const char *agent, const struct list *groups)
{
    const struct proc_group *wanted = groups->items;
    const struct host *h = map_find_str(&g->hosts, agent);
    const struct group *one;
    size_t n = groups->n;

    if (h) {
        TAILQ_FOREACH(one, &h->groups, link)
            n++;
        for (size_t i = 0; i < groups->n; i++)
            n -= find_id(h, wanted[i].id) != NULL;
    }
    return n <= GROUPS_HOST_MAX;
}

static struct group *group_of(struct host *h, const char *id)
{
    struct group *one = find_id(h, id);

    if (one)
        return one;
    one = xalloc(sizeof(*one));
    one->id = xstrdup(id);
    one->space = xstrdup("");
    TAILQ_INSERT_TAIL(&h->groups, one, link);
    return one;
}

static int take_row(struct groups *g, const struct group_row *row, struct err *err)
{
    struct group_resource resource;
    struct arena none = { 0 };
    struct group *one;
    int failed = shape_read(&group_resource_shape, row->resource, strlen(row->resource), 0, &none,
                            &resource, err);

    arena_free(&none);
    if (failed)
        return err_wrap(err, "group %s of %s", row->id, row->agent_id);
    one = group_of(groups_host_of(g, row->agent_id), row->id);
    free(one->space);
    one->space = xstrdup(row->space);
    one->resource = resource;
    one->number = row->number;
    one->is_taken = row->is_taken;
    if (row->number > g->last_number)
        g->last_number = row->number;
    return 0;
}

struct set_call {
    struct groups *groups;
    struct group_put_ask rows;
    groups_set_fn *fn;
    void *arg;
};

static void groups_on_set(void *arg, struct store_call *c)
{
    struct set_call *e = arg;
    const struct group_row *rows = e->rows.rows.items;
    struct err ours;

    for (size_t i = 0; i < e->rows.rows.n && !c->failed; i++) {
        if (!fleet_find(e->groups->fleet, rows[i].agent_id))
            continue; /* the host was removed meanwhile, and the store has ignored the row */
        (void)take_row(e->groups, &rows[i], &ours); /* we wrote the row, so it is valid */
        timer_set(e->groups->loop, &groups_host_of(e->groups, rows[i].agent_id)->resend, 0);
    }
    e->fn(e->arg, c->failed ? &c->err : NULL);
    store_call_free(c);
}

static const char *write_resource(const struct group_resource *r, struct arena *a)
{
    struct buf json = { 0 };
    const char *text;

    shape_write(&group_resource_shape, r, &json);
    text = arena_strdup(a, buf_text(&json));
    buf_free(&json);
    return text;
}

static void fill_rows(struct groups *g, const struct groups_ask *ask, struct arena *a,
                      struct list *ret)
{
    const struct proc_group *from = ask->groups.items;
    const struct groups_agent *agents = ask->agents.items;
    struct group_row *rows = arena_alloc(a, ask->groups.n * ask->agents.n * sizeof(*rows));
    const char *space = arena_strdup(a, ask->space);

    *ret = (struct list){ rows, 0 };
    for (size_t i = 0; i < ask->groups.n; i++) {
        const char *id = arena_strdup(a, from[i].id);
        const char *resource = write_resource(&from[i].resource, a);

        for (size_t j = 0; j < ask->agents.n; j++)
            rows[ret->n++] = (struct group_row){
                arena_strdup(a, agents[j].id), id, space, resource, ++g->last_number, false
            };
    }
}

void groups_set(struct groups *g, const struct groups_ask *ask, groups_set_fn *fn, void *arg)
{
    struct store_call *c = store_call_new(&store_group_put, groups_on_set, NULL);
    struct set_call *e = arena_alloc(&c->arena, sizeof(*e));
    struct err err;

    *e = (struct set_call){ .groups = g, .fn = fn, .arg = arg };
    fill_rows(g, ask, &c->arena, &e->rows.rows);
    c->in = &e->rows;
    c->arg = e;
    if (pending_calls_submit(g->pending_calls, c, &err) == 0)
        return;
    fn(arg, &err);
    store_call_free(c);
}

struct list groups_of(const struct groups *g, const char *agent, const char *space, struct arena *a)
{
    const struct host *h = map_find_str(&g->hosts, agent);
    const struct group *one;
    struct proc_group *items;
    size_t n = 0;

    if (!h)
        return (struct list){ 0 };
    TAILQ_FOREACH(one, &h->groups, link)
        n += !strcmp(one->space, space);
    items = arena_alloc(a, (n + 1) * sizeof(*items));
    n = 0;
    TAILQ_FOREACH(one, &h->groups, link) {
        if (!strcmp(one->space, space))
            items[n++] = (struct proc_group){ arena_strdup(a, one->id), one->resource };
    }
    return (struct list){ items, n };
}

void groups_forget(struct groups *g, const char *agent)
{
    struct host *h = g ? map_find_str(&g->hosts, agent) : NULL;

    if (h)
        free_host(h);
}

/* ---- life cycle */

struct groups *groups_new(struct loop *loop, struct log *log, struct store *store,
                          const struct fleet *fleet, groups_send_fn *send, void *arg)
{
    struct groups *g = xalloc(sizeof(*g));

    g->loop = loop;
    g->log = log;
    g->store = store;
    g->pending_calls = pending_calls_new(store);
    g->fleet = fleet;
    g->send = send;
    g->arg = arg;
    return g;
}

int groups_load(struct groups *g, struct err *err)
{
    struct arena a = { 0 };
    struct list rows = { 0 };
    const struct group_row *row;
    int failed = store_sync(g->store, &store_group_all, NULL, &a, &rows, err);

    row = rows.items;
    for (size_t i = 0; i < rows.n && !failed; i++)
        failed = take_row(g, &row[i], err);
    arena_free(&a);
    return failed ? err_wrap(err, "load the process groups") : 0;
}

void groups_free(struct groups *g)
{
    struct map_entry *e;

    if (!g)
        return;
    for (size_t at = 0; (e = map_next(&g->hosts, &at));)
        free_host(e->value);
    pending_calls_free(g->pending_calls);
    map_free(&g->hosts);
    free(g);
}
