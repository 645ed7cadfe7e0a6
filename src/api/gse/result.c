/* SPDX-License-Identifier: MIT */
/* result.c - GSE's get_proc_operate_result and its v2: a map from key to result.
 *
 * Every key of the task is in every answer, once: clients build the keys themselves and fail if one
 * is missing or unexpected. */
#include "api/gse/result.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/spec_cache.h"
#include "api/pipeline/task_scope.h"
#include "base/mem/map.h"
#include "model/operation.h"
#include "model/proc.h"
#include "model/task.h"
#include "server/dispatch/task_key.h"

/* If items share a key, the last one counts. */
static void find_last(const struct task_info *task, struct arena *a, struct map *ret)
{
    size_t *numbers = arena_alloc(a, task->n * sizeof(*numbers));

    for (size_t i = 0; i < task->n; i++) {
        const char *at = task_mark(task, i).key;
        struct task_name name;

        numbers[i] = i;
        while (task_key_next(&at, a, &name))
            map_put(ret, name.text, name.n, &numbers[i]);
    }
}

static const struct fleet_host *result_host_of(const struct call *c, const struct task_item *item)
{
    return item->agent && *item->agent ? fleet_find(c->api->parts.fleet, item->agent) : NULL;
}

/* For an operation without a spec the names are taken from the registered spec. */
static void fill_names(const struct call *c, const struct fleet_host *h,
                       struct spec_cache *spec_cache, struct task_item *item)
{
    bool is_named =
        (item->proc_name && *item->proc_name) || (item->setup_path && *item->setup_path);
    const struct fleet_proc *p =
        h && !is_named && call_may_see(c, h) ? fleet_proc(h, item->space, item->name) : NULL;
    const struct cached_spec *known;
    struct err ignored;

    if (!p || !p->spec)
        return;
    known =
        spec_cache_of(spec_cache, p, &ignored); /* on failure they stay empty, as without a spec */
    if (!known)
        return;
    item->proc_name = known->spec.identity.proc_name;
    item->setup_path = known->spec.identity.setup_path;
}

struct writing {
    const struct call *call;
    int64_t form;
    enum content_kind kind;
    struct spec_cache spec_cache;
    struct buf scratch;
};

/* A target of agent_id_list shows the id as the caller spelled it, a target of `hosts` the real
 * id. */
static const char *agent_shown(const struct call *c, const struct task_item *item,
                               const struct map_entry *key)
{
    size_t tail = strlen(item->space) + strlen(item->name) + strlen("::");

    if (!item->by_agent_id || key->key_len < tail)
        return item->agent;
    return arena_memdup(c->arena, key->key, key->key_len - tail);
}

/* The registration time comes from the agent, or from the server if only the server has the
 * process. */
static void fill_registered(const struct call *c, const struct fleet_host *h,
                            struct task_item *item)
{
    const struct fleet_proc *p =
        h && call_may_see(c, h) ? fleet_proc(h, item->space, item->name) : NULL;

    if (operation_has_kind(item->op, ONLY_LOOKS) && !item->view.register_s && p)
        item->view.register_s = p->view.register_s;
}

static void write_item(struct writing *w, const struct map_entry *key, struct task_item *item,
                       struct buf *out)
{
    const struct call *c = w->call;
    const struct fleet_host *h = result_host_of(c, item);

    fill_names(c, h, &w->spec_cache, item);
    fill_registered(c, h, item);
    item->agent = agent_shown(c, item, key);
    item->text = result_text(item, call_lang(c), c->arena);
    result_write(item, w->form, h ? h->ip : "", w->kind, &w->scratch, out);
}

void result_map_write(const struct call *c, const struct task_info *task, enum content_kind kind,
                      struct buf *out)
{
    struct map last = { 0 };
    struct writing w = { .call = c, .form = task->form, .kind = kind };
    struct map_entry *e;

    spec_cache_init(&w.spec_cache, c->arena);
    find_last(task, c->arena, &last);
    buf_addc(out, '{');
    for (size_t at = 0, n = 0; (e = map_next(&last, &at)); n++) {
        const struct task_item whole = task_item(task, *(const size_t *)e->value);
        struct task_item item = result_share(&whole, last.n, call_lang(c), c->arena);

        if (n)
            buf_addc(out, ',');
        buf_quote(out, e->key, e->key_len);
        buf_addc(out, ':');
        write_item(&w, e, &item, out);
    }
    buf_addc(out, '}');
    buf_free(&w.scratch);
    spec_cache_done(&w.spec_cache);
    map_free(&last);
}

static void result_on_task(struct call *c, const struct task_info *task)
{
    result_map_write(c, task, CONTENT_TEXT, call_data(c));
    call_end(c);
}

void result_get(struct call *c)
{
    const struct task_ref *ref = c->ask;

    task_scope_read(c, ref->task_id, result_on_task);
}
