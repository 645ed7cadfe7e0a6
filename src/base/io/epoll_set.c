/* SPDX-License-Identifier: MIT */
/* epoll_set.c - an epoll instance that the loop watches as one descriptor. */
#include "base/io/epoll_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_epoll.h"

enum {
    AT_ONCE = 128
}; /* descriptors per wake-up; further ready ones are reported in the loop's next turn */

struct epoll_set {
    int epoll;
    struct watch *watch;
    epoll_set_fn *fn;
    void *arg;
};

static void epoll_set_on_ready(void *epoll_set, unsigned ready)
{
    struct epoll_set *c = epoll_set;
    struct epoll_event events[AT_ONCE];
    int n = sys_epoll_look(c->epoll, events, AT_ONCE);

    (void)ready;
    for (int i = 0; i < n; i++)
        c->fn(c->arg, events[i].data.u64);
}

int epoll_set_new(struct loop *l, epoll_set_fn *fn, void *arg, struct epoll_set **ret,
                  struct err *err)
{
    struct epoll_set *c = xalloc(sizeof(*c));

    *c = (struct epoll_set){ .epoll = sys_epoll_create(), .fn = fn, .arg = arg };
    if (c->epoll < 0) {
        err_sys(err, "epoll");
    } else if (!watch_new(l, c->epoll, epoll_set_on_ready, c, &c->watch, err) &&
               !watch_want(c->watch, WATCH_READ, err)) {
        *ret = c;
        return 0;
    }
    epoll_set_free(c);
    return -1;
}

void epoll_set_free(struct epoll_set *c)
{
    if (!c)
        return;
    watch_free(c->watch);
    sys_close(c->epoll);
    free(c);
}

int epoll_set_add(struct epoll_set *c, int fd, uint64_t key, struct err *err)
{
    return sys_epoll_add(c->epoll, fd, key) ? err_sys(err, "epoll: watch descriptor %d", fd) : 0;
}

/* A failure does not matter: the caller closes fd next, which removes it from the epoll set. */
void epoll_set_del(struct epoll_set *c, int fd)
{
    (void)sys_epoll_del(c->epoll, fd);
}
