/* SPDX-License-Identifier: MIT */
/* call.c - see call.h. */
#include "api/call.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/audit.h"
#include "api/gate.h"
#include "api/idempotency.h"
#include "api/params.h"
#include "api/routes.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sys.h"
#include "model/wording.h"

static const char json_type[] = "application/json; charset=utf-8";

static unsigned method_of(const struct http_req *req)
{
    for (size_t i = 0; i < METHODS; i++) {
        if (!strcmp(req->head.method, methods_known[i].name))
            return 1U << i;
    }
    return 0;
}

/* Chance is asked of the kernel for many at a time: it is the asking that costs. */
static void make_id(struct api *api, char to[REQUEST_ID_SIZE])
{
    if (!api->n_ids) {
        sys_random(api->ids, sizeof(api->ids));
        api->n_ids = ARRAY_LEN(api->ids);
    }
    hex_write(api->ids[--api->n_ids], REQUEST_ID_BYTES, to);
}

/* "GET, POST" */
static const char *allowed(const struct call *c)
{
    const char *text = "";

    for (size_t i = 0; i < METHODS; i++) {
        if (c->allowed & 1U << i)
            text = arena_printf(c->arena, "%s%s%s", text, *text ? ", " : "", methods_known[i].name);
    }
    return text;
}

/* There is no such path, or not by this method. */
static void refuse_place(struct call *c)
{
    const struct http_head *head = &c->req->head;
    const char *about =
        arena_printf(c->arena, "method=\"%s\" path=\"%s\"", head->method, head->path);

    if (c->allowed)
        call_refuse(c, REFUSAL_METHOD,
                    arena_printf(c->arena, "%s allowed=\"%s\"", about, allowed(c)));
    else
        call_refuse(c, REFUSAL_PATH, about);
}

struct call *call_new(struct api *api, bool is_admin, struct http_req *req)
{
    struct call *c = xalloc(sizeof(*c));
    struct route_found found;

    route_find(req->head.path, method_of(req), &found);
    make_id(api, c->request_id);
    c->begun_us = loop_now_us(api->parts.loop);
    c->api = api;
    c->req = req;
    c->arena = &req->arena;
    c->dialect = &dialects[found.dialect];
    c->route = found.route;
    c->rest = found.rest ? arena_memdup(c->arena, found.rest, strcspn(found.rest, "/")) : "";
    c->is_admin = is_admin;
    c->user = "";
    req->user = c;
    TAILQ_INSERT_TAIL(&api->calls, c, link);
    if (c->route)
        return c;
    c->allowed = found.methods;
    refuse_place(c);
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
    idempotency_release(c);
    TAILQ_REMOVE(&c->api->calls, c, link);
    app_let_go(c->app);
    buf_free(&c->out);
    free(c);
}

/* ---- answers */

/* How to be let in another time, where HTTP has a word for it. */
static struct http_field way_in(const struct call *c, int status)
{
    if (status == 401)
        return (struct http_field){ "WWW-Authenticate", "Basic realm=\"holdfast\"" };
    if (status == 405)
        return (struct http_field){ "Allow", allowed(c) };
    if (status == 429 && c->retry_s)
        return (struct http_field){ "Retry-After",
                                    arena_printf(c->arena, "%lld", (long long)c->retry_s) };
    if (status == 200 && c->is_replay)
        return (struct http_field){ "Idempotent-Replayed", "true" };
    return (struct http_field){ 0 };
}

static void send_answer(struct call *c)
{
    int status = c->result.status;
    const struct http_field extra[] = {
        { "X-Bkapi-Request-Id", arena_strdup(c->arena, c->request_id) },
        way_in(c, status),
        { 0 },
    };

    c->req->user = NULL;
    call_counts_add(c->api->counts, c, c->outcome);
    http_answer(c->req, status, extra, c->type ? c->type : json_type, &c->out);
    call_free(c);
}

/* Who has the answer of a change can be found in the audit log. */
static void answer(struct call *c, int status)
{
    c->result.status = status;
    if (idempotency_keep(c, status))
        return; /* and comes back */
    if (audit_is_due(c))
        audit_put(c->api->audit, c, send_answer);
    else
        send_answer(c);
}

void call_answer(struct call *c, int status)
{
    answer(c, status);
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

/* The one that the answer names, if it does. */
static const char *task_in(const struct shape *s, const void *data)
{
    for (const struct field *f = s->fields; f->name; f++) {
        if (f->type == FIELD_STR &&
            (!strcmp(f->name, "task_id") || !strcmp(f->name, "bk_gse_taskid")))
            return *(const char *const *)(const void *)((const char *)data + f->offset);
    }
    return NULL;
}

void call_finish(struct call *c, const struct shape *s, const void *data)
{
    const char *task = task_in(s, data);

    if (task)
        c->result.task_id = arena_strdup(c->arena, task);
    shape_write(s, data, call_data(c));
    call_end(c);
}

void call_fail(struct call *c, const struct err *err)
{
    const struct teller t = { c->request_id, call_lang(c), c->denied };
    int status = c->dialect->put_err(err, &t, &c->out);
    struct dialect_code told;

    if (dialect_is_ours(err))
        LOG(c->api->parts.log, LOG_ERROR, "a request failed", log_str("path", c->req->head.path),
            log_str("app", c->app ? c->app->code : ""), log_str("request_id", c->request_id),
            log_err(err));
    c->outcome = dialect_is_ours(err) ? CALL_ERROR : CALL_FAILED;
    told = c->dialect->code(err);
    c->result.code = told.number;
    c->result.name = told.name;
    c->result.message = arena_strdup(c->arena, err->text);
    answer(c, status);
}

void call_refuse(struct call *c, enum refusal why, const char *about)
{
    const struct teller t = { c->request_id, call_lang(c),
                              why == REFUSAL_RIGHT ? app_right_name(c->route->right) : NULL };
    const struct said said = refusal_said(why, c->dialect->kind);
    struct buf text = { 0 };

    if (said.text[LANG_EN])
        refusal_fill(&text, said.text[LANG_EN], about);
    c->result.code = said.code;
    c->result.name = said.name;
    c->result.message = arena_strdup(c->arena, buf_text(&text));
    buf_free(&text);
    c->outcome = why == REFUSAL_RATE ? CALL_LIMITED : CALL_REFUSED;
    c->result.is_unsaid = why == REFUSAL_RATE; /* who is held back may not fill the log */
    answer(c, c->dialect->put_refusal(why, about, &t, &c->out));
}

void call_stream(struct call *c)
{
    call_settle(c);
    c->begun_us = -1; /* how long it goes on says nothing */
    c->req->user = NULL;
}

void call_stream_end(struct call *c)
{
    struct http_req *req = c->req;

    call_counts_add(c->api->counts, c, c->outcome);
    call_free(c);
    http_stream_end(req);
}

const struct err call_stopping = { ERR_UNAVAILABLE, 0, "the server is stopping" };

/* ---- the way in */

/* A field that is missing altogether has words of ESB's own. */
static void fail_params(struct call *c, const struct err *err)
{
    const char *at = strstr(err->text, ": required");
    bool is_missing =
        at && !at[strlen(": required")] && !memchr(err->text, '.', (size_t)(at - err->text));
    const char *words;

    if (!c->route->label || err->code != ERR_INVALID) {
        call_fail(c, err);
        return;
    }
    words = arena_printf(c->arena, "%s %s", c->route->label,
                         is_missing ? "This field is required." : err->text);
    call_refuse(c, REFUSAL_FORM, wording_in(words, call_lang(c), c->arena));
}

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
        void *ask = arena_alloc(c->arena, c->route->in->size);

        if (params_read(&p, c->route->in, is_v1 ? SHAPE_ASKED : 0, c->arena, ask, &err)) {
            fail_params(c, &err);
            return;
        }
        c->ask = ask;
    }
    idempotency_pass(c);
}

void call_start(struct call *c)
{
    c->begun_us = loop_now_us(c->api->parts.loop); /* what it took to send it is its own affair */
    gate_pass(c, do_it);
}

/* ---- for handlers */

/* Behind an ESB a GET has its parameters in the body. */
struct params call_params(const struct call *c)
{
    return c->dialect->kind == DIALECT_BACKEND ? params_of_any(c->req) : params_of(c->req);
}

bool call_may_business(const struct call *c, int64_t biz_id)
{
    const struct app_permissions *p = &c->app->permissions;
    const struct app_number *sets = p->business_sets.items;
    const struct scopes *scopes = c->api->parts.scopes;

    if (app_may_business(p, biz_id))
        return true;
    for (size_t i = 0; scopes && i < p->business_sets.n; i++) {
        if (scopes_covers(scopes, SCOPE_BIZ_SET, sets[i].number, biz_id))
            return true;
    }
    return false;
}

bool call_may_see(const struct call *c, const struct fleet_host *h)
{
    return call_may_business(c, h->biz_id);
}

/* "zh-hans" and its relatives; whoever says nothing, or something else, reads English. */
enum lang call_lang(const struct call *c)
{
    const char *wish = http_head_find(&c->req->head, "Blueking-Language");

    return wish && !strncasecmp(wish, "zh", 2) ? LANG_ZH : LANG_EN;
}
