/* SPDX-License-Identifier: MIT */
/* front.c - see front.h. */
#include "bin/front.h"

#include <string.h>

#include "api/describe/openapi.h"
#include "base/mem/mem.h"
#include "server/sessions/health.h"

static struct health health_now(const struct front *f)
{
    const struct http_counters *c = http_server_counters(f->http);
    uint64_t refused = 0;

    for (size_t i = 0; i < HTTP_REASONS; i++)
        refused += c->refused[i];
    return (struct health){
        .status = f->is_stopping ? "stopping" : "ok",
        .version = HOLDFAST_VERSION,
        .uptime_s = (loop_now_ms(f->loop) - f->started_ms) / 1000,
        .connections = (int64_t)c->connections,
        .requests = (int64_t)c->requests,
        .refused = (int64_t)refused,
    };
}

static void answer_json(struct front *f, struct http_req *req)
{
    struct health h = health_now(f);
    struct buf body = { 0 };

    shape_write(&health_shape, &h, &body);
    buf_addc(&body, '\n');
    http_answer(req, 200, NULL, "application/json; charset=utf-8", &body);
}

static void answer_page(struct front *f, struct http_req *req)
{
    struct health h = health_now(f);
    struct buf body = { 0 };

    health_page(&h, &body);
    http_answer(req, 200, NULL, "text/html; charset=utf-8", &body);
}

/* The document is constant and the same for every client. */
static void answer_openapi(struct front *f, struct http_req *req)
{
    struct buf body = { 0 };

    if (!f->openapi.len)
        openapi_write(HOLDFAST_VERSION, &f->openapi);
    buf_add(&body, buf_data(&f->openapi), f->openapi.len);
    http_answer(req, 200, NULL, "application/json; charset=utf-8", &body);
}

struct page {
    const char *path;
    void (*answer)(struct front *f, struct http_req *req);
};

static const struct page pages[] = {
    { "/", answer_page },
    { "/healthz", answer_json },
    { "/openapi.json", answer_openapi },
};

static void front_refuse(struct http_req *req, int status, const struct http_field *extra,
                         const char *text)
{
    struct buf body = { 0 };

    buf_printf(&body, "{\"error\":\"%s\"}\n", text);
    http_answer(req, status, extra, "application/json; charset=utf-8", &body);
}

/* A request that cannot be served is refused before its body is read. */
static void on_head(void *arg, struct http_req *req)
{
    static const struct http_field allow[] = { { "Allow", "GET, HEAD" }, { 0 } };
    struct front *f = arg;

    if (api_is_path(req->head.path)) {
        api_owner.on_head(f->door, req);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages) && !req->user; i++) {
        if (!strcmp(pages[i].path, req->head.path))
            req->user = (void *)&pages[i];
    }
    if (!req->user)
        front_refuse(req, 404, NULL, "no such page");
    else if (strcmp(req->head.method, "GET") != 0 && strcmp(req->head.method, "HEAD") != 0)
        front_refuse(req, 405, allow, "this page can only be read");
}

static void on_request(void *arg, struct http_req *req)
{
    struct front *f = arg;
    const struct page *page = req->user;

    if (api_is_path(req->head.path))
        api_owner.on_request(f->door, req);
    else
        page->answer(f, req);
}

static void on_gone(void *arg, struct http_req *req)
{
    struct front *f = arg;

    if (api_owner.on_gone && api_is_path(req->head.path))
        api_owner.on_gone(f->door, req);
}

static void on_trouble(void *arg, const struct err *err)
{
    struct front *f = arg;

    LOG(f->log, LOG_WARN, "cannot accept connections for a moment", log_err(err));
}

static bool front_on_body(void *arg, struct http_req *req, size_t n)
{
    struct front *f = arg;

    return !api_is_path(req->head.path) || api_owner.on_body(f->door, req, n);
}

const struct http_owner front_owner = { on_head, on_request, on_gone, on_trouble, front_on_body };

void front_log_refusals(struct front *f)
{
    const struct http_counters *c = http_server_counters(f->http);
    struct log_field fields[HTTP_REASONS + 1] = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < HTTP_REASONS; i++) {
        if (c->refused[i] > f->refused[i])
            fields[n++] = log_int(http_reason_name(i), (int64_t)(c->refused[i] - f->refused[i]));
        f->refused[i] = c->refused[i];
    }
    if (n)
        log_line(f->log, LOG_WARN, "turned clients away, by reason", fields);
}

void front_done(struct front *f)
{
    buf_free(&f->openapi);
}
