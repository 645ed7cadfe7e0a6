/* SPDX-License-Identifier: MIT */
/* fleet_floor.c - the least that asking a whole fleet can cost, for bench/fleet: as many
 * connections, one request to each and one answer from each, with epoll and no more.
 *
 *     fleet_floor CONNECTIONS CLIENTS ROUNDS REQUEST_BYTES ANSWER_BYTES [CERT KEY]
 *
 * We are the server; CLIENTS processes of ours have the other ends, and answer each request
 * when they have all of it.  With CERT and KEY it is TLS 1.3, with the same options as our
 * links.  Prints "connect MS CPU_MS", then for each round "round MS CPU_US": wall time, and
 * the CPU time of the server alone. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/loopback.h"

enum { EVENTS_MAX = 256, BYTES_MAX = 16384, SHAKING_MAX = 128, PER_ADDRESS = 10000 };

/* One end of a connection. */
struct end {
    int fd;
    SSL *ssl; /* NULL: plain */
    bool is_ready;
    size_t got;
};

struct side {
    int epoll, listener;
    SSL_CTX *tls; /* NULL: plain */
    bool is_server;
    struct end *ends;
    size_t n, ready, most;
    size_t comes, goes; /* bytes of what is read, and of what is written */
    size_t done;        /* whose message has come, since the round began */
};

static const char bytes[BYTES_MAX];

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void watch(struct side *s, int fd, void *what, uint32_t events, int how)
{
    struct epoll_event event = { .events = events, .data.ptr = what };

    if (epoll_ctl(s->epoll, how, fd, &event))
        loopback_die("epoll_ctl", strerror(errno));
}

/* ---- one connection */

static void open_end(struct side *s, struct end *e, int fd)
{
    int yes = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    *e = (struct end){ .fd = fd };
    if (!s->tls) {
        e->is_ready = true;
        s->ready++;
        watch(s, fd, e, EPOLLIN, EPOLL_CTL_ADD);
        return;
    }
    e->ssl = SSL_new(s->tls);
    if (!e->ssl || !SSL_set_fd(e->ssl, fd))
        loopback_die("SSL_new", "failed");
    if (s->is_server)
        SSL_set_accept_state(e->ssl);
    else
        SSL_set_connect_state(e->ssl);
    watch(s, fd, e, s->is_server ? EPOLLIN : EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
}

static void shake(struct side *s, struct end *e)
{
    int result = SSL_do_handshake(e->ssl);
    int why = result == 1 ? SSL_ERROR_NONE : SSL_get_error(e->ssl, result);

    if (why == SSL_ERROR_NONE) {
        e->is_ready = true;
        s->ready++;
    } else if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
        loopback_die("handshake", "failed");
    }
    if (!s->is_server)
        watch(s, e->fd, e, EPOLLIN, EPOLL_CTL_MOD);
}

/* A message is far smaller than what a socket takes at once. */
static void put(const struct side *s, struct end *e)
{
    ssize_t n =
        e->ssl ? SSL_write(e->ssl, bytes, (int)s->goes) : send(e->fd, bytes, s->goes, MSG_NOSIGNAL);

    if (n != (ssize_t)s->goes)
        loopback_die("send", "not all of it went");
}

/* False: there is nothing more for now; the other end has gone only when all is over. */
static bool get(struct end *e, size_t *ret)
{
    char scratch[BYTES_MAX];
    ssize_t n = e->ssl ? SSL_read(e->ssl, scratch, sizeof(scratch))
                       : recv(e->fd, scratch, sizeof(scratch), 0);

    *ret = n > 0 ? (size_t)n : 0;
    if (n == 0 && !e->ssl)
        exit(0);
    return n > 0;
}

static void take(struct side *s, struct end *e)
{
    size_t n;

    while (get(e, &n)) {
        e->got += n;
        if (e->got < s->comes)
            continue;
        e->got -= s->comes;
        s->done++;
        if (!s->is_server)
            put(s, e);
        if (!e->ssl)
            return; /* another recv() would only say that there is no more */
    }
}

static void turn(struct side *s, void (*other)(struct side *s), int wait_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(s->epoll, events, EVENTS_MAX, wait_ms);

    for (int i = 0; i < n; i++) {
        struct end *e = events[i].data.ptr;

        if (!e)
            other(s);
        else if (!e->is_ready)
            shake(s, e);
        else
            take(s, e);
    }
}

/* ---- the two sides */

static struct sockaddr_in address_of(uint32_t n, uint16_t port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons(port),
                                 .sin_addr = { htonl(INADDR_LOOPBACK + n) } };
}

/* Few at a time: a client that waits too long to be accepted tries again a second later. */
static void run_client(struct side *s, uint16_t port, size_t n)
{
    uint32_t first = 256 * (1 + (uint32_t)getpid() % 1000); /* whose ports no other has used */

    s->ends = calloc(n, sizeof(*s->ends));
    for (size_t i = 0; i < n; i++) {
        struct sockaddr_in own = address_of(first + (uint32_t)(i / PER_ADDRESS), 0);
        struct sockaddr_in to = address_of(0, port);
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
            connect(fd, (struct sockaddr *)&to, sizeof(to)))
            loopback_die("connect", strerror(errno));
        (void)fcntl(fd, F_SETFL, O_NONBLOCK);
        open_end(s, &s->ends[i], fd);
        while (i + 1 - s->ready >= SHAKING_MAX)
            turn(s, NULL, -1);
    }
    for (;;)
        turn(s, NULL, -1);
}

static void on_accept(struct side *s)
{
    for (int fd; (fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        if (s->n == s->most)
            loopback_die("accept", "more came than were sent");
        open_end(s, &s->ends[s->n++], fd);
    }
}

static uint16_t listen_on_loopback(struct side *s)
{
    struct sockaddr_in at = address_of(0, 0);
    socklen_t len = sizeof(at);

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof(at)) ||
        listen(s->listener, 4096) || getsockname(s->listener, (struct sockaddr *)&at, &len))
        loopback_die("listen", strerror(errno));
    return ntohs(at.sin_port);
}

static void ask_all(struct side *s)
{
    s->done = 0;
    for (size_t i = 0; i < s->n; i++) {
        put(s, &s->ends[i]);
        if (i % EVENTS_MAX == 0)
            turn(s, NULL, 0);
    }
    while (s->done < s->n)
        turn(s, NULL, -1);
}

static void run_server(struct side *s, long rounds)
{
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

    watch(s, s->listener, NULL, EPOLLIN, EPOLL_CTL_ADD);
    while (s->ready < s->most)
        turn(s, on_accept, -1);
    printf("connect %.3f %.3f\n", (seconds(CLOCK_MONOTONIC) - wall) * 1e3,
           (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3);
    for (long i = 0; i < rounds; i++) {
        wall = seconds(CLOCK_MONOTONIC);
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        ask_all(s);
        printf("round %.3f %.1f\n", (seconds(CLOCK_MONOTONIC) - wall) * 1e3,
               (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e6);
    }
}

/* As src/wire/tls/tls.c has it. */
static SSL_CTX *make_tls(bool is_server, const char *cert, const char *key)
{
    SSL_CTX *c = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());

    if (!c || SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(c, "X25519:P-256:P-384") != 1 ||
        (is_server && (SSL_CTX_use_certificate_chain_file(c, cert) != 1 ||
                       SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) != 1)))
        loopback_die("TLS", "not with this certificate and key");
    SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(c, 1);
    return c;
}

static void begin(struct side *s, bool is_server, char **pair)
{
    s->is_server = is_server;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->tls = pair[0] ? make_tls(is_server, pair[0], pair[1]) : NULL;
}

int main(int argc, char **argv)
{
    static struct side server, client;
    long clients, rounds;
    uint16_t port;

    loopback_begin();
    if (argc != 6 && argc != 8)
        loopback_die("usage", "fleet_floor CONNECTIONS CLIENTS ROUNDS REQUEST_BYTES ANSWER_BYTES "
                              "[CERT KEY]");
    server.most = strtoul(argv[1], NULL, 10);
    clients = strtol(argv[2], NULL, 10);
    rounds = strtol(argv[3], NULL, 10);
    server.goes = client.comes = strtoul(argv[4], NULL, 10);
    server.comes = client.goes = strtoul(argv[5], NULL, 10);
    if (server.goes > BYTES_MAX || server.comes > BYTES_MAX || clients < 1)
        loopback_die("usage", "messages of at most 16384 bytes, at least one client");
    server.ends = calloc(server.most, sizeof(*server.ends));
    port = listen_on_loopback(&server);
    for (long i = 0; i < clients; i++) {
        if (fork() == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(server.listener);
            begin(&client, false, argv + 6);
            run_client(&client, port,
                       server.most * (size_t)(i + 1) / (size_t)clients -
                           server.most * (size_t)i / (size_t)clients);
        }
    }
    begin(&server, true, argv + 6);
    run_server(&server, rounds);
    return 0;
}
