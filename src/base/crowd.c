/* SPDX-License-Identifier: MIT */
/* crowd.c - an epoll of its own, which the loop watches as one descriptor. */
#include "base/crowd.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_epoll.h"

enum { AT_ONCE = 128 }; /* those behind them have the loop's next turn */

struct crowd {
    int epoll;
    struct watch *watch;
    crowd_fn *fn;
    void *arg;
};

static void on_ready(void *crowd, unsigned ready)
{
    struct crowd *c = crowd;
    struct epoll_event events[AT_ONCE];
    int n = sys_epoll_look(c->epoll, events, AT_ONCE);

    (void)ready;
    for (int i = 0; i < n; i++)
        c->fn(c->arg, events[i].data.u64);
}

int crowd_new(struct loop *l, crowd_fn *fn, void *arg, struct crowd **ret, struct err *err)
{
    struct crowd *c = xalloc(sizeof(*c));

    *c = (struct crowd){ .epoll = sys_epoll_create(), .fn = fn, .arg = arg };
    if (c->epoll < 0) {
        err_sys(err, "epoll");
    } else if (!watch_new(l, c->epoll, on_ready, c, &c->watch, err) &&
               !watch_want(c->watch, WATCH_READ, err)) {
        *ret = c;
        return 0;
    }
    crowd_free(c);
    return -1;
}

void crowd_free(struct crowd *c)
{
    if (!c)
        return;
    watch_free(c->watch);
    sys_close(c->epoll);
    free(c);
}

int crowd_add(struct crowd *c, int fd, uint64_t key, struct err *err)
{
    return sys_epoll_add(c->epoll, fd, key) ? err_sys(err, "epoll: watch descriptor %d", fd) : 0;
}

/* It is closed next, and leaves with that at the latest. */
void crowd_del(struct crowd *c, int fd)
{
    (void)sys_epoll_del(c->epoll, fd);
}
