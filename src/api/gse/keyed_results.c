/* SPDX-License-Identifier: MIT */
/* keyed_results.c - see keyed_results.h. */
#include "api/gse/keyed_results.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "model/code.h"
#include "model/translate.h"

struct keyed_results *keyed_results_new(struct call *c, size_t most)
{
    struct keyed_results *m = arena_alloc(c->arena, sizeof(*m));

    *m = (struct keyed_results){ .call = c };
    m->keys = arena_alloc(c->arena, most * sizeof(*m->keys));
    m->targets = arena_alloc(c->arena, most * sizeof(*m->targets));
    return m;
}

static struct registering_target new_target(const struct call *c, const struct fleet_host *h)
{
    if (!h)
        return (struct registering_target){ "", CODE_OFFLINE,
                                            MSG("no such host, or it has not joined") };
    return (struct registering_target){ arena_strdup(c->arena, h->agent_id), CODE_OK, "" };
}

void keyed_results_add(struct keyed_results *m, const struct fleet_host *h, const char *key)
{
    struct result_key *k = &m->keys[m->n_keys], *same;

    if (map_find_str(&m->by_key, key))
        return;
    h = h && call_may_see(m->call, h) ? h : NULL; /* not visible to the app: unknown */
    k->text = key;
    same = h ? map_find_str(&m->by_agent, h->agent_id) : NULL;
    k->target = same ? same->target : m->n;
    if (!same)
        m->targets[m->n++] = new_target(m->call, h);
    map_put_str(&m->by_key, key, k);
    if (h && !same)
        map_put_str(&m->by_agent, h->agent_id, k);
    m->n_keys++;
}

void keyed_results_ready(struct keyed_results *m)
{
    map_free(&m->by_key);
    map_free(&m->by_agent);
}

static void write_one(const struct call *c, const char *key, const struct registering_target *t,
                      struct buf *out)
{
    const char *text = t->code ? translate(t->text, call_lang(c), c->arena) : "success";

    buf_quote(out, key, strlen(key));
    buf_printf(out, ":{\"error_code\":%lld,\"error_msg\":", (long long)t->code);
    buf_quote(out, text, strlen(text));
    buf_puts(out, ",\"content\":\"\"}");
}

void keyed_results_end(struct keyed_results *m, const struct err *failure)
{
    struct call *c = m->call;
    struct buf *out;

    if (failure) {
        call_fail(c, failure);
        return;
    }
    out = call_data(c);
    buf_addc(out, '{');
    for (size_t i = 0; i < m->n_keys; i++) {
        if (i)
            buf_addc(out, ',');
        write_one(c, m->keys[i].text, &m->targets[m->keys[i].target], out);
    }
    buf_addc(out, '}');
    call_end(c);
}
