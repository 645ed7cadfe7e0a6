/* SPDX-License-Identifier: MIT */
/* http_floor.c - the least a server can do, for bench/http: epoll, one recv() and
 * one send() a request, and no library at all.
 *
 *     http_floor REQUEST_BYTES ANSWER_BYTES
 *
 * Otherwise as http_echo.c, without TLS. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/loopback.h"

enum { EVENTS_MAX = 256, FDS_MAX = 1024 };

struct floor {
    int epoll, listener;
    size_t request_bytes, answer_bytes;
    char answer[LOOPBACK_ANSWER_MAX];
    size_t got[FDS_MAX]; /* of the request that comes, by descriptor */
};

static void watch(struct floor *f, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (fd >= FDS_MAX || epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &event))
        loopback_die("epoll_ctl", strerror(errno));
}

static void accept_one(struct floor *f)
{
    int fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), yes = 1;

    if (fd < 0)
        loopback_die("accept", strerror(errno));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    watch(f, fd);
}

static void serve_one(struct floor *f, int fd)
{
    char scratch[65536];
    ssize_t n = recv(fd, scratch, sizeof(scratch), 0);

    if (n <= 0) {
        f->got[fd] = 0;
        close(fd);
        return;
    }
    f->got[fd] += (size_t)n;
    if (f->got[fd] < f->request_bytes)
        return;
    f->got[fd] -= f->request_bytes;
    if (send(fd, f->answer, f->answer_bytes, MSG_NOSIGNAL) != (ssize_t)f->answer_bytes)
        loopback_die("send", strerror(errno));
}

static unsigned listen_on_loopback(struct floor *f)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof(at);

    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (f->listener < 0 || bind(f->listener, (struct sockaddr *)&at, sizeof(at)) ||
        listen(f->listener, 4096) || getsockname(f->listener, (struct sockaddr *)&at, &len))
        loopback_die("listen", strerror(errno));
    watch(f, f->listener);
    return ntohs(at.sin_port);
}

/* Until standard input ends. */
static void serve(struct floor *f)
{
    struct epoll_event events[EVENTS_MAX];

    for (;;) {
        int n = epoll_wait(f->epoll, events, EVENTS_MAX, -1);

        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;

            if (fd == 0)
                return;
            if (fd == f->listener)
                accept_one(f);
            else
                serve_one(f, fd);
        }
    }
}

int main(int argc, char **argv)
{
    static struct floor f;

    loopback_begin();
    if (argc != 3)
        loopback_die("usage", "http_floor REQUEST_BYTES ANSWER_BYTES");
    f.request_bytes = strtoul(argv[1], NULL, 10);
    f.answer_bytes = strtoul(argv[2], NULL, 10);
    loopback_make_answer(f.answer, f.answer_bytes);
    f.epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(&f, 0);
    loopback_ready(listen_on_loopback(&f));
    serve(&f);
    return 0;
}
