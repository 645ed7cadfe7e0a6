/* SPDX-License-Identifier: MIT */
/* api_load.c - the load of bench/api: keep-alive connections to 127.0.0.1, one request in
 * flight on each, the time of every answer taken.
 *
 *     api_load PORT CONNECTIONS REQUESTS_FILE MUST_HAVE
 *
 * The file is whole requests, heads and bodies, one after the other.  A single one is sent again
 * and again; of several each is sent once, and to be asked for more is the end.  Each answer is
 * 200 and has the words MUST_HAVE in it, or that is the end.  Opens the connections, makes one
 * request on each and prints "ready ANSWER_BYTES".  Then every line "N" of its standard input means
 * N requests over all connections, and is answered with "done WALL_US P50_US P99_US"; it ends with
 * its standard input. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/io/file.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "bench/loopback.h"

enum { EVENTS_MAX = 256, READ_BYTES = 1 << 20, FILE_MAX = 256 << 20, STALL_MS = 60 * 1000 };

struct request {
    const char *bytes;
    size_t len;
};

struct conn {
    int fd;
    struct request request;
    size_t put; /* of the request */
    struct buf answer;
    int64_t begun_ns;
};

struct load {
    int epoll;
    struct conn *conns;
    size_t n_conns;
    struct buf file;
    struct request *requests;
    size_t n_requests, next;
    const char *must_have;
    int64_t to_start, in_flight;
    int64_t *took_us; /* of each answer of a turn */
    size_t n_took;
};

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long the request or answer is that begins there; 0 while its head is not all there. */
static size_t whole_length(const char *text, size_t n)
{
    static const char field[] = "Content-Length: ";
    const char *end = memmem(text, n, "\r\n\r\n", 4);
    const char *length = end ? memmem(text, (size_t)(end - text), field, strlen(field)) : NULL;

    if (!end)
        return 0;
    if (!length)
        loopback_die("request or answer", "it has no length");
    return (size_t)(end + 4 - text) + strtoul(length + strlen(field), NULL, 10);
}

static void want(const struct load *l, struct conn *c, int op, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = c };

    if (epoll_ctl(l->epoll, op, c->fd, &e))
        loopback_die("epoll_ctl", strerror(errno));
}

/* A large request may not fit into the socket at once. */
static void send_on(const struct load *l, struct conn *c)
{
    size_t left = c->request.len - c->put;
    ssize_t n = sys_send(c->fd, c->request.bytes + c->put, left);
    bool had_all;

    if (n < 0 && !sys_again())
        loopback_die("send", strerror(errno));
    c->put += n > 0 ? (size_t)n : 0;
    had_all = c->put == c->request.len;
    if (!had_all || c->request.len > 65536)
        want(l, c, EPOLL_CTL_MOD, had_all ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

static struct request next_request(struct load *l)
{
    if (l->n_requests == 1)
        return l->requests[0];
    if (l->next == l->n_requests)
        loopback_die("requests", "each was sent, and none is sent twice");
    return l->requests[l->next++];
}

static void start(struct load *l, struct conn *c)
{
    c->request = next_request(l);
    c->put = 0;
    c->begun_ns = now_ns();
    send_on(l, c);
}

static void open_one(struct load *l, struct conn *c, uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int yes = 1;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) ||
        connect(c->fd, (struct sockaddr *)&to, sizeof(to)) || fcntl(c->fd, F_SETFL, O_NONBLOCK))
        loopback_die("connect", strerror(errno));
    want(l, c, EPOLL_CTL_ADD, EPOLLIN);
}

/* ---- answers */

static void check(const struct load *l, struct conn *c)
{
    const char *text = buf_text(&c->answer);

    if (strncmp(text, "HTTP/1.1 200 ", strlen("HTTP/1.1 200 ")) != 0 ||
        !memmem(text, c->answer.len, l->must_have, strlen(l->must_have)))
        loopback_die("answer", text);
}

static void on_answer(struct load *l, struct conn *c)
{
    check(l, c);
    if (l->took_us)
        l->took_us[l->n_took++] = (now_ns() - c->begun_ns) / 1000;
    buf_truncate(&c->answer, 0);
    l->in_flight--;
    if (l->to_start == 0)
        return;
    l->to_start--;
    l->in_flight++;
    start(l, c);
}

static void on_readable(struct load *l, struct conn *c, size_t *ret_bytes)
{
    ssize_t n = sys_recv(c->fd, buf_reserve(&c->answer, READ_BYTES), READ_BYTES);
    size_t length;

    if (n == 0 || (n < 0 && !sys_again()))
        loopback_die("read", n ? strerror(errno) : "the server has closed the connection");
    c->answer.len += n > 0 ? (size_t)n : 0;
    length = whole_length(buf_data(&c->answer), c->answer.len);
    if (!length || c->answer.len < length)
        return;
    *ret_bytes = length;
    on_answer(l, c);
}

/* n requests over all connections, until all are answered; the bytes of the last answer. */
static size_t run(struct load *l, int64_t n)
{
    struct epoll_event events[EVENTS_MAX];
    size_t bytes = 0;

    l->in_flight = n < (int64_t)l->n_conns ? n : (int64_t)l->n_conns;
    l->to_start = n - l->in_flight;
    for (int64_t i = 0, first = l->in_flight; i < first; i++)
        start(l, &l->conns[i]);
    while (l->in_flight > 0) {
        int got = epoll_wait(l->epoll, events, EVENTS_MAX, STALL_MS);

        if (got <= 0 && errno != EINTR)
            loopback_die("wait", got ? strerror(errno) : "the server does not answer");
        for (int i = 0; i < got; i++) {
            if (events[i].events & EPOLLOUT)
                send_on(l, events[i].data.ptr);
            if (events[i].events & ~(uint32_t)EPOLLOUT)
                on_readable(l, events[i].data.ptr, &bytes);
        }
    }
    return bytes;
}

/* ---- what came of it */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void measure(struct load *l, int64_t n)
{
    int64_t begun_ns = now_ns(), wall_us;

    l->took_us = xalloc((size_t)n * sizeof(*l->took_us));
    l->n_took = 0;
    run(l, n);
    wall_us = (now_ns() - begun_ns) / 1000;
    qsort(l->took_us, l->n_took, sizeof(*l->took_us), by_size);
    printf("done %lld %lld %lld\n", (long long)wall_us, (long long)l->took_us[l->n_took / 2],
           (long long)l->took_us[l->n_took * 99 / 100]);
    fflush(stdout);
    free(l->took_us);
    l->took_us = NULL;
}

static void read_requests(struct load *l, const char *path)
{
    struct err err;
    size_t room = 0, at, len;

    if (file_read(path, FILE_MAX, &l->file, &err))
        loopback_die(path, err.text);
    for (at = 0; at < l->file.len; at += len) {
        const char *bytes = buf_data(&l->file) + at;

        len = whole_length(bytes, l->file.len - at);
        if (!len || len > l->file.len - at)
            loopback_die(path, "its last request is not whole");
        if (l->n_requests == room) {
            room = room ? 2 * room : 1;
            l->requests = xresize(l->requests, room * sizeof(*l->requests));
        }
        l->requests[l->n_requests++] = (struct request){ bytes, len };
    }
    if (!l->n_requests)
        loopback_die(path, "it has no request");
}

static void set_up(struct load *l, char **argv)
{
    l->n_conns = strtoul(argv[2], NULL, 10);
    l->conns = xalloc(l->n_conns * sizeof(*l->conns));
    l->must_have = argv[4];
    read_requests(l, argv[3]);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0)
        loopback_die("epoll", strerror(errno));
    for (size_t i = 0; i < l->n_conns; i++)
        open_one(l, &l->conns[i], (uint16_t)strtoul(argv[1], NULL, 10));
}

int main(int argc, char **argv)
{
    struct load l = { 0 };
    char line[64];

    loopback_begin();
    if (argc != 5)
        loopback_die("usage", "api_load PORT CONNECTIONS REQUESTS_FILE MUST_HAVE");
    set_up(&l, argv);
    printf("ready %zu\n", run(&l, (int64_t)l.n_conns));
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        int64_t n = strtoll(line, NULL, 10);

        if (n > 0)
            measure(&l, n);
    }
    return 0;
}
