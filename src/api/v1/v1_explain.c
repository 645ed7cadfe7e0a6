/* SPDX-License-Identifier: MIT */
/* v1_explain.c - GET /v1/explain: why a process is in its state.  The facts come from the agent,
 * the sentences are made here, and the last operations come from the store. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "model/code.h"
#include "model/explain.h"
#include "model/translate.h"
#include "model/why_judge.h"
#include "model/why_write.h"
#include "store/store_task_lists.h"

enum { OPERATIONS = 5 };

struct explaining {
    struct call *call;
    struct explanation *all;
    struct explain_page page;
    struct task_past_ask past;
    size_t at; /* index of the host of the last row: rows are grouped by host, in the same order */
};

/* ---- one process */

static const char *write_why(const struct call *c, const struct fleet_host *h,
                             const struct proc_view *v, enum lang lang, int64_t now_s)
{
    struct buf why = { 0 };
    const char *copy;

    if (h->epoch)
        why_write(v, lang, now_s, &why);
    else
        why_write_away(v, lang, h->since_ms / 1000, now_s, &why);
    copy = arena_strdup(c->arena, buf_text(&why));
    buf_free(&why);
    return copy;
}

/* A stored spec that can not be parsed is left out. */
static void fill_policy(const struct call *c, const char *spec, struct explanation *ret)
{
    struct proc_spec *read = arena_alloc(c->arena, sizeof(*read));
    struct err ignored;

    if (!spec || shape_read(&proc_spec_shape, spec, strlen(spec), 0, c->arena, read, &ignored))
        return;
    ret->policy = proc_policy_of(read);
    if (!ret->policy.cron_rule)
        ret->policy.cron_rule = "";
    ret->has_policy = PRESENCE_GIVEN;
}

/* The fleet may change before the store answers, so everything is copied. */
static void fill_explanation(const struct call *c, const struct fleet_host *h,
                             const struct fleet_proc *p, struct explanation *ret)
{
    int64_t now_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    struct arena *a = c->arena;

    *ret = (struct explanation){
        .process = hosts_process(c, h, p),
        .is_trouble = !h->epoch || why_is_trouble(&p->view),
        .since_s = h->since_ms / 1000,
    };
    ret->process.agent_id = arena_strdup(a, h->agent_id);
    ret->process.ip = arena_strdup(a, h->ip);
    for (int lang = 0; lang < LANGS; lang++)
        ret->why[lang] = write_why(c, h, &p->view, (enum lang)lang, now_ms / 1000);
    ret->process.view.why = ret->why[call_lang(c)];
    proc_view_keep(&ret->process.view, a);
    fill_policy(c, p->spec, ret);
}

/* ---- the last operations */

static void take_operation(struct explaining *e, const struct task_past_row *row)
{
    struct explain_operation *list = NULL;
    struct explanation *to;

    if (app_has_limits(&e->call->app->permissions) && strcmp(row->app, e->call->app->code) != 0)
        return; /* tasks of other apps are not shown */
    while (strcmp(e->all[e->at].process.agent_id, row->agent_id) != 0)
        e->at = (e->at + 1) % e->page.processes.n;
    to = &e->all[e->at];
    if (!to->operations.items)
        to->operations.items = arena_alloc(e->call->arena, OPERATIONS * sizeof(*list));
    if (to->operations.n == OPERATIONS)
        return;
    list = to->operations.items;
    list[to->operations.n++] = (struct explain_operation){
        .task_id = row->id,
        .app = row->app,
        .user = row->user,
        .op = row->op,
        .created_ms = row->created_ms,
        .done_ms = row->done_ms,
        .code = row->state == STORE_ITEM_DONE ? row->code : CODE_WAITING,
        .text = translate_own(row->message, call_lang(e->call), e->call->arena),
    };
}

static void on_past(void *arg, struct store_call *s)
{
    struct explaining *e = arg;
    const struct list *rows = s->out;
    const struct task_past_row *row = rows->items;

    for (size_t i = 0; !s->failed && i < rows->n; i++)
        take_operation(e, &row[i]);
    if (s->failed)
        call_fail(e->call, &s->err);
    else
        call_finish(e->call, &explain_page_shape, &e->page);
    store_call_free(s);
}

static void ask_store(struct explaining *e)
{
    const struct explain_ask *ask = e->call->ask;
    struct store_call *s = store_call_new(&store_task_past, on_past, e);
    struct task_past_host *hosts =
        arena_alloc(e->call->arena, e->page.processes.n * sizeof(*hosts));
    struct err err;

    for (size_t i = 0; i < e->page.processes.n; i++)
        hosts[i].agent_id = e->all[i].process.agent_id;
    e->past =
        (struct task_past_ask){ ask->space, ask->name, OPERATIONS, { hosts, e->page.processes.n } };
    s->in = &e->past;
    if (!store_submit(e->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(e->call, &err);
}

/* ---- all hosts */

static void v1_explain_list_all(struct explaining *e)
{
    const struct explain_ask *ask = e->call->ask;
    const struct fleet_host *h, *last = NULL;
    struct fleet_walk walk;
    size_t looks = 0;

    hosts_walk_in(e->call, &ask->space, ask->after, &walk);
    for (; (h = fleet_walk_next(&walk)); last = h) {
        const struct fleet_proc *p = fleet_proc(h, ask->space, ask->name);

        if ((p && e->page.processes.n == (size_t)ask->limit) || looks++ == HOSTS_LOOKS_MAX) {
            e->page.next = arena_strdup(e->call->arena, last->agent_id);
            return;
        }
        if (p)
            fill_explanation(e->call, h, p, &e->all[e->page.processes.n++]);
    }
}

static void list_one(struct explaining *e, const struct fleet_host *h)
{
    const struct explain_ask *ask = e->call->ask;
    const struct fleet_proc *p = fleet_proc(h, ask->space, ask->name);

    if (p && strcmp(h->agent_id, ask->after) > 0)
        fill_explanation(e->call, h, p, &e->all[e->page.processes.n++]);
}

void v1_explain(struct call *c)
{
    const struct explain_ask *ask = c->ask;
    const struct fleet_host *h = *ask->host ? hosts_find(c, ask->host) : NULL;
    struct explaining *e = arena_alloc(c->arena, sizeof(*e));

    if (*ask->host && !(h && call_may_see(c, h))) {
        hosts_fail(c, "host", ask->host);
        return;
    }
    e->call = c;
    e->all = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*e->all));
    e->page = (struct explain_page){ { e->all, 0 }, "" };
    if (app_may_space(&c->app->permissions, ask->space)) {
        if (h)
            list_one(e, h);
        else
            v1_explain_list_all(e);
    }
    e->page.processes.items = e->all;
    if (e->page.processes.n)
        ask_store(e);
    else
        call_finish(c, &explain_page_shape, &e->page);
}
