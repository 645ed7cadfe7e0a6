/* SPDX-License-Identifier: MIT */
/* call.c - see call.h. */
#include "api/call.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/gate.h"
#include "api/params.h"
#include "api/routes.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sys.h"

static const char json_type[] = "application/json; charset=utf-8";

static const struct {
    const char *name;
    unsigned method;
} methods[] = {
    { "GET", METHOD_GET },
    { "POST", METHOD_POST },
    { "PUT", METHOD_PUT },
    { "DELETE", METHOD_DELETE },
};

static unsigned method_of(const struct http_req *req)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (!strcmp(req->head.method, methods[i].name))
            return methods[i].method;
    }
    return 0;
}

struct call *call_new(struct api *api, bool is_admin, struct http_req *req)
{
    struct call *c = xalloc(sizeof(*c));
    unsigned char id[REQUEST_ID_BYTES];
    struct route_found found;

    route_find(req->head.path, method_of(req), &found);
    sys_random(id, sizeof(id));
    hex_write(id, sizeof(id), c->request_id);
    c->api = api;
    c->req = req;
    c->arena = &req->arena;
    c->dialect = &dialects[found.dialect];
    c->route = found.route;
    c->rest = found.rest;
    c->is_admin = is_admin;
    c->user = "";
    req->user = c;
    TAILQ_INSERT_TAIL(&api->calls, c, link);
    if (c->route)
        return c;
    call_refuse(
        c, found.methods ? REFUSAL_METHOD : REFUSAL_PATH,
        arena_printf(c->arena, "method=\"%s\" path=\"%s\"", req->head.method, req->head.path));
    return NULL;
}

void call_settle(struct call *c)
{
    c->api->strange_bytes -= c->held_bytes;
    c->held_bytes = 0;
}

void call_free(struct call *c)
{
    call_settle(c);
    TAILQ_REMOVE(&c->api->calls, c, link);
    app_let_go(c->app);
    buf_free(&c->out);
    free(c);
}

/* ---- answers */

static void answer(struct call *c, int status)
{
    const struct http_field extra[] = {
        { "X-Bkapi-Request-Id", arena_strdup(c->arena, c->request_id) },
        { status == 401 ? "WWW-Authenticate" : NULL, "Basic realm=\"holdfast\"" },
        { 0 },
    };

    c->req->user = NULL;
    http_answer(c->req, status, extra, json_type, &c->out);
    call_free(c);
}

struct buf *call_data(struct call *c)
{
    c->dialect->open(&c->out);
    return &c->out;
}

void call_end(struct call *c)
{
    c->dialect->close(c->request_id, &c->out);
    answer(c, 200);
}

void call_finish(struct call *c, const struct shape *s, const void *data)
{
    shape_write(s, data, call_data(c));
    call_end(c);
}

void call_fail(struct call *c, const struct err *err)
{
    int status = c->dialect->put_err(err, &(struct teller){ c->request_id, call_lang(c) }, &c->out);

    if (dialect_is_ours(err))
        LOG(c->api->parts.log, LOG_ERROR, "a request failed", log_str("path", c->req->head.path),
            log_str("app", c->app ? c->app->code : ""), log_str("request_id", c->request_id),
            log_err(err));
    answer(c, status);
}

void call_refuse(struct call *c, enum refusal why, const char *about)
{
    const struct teller t = { c->request_id, call_lang(c) };

    answer(c, c->dialect->put_refusal(why, about, &t, &c->out));
}

const struct err call_stopping = { ERR_UNAVAILABLE, 0, "the server is stopping" };

/* ---- the way in */

/* Our own callers hear of a parameter that we do not know; others send what they like. */
static void do_it(struct call *c)
{
    bool is_v1 = c->dialect->kind == DIALECT_V1;
    bool is_get = method_of(c->req) == METHOD_GET;
    struct params p = call_params(c);
    struct err err;

    if (c->api->is_stopping) {
        call_fail(c, &call_stopping);
        return;
    }
    if (is_v1 && !is_get)
        p.is_json = true;
    if (c->route->in) {
        c->ask = arena_alloc(c->arena, c->route->in->size);
        if (params_read(&p, c->route->in, is_v1 ? SHAPE_STRICT : 0, c->arena, c->ask, &err)) {
            call_fail(c, &err);
            return;
        }
    }
    c->route->handle(c);
}

void call_start(struct call *c)
{
    gate_pass(c, do_it);
}

/* ---- for handlers */

/* Behind an ESB a GET has its parameters in the body. */
struct params call_params(const struct call *c)
{
    return c->dialect->kind == DIALECT_BACKEND ? params_of_any(c->req) : params_of(c->req);
}

bool call_may_see(const struct call *c, const struct fleet_host *h)
{
    return app_may_business(&c->app->permissions, h->biz_id);
}

/* "zh-hans" and its relatives; whoever says nothing, or something else, reads English. */
enum lang call_lang(const struct call *c)
{
    const char *wish = http_head_find(&c->req->head, "Blueking-Language");

    return wish && !strncasecmp(wish, "zh", 2) ? LANG_ZH : LANG_EN;
}
