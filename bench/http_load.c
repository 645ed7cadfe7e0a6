/* SPDX-License-Identifier: MIT */
/* http_load.c - the load of bench/http: keep-alive connections to 127.0.0.1, one
 * POST in flight on each, every answer checked.
 *
 *     http_load PORT CONNECTIONS BODY_FILE [CA]     TLS if there is a CA
 *
 * Opens the connections, makes one request on each and prints "ready REQUEST_BYTES
 * ANSWER_BYTES".  Then every line "N" of its standard input means N requests over
 * all connections, and is answered with "done"; it ends with its standard input. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "bench/loopback.h"
#include "wire/tls/tls.h"

enum {
    OPENING_MAX = 64,    /* connections at a time */
    ADDRESSES = 8,       /* we come from, so that there are ports enough */
    ANSWER_MAX = 1024,   /* bytes */
    EVENTS_MAX = 256,    /* seen at once */
    STALL_MS = 20 * 1000 /* nothing at all happens for so long: the server is stuck */
};

struct conn {
    int fd;
    struct tls_conn *tls; /* NULL: plain */
    bool is_open;         /* the handshake is done */
    size_t got;
    char answer[ANSWER_MAX];
};

struct load {
    int epoll;
    uint16_t port;
    struct tls *tls;
    struct conn *conns;
    size_t n_conns, opened;
    struct buf request;
    size_t answer_bytes; /* 0: none has come yet */
    int64_t to_start, in_flight;
};

/* ---- one connection */

static void connect_from(int fd, unsigned nth, uint16_t port)
{
    struct sockaddr_in from = { .sin_family = AF_INET,
                                .sin_addr = { htonl(INADDR_LOOPBACK + nth % ADDRESSES) } };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int yes = 1;

    (void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) || fcntl(fd, F_SETFL, O_NONBLOCK))
        loopback_die("connect", strerror(errno));
}

static void send_request(struct load *l, struct conn *c)
{
    const char *bytes = buf_data(&l->request);
    size_t put = 0;
    struct err err = { .text = "the socket is full" };

    if (!c->tls)
        put = (size_t)sys_send(c->fd, bytes, l->request.len);
    else if (tls_conn_write(c->tls, bytes, l->request.len, &put, &err) != TLS_OK)
        loopback_die("write", err.text);
    if (put != l->request.len)
        loopback_die("write", "the socket did not take a request");
}

static void open_one(struct load *l)
{
    struct conn *c = &l->conns[l->opened];
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
    struct err err;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        loopback_die("socket", strerror(errno));
    connect_from(c->fd, (unsigned)l->opened, l->port);
    if (l->tls && tls_conn_new(l->tls, c->fd, "127.0.0.1", &c->tls, &err))
        loopback_die("TLS", err.text);
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event))
        loopback_die("epoll_ctl", strerror(errno));
    l->opened++;
    c->is_open = !c->tls;
    if (c->is_open)
        send_request(l, c);
    else if (tls_conn_handshake(c->tls, &err) == TLS_FAILED)
        loopback_die("handshake", err.text);
}

/* ---- answers */

/* How long the answer is; 0 while its head is not all there. */
static size_t answer_length(const struct conn *c)
{
    static const char field[] = "Content-Length: ";
    const char *end = memmem(c->answer, c->got, "\r\n\r\n", 4);
    const char *length = end ? memmem(c->answer, c->got, field, strlen(field)) : NULL;

    if (!end)
        return 0;
    if (!length || length > end)
        loopback_die("answer", "it has no length");
    return (size_t)(end + 4 - c->answer) + strtoul(length + strlen(field), NULL, 10);
}

static void check(struct load *l, const struct conn *c)
{
    static const char begin[] = "HTTP/1.1 200 ", body[] = LOOPBACK_ANSWER;
    size_t n = strlen(body);

    if (!l->answer_bytes)
        l->answer_bytes = c->got;
    if (c->got != l->answer_bytes || memcmp(c->answer, begin, strlen(begin)) != 0 ||
        memcmp(c->answer + c->got - n, body, n) != 0)
        loopback_die("answer", "it is not what was expected");
}

/* True when the answer is there, and right. */
static bool has_answer(struct load *l, struct conn *c)
{
    size_t length = answer_length(c);

    if (!length || c->got < length)
        return false;
    if (c->got > length)
        loopback_die("answer", "more came than was asked for");
    check(l, c);
    c->got = 0;
    return true;
}

static size_t receive(struct conn *c)
{
    char *to = c->answer + c->got;
    size_t got = 0, room = ANSWER_MAX - 1 - c->got; /* and the NUL, for strtoul */
    struct err err = { .text = "the server has closed the connection" };
    enum tls_status st;
    ssize_t n;

    if (c->tls) {
        st = tls_conn_read(c->tls, to, room, &got, &err);
        if (st != TLS_OK && st != TLS_WANT_READ)
            loopback_die("read", err.text);
        return got;
    }
    n = sys_recv(c->fd, to, room);
    if (n == 0 || (n < 0 && !sys_again()))
        loopback_die("read", n ? strerror(errno) : err.text);
    return n > 0 ? (size_t)n : 0;
}

static void start_next(struct load *l, struct conn *c)
{
    l->in_flight--;
    if (l->to_start == 0)
        return;
    l->to_start--;
    l->in_flight++;
    if (c)
        send_request(l, c);
    else
        open_one(l);
}

/* ---- all of them */

static void on_readable(struct load *l, struct conn *c, bool opening)
{
    enum tls_status st;
    struct err err;
    size_t n;

    if (!c->is_open) {
        st = tls_conn_handshake(c->tls, &err);
        if (st == TLS_FAILED)
            loopback_die("handshake", err.text);
        if (st != TLS_OK)
            return;
        c->is_open = true;
        send_request(l, c);
    }
    do {
        n = receive(c);
        c->got += n;
    } while (n > 0 && c->tls && tls_conn_has_pending(c->tls)); /* epoll would not tell */
    if (has_answer(l, c))
        start_next(l, opening ? NULL : c);
}

/* Until all requests that were to be made are answered. */
static void run(struct load *l, bool opening)
{
    struct epoll_event events[EVENTS_MAX];

    while (l->in_flight > 0) {
        int n = epoll_wait(l->epoll, events, EVENTS_MAX, STALL_MS);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            loopback_die("wait", n ? strerror(errno) : "the server does not answer");
        for (int i = 0; i < n; i++)
            on_readable(l, events[i].data.ptr, opening);
    }
}

/* The first `most` of n are started at once, the others each when one ends. */
static int64_t begin(struct load *l, int64_t n, int64_t most)
{
    l->in_flight = n < most ? n : most;
    l->to_start = n - l->in_flight;
    return l->in_flight;
}

static void open_all(struct load *l)
{
    int64_t first = begin(l, (int64_t)l->n_conns, OPENING_MAX);

    for (int64_t i = 0; i < first; i++)
        open_one(l);
    run(l, true);
}

static void request_all(struct load *l, int64_t n)
{
    int64_t first = begin(l, n, (int64_t)l->n_conns);

    for (int64_t i = 0; i < first; i++)
        send_request(l, &l->conns[i]);
    run(l, false);
}

/* ---- setting up */

/* What a client of the API sends. */
static void make_request(struct buf *to, const char *path)
{
    FILE *f = fopen(path, "rb");
    char body[16384];
    size_t n = f ? fread(body, 1, sizeof(body), f) : 0;

    if (!n || n == sizeof(body))
        loopback_die(path, "no body, or too large a one");
    fclose(f);
    buf_printf(to,
               "POST /api/v2/gse/operate_proc HTTP/1.1\r\nHost: 127.0.0.1\r\n"
               "User-Agent: holdfast-bench\r\nAccept: */*\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n",
               n);
    buf_add(to, body, n);
}

static void set_up(struct load *l, char **argv)
{
    const struct tls_config config = { .ca_path = argv[4] };
    struct err err;

    l->port = (uint16_t)strtoul(argv[1], NULL, 10);
    l->n_conns = strtoul(argv[2], NULL, 10);
    l->conns = xalloc(l->n_conns * sizeof(*l->conns));
    make_request(&l->request, argv[3]);
    if (config.ca_path && tls_client_new(&config, &l->tls, &err))
        loopback_die("TLS", err.text);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l->epoll < 0)
        loopback_die("epoll", strerror(errno));
}

int main(int argc, char **argv)
{
    struct load l = { 0 };
    char line[64];

    loopback_begin();
    if (argc != 4 && argc != 5)
        loopback_die("usage", "http_load PORT CONNECTIONS BODY_FILE [CA]");
    set_up(&l, argv);
    open_all(&l);
    printf("ready %zu %zu\n", l.request.len, l.answer_bytes);
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        request_all(&l, strtoll(line, NULL, 10));
        printf("done\n");
        fflush(stdout);
    }
    return 0;
}
