/* SPDX-License-Identifier: MIT */
/* http_server.c - our HTTP server with nothing behind it, for bench/http and bench/api.
 *
 *     http_server [--shape] [CERT KEY]     TLS if there is a certificate
 *     http_server --answer FILE            what is answered
 *     http_server --make CERT KEY          makes one for 127.0.0.1
 *
 * Every POST is answered with the same few bytes, or those of the file; with --shape its
 * body is read as an operation first.  It listens on a free port of 127.0.0.1, prints
 * "port N", and ends with its standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/io/loop.h"
#include "bench/loopback.h"
#include "model/proc.h"
#include "wire/http/http.h"

static const char type[] = "application/json; charset=utf-8";

struct bench {
    struct loop *loop;
    bool reads_shape;
    struct buf answer;
};

static void on_head(void *arg, struct http_req *req)
{
    (void)arg;
    if (strcmp(req->head.method, "POST") != 0)
        http_answer_const(req, 405, NULL, NULL, NULL, 0);
    else
        req->body_max = 64 * 1024;
}

static void on_request(void *arg, struct http_req *req)
{
    const struct bench *b = arg;
    struct proc_operate message;
    struct err err;

    if (b->reads_shape && shape_read(&proc_operate_shape, buf_data(&req->body), req->body.len, 0,
                                     &req->arena, &message, &err))
        http_answer_const(req, 400, NULL, type, "", 0);
    else
        http_answer_const(req, 200, NULL, type, buf_data(&b->answer), b->answer.len);
}

static void on_trouble(void *arg, const struct err *err)
{
    (void)arg;
    loopback_die("accept", err->text);
}

static const struct http_owner owner = { on_head, on_request, NULL, on_trouble };

static void on_stdin(void *arg, unsigned ready)
{
    struct bench *b = arg;

    (void)ready;
    loop_stop(b->loop);
}

/* All connections come from this host and rest for as long as they are measured. */
static struct http_server *serve(struct bench *b, const struct tls_config *config,
                                 struct address *ret_real)
{
    struct http_limits limits = http_limits_default;
    struct http_server *server;
    struct tls *tls = NULL;
    struct address at;
    struct err err;

    limits.connections_max = limits.per_address_max = 100000;
    limits.idle_ms = LOOPBACK_LIFE_S * 1000;
    if (config->cert_path && tls_server_new(config, &tls, &err))
        loopback_die("TLS", err.text);
    server = http_server_new(b->loop, &limits, &owner, b);
    if (address_parse("127.0.0.1:0", &at, &err) ||
        http_server_listen(server, &at, tls, ret_real, &err))
        loopback_die("listen", err.text);
    return server;
}

static int make(char **paths)
{
    static const char *const names[] = { "127.0.0.1", NULL };
    struct err err;

    if (tls_make_self_signed(paths[0], paths[1], names, 2, &err))
        loopback_die("certificate", err.text);
    return 0;
}

static void read_answer(struct bench *b, const char *path)
{
    struct err err;

    if (!path)
        buf_puts(&b->answer, LOOPBACK_ANSWER);
    else if (file_read(path, 1 << 20, &b->answer, &err))
        loopback_die("answer", err.text);
}

int main(int argc, char **argv)
{
    struct bench b = { .reads_shape = argc > 1 && !strcmp(argv[1], "--shape") };
    bool has_answer = argc == 3 && !strcmp(argv[1], "--answer");
    char **paths = argv + 1 + b.reads_shape + 2 * has_answer;
    struct tls_config config = { .cert_path = paths[0], .key_path = paths[0] ? paths[1] : NULL };
    struct address real;
    struct watch *parent;
    struct err err;

    loopback_begin();
    if (argc == 4 && !strcmp(argv[1], "--make"))
        return make(argv + 2);
    read_answer(&b, has_answer ? argv[2] : NULL);
    if (loop_new(&clock_system, &b.loop, &err))
        loopback_die("loop", err.text);
    serve(&b, &config, &real);
    if (watch_new(b.loop, 0, on_stdin, &b, &parent, &err) || watch_want(parent, WATCH_READ, &err))
        loopback_die("standard input", err.text);
    loopback_ready(ntohs(real.u.v4.sin_port));
    if (loop_run(b.loop, &err))
        loopback_die("loop", err.text);
    return 0;
}
