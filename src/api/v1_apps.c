/* SPDX-License-Identifier: MIT */
/* v1_apps.c - /v1 of who may call us and who may join: apps and join tokens. */
#include <string.h>

#include "api/api_in.h"
#include "api/handlers.h"
#include "api/params.h"
#include "base/mem.h"
#include "link/token.h"
#include "model/host.h"
#include "store/store_apps.h"
#include "wire/secret.h"

/* Submits, or ends the call. */
static void submit(struct call *c, struct store_call *s)
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

static void on_list(void *arg, struct store_call *s)
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

/* One more than asked for says whether there is another page. */
void v1_apps(struct call *c)
{
    const struct page_ask *ask = c->ask;
    struct store_call *s = store_call_new(&store_app_list, on_list, c);
    struct store_page *page = arena_alloc(&s->arena, sizeof(*page));

    *page = (struct store_page){ arena_strdup(&s->arena, ask->after), ask->limit + 1 };
    s->in = page;
    submit(c, s);
}

/* ---- one of them */

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
    submit(c, s);
}

/* ---- a join token */

struct token_making {
    struct call *call;
    char token[TOKEN_TEXT_SIZE], hash[SECRET_HASH_SIZE];
    struct token_row row;
};

static void on_token(void *arg, struct store_call *s)
{
    struct token_making *m = arg;
    struct call *c = m->call;
    const struct token_ask *ask = c->ask;
    const struct token_view view = { m->token, ask->cloud_id, ask->biz_id, m->row.expires_ms / 1000,
                                     ask->uses };

    if (s->failed) {
        call_fail(c, &s->err);
    } else {
        LOG(c->api->parts.log, LOG_INFO, "join token made", log_int("cloud_id", ask->cloud_id),
            log_int("biz_id", ask->biz_id), log_int("uses", ask->uses), log_str("note", ask->note),
            log_str("by", c->app->code), log_str("user", c->user),
            log_str("request_id", c->request_id));
        call_finish(c, &token_view_shape, &view);
    }
    store_call_free(s);
}

void v1_token_put(struct call *c)
{
    const struct token_ask *ask = c->ask;
    struct token_making *m = arena_alloc(c->arena, sizeof(*m));
    struct store_call *s = store_call_new(&store_token_put, on_token, m);
    struct token token;

    m->call = c;
    token_new(c->api->parts.ca_fingerprint, &token);
    token_write(&token, m->token);
    secret_hash(token.secret, m->hash);
    m->row = (struct token_row){
        .hash = m->hash,
        .cloud_id = ask->cloud_id,
        .biz_id = ask->biz_id,
        .expires_ms = clock_wall_ms(loop_clock(c->api->parts.loop)) + ask->ttl_s * 1000,
        .uses_left = ask->uses,
        .note = ask->note,
    };
    s->in = &m->row;
    submit(c, s);
}
