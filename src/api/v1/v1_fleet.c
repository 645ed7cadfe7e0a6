/* SPDX-License-Identifier: MIT */
/* v1_fleet.c - server status and processes in /v1, from memory. (Hosts: v1_hosts.c.) */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/hosts.h"
#include "api/pipeline/store_check.h"
#include "base/mem/mem.h"
#include "base/os/time.h"
#include "base/text/base64.h"
#include "model/host.h"
#include "model/translate.h"
#include "model/why_write.h"

/* ---- status */

static const char *trouble_text(const struct call *c, const struct err *trouble)
{
    return trouble ? translate(err_msg(trouble), call_lang(c), c->arena) : "";
}

/* `trouble`: the failure of a write to the store; NULL: none. */
static void answer_status(struct call *c, const struct err *trouble)
{
    struct status_wrong wrong = { WRONG_STORE, "", "", "", trouble_text(c, trouble) };
    const struct api_parts *p = &c->api->parts;
    const struct fleet_part part = hosts_part(c);
    const struct fleet_totals t = fleet_count(p->fleet, &part);
    const struct status_view view = {
        .version = p->version,
        .uptime_s = (loop_now_ms(p->loop) - c->api->started_ms) / 1000,
        .hosts = t.hosts,
        .online = t.online,
        .silent = t.silent,
        .processes = t.procs,
        .running = t.running,
        .hosted = t.hosted,
        .open_tasks = tasks_open(p->tasks),
        .wrong = { &wrong, trouble ? 1 : 0 },
    };

    call_finish(c, &status_view_shape, &view);
}

static void on_checked(void *arg, const struct err *trouble)
{
    struct call *c = arg;

    if (c->api->is_stopping)
        call_fail(c, &call_stopping); /* the fleet may be freed already */
    else
        answer_status(c, trouble);
}

void v1_status(struct call *c)
{
    store_check_ask(c->api->store_check, on_checked, c);
}

/* ---- the end of a page of processes: agent, namespace and name, one line each; the last two are
 * empty if all of the agent's processes were shown.  It is base64, because it is opaque for
 * clients */

enum { CURSOR_BYTES_MAX = 768 };

struct cursor {
    const char *agent, *space, *name;
};

static const char *cursor_write(const struct cursor *at, struct arena *a)
{
    const char *text = arena_printf(a, "%s\n%s\n%s", at->agent, at->space, at->name);
    size_t n = strlen(text);
    char *to = arena_bytes(a, BASE64_SIZE(n));

    base64_write(text, n, to);
    return to;
}

static const char *cut_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');

    *at = end ? end + 1 : NULL;
    if (end)
        *end = '\0';
    return line;
}

static int cursor_read(const char *text, struct arena *a, struct cursor *ret, struct err *err)
{
    size_t n = strlen(text) * 3 / 4;
    char *at = arena_alloc(a, n + 1);

    *ret = (struct cursor){ "", "", "" };
    if (!*text)
        return 0;
    if (n <= CURSOR_BYTES_MAX && base64_read(text, at, n) && !memchr(at, '\0', n)) {
        ret->agent = cut_line(&at);
        ret->space = at ? cut_line(&at) : NULL;
        ret->name = at ? cut_line(&at) : NULL;
        if (*ret->agent && ret->name && !*ret->space == !*ret->name && !at)
            return 0;
    }
    return err_set(err, ERR_INVALID, "after: must be what `next` of the page before was");
}

/* ---- processes */

struct listing {
    struct call *call;
    const struct process_ask *ask;
    struct process_view *views;
    size_t n;
    size_t looks;
    bool more;          /* there are more processes, or the limit of examined ones is reached */
    struct cursor at;   /* the end of the page, if there are more */
    bool is_offline;    /* the current host is offline */
    bool all_have_text; /* the current host matches the text, or no text was given */
    enum lang lang;
    int64_t now_ms;
    struct buf why;
};

static bool v1_fleet_is_wanted(const struct listing *l, const struct fleet_proc *p)
{
    const struct process_ask *ask = l->ask;

    return (!*ask->space || !strcmp(ask->space, p->space)) &&
           (!*ask->name || !strcmp(ask->name, p->name)) &&
           (!ask->has_hosted || ask->hosted == p->view.hosted) &&
           (l->all_have_text || strcasestr(p->space, ask->text) ||
            strcasestr(p->name, ask->text)) &&
           app_may_space(&l->call->app->permissions, p->space);
}

/* The state of a process on an offline host is unknown, whatever was reported last. */
static bool has_status(const struct listing *l, const struct fleet_proc *p)
{
    int64_t state = process_state_of(&p->view, l->is_offline);

    return !l->ask->has_status || l->ask->status == state;
}

static bool is_host_wanted(const struct listing *l, const struct fleet_host *h)
{
    return !l->ask->has_biz_id || l->ask->biz_id == h->biz_id;
}

static bool is_after(const struct fleet_proc *p, const struct cursor *at)
{
    int order = strcmp(p->space, at->space);

    return order > 0 || (order == 0 && strcmp(p->name, at->name) > 0);
}

/* The facts come from the agent; the sentence is made here, in the caller's language. */
static const char *write_why(struct listing *l, const struct fleet_host *h,
                             const struct proc_view *v)
{
    buf_truncate(&l->why, 0);
    if (h->epoch)
        why_write(v, l->lang, l->now_ms / 1000, &l->why);
    else
        why_write_away(v, l->lang, h->since_ms / 1000, l->now_ms / 1000, &l->why);
    return arena_strdup(l->call->arena, buf_text(&l->why));
}

/* The processes of one host; with `at` only those after it. */
static void list_host(struct listing *l, const struct fleet_host *h, const struct cursor *at)
{
    l->is_offline = hosts_unknown_since_s(h) != 0;
    l->all_have_text = !*l->ask->text || hosts_has_text(h, l->ask->text);
    l->looks += 1 + h->n_procs;
    for (size_t i = 0; is_host_wanted(l, h) && i < h->n_procs; i++) {
        const struct fleet_proc *p = h->procs[i];

        if (!v1_fleet_is_wanted(l, p) || !has_status(l, p) || (at && !is_after(p, at)))
            continue;
        if (l->n == (size_t)l->ask->limit) {
            l->more = true;
            return;
        }
        l->views[l->n] = hosts_process(l->call, h, p);
        l->views[l->n++].view.why = write_why(l, h, &p->view);
        l->at = (struct cursor){ h->agent_id, p->space, p->name };
    }
    l->at = (struct cursor){ h->agent_id, "", "" };
    l->more = l->looks > HOSTS_LOOKS_MAX;
}

static void v1_fleet_list_all(struct listing *l, const struct cursor *at)
{
    const struct fleet *fleet = l->call->api->parts.fleet;
    const struct fleet_host *begun = *at->agent ? fleet_find(fleet, at->agent) : NULL, *h;
    struct fleet_part part = hosts_part_in(l->call, &l->ask->space);
    struct fleet_walk walk;

    if (l->ask->has_biz_id)
        hosts_keep_business(l->call, &l->ask->biz_id, &part);
    if (*at->space && begun && !strcmp(begun->agent_id, at->agent) && call_may_see(l->call, begun))
        list_host(l, begun, at);
    fleet_walk(&walk, fleet, &part, at->agent, l->call->arena);
    while (!l->more && (h = fleet_walk_next(&walk)))
        list_host(l, h, NULL);
}

static void list_one(struct listing *l, const struct fleet_host *h, const struct cursor *at)
{
    int order = strcmp(h->agent_id, at->agent);

    if (order > 0 || (order == 0 && *at->space))
        list_host(l, h, order == 0 ? at : NULL);
}

static void finish_listing(struct listing *l)
{
    struct process_page page = { { l->views, l->n }, "" };

    if (l->more)
        page.next = cursor_write(&l->at, l->call->arena);
    call_finish(l->call, &process_page_shape, &page);
}

void v1_processes(struct call *c)
{
    const struct process_ask *ask = c->ask;
    struct listing l = { .call = c, .ask = ask, .lang = call_lang(c) };
    const struct fleet_host *h;
    struct cursor at;
    struct err err;

    if (cursor_read(ask->after, c->arena, &at, &err)) {
        call_fail(c, &err);
        return;
    }
    h = *ask->host ? hosts_find(c, ask->host) : NULL;
    if (*ask->host && !(h && call_may_see(c, h))) {
        hosts_fail(c, "host", ask->host);
        return;
    }
    l.now_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    l.views = arena_alloc(c->arena, (size_t)ask->limit * sizeof(*l.views));
    if (h)
        list_one(&l, h, &at);
    else
        v1_fleet_list_all(&l, &at);
    buf_free(&l.why);
    finish_listing(&l);
}
