/* SPDX-License-Identifier: MIT */
/* v1_app_change.c - changes of apps in /v1: create, rotate the secret, set permissions, remove.
 *
 * A change reads the app from the store and then writes it as a whole; until then other changes of
 * the same app are refused. */
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/event_feed.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/params.h"
#include "base/mem/mem.h"
#include "store/store_apps.h"
#include "wire/tls/seal.h"
#include "wire/tls/secret.h"

enum kind { CREATE, ROTATE, SET, REMOVE };

static const char *const done[] = {
    [CREATE] = "app made",
    [ROTATE] = "app has a new secret",
    [SET] = "app may do something else",
    [REMOVE] = "app removed",
};

struct change {
    struct call *call;
    enum kind kind;
    const char *code;
    const struct app_permissions *permissions; /* for CREATE and SET */
    char secret[SECRET_TEXT_SIZE], hash[SECRET_HASH_SIZE];
    struct app_row row;
};

static void change_fail(struct change *h, const struct err *err)
{
    map_del_str(&h->call->api->apps_in_work, h->code);
    call_fail(h->call, err);
}

static void on_written(void *arg, struct store_call *s)
{
    struct change *h = arg;
    struct call *c = h->call;
    struct app_view view;
    struct err err = s->err;

    apps_forget(c->api->apps, h->code);
    event_feed_drop(c->api->feed, h->code);
    if (s->failed || app_view_row(&h->row, c->arena, &view, &err)) {
        change_fail(h, &err);
    } else {
        LOG(c->api->parts.log, LOG_INFO, done[h->kind], log_str("app", view.code),
            log_str("by", c->app->code), log_str("user", c->user),
            log_str("request_id", c->request_id));
        if (h->kind == CREATE || h->kind == ROTATE)
            view.secret = h->secret;
        map_del_str(&c->api->apps_in_work, h->code);
        call_finish(c, &app_view_shape, &view);
    }
    store_call_free(s);
}

/* ---- the new row */

static const char *permissions_text(const struct app_permissions *p, struct arena *a)
{
    struct buf json = { 0 };
    const char *text;

    shape_write(&app_permissions_shape, p, &json);
    text = arena_memdup(a, buf_data(&json), json.len);
    buf_free(&json);
    return text;
}

static void copy_row(const struct app_row *from, struct arena *a, struct app_row *ret)
{
    *ret = (struct app_row){
        .code = arena_strdup(a, from->code),
        .secret_1 = arena_strdup(a, from->secret_1),
        .secret_2 = arena_strdup(a, from->secret_2),
        .permissions = from->permissions ? arena_strdup(a, from->permissions) : NULL,
        .created_ms = from->created_ms,
        .sealed_1 = arena_strdup(a, from->sealed_1),
        .sealed_2 = arena_strdup(a, from->sealed_2),
    };
}

/* The previous secret stays valid until the next rotation. */
static void new_secret(struct change *h, bool signs)
{
    const struct seal *seal = h->call->api->parts.seal;
    struct app_row *row = &h->row;

    secret_new(h->secret);
    secret_hash(h->secret, h->hash);
    row->secret_2 = row->secret_1;
    row->secret_1 = h->hash;
    row->sealed_2 = signs ? row->sealed_1 : "";
    row->sealed_1 = signs && seal ? seal_text(seal, h->code, h->secret, h->call->arena) : "";
}

static int v1_app_change_fill_row(struct change *h, const struct app_row *old, struct err *err)
{
    struct arena *a = h->call->arena;
    struct app_view view;

    h->row = (struct app_row){
        .code = h->code,
        .secret_1 = "",
        .created_ms = clock_wall_ms(loop_clock(h->call->api->parts.loop)),
        .sealed_1 = "",
        .sealed_2 = "",
    };
    if (old)
        copy_row(old, a, &h->row);
    if (h->permissions)
        h->row.permissions = permissions_text(h->permissions, a);
    if (h->kind == REMOVE)
        return 0;
    if (app_view_row(&h->row, a, &view, err))
        return -1;
    if (h->kind != SET)
        new_secret(h, view.permissions.signatures);
    else if (!view.permissions.signatures)
        h->row.sealed_1 = h->row.sealed_2 = "";
    return 0;
}

static void v1_app_change_write_row(struct change *h)
{
    bool is_removal = h->kind == REMOVE;
    struct store_call *s =
        store_call_new(is_removal ? &store_app_del : &store_app_put, on_written, h);
    struct app_find_ask *ask = arena_alloc(&s->arena, sizeof(*ask));
    struct err err;

    ask->code = h->code;
    s->in =
        is_removal ? (const void *)ask : &h->row; /* the call's arena outlives the store's call */
    if (!store_submit(h->call->api->parts.store, s, &err))
        return;
    store_call_free(s);
    change_fail(h, &err);
}

/* ---- the current row */

static int check_there(const struct change *h, bool is_there, struct err *err)
{
    if (h->kind == CREATE)
        return is_there ? err_set(err, ERR_CONFLICT,
                                  "app %s: is there already; rotate=1 (`app rotate`) "
                                  "gives it a new secret",
                                  h->code)
                        : 0;
    if (is_there)
        return 0;
    return err_set(err, ERR_NOT_FOUND,
                   h->kind == ROTATE ? "app %s: there is none to give a new secret to"
                                     : "app %s: there is none",
                   h->code);
}

static void v1_app_change_on_found(void *arg, struct store_call *s)
{
    struct change *h = arg;
    const struct list *rows = s->out;
    bool is_there = !s->failed && rows->n;
    struct err err = s->err;

    if (s->failed || check_there(h, is_there, &err) ||
        v1_app_change_fill_row(h, is_there ? rows->items : NULL, &err))
        change_fail(h, &err);
    else
        v1_app_change_write_row(h);
    store_call_free(s);
}

/* The store would overwrite: read first, and refuse other changes of this app until it is done. */
static void change_begin(struct change *h)
{
    struct call *c = h->call;
    struct store_call *s;
    struct app_find_ask *ask;
    struct err err;

    if (map_find_str(&c->api->apps_in_work, h->code)) {
        err_set(&err, ERR_CONFLICT, "app %s: is being changed by another request", h->code);
        call_fail(c, &err);
        return;
    }
    s = store_call_new(&store_app_find, v1_app_change_on_found, h);
    ask = arena_alloc(&s->arena, sizeof(*ask));
    ask->code = h->code;
    s->in = ask;
    map_put_str(&c->api->apps_in_work, h->code, h);
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    change_fail(h, &err);
}

static struct change *change_new(struct call *c, enum kind kind, const char *code)
{
    struct change *h = arena_alloc(c->arena, sizeof(*h));

    h->call = c;
    h->kind = kind;
    h->code = code;
    return h;
}

/* ---- the endpoints */

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

static int check_permissions(const struct app_permissions *p, struct err *err)
{
    const struct app_permissions anywhere = { .rights = p->rights };

    unsigned lost = app_rights(&anywhere) & ~app_rights(p);

    if (lost == APP_METRICS)
        return err_set(err, ERR_INVALID,
                       "permissions: the right metrics cannot have limits: its figures are totals "
                       "of all hosts");
    if (lost)
        return err_set(err, ERR_INVALID,
                       "permissions: the right admin cannot have limits: it allows to create apps "
                       "without limits");
    return 0;
}

static int check_app(const struct app_ask *ask, bool rotate, struct err *err)
{
    if (!strcmp(ask->code, app_admin.code))
        return err_set(err, ERR_INVALID, "code: %s is reserved for callers of the admin socket",
                       app_admin.code);
    if (rotate && !app_is_plain(&ask->permissions))
        return err_set(err, ERR_INVALID,
                       "permissions: stay as they are with rotate=1; leave them out");
    return check_permissions(&ask->permissions, err);
}

/* From the body alone the audit log could not tell a rotation from a creation. */
static const char *rotation_told(const char *code, struct arena *a)
{
    struct buf b = { 0 };
    const char *text;

    buf_puts(&b, "{\"operation\":\"rotate\",\"code\":");
    buf_quote(&b, code, strlen(code));
    buf_addc(&b, '}');
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

void v1_app_put(struct call *c)
{
    const struct params query = params_of_query(c->req);
    const struct app_ask *ask = c->ask;
    struct change *h;
    struct app_query q;
    struct err err;

    if (params_read(&query, &app_query_shape, SHAPE_ASKED, c->arena, &q, &err) ||
        check_app(ask, q.rotate, &err)) {
        call_fail(c, &err);
        return;
    }
    if (q.rotate)
        c->result.what = rotation_told(ask->code, c->arena);
    h = change_new(c, q.rotate ? ROTATE : CREATE, ask->code);
    h->permissions = q.rotate ? NULL : &ask->permissions;
    change_begin(h);
}

void v1_app_set(struct call *c)
{
    const struct app_set_ask *ask = c->ask;
    struct change *h = change_new(c, SET, c->rest);
    struct err err;

    h->permissions = &ask->permissions;
    if (check_permissions(&ask->permissions, &err))
        call_fail(c, &err);
    else
        change_begin(h);
}

void v1_app_del(struct call *c)
{
    change_begin(change_new(c, REMOVE, c->rest));
}
