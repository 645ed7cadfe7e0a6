/* SPDX-License-Identifier: MIT */
/* result.c - GSE's get_proc_operate_result and its v2: a map from key to result.
 *
 * Every key of the task is in every answer, once: clients rebuild the keys themselves and
 * fail on one that is missing or that they do not expect. */
#include <string.h>

#include "api/api_in.h"
#include "api/content.h"
#include "api/handlers.h"
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
static void find_last(const struct task_info *task, struct map *ret)
{
    for (size_t i = 0; i < task->n; i++) {
        const char *at = task->items[i].key;
        struct line line;

        while (next_line(&at, &line))
            map_put(ret, line.text, line.n, (void *)&task->items[i]);
    }
}

static const char *ip_of(const struct call *c, const struct task_item *item)
{
    const struct fleet_host *h =
        item->agent && *item->agent ? fleet_find(c->api->parts.fleet, item->agent) : NULL;

    return h ? h->ip : "";
}

static void write_map(const struct call *c, const struct task_info *task, struct buf *out)
{
    struct map last = { 0 };
    struct buf scratch = { 0 };
    struct map_entry *e;

    find_last(task, &last);
    buf_addc(out, '{');
    for (size_t at = 0, n = 0; (e = map_next(&last, &at)); n++) {
        const struct task_item item = result_share(e->value, last.n, c->arena);

        if (n)
            buf_addc(out, ',');
        buf_quote(out, e->key, e->key_len);
        buf_addc(out, ':');
        result_write(&item, task->form, ip_of(c, &item), &scratch, out);
    }
    buf_addc(out, '}');
    buf_free(&scratch);
    map_free(&last);
}

static void on_task(struct call *c, const struct task_info *task)
{
    write_map(c, task, call_data(c));
    call_end(c);
}

void result_get(struct call *c)
{
    const struct task_ref *ref = c->ask;

    task_seen(c, ref->task_id, on_task);
}
