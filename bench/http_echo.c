/* SPDX-License-Identifier: MIT */
/* http_echo.c - the floor of bench/http: libevent's buffered connections, plain or
 * TLS, with no protocol.
 *
 *     http_echo REQUEST_BYTES ANSWER_BYTES [CERT KEY]
 *
 * For every REQUEST_BYTES that come, ANSWER_BYTES go back, which the load's client
 * takes for the answer of an HTTP server.  Nothing is looked at.  The rest is as
 * in http_server.c. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "bench/loopback.h"

struct echo {
    struct event_base *base;
    SSL_CTX *tls; /* NULL: plain */
    size_t request_bytes, answer_bytes;
    char answer[LOOPBACK_ANSWER_MAX];
};

static void on_read(struct bufferevent *bev, void *arg)
{
    const struct echo *e = arg;
    struct evbuffer *in = bufferevent_get_input(bev);

    while (evbuffer_get_length(in) >= e->request_bytes) {
        evbuffer_drain(in, e->request_bytes);
        bufferevent_write(bev, e->answer, e->answer_bytes);
    }
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    (void)arg;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        bufferevent_free(bev);
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from,
                      int from_len, void *arg)
{
    struct echo *e = arg;
    struct bufferevent *bev;
    int yes = 1;

    (void)l;
    (void)from;
    (void)from_len;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (e->tls)
        bev = bufferevent_openssl_socket_new(e->base, fd, SSL_new(e->tls),
                                             BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    else
        bev = bufferevent_socket_new(e->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!bev)
        loopback_die("bufferevent", "out of memory");
    bufferevent_setcb(bev, on_read, NULL, on_event, e);
    bufferevent_setwatermark(bev, EV_READ, e->request_bytes, 0);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static void on_stdin(evutil_socket_t fd, short what, void *arg)
{
    struct echo *e = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(e->base);
}

/* An idle connection gives its buffers back, as ours do. */
static SSL_CTX *make_tls(const char *cert, const char *key)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    if (!ctx || SSL_CTX_use_certificate_chain_file(ctx, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
        loopback_die("TLS", cert);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    return ctx;
}

static struct event_base *make_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static unsigned listen_on_loopback(struct echo *e)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof(at);
    struct evconnlistener *l = evconnlistener_new_bind(e->base, on_accept, e, LEV_OPT_CLOSE_ON_FREE,
                                                       4096, (struct sockaddr *)&at, sizeof(at));

    if (!l || getsockname(evconnlistener_get_fd(l), (struct sockaddr *)&at, &len))
        loopback_die("listen", "failed");
    return ntohs(at.sin_port);
}

int main(int argc, char **argv)
{
    struct echo e = { 0 };

    loopback_begin();
    if (argc != 3 && argc != 5)
        loopback_die("usage", "http_echo REQUEST_BYTES ANSWER_BYTES [CERT KEY]");
    e.request_bytes = strtoul(argv[1], NULL, 10);
    e.answer_bytes = strtoul(argv[2], NULL, 10);
    loopback_make_answer(e.answer, e.answer_bytes);
    if (argc == 5)
        e.tls = make_tls(argv[3], argv[4]);
    e.base = make_base();
    event_add(event_new(e.base, 0, EV_READ, on_stdin, &e), NULL);
    loopback_ready(listen_on_loopback(&e));
    event_base_dispatch(e.base);
    return 0;
}
