/* SPDX-License-Identifier: MIT */
/* http_world.h - a real HTTP server on loopback, its clients, and a clock that stands still, all
 * in one thread.  For the tests of wire/http.
 *
 * Everything is in the header, because a unit test is one source file.
 *
 * The path of a request selects what the server does: see on_head() and on_request(). */
#ifndef TESTS_HTTP_WORLD_H
#define TESTS_HTTP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "wire/http/http.h"

enum { TURNS_MAX = 5000, HELD_MAX = 64 };

struct world {
    struct clock_fake clock;
    struct loop *loop;
    struct http_server *server;
    struct address at;
    struct http_req *held[HELD_MAX]; /* "/later" and "/stream", oldest first */
    size_t n_held;
    int heads, requests, gone, gone_unowned, emptied;
    struct buf large;  /* the answer to "/large" */
    bool answers_gone; /* on_gone() answers */
    int64_t tick_ms;   /* time that passes in each turn of client_read() */
};

struct client {
    int fd;
    struct buf in;
    bool ended; /* the server has closed */
};

static inline void on_head(void *arg, struct http_req *req)
{
    struct world *w = arg;

    w->heads++;
    if (!strcmp(req->head.path, "/early"))
        http_answer(req, 401, NULL, NULL, NULL);
    else if (!strcmp(req->head.path, "/early-stream"))
        http_stream_begin(w->held[w->n_held++] = req, 200, NULL, "text/event-stream");
    else if (strcmp(req->head.path, "/none") != 0)
        req->body_max = !strcmp(req->head.path, "/huge") ? HTTP_BODY_MAX : 4096;
}

static inline void on_request(void *arg, struct http_req *req)
{
    static const struct http_field extra[] = { { "X-Extra", "1" }, { 0 } };
    static const struct http_field evil[] = { { "X-Extra", "1\r\nSet-Cookie: a" }, { 0 } };
    static const struct http_field ours[] = { { "content-length", "7" }, { 0 } };
    struct world *w = arg;
    const char *path = req->head.path;
    struct buf body = { 0 };

    w->requests++;
    if (!strcmp(path, "/later") || !strcmp(path, "/huge")) {
        w->held[w->n_held++] = req;
    } else if (!strcmp(path, "/stream")) {
        w->held[w->n_held++] = req;
        http_stream_begin(req, 200, extra, "text/event-stream");
    } else if (!strcmp(path, "/empty")) {
        http_answer(req, 204, NULL, NULL, NULL);
    } else if (!strcmp(path, "/evil")) {
        http_answer(req, 200, evil, NULL, NULL);
    } else if (!strcmp(path, "/ours")) {
        http_answer(req, 200, ours, NULL, NULL);
    } else if (!strcmp(path, "/evil-type")) {
        http_answer(req, 200, NULL, "a\nb", NULL);
    } else if (!strcmp(path, "/evil-stream")) {
        w->held[w->n_held++] = req;
        http_stream_begin(req, 200, evil, NULL);
    } else if (!strcmp(path, "/copy")) {
        buf_add(&body, buf_data(&w->large), w->large.len);
        http_answer(req, 200, NULL, NULL, &body);
    } else if (!strcmp(path, "/large")) {
        http_answer_const(req, 200, NULL, NULL, buf_data(&w->large), w->large.len);
    } else if (!strcmp(path, "/peer")) {
        buf_puts(&body, req->peer);
        http_answer(req, 200, extra, "text/plain", &body);
    } else {
        http_answer(req, 200, NULL, "text/plain", &req->body);
    }
}

static inline void on_gone(void *arg, struct http_req *req)
{
    struct world *w = arg;

    assert_true(http_is_gone(req));
    w->gone++;
    w->gone_unowned += !req->is_owned;
    if (w->answers_gone)
        http_answer(req, 200, NULL, NULL, NULL);
}

static const struct http_owner world_owner = { on_head, on_request, on_gone, NULL };

static inline void listen_with(struct world *w, const struct http_limits *limits, struct tls *tls)
{
    struct address any;
    struct err err;

    clock_fake_init(&w->clock, 1000000, 1700000000000);
    assert_int_equal(loop_new(&w->clock.clock, &w->loop, &err), 0);
    w->server = http_server_new(w->loop, limits, &world_owner, w);
    assert_int_equal(address_parse("127.0.0.1:0", &any, &err), 0);
    assert_int_equal(http_server_listen(w->server, &any, tls, &w->at, &err), 0);
}

static inline struct world *world_new(const struct http_limits *limits)
{
    struct world *w = xalloc(sizeof(*w));

    listen_with(w, limits, NULL);
    return w;
}

static inline void turns(struct world *w, int n)
{
    struct err err;

    for (int i = 0; i < n; i++)
        assert_int_equal(loop_turn(w->loop, 0, &err), 0);
}

/* One turn that waits a moment for the kernel, for loops that wait for a condition. */
static inline void await(struct world *w)
{
    struct err err;

    assert_int_equal(loop_turn(w->loop, 1, &err), 0);
}

static inline void pass_time(struct world *w, int64_t ms)
{
    w->clock.mono += ms;
    w->clock.wall += ms;
    turns(w, 3);
}

/* Frees everything, including connections that linger. */
static inline void world_free(struct world *w)
{
    http_server_free(w->server);
    pass_time(w, 3600 * 1000);
    loop_free(w->loop);
    buf_free(&w->large);
    free(w);
}

/* From the given address; NULL: from any. */
static inline struct client client_open_from(struct world *w, const char *host)
{
    uint64_t before = http_server_counters(w->server)->accepted;
    struct client c = { .fd = socket(AF_INET, SOCK_STREAM, 0) };
    struct address from;
    struct err err;
    int one = 1;

    assert_true(c.fd >= 0);
    assert_int_equal(address_parse(host, &from, &err), 0);
    assert_int_equal(bind(c.fd, &from.u.any, from.len), 0);
    assert_int_equal(connect(c.fd, &w->at.u.any, w->at.len), 0);
    setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    for (int i = 0; i < 10 && http_server_counters(w->server)->accepted == before; i++)
        await(w);
    return c;
}

static inline struct client client_open(struct world *w)
{
    return client_open_from(w, "127.0.0.1:0");
}

static inline void client_close(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    buf_free(&c->in);
    c->fd = -1;
}

/* Closes with a reset. */
static inline void client_reset(struct client *c)
{
    struct linger none = { .l_onoff = 1, .l_linger = 0 };

    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    client_close(c);
}

static inline void client_send(const struct client *c, const char *text)
{
    assert_int_equal(send(c->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Reads the bytes that have arrived; false if there are none. */
static inline bool client_take(struct client *c)
{
    ssize_t got = recv(c->fd, buf_reserve(&c->in, 65536), 65536, MSG_DONTWAIT);

    if (got > 0)
        c->in.len += (size_t)got;
    if (got == 0 || (got < 0 && errno != EAGAIN))
        c->ended = true;
    return got > 0;
}

/* All bytes received, once they contain `until` or the server has closed (the only condition if
 * `until` is ""); fails if neither happens. */
static inline const char *client_read(struct world *w, struct client *c, const char *until)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        w->clock.mono += w->tick_ms;
        await(w);
        client_take(c);
        if (c->ended || (*until && strstr(buf_text(&c->in), until)))
            return buf_text(&c->in);
    }
    fail_msg("waiting for '%s', got '%s'", until, buf_text(&c->in));
    return "";
}

/* The answer to a request; its bytes are consumed. */
static inline const char *ask(struct world *w, struct client *c, const char *text,
                              const char *until)
{
    buf_free(&c->in);
    client_send(c, text);
    return client_read(w, c, until);
}

static inline bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static inline void wait_connections(struct world *w, uint64_t n)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        if (http_server_counters(w->server)->connections == n)
            return;
        await(w);
    }
    fail_msg("%d connections", (int)http_server_counters(w->server)->connections);
}

static inline void wait_held(struct world *w, size_t n)
{
    for (int i = 0; i < TURNS_MAX && w->n_held < n; i++)
        await(w);
    assert_int_equal(w->n_held, n);
}

static inline uint64_t refused(struct world *w, enum http_reason why)
{
    return http_server_counters(w->server)->refused[why];
}

static inline void answer_text(struct http_req *req, const char *text)
{
    struct buf body = { 0 };

    buf_puts(&body, text);
    http_answer(req, 200, NULL, "text/plain", &body);
    assert_null(body.block);
}

#endif
