/* SPDX-License-Identifier: MIT */
/* server.c - holdfast-server: settings, log, loop, API; then it runs until it
 * is told to stop, and serves the requests it has before it does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "server/health.h"
#include "server/settings.h"
#include "wire/http.h"

struct server {
    struct server_settings settings;
    struct arena arena;
    struct log *log;
    struct loop *loop;
    struct tls *tls;
    struct http_server *http;
    int64_t started_ms;
    bool stopping;
};

static struct health health_now(const struct server *s)
{
    const struct http_counters *c = http_server_counters(s->http);

    return (struct health){
        .status = s->stopping ? "stopping" : "ok",
        .version = HOLDFAST_VERSION,
        .uptime_s = (loop_now_ms(s->loop) - s->started_ms) / 1000,
        .connections = (int64_t)c->connections,
        .requests = (int64_t)c->requests,
    };
}

static void answer_json(struct server *s, struct http_req *req)
{
    struct health h = health_now(s);
    struct buf body = { 0 };

    shape_write(&health_shape, &h, &body);
    buf_addc(&body, '\n');
    http_answer(req, 200, NULL, "application/json; charset=utf-8", &body);
}

static void answer_page(struct server *s, struct http_req *req)
{
    struct health h = health_now(s);
    struct buf body = { 0 };

    health_page(&h, &body);
    http_answer(req, 200, NULL, "text/html; charset=utf-8", &body);
}

struct page {
    const char *path;
    void (*answer)(struct server *s, struct http_req *req);
};

static const struct page pages[] = {
    { "/", answer_page },
    { "/healthz", answer_json },
};

static void refuse(struct http_req *req, int status, const struct http_field *extra,
                   const char *text)
{
    struct buf body = { 0 };

    buf_printf(&body, "{\"error\":\"%s\"}\n", text);
    http_answer(req, status, extra, "application/json; charset=utf-8", &body);
}

/* What can not be served is refused before its body is read. */
static void on_head(void *arg, struct http_req *req)
{
    static const struct http_field allow[] = { { "Allow", "GET, HEAD" }, { 0 } };

    (void)arg;
    for (size_t i = 0; i < ARRAY_LEN(pages) && !req->user; i++) {
        if (!strcmp(pages[i].path, req->head.path))
            req->user = (void *)&pages[i];
    }
    if (!req->user)
        refuse(req, 404, NULL, "no such page");
    else if (strcmp(req->head.method, "GET") != 0 && strcmp(req->head.method, "HEAD") != 0)
        refuse(req, 405, allow, "this page can only be read");
}

static void on_request(void *arg, struct http_req *req)
{
    const struct page *page = req->user;

    page->answer(arg, req);
}

static void on_trouble(void *arg, const struct err *err)
{
    struct server *s = arg;

    LOG(s->log, LOG_WARN, "cannot accept connections for a moment", log_err(err));
}

static const struct http_owner owner = { on_head, on_request, NULL, on_trouble };

static void on_empty(void *arg)
{
    struct server *s = arg;

    loop_stop(s->loop);
}

static void on_stop(void *arg, int number)
{
    struct server *s = arg;

    LOG(s->log, LOG_INFO, s->stopping ? "stopping now" : "stopping", log_int("signal", number));
    if (s->stopping) {
        loop_stop(s->loop);
        return;
    }
    s->stopping = true;
    http_server_drain(s->http, on_empty, s);
}

static void on_hangup(void *arg, int number)
{
    struct server *s = arg;
    struct err err = { 0 };

    (void)number;
    if (log_reopen(s->log, &err))
        LOG(s->log, LOG_ERROR, "the log file stays as it was", log_err(&err));
}

static int catch_signals(struct server *s, struct err *err)
{
    signal(SIGPIPE, SIG_IGN);
    if (loop_on_signal(s->loop, SIGTERM, on_stop, s, err) ||
        loop_on_signal(s->loop, SIGINT, on_stop, s, err) ||
        loop_on_signal(s->loop, SIGHUP, on_hangup, s, err))
        return -1;
    return 0;
}

static int make_tls(struct server *s, const struct address *at, struct err *err)
{
    const struct tls_config config = { .cert_path = s->settings.tls.cert,
                                       .key_path = s->settings.tls.key };
    bool wanted = *config.cert_path || *config.key_path;

    if (!wanted && !address_is_loopback(at))
        return err_set(
            err, ERR_INVALID,
            "listen: %s is not a loopback address, which needs TLS: set tls.cert and tls.key",
            s->settings.listen);
    if (!wanted)
        return 0;
    if (!*config.cert_path || !*config.key_path)
        return err_set(err, ERR_INVALID, "tls.cert and tls.key: either both or none");
    return tls_server_new(&config, &s->tls, err);
}

static int start(struct server *s, struct err *err)
{
    struct http_limits limits = http_limits_default;
    struct address at, real;
    char text[ADDRESS_TEXT_SIZE];

    limits.connections_max = (size_t)s->settings.http.connections;
    limits.per_address_max = (size_t)s->settings.http.connections_per_address;
    limits.header_ms = s->settings.http.header_s * 1000;
    limits.idle_ms = s->settings.http.idle_s * 1000;
    limits.body_budget_bytes = (size_t)s->settings.http.body_bytes_total;
    if (address_parse(s->settings.listen, &at, err))
        return err_wrap(err, "listen");
    if (loop_new(&clock_system, &s->loop, err) || catch_signals(s, err) || make_tls(s, &at, err))
        return -1;
    s->started_ms = loop_now_ms(s->loop);
    s->http = http_server_new(s->loop, &limits, &owner, s);
    if (http_server_listen(s->http, &at, s->tls, &real, err))
        return -1;
    address_print(&real, text);
    LOG(s->log, LOG_INFO, "ready", log_str("version", HOLDFAST_VERSION), log_str("listen", text),
        log_str("health", arena_printf(&s->arena, "http%s://%s/healthz", s->tls ? "s" : "", text)));
    return 0;
}

static void stop(struct server *s)
{
    http_server_free(s->http);
    tls_free(s->tls);
    loop_free(s->loop);
    log_free(s->log);
    arena_free(&s->arena);
}

/* For whoever started it; the log, where it is a file, is for later. */
static int complain(const struct server *s, const struct err *err, int status)
{
    fprintf(stderr, "holdfast-server: %s\n", err->text);
    if (s->log && *s->settings.log.file)
        LOG(s->log, LOG_ERROR, "stopped by a failure", log_err(err));
    return status;
}

static int run(struct server *s, struct err *err)
{
    const char *file = s->settings.log.file;

    if (log_new(*file ? file : NULL, (enum log_level)s->settings.log.level, &clock_system, &s->log,
                err) ||
        start(s, err) || loop_run(s->loop, err))
        return -1;
    LOG(s->log, LOG_INFO, "stopped");
    return 0;
}

int main(int argc, char **argv)
{
    struct server s = { 0 };
    struct config_loaded loaded = { 0 };
    struct err err = { 0 };
    int status = EXIT_SUCCESS;

    if (config_load(&server_config, argc, argv, environ, &s.arena, &s.settings, &loaded, &err))
        status = complain(&s, &err, 2);
    else if (loaded.show)
        fputs(loaded.show, stdout);
    else if (run(&s, &err))
        status = complain(&s, &err, EXIT_FAILURE);
    stop(&s);
    return status;
}
