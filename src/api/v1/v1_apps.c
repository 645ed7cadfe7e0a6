/* SPDX-License-Identifier: MIT */
/* v1_apps.c - apps in /v1: list and show. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/params.h"
#include "base/mem/mem.h"
#include "model/host.h"
#include "store/store_apps.h"

/* Submits, or ends the call. */
static void submit_app_call(struct call *c, struct store_call *s)
{
    struct err err;

    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    call_fail(c, &err);
}

/* ---- the list */

static int view_apps(const struct list *rows, size_t limit, struct arena *a, struct app_page *ret,
                     struct err *err)
{
    const struct app_row *row = rows->items;
    size_t n = rows->n < limit ? rows->n : limit;
    struct app_view *views = arena_alloc(a, n * sizeof(*views));

    for (size_t i = 0; i < n; i++) {
        if (app_view_row(&row[i], a, &views[i], err))
            return -1;
    }
    *ret = (struct app_page){ { views, n }, rows->n > n ? views[n - 1].code : "" };
    return 0;
}

static void v1_apps_on_list(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct page_ask *ask = c->ask;
    struct app_page page;
    struct err err = s->err;

    if (s->failed || view_apps(s->out, (size_t)ask->limit, c->arena, &page, &err))
        call_fail(c, &err);
    else
        call_finish(c, &app_page_shape, &page);
    store_call_free(s);
}

/* Reads one row more than requested to know whether there is another page. */
void v1_apps(struct call *c)
{
    const struct page_ask *ask = c->ask;
    struct store_call *s = store_call_new(&store_app_list, v1_apps_on_list, c);
    struct store_page *page = arena_alloc(&s->arena, sizeof(*page));

    *page = (struct store_page){ arena_strdup(&s->arena, ask->after), ask->limit + 1 };
    s->in = page;
    submit_app_call(c, s);
}

/* ---- one app */

static void on_one(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct list *rows = s->out;
    struct app_view view;
    struct err err = s->err;

    if (!s->failed && !rows->n)
        err_set(&err, ERR_NOT_FOUND, "app %s: there is none", c->rest);
    if (s->failed || !rows->n || app_view_row(rows->items, c->arena, &view, &err))
        call_fail(c, &err);
    else
        call_finish(c, &app_view_shape, &view);
    store_call_free(s);
}

void v1_app(struct call *c)
{
    struct store_call *s = store_call_new(&store_app_find, on_one, c);
    struct app_find_ask *ask = arena_alloc(&s->arena, sizeof(*ask));

    ask->code = arena_strdup(&s->arena, c->rest);
    s->in = ask;
    submit_app_call(c, s);
}
