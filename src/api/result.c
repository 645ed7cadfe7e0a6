/* SPDX-License-Identifier: MIT */
/* result.c - GSE's get_proc_operate_result and its v2: a map from key to result.
 *
 * Every key of the task is in every answer, once: clients rebuild the keys themselves and
 * fail on one that is missing or that they do not expect. */
#include "api/result.h"

#include <string.h>

#include "api/api_in.h"
#include "api/handlers.h"
#include "api/known.h"
#include "api/task_seen.h"
#include "base/map.h"

/* One key of one item; an item whose host was named in several ways has more. */
struct line {
    const char *text;
    size_t n;
};

/* The next line of a key; false: there are no more. */
static bool next_line(const char **at, struct line *ret)
{
    if (!*at)
        return false;
    ret->text = *at;
    ret->n = strcspn(*at, "\n");
    *at = (*at)[ret->n] ? *at + ret->n + 1 : NULL;
    return true;
}

/* Of items that share a key the last one counts. */
static void find_last(const struct task_info *task, struct arena *a, struct map *ret)
{
    size_t *numbers = arena_alloc(a, task->n * sizeof(*numbers));

    for (size_t i = 0; i < task->n; i++) {
        const char *at = task_mark(task, i).key;
        struct line line;

        numbers[i] = i;
        while (next_line(&at, &line))
            map_put(ret, line.text, line.n, &numbers[i]);
    }
}

static const struct fleet_host *host_of(const struct call *c, const struct task_item *item)
{
    return item->agent && *item->agent ? fleet_find(c->api->parts.fleet, item->agent) : NULL;
}

/* Of an operation that brought no spec, the names are those of the spec that the process has. */
static void fill_names(const struct call *c, const struct fleet_host *h, struct knowns *knowns,
                       struct task_item *item)
{
    bool is_named =
        (item->proc_name && *item->proc_name) || (item->setup_path && *item->setup_path);
    const struct fleet_proc *p =
        h && !is_named && call_may_see(c, h) ? fleet_proc(h, item->space, item->name) : NULL;
    const struct known *known;
    struct err ignored;

    if (!p || !p->spec)
        return;
    known = known_of(knowns, p, &ignored); /* then they stay empty, as without a spec */
    if (!known)
        return;
    item->proc_name = known->spec.identity.proc_name;
    item->setup_path = known->spec.identity.setup_path;
}

struct writing {
    const struct call *call;
    int64_t form;
    enum content_kind kind;
    struct knowns knowns;
    struct wording_memo memo;
    struct buf scratch;
};

static void write_item(struct writing *w, struct task_item *item, struct buf *out)
{
    const struct call *c = w->call;
    const struct fleet_host *h = host_of(c, item);

    fill_names(c, h, &w->knowns, item);
    item->text = result_words(item, call_lang(c), &w->memo, c->arena);
    result_write(item, w->form, h ? h->ip : "", w->kind, &w->scratch, out);
}

void result_map_write(const struct call *c, const struct task_info *task, enum content_kind kind,
                      struct buf *out)
{
    struct map last = { 0 };
    struct writing w = { .call = c, .form = task->form, .kind = kind };
    struct map_entry *e;

    knowns_init(&w.knowns, c->arena);
    find_last(task, c->arena, &last);
    buf_addc(out, '{');
    for (size_t at = 0, n = 0; (e = map_next(&last, &at)); n++) {
        const struct task_item whole = task_item(task, *(const size_t *)e->value);
        struct task_item item = result_share(&whole, last.n, c->arena);

        if (n)
            buf_addc(out, ',');
        buf_quote(out, e->key, e->key_len);
        buf_addc(out, ':');
        write_item(&w, &item, out);
    }
    buf_addc(out, '}');
    buf_free(&w.scratch);
    knowns_done(&w.knowns);
    map_free(&last);
}

static void on_task(struct call *c, const struct task_info *task)
{
    result_map_write(c, task, CONTENT_TEXT, call_data(c));
    call_end(c);
}

void result_get(struct call *c)
{
    const struct task_ref *ref = c->ask;

    task_seen(c, ref->task_id, on_task);
}
