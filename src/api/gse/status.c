/* SPDX-License-Identifier: MIT */
/* status.c - GSE's get_proc_status, get_proc_status_v2 and sync_proc_status: processes of the
 * fleet, answered from memory.
 *
 * Hosts that are unknown, not visible to the app, or without the process are left out.  For an
 * offline host the last reported state is not shown as current. */
#include <math.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "api/pipeline/offline.h"
#include "api/pipeline/targets.h"
#include "model/proc_info.h"
#include "model/translate.h"
#include "model/why_write.h"

struct listing {
    struct call *call;
    struct proc_info *infos;
    size_t n;
    struct map seen; /* spellings of hosts */
    int64_t wall_ms;
    enum lang lang;
    struct buf text; /* buffer for one message */
};

static void listing_init(struct listing *l, struct call *c, size_t most)
{
    *l = (struct listing){ .call = c, .lang = call_lang(c) };
    l->wall_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    l->infos = arena_alloc(c->arena, most * sizeof(*l->infos));
}

static void listing_done(struct listing *l)
{
    map_free(&l->seen);
    buf_free(&l->text);
}

/* ---- one process */

static const char *keep_text(struct listing *l)
{
    return arena_memdup(l->call->arena, buf_data(&l->text), l->text.len);
}

/* If no agent reported the process yet, there are no facts for a sentence. */
static const char *message_of(struct listing *l, const struct fleet_proc *p)
{
    if (p->trouble || !p->view.report_s)
        return translate(p->trouble ? p->trouble : p->view.why, l->lang, l->call->arena);
    buf_truncate(&l->text, 0);
    why_write(&p->view, l->lang, l->wall_ms / 1000, &l->text);
    return keep_text(l);
}

/* More digits of a percentage are useless. */
static double to_hundredths(double percent)
{
    return floor(percent * 100 + 0.5) / 100;
}

static void fill_known(struct listing *l, const struct fleet_proc *p, struct proc_info *ret)
{
    const struct proc_view *v = &p->view;

    ret->message = message_of(l, p);
    ret->status = v->status;
    ret->pid = v->pid;
    ret->cpu_percent = to_hundredths(v->cpu_percent);
    ret->mem_percent = to_hundredths(v->mem_percent);
}

static void fill_unknown(struct listing *l, int64_t since_s, struct proc_info *ret)
{
    buf_truncate(&l->text, 0);
    offline_write(since_s, l->lang, &l->text);
    ret->message = keep_text(l);
    ret->status = PROC_UNREGISTERED;
    ret->pid = -1;
}

static void add_info(struct listing *l, const struct fleet_hit *hit, const struct host_ref *as,
                     const char *agent_id)
{
    const struct proc_view *v = &hit->proc->view;
    struct proc_info *info = &l->infos[l->n++];
    int64_t since_s = offline_since_s(hit->host, l->wall_ms);

    *info = (struct proc_info){
        .meta = { v->space, v->name, hit->proc->labels ? hit->proc->labels : "{}" },
        .host = *as,
        .agent_id = agent_id,
        .wanted = v->wanted,
        .hosted = v->hosted,
        .version = v->version,
        .register_s = v->register_s,
        .last_start_s = v->last_start_s,
        .report_s = v->report_s,
    };
    if (since_s)
        fill_unknown(l, since_s, info);
    else
        fill_known(l, hit->proc, info);
}

/* ---- of named hosts */

static void status_add_host(struct listing *l, const struct fleet_host *h,
                            const struct host_ref *as, const char *agent_id)
{
    const struct proc_status_ask *ask = l->call->ask;
    struct fleet_hit hit = { h, NULL };

    if (!h || !call_may_see(l->call, h))
        return;
    hit.proc = fleet_proc(h, ask->meta.space, ask->meta.name);
    if (hit.proc)
        add_info(l, &hit, as, agent_id);
}

/* Equal spellings are the same host.  Returns whether this one is new. */
static bool add_spelling(struct listing *l, const char *spelled)
{
    return !map_put_str(&l->seen, spelled, l);
}

static void list_agents(struct listing *l, const struct list *agents)
{
    const struct agent_ref *refs = agents->items;

    for (size_t i = 0; i < agents->n; i++) {
        const struct fleet_host *h = fleet_find(l->call->api->parts.fleet, refs[i].id);
        const struct host_ref as = { h ? h->ip : "", h ? h->cloud_id : 0, 0 };

        if (agents->n == 1 || add_spelling(l, refs[i].id))
            status_add_host(l, h, &as, refs[i].id);
    }
}

static const char *spell(struct listing *l, const struct host_ref *ref)
{
    return arena_printf(l->call->arena, "%lld:%lld:%s", (long long)ref->cloud_id,
                        (long long)ref->supplier_id, ref->ip);
}

static void list_hosts(struct listing *l, const struct list *hosts)
{
    const struct host_ref *refs = hosts->items;

    for (size_t i = 0; i < hosts->n; i++) {
        const struct fleet_host *h =
            fleet_find_at(l->call->api->parts.fleet, refs[i].cloud_id, refs[i].ip);

        if (h && (hosts->n == 1 || add_spelling(l, spell(l, &refs[i]))))
            status_add_host(l, h, &refs[i], h->agent_id);
    }
}

static int check_status(const struct call *c, const struct proc_status_ask *ask, struct err *err)
{
    if (!ask->agents.n && !ask->hosts.n)
        return err_set(err, ERR_INVALID, "hosts: required, or agent_id_list");
    return targets_check(c, "", "meta.namespace", PROC_OP_QUERY, ask->meta.space, NULL, err);
}

void status_get(struct call *c)
{
    const struct proc_status_ask *ask = c->ask;
    struct listing l;
    struct err err;

    if (check_status(c, ask, &err)) {
        call_fail(c, &err);
        return;
    }
    listing_init(&l, c, ask->agents.n ? ask->agents.n : ask->hosts.n);
    if (ask->agents.n)
        list_agents(&l, &ask->agents);
    else
        list_hosts(&l, &ask->hosts);
    listing_done(&l);
    call_finish(c, &proc_infos_shape, &(struct proc_infos){ { l.infos, l.n } });
}

/* ---- of a namespace */

static size_t read_page(struct listing *l, const struct proc_sync_ask *ask, size_t most)
{
    struct call *c = l->call;
    const struct fleet_part part = hosts_part(c);
    struct fleet_hit *hits = arena_alloc(c->arena, most * sizeof(*hits));
    const struct fleet_page page = {
        .space = ask->meta.space,
        .start = (size_t)ask->page.start,
        .most = most,
        .part = &part,
    };
    size_t n, total = fleet_page(c->api->parts.fleet, &page, hits, &n);

    for (size_t i = 0; i < n; i++) {
        const struct host_ref as = { hits[i].host->ip, hits[i].host->cloud_id, 0 };

        add_info(l, &hits[i], &as, hits[i].host->agent_id);
    }
    return total;
}

void status_sync(struct call *c)
{
    const struct proc_sync_ask *ask = c->ask;
    size_t most = ask->page.limit < PROC_SYNC_MAX ? (size_t)ask->page.limit : PROC_SYNC_MAX;
    struct proc_sync answer;
    struct listing l;
    struct err err;

    if (targets_check(c, "", "meta.namespace", PROC_OP_QUERY, ask->meta.space, NULL, &err)) {
        call_fail(c, &err);
        return;
    }
    listing_init(&l, c, most);
    answer.count = (int64_t)read_page(&l, ask, most);
    answer.list = (struct list){ l.infos, l.n };
    listing_done(&l);
    call_finish(c, &proc_sync_shape, &answer);
}
