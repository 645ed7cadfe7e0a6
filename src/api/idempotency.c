/* SPDX-License-Identifier: MIT */
/* idempotency.c - see idempotency.h. */
#include "api/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/routes.h"
#include "base/mem.h"
#include "base/time.h"
#include "model/task.h"
#include "store/store_requests.h"
#include "wire/digest.h"

static int64_t now_ms(const struct call *c)
{
    return clock_wall_ms(loop_clock(c->api->parts.loop));
}

static void fail(struct call *c, int code, const char *text)
{
    struct err err;

    err_set(&err, code, "Idempotency-Key: %s", text);
    call_fail(c, &err);
}

/* What the store has of the key is not this call's to change. */
static void fail_only(struct call *c, int code, const char *text)
{
    c->is_replay = true;
    c->result.is_unsaid = true;
    fail(c, code, text);
}

/* ---- whose key it is */

static bool is_key(const char *key)
{
    size_t n = strlen(key);

    for (const char *p = key; *p; p++) {
        if (*p < '!' || *p > '~')
            return false;
    }
    return n > 0 && n <= IDEMPOTENCY_KEY_MAX;
}

/* Of all that is asked; it may be large, so this is done once. */
static const char *make_digest(const struct call *c)
{
    const struct http_req *req = c->req;
    char *to = arena_bytes(c->arena, DIGEST_TEXT_SIZE);
    struct buf b = { 0 };

    buf_printf(&b, "%s %s?%s\n", req->head.method, req->head.path, req->head.query);
    if (req->body.len)
        buf_add(&b, buf_data(&req->body), req->body.len);
    digest_sha256_text(buf_data(&b), b.len, to);
    buf_free(&b);
    return to;
}

/* By app and key: no code has a line end. */
static bool enter(struct call *c, const char *key)
{
    char *name = xprintf("%s\n%s", c->app->code, key);

    if (map_find_str(&c->api->requests, name)) {
        free(name);
        return false;
    }
    map_put_str(&c->api->requests, name, c);
    c->request_name = name;
    c->request_key = strchr(name, '\n') + 1;
    c->request_digest = make_digest(c);
    return true;
}

void idempotency_release(struct call *c)
{
    if (!c->request_name)
        return;
    map_del_str(&c->api->requests, c->request_name);
    free(c->request_name);
    c->request_name = NULL;
    c->request_key = NULL;
}

/* ---- the first answer again */

/* It was in work when a server ended. */
static void take_up(struct call *c, const struct request_begin_got *got)
{
    const struct operation_view made = {
        .task_id = got->task_id,
        .items = got->task_items,
        .deadline_ms = tasks_deadline_ms(c->api->parts.tasks, got->task_id),
    };

    if (*got->task_id)
        call_finish(c, &operation_view_shape, &made);
    else if (c->route->is_repeatable || !strcmp(c->req->head.method, "PUT"))
        c->route->handle(c);
    else
        fail_only(c, ERR_CONFLICT,
                  "the server ended while a request with this key was in work, and whether it was "
                  "done is not known: look, and use another key");
}

static void answer_again(struct call *c, const struct request_begin_got *got)
{
    const struct request_row *row = got->rows.items;

    if (strcmp(row->digest, c->request_digest) != 0) {
        fail_only(c, ERR_CONFLICT, "it was used for another request: use a new key for a new one");
    } else if (!row->status) {
        take_up(c, got);
    } else if (!*row->answer) {
        fail_only(c, ERR_CONFLICT,
                  "this was done before; its answer had a secret that is told only once, or was "
                  "too large to be kept");
    } else {
        c->is_replay = true;
        c->result.is_unsaid = true; /* the first one was written down */
        buf_puts(&c->out, row->answer);
        call_answer(c, (int)row->status);
    }
}

static void on_begun(void *arg, struct store_call *s)
{
    struct call *c = arg;
    const struct request_begin_got *got = s->out;

    if (s->failed) {
        c->is_replay = true;
        call_fail(c, &s->err);
    } else if (c->api->is_stopping) {
        call_fail(c, &call_stopping);
    } else if (got->is_new || !got->rows.n) {
        c->route->handle(c);
    } else {
        answer_again(c, got);
    }
    store_call_free(s);
}

static void begin(struct call *c)
{
    struct store_call *s = store_call_new(&store_request_begin, on_begun, c);
    struct request_begin_ask *ask = arena_alloc(&s->arena, sizeof(*ask));
    struct err err;

    ask->row = (struct request_row){ .app = arena_strdup(&s->arena, c->app->code),
                                     .key = arena_strdup(&s->arena, c->request_key),
                                     .digest = arena_strdup(&s->arena, c->request_digest),
                                     .created_ms = now_ms(c) };
    ask->oldest_ms = ask->row.created_ms - IDEMPOTENCY_MS;
    s->in = ask;
    if (!store_submit(c->api->parts.store, s, &err))
        return;
    store_call_free(s);
    c->is_replay = true;
    call_fail(c, &err);
}

void idempotency_pass(struct call *c)
{
    const char *key = http_head_find(&c->req->head, "Idempotency-Key");

    if (!key || c->dialect->kind != DIALECT_V1 || !strcmp(c->req->head.method, "GET"))
        c->route->handle(c);
    else if (!is_key(key))
        fail(c, ERR_INVALID, "must be 1 to 255 letters, digits or signs, without blanks");
    else if (!enter(c, key))
        fail(c, ERR_CONFLICT, "a request with this key is in work: ask again in a moment");
    else
        begin(c);
}

/* ---- an answer to keep */

struct keeping {
    struct call *call;
    int status;
};

static void on_kept(void *arg, struct store_call *s)
{
    const struct keeping *k = arg;
    struct call *c = k->call;

    if (s->failed)
        LOG(c->api->parts.log, LOG_WARN, "an answer is not kept for its Idempotency-Key",
            log_str("app", c->app->code), log_str("request_id", c->request_id), log_err(&s->err));
    c->is_kept = true;
    call_answer(c, k->status);
    store_call_free(s);
}

static bool is_large(const struct call *c)
{
    return c->out.len > IDEMPOTENCY_ANSWER_MAX;
}

static void fill_row(const struct call *c, int status, struct arena *a, struct request_row *ret)
{
    bool is_kept = !c->route->tells_secret && !is_large(c);

    *ret = (struct request_row){
        .app = arena_strdup(a, c->app->code),
        .key = arena_strdup(a, c->request_key),
        .digest = arena_strdup(a, c->request_digest),
        .created_ms = now_ms(c),
        .status = status,
        .answer = is_kept ? arena_memdup(a, buf_data(&c->out), c->out.len) : "",
    };
}

/* Whether it is kept or not, what was asked for was done, and is answered. */
bool idempotency_keep(struct call *c, int status)
{
    bool is_good = status / 100 == 2 && !(is_large(c) && c->route->is_repeatable);
    struct store_call *s;
    struct request_row *row;
    struct keeping *k;
    struct err err;

    if (!c->request_name || c->is_replay || c->is_kept || c->api->is_stopping)
        return false;
    s = store_call_new(is_good ? &store_request_end : &store_request_drop, on_kept, NULL);
    row = arena_alloc(&s->arena, sizeof(*row));
    k = arena_alloc(&s->arena, sizeof(*k));
    fill_row(c, status, &s->arena, row);
    *k = (struct keeping){ c, status };
    s->in = row;
    s->arg = k;
    if (!store_submit(c->api->parts.store, s, &err))
        return true;
    store_call_free(s);
    return false;
}
