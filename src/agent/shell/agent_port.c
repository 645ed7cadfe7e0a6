/* SPDX-License-Identifier: MIT */
/* agent_port.c - see agent_port.h. */
#include "agent/shell/agent_port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent/shell/agent_base.h"
#include "agent/supervise/core.h"
#include "base/io/loop.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { ANSWER_MS = 1000, ADDRESSES = 2 };

struct attempt {
    TAILQ_ENTRY(attempt) link;
    struct ports *all;
    uint64_t id;
    int64_t port;
    struct {
        struct attempt *of;
        int fd; /* -1: not connecting, or refused */
        struct watch *watch;
    } ends[ADDRESSES];
    bool is_open;
    struct timer timer; /* reports the result */
};

struct ports {
    struct agent_base *agent;
    TAILQ_HEAD(, attempt) attempts;
};

static void close_end(struct attempt *t, int i)
{
    watch_free(t->ends[i].watch);
    sys_close(t->ends[i].fd);
    t->ends[i].watch = NULL;
    t->ends[i].fd = -1;
}

static void free_attempt(struct attempt *t)
{
    for (int i = 0; i < ADDRESSES; i++)
        close_end(t, i);
    timer_stop(t->all->agent->loop, &t->timer);
    TAILQ_REMOVE(&t->all->attempts, t, link);
    free(t);
}

/* The result is never reported from within the request itself. */
static void answer_soon(struct attempt *t)
{
    for (int i = 0; i < ADDRESSES && !t->is_open; i++) {
        if (t->ends[i].fd >= 0)
            return; /* the other address is still connecting */
    }
    timer_set(t->all->agent->loop, &t->timer, 0);
}

static void port_on_time(void *attempt)
{
    struct attempt *t = attempt;
    struct agent_base *a = t->all->agent;
    uint64_t id = t->id;
    bool is_open = t->is_open;

    free_attempt(t);
    core_on_port(a->core, id, is_open, agent_now_ms(a));
    agent_wake(a);
}

/* A connection to an ephemeral port may get that port as its own source port: the socket is then
 * connected to itself. */
static bool is_ourselves(int fd, int64_t port)
{
    struct sockaddr_in6 own;
    socklen_t n = sizeof(own);

    return !sys_getsockname(fd, (struct sockaddr *)&own, &n) && ntohs(own.sin6_port) == port;
}

static void port_on_ready(void *end, unsigned ready)
{
    struct attempt *t = *(struct attempt **)end;
    int i = end == (void *)&t->ends[0] ? 0 : 1, error = 0;

    (void)ready;
    if (!sys_getsockopt(t->ends[i].fd, SOL_SOCKET, SO_ERROR, &error) && !error &&
        !is_ourselves(t->ends[i].fd, t->port))
        t->is_open = true;
    close_end(t, i);
    answer_soon(t);
}

static int port_begin(struct attempt *t, int i, const struct sockaddr *to, socklen_t n)
{
    struct loop *loop = t->all->agent->loop;
    struct err ignored; /* on failure this address does not count */
    int fd = sys_socket(to->sa_family, SOCK_STREAM, 0);

    t->ends[i].of = t;
    t->ends[i].fd = fd;
    if (fd < 0 || (sys_connect(fd, to, n) && errno != EINPROGRESS))
        return -1;
    return watch_new(loop, fd, port_on_ready, &t->ends[i], &t->ends[i].watch, &ignored) ||
                   watch_want(t->ends[i].watch, WATCH_WRITE, &ignored)
               ? -1
               : 0;
}

void ports_try(struct ports *p, uint64_t id, int64_t port)
{
    struct attempt *t = xalloc(sizeof(*t));
    const struct sockaddr_in four = { .sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)port),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 six = { .sin6_family = AF_INET6,
                                      .sin6_port = htons((uint16_t)port),
                                      .sin6_addr = IN6ADDR_LOOPBACK_INIT };

    t->all = p;
    t->id = id;
    t->port = port;
    timer_init(&t->timer, port_on_time, t);
    TAILQ_INSERT_TAIL(&p->attempts, t, link);
    timer_set(p->agent->loop, &t->timer, ANSWER_MS);
    if (port_begin(t, 0, (const struct sockaddr *)&four, sizeof(four)))
        close_end(t, 0);
    if (port_begin(t, 1, (const struct sockaddr *)&six, sizeof(six)))
        close_end(t, 1);
    answer_soon(t);
}

struct ports *ports_new(struct agent_base *a)
{
    struct ports *p = xalloc(sizeof(*p));

    p->agent = a;
    TAILQ_INIT(&p->attempts);
    return p;
}

void ports_free(struct ports *p)
{
    while (p && !TAILQ_EMPTY(&p->attempts))
        free_attempt(TAILQ_FIRST(&p->attempts));
    free(p);
}
