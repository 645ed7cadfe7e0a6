/* SPDX-License-Identifier: MIT */
/* call.c - see call.h. */
#include "api/pipeline/call.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/translate.h"

static const char json_type[] = "application/json; charset=utf-8";

static unsigned method_of(const struct http_req *req)
{
    for (size_t i = 0; i < METHODS; i++) {
        if (!strcmp(req->head.method, methods_known[i].name))
            return 1U << i;
    }
    return 0;
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

/* There is no such path, or it has no such method. */
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
    request_id_make(&api->ids, c->request_id);
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
    body_quota_leave(&c->api->strange_bodies, &c->body);
}

void call_free(struct call *c)
{
    call_settle(c);
    c->api->steps->release(c);
    TAILQ_REMOVE(&c->api->calls, c, link);
    app_let_go(c->app);
    buf_free(&c->out);
    free(c);
}

/* ---- answers */

/* An extra header for this status. */
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

void call_count(const struct call *c, enum call_outcome outcome)
{
    bool is_timed = c->begun_us >= 0 && outcome != CALL_GONE;
    int64_t took_us = is_timed ? clock_mono_us(loop_clock(c->api->parts.loop)) - c->begun_us : -1;

    call_counts_add(c->api->counts, c->route, c->dialect->kind, outcome, took_us);
}

void call_send(struct call *c)
{
    int status = c->result.status;
    const struct http_field extra[] = {
        { "X-Bkapi-Request-Id", arena_strdup(c->arena, c->request_id) },
        way_in(c, status),
        { 0 },
    };

    c->req->user = NULL;
    call_count(c, c->outcome);
    http_answer(c->req, status, extra, c->type ? c->type : json_type, &c->out);
    call_free(c);
}

void call_answer(struct call *c, int status)
{
    c->result.status = status;
    c->api->steps->answer(c);
}

struct buf *call_data(struct call *c)
{
    c->dialect->open(&c->out);
    return &c->out;
}

void call_end(struct call *c)
{
    c->dialect->close(c->request_id, &c->out);
    call_answer(c, 200);
}

/* The task id in the answer; NULL: none. */
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
    const struct answer_context t = { c->request_id, call_lang(c), c->denied };
    int status = c->dialect->put_err(err, &t, &c->out);
    struct dialect_code told;

    if (dialect_is_ours(err))
        LOG(c->api->parts.log, LOG_ERROR, "a request failed", log_str("path", c->req->head.path),
            log_str("app", c->app ? c->app->code : ""), log_str("request_id", c->request_id),
            log_err(err));
    c->outcome = dialect_is_ours(err) ? CALL_ERROR : CALL_FAILED;
    c->result.is_refusal = err->code == CODE_DENIED || err->code == ERR_DENIED;
    told = c->dialect->code(err);
    c->result.code = told.number;
    c->result.name = told.name;
    c->result.message = arena_strdup(c->arena, err_msg(err));
    call_answer(c, status);
}

/* For the audit log, in English; the texts of ESB's forms are messages. */
static const char *refusal_text(const struct call *c, const char *text, const char *about)
{
    struct buf b = { 0 };
    const char *copy;

    if (!text || !strcmp(text, "{}"))
        return text ? about : "";
    refusal_fill(&b, text, about);
    copy = arena_strdup(c->arena, buf_text(&b));
    buf_free(&b);
    return copy;
}

void call_refuse(struct call *c, enum refusal why, const char *about)
{
    const struct answer_context t = { c->request_id, call_lang(c),
                                      why == REFUSAL_RIGHT ? app_right_name(c->route->right)
                                                           : NULL };
    const struct refusal_answer said = refusal_answer(why, c->dialect->kind);

    c->result.code = said.code;
    c->result.name = said.name;
    c->result.message = refusal_text(c, said.text[LANG_EN], about);
    c->outcome = why == REFUSAL_RATE ? CALL_LIMITED : CALL_REFUSED;
    c->result.is_refusal = true;
    c->result.is_unrecorded = why == REFUSAL_RATE; /* a flood must not fill the log */
    if (why == REFUSAL_FORM)
        about = translate(about, t.lang, c->arena);
    call_answer(c, c->dialect->put_refusal(why, about, &t, &c->out));
}

void call_stream(struct call *c)
{
    call_settle(c);
    c->begun_us = -1; /* the duration of a stream is not measured */
    c->req->user = NULL;
}

void call_stream_end(struct call *c)
{
    struct http_req *req = c->req;

    call_count(c, c->outcome);
    call_free(c);
    http_stream_end(req);
}

const struct err call_stopping = { ERR_UNAVAILABLE, 0, "the server is stopping",
                                   MSG("the server is stopping") };

/* ---- for handlers */

/* A GET from an ESB has its parameters in the body. */
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

/* "zh-hans" and the like; English without the header, or for any other value. */
enum lang call_lang(const struct call *c)
{
    const char *wish = http_head_find(&c->req->head, "Blueking-Language");

    return wish && !strncasecmp(wish, "zh", 2) ? LANG_ZH : LANG_EN;
}
