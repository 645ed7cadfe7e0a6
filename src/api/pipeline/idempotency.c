/* SPDX-License-Identifier: MIT */
/* idempotency.c - see idempotency.h. */
#include "api/pipeline/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"
#include "base/os/time.h"
#include "model/task.h"
#include "store/store_requests.h"
#include "wire/tls/digest.h"

static int64_t now_ms(const struct call *c)
{
    return clock_wall_ms(loop_clock(c->api->parts.loop));
}

static void fail_key(struct call *c, int code, const char *text)
{
    struct err err;

    err_set(&err, code, "Idempotency-Key: %s", text);
    call_fail(c, &err);
}

/* Fails without changing the stored request: it belongs to another call. */
static void fail_repetition(struct call *c, int code, const char *text)
{
    c->is_replay = true;
    c->result.is_unrecorded = true;
    fail_key(c, code, text);
}

/* ---- the key */

static bool idempotency_is_key(const char *key)
{
    size_t n = strlen(key);

    for (const char *p = key; *p; p++) {
        if (*p < '!' || *p > '~')
            return false;
    }
    return n > 0 && n <= IDEMPOTENCY_KEY_MAX;
}

/* Digest of the whole request.  It may be large, so this is computed once. */
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

/* By app and key, separated by a line end, which app codes can not contain. */
static bool enter_key(struct call *c, const char *key)
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

/* ---- repetitions */

/* The request was in progress when a server ended. */
static void resume_interrupted(struct call *c, const struct request_begin_got *got)
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
        fail_repetition(
            c, ERR_CONFLICT,
            MSG("the server ended while a request with this key was in work, and whether it was "
                "done is not known: look, and use another key"));
}

static void answer_again(struct call *c, const struct request_begin_got *got)
{
    const struct request_row *row = got->rows.items;

    if (strcmp(row->digest, c->request_digest) != 0) {
        fail_repetition(c, ERR_CONFLICT,
                        MSG("it was used for another request: use a new key for a new one"));
    } else if (!row->status) {
        resume_interrupted(c, got);
    } else if (!*row->answer) {
        fail_repetition(
            c, ERR_CONFLICT,
            MSG("this was done before; its answer had a secret that is told only once, or was "
                "too large to be kept"));
    } else {
        c->is_replay = true;
        c->result.is_unrecorded = true; /* the first call was recorded */
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

static void begin_request(struct call *c)
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
    else if (!idempotency_is_key(key))
        fail_key(c, ERR_INVALID, MSG("must be 1 to 255 letters, digits or signs, without blanks"));
    else if (!enter_key(c, key))
        fail_key(c, ERR_CONFLICT, MSG("a request with this key is in work: ask again in a moment"));
    else
        begin_request(c);
}

/* ---- storing the answer */

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

static void idempotency_fill_row(const struct call *c, int status, struct arena *a,
                                 struct request_row *ret)
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

/* If the answer can not be stored, the call is answered anyway: the request was carried out. */
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
    idempotency_fill_row(c, status, &s->arena, row);
    *k = (struct keeping){ c, status };
    s->in = row;
    s->arg = k;
    if (!store_submit(c->api->parts.store, s, &err))
        return true;
    store_call_free(s);
    return false;
}
