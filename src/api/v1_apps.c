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

/* 0, or what is wrong with the row. */
static int view_app(const struct app_row *row, struct arena *a, struct app_view *ret,
                    struct err *err)
{
    *ret =
        (struct app_view){ .code = row->code, .secret = "", .created_s = row->created_ms / 1000 };
    if (row->permissions && shape_read(&app_permissions_shape, row->permissions,
                                       strlen(row->permissions), 0, a, &ret->permissions, err)) {
        err->code = ERR_SYSTEM; /* nothing the caller has sent */
        return err_wrap(err, "app %s: permissions in the store", row->code);
    }
    return 0;
}

static int view_apps(const struct list *rows, size_t limit, struct arena *a, struct app_page *ret,
                     struct err *err)
{
    const struct app_row *row = rows->items;
    size_t n = rows->n < limit ? rows->n : limit;
    struct app_view *views = arena_alloc(a, n * sizeof(*views));

    for (size_t i = 0; i < n; i++) {
        if (view_app(&row[i], a, &views[i], err))
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

/* ---- a new app, or a new secret */

struct app_query {
    bool rotate;
};

/* clang-format off */
static const struct field app_query_fields[] = {
    { "rotate", .type = FIELD_BOOL, .offset = offsetof(struct app_query, rotate) },
    { 0 },
};
static const struct shape app_query_shape = { "app_query", sizeof(struct app_query), app_query_fields };
/* clang-format on */

struct making {
    struct call *call;
    const struct app_ask *ask;
    bool rotate;
    char secret[SECRET_TEXT_SIZE], hash[SECRET_HASH_SIZE];
    struct app_row row;
};

static void making_fail(struct making *m, const struct err *err)
{
    map_del_str(&m->call->api->apps_in_work, m->ask->code);
    call_fail(m->call, err);
}

static void on_put(void *arg, struct store_call *s)
{
    struct making *m = arg;
    struct call *c = m->call;
    struct app_view view;
    struct err err = s->err;

    apps_forget(c->api->apps, m->ask->code);
    if (s->failed || view_app(&m->row, c->arena, &view, &err)) {
        making_fail(m, &err);
    } else {
        LOG(c->api->parts.log, LOG_INFO, m->rotate ? "app has a new secret" : "app made",
            log_str("app", view.code), log_str("by", c->app->code), log_str("user", c->user),
            log_str("request_id", c->request_id));
        view.secret = m->secret;
        map_del_str(&c->api->apps_in_work, m->ask->code);
        call_finish(c, &app_view_shape, &view);
    }
    store_call_free(s);
}

static void put(struct making *m)
{
    struct store_call *s = store_call_new(&store_app_put, on_put, m);
    struct err err;

    s->in = &m->row; /* the call's arena outlives the store's call */
    if (!store_submit(m->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    making_fail(m, &err);
}

static const char *permissions_text(const struct app_permissions *p, struct arena *a)
{
    struct buf json = { 0 };
    const char *text;

    shape_write(&app_permissions_shape, p, &json);
    text = arena_memdup(a, buf_data(&json), json.len);
    buf_free(&json);
    return text;
}

static void fill_row(struct making *m, const struct app_row *old)
{
    struct arena *a = m->call->arena;

    m->row = (struct app_row){
        .code = m->ask->code,
        .secret_1 = m->hash,
        .secret_2 = old ? arena_strdup(a, old->secret_1) : "",
        .created_ms = clock_wall_ms(loop_clock(m->call->api->parts.loop)),
    };
    if (!old) {
        m->row.permissions = permissions_text(&m->ask->permissions, a);
        return;
    }
    m->row.created_ms = old->created_ms;
    m->row.permissions = old->permissions ? arena_strdup(a, old->permissions) : NULL;
}

static void on_found(void *arg, struct store_call *s)
{
    struct making *m = arg;
    const struct list *rows = s->out;
    struct err err = s->err;
    bool is_there = !s->failed && rows->n;

    if (is_there && !m->rotate)
        err_set(&err, ERR_CONFLICT,
                "app %s: is there already; rotate=1 (--rotate) gives it a new secret",
                m->ask->code);
    if (!s->failed && !is_there && m->rotate)
        err_set(&err, ERR_NOT_FOUND, "app %s: there is none to give a new secret to", m->ask->code);
    if (s->failed || is_there != m->rotate) {
        making_fail(m, &err);
    } else {
        fill_row(m, is_there ? rows->items : NULL);
        put(m);
    }
    store_call_free(s);
}

static int check_permissions(const struct app_permissions *p, bool rotate, struct err *err)
{
    const struct app_permissions anywhere = { .rights = p->rights };

    if (rotate && (p->rights.n || app_has_limits(p)))
        return err_set(err, ERR_INVALID,
                       "permissions: stay as they are with rotate=1; leave them out");
    if (app_rights(p) != app_rights(&anywhere))
        return err_set(err, ERR_INVALID,
                       "permissions: the right admin goes without limits: who may make apps may "
                       "make one that has none");
    return 0;
}

static int check_app(struct making *m, struct err *err)
{
    const struct params query = params_of_query(m->call->req);
    struct app_query q;

    if (params_read(&query, &app_query_shape, SHAPE_STRICT, m->call->arena, &q, err))
        return -1;
    m->rotate = q.rotate;
    if (!strcmp(m->ask->code, app_admin.code))
        return err_set(err, ERR_INVALID, "code: %s is who comes in by the admin socket",
                       app_admin.code);
    if (map_find_str(&m->call->api->apps_in_work, m->ask->code))
        return err_set(err, ERR_CONFLICT, "app %s: is being made by somebody else", m->ask->code);
    return check_permissions(&m->ask->permissions, m->rotate, err);
}

/* The store would overwrite: so we look first, and nobody else may meanwhile. */
void v1_app_put(struct call *c)
{
    struct making *m = arena_alloc(c->arena, sizeof(*m));
    struct store_call *s;
    struct app_find_ask *ask;
    struct err err;

    m->call = c;
    m->ask = c->ask;
    if (check_app(m, &err)) {
        call_fail(c, &err);
        return;
    }
    secret_new(m->secret);
    secret_hash(m->secret, m->hash);
    s = store_call_new(&store_app_find, on_found, m);
    ask = arena_alloc(&s->arena, sizeof(*ask));
    ask->code = m->ask->code;
    s->in = ask;
    map_put_str(&c->api->apps_in_work, m->ask->code, m);
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    making_fail(m, &err);
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
