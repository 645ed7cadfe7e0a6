/* SPDX-License-Identifier: MIT */
/* agents_nets.c - see agents_nets.h. */
#include "server/sessions/agents_nets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "wire/net/hello.h"

enum {
    NET_MAX = 400,         /* strangers per network */
    PARKED_MS = 38 * 1000, /* agents give up soon after this time */
    SILENT_MS = 10 * 1000, /* time limit for a ClientHello */
    SILENT_LEAST_MS = 100, /* never closed earlier: the ClientHello may be on its way */
    FAILURES_MAX = 20,     /* in a row, per network */
    FAILURE_MS = 3000,     /* one failure is forgiven in this time */
    NETS_MAX = 4096,       /* networks that are remembered only for their failures */
};

struct parked {
    struct agents *agents;
    struct net *net;
    struct hello *hello; /* NULL: the ClientHello is complete */
    net_queued_fn *on_queued;
    struct address from;
    int64_t since_ms;
    int fd;
    TAILQ_ENTRY(parked) link; /* in `silent` or `parked` of the net */
};

struct net *net_get(struct agents *a, const struct address *peer)
{
    char name[ADDRESS_TEXT_SIZE];
    struct net *n;

    address_print_net(peer, name);
    n = map_find_str(&a->nets, name);
    if (n)
        return n;
    n = xalloc(sizeof(*n));
    memcpy(n->name, name, sizeof(name));
    TAILQ_INIT(&n->silent);
    TAILQ_INIT(&n->parked);
    map_put_str(&a->nets, n->name, n);
    return n;
}

/* ---- failures ---- */

static void net_decay(struct agents *a, struct net *n)
{
    int64_t now_ms = loop_now_ms(a->loop), forgiven = (now_ms - n->decayed_ms) / FAILURE_MS;

    n->decayed_ms += forgiven * FAILURE_MS;
    n->failures -= forgiven < n->failures ? forgiven : n->failures;
    if (n->failures == 0)
        n->decayed_ms = now_ms;
}

void net_note_failure(struct agents *a, struct net *n)
{
    net_decay(a, n);
    n->failures++;
}

bool net_check_blocked(struct agents *a, struct net *n)
{
    net_decay(a, n);
    return n->failures >= FAILURES_MAX;
}

void net_drop_idle(struct agents *a, struct net *n)
{
    net_decay(a, n);
    if (n->strangers > 0 || n->n_silent > 0 || n->n_parked > 0 ||
        (n->failures > 0 && a->nets.n <= NETS_MAX))
        return;
    map_del_str(&a->nets, n->name);
    free(n);
}

/* ---- waiting connections ---- */

static void parked_free(struct agents *a, struct parked *p)
{
    struct net *n = p->net;

    a->counters.parked--;
    if (p->hello) {
        TAILQ_REMOVE(&n->silent, p, link);
        n->n_silent--;
    } else {
        TAILQ_REMOVE(&n->parked, p, link);
        if (--n->n_parked == 0)
            TAILQ_REMOVE(&a->parking, n, link);
    }
    hello_free(p->hello);
    free(p);
}

static void parked_refuse(struct agents *a, struct parked *p, enum agents_reason why)
{
    sys_close(p->fd);
    agents_count_refused(a, why);
    parked_free(a, p);
}

static void parked_queue(struct parked *p)
{
    struct agents *a = p->agents;
    struct net *n = p->net;

    TAILQ_REMOVE(&n->silent, p, link);
    n->n_silent--;
    hello_free(p->hello);
    p->hello = NULL;
    TAILQ_INSERT_TAIL(&n->parked, p, link);
    if (n->n_parked++ == 0)
        TAILQ_INSERT_TAIL(&a->parking, n, link);
}

static void on_hello(void *arg, enum hello_kind kind)
{
    struct parked *p = arg;
    struct agents *a = p->agents;
    struct net *n = p->net;

    if (kind == HELLO_GONE) {
        parked_refuse(a, p, AGENTS_HANDSHAKE);
        net_drop_idle(a, n);
        return;
    }
    parked_queue(p);
    p->on_queued(a);
}

static bool has_silent(const struct net *n, int64_t since_ms)
{
    return n->n_silent > 0 && TAILQ_FIRST(&n->silent)->since_ms <= since_ms;
}

/* Closes the oldest silent connection of the network that has most of them; false: none. */
static bool drop_silent(struct agents *a)
{
    int64_t since_ms = loop_now_ms(a->loop) - SILENT_LEAST_MS;
    struct net *most = NULL;
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&a->nets, &at));) {
        struct net *n = e->value;

        if (has_silent(n, since_ms) && (!most || n->n_silent > most->n_silent))
            most = n;
    }
    if (most)
        parked_refuse(a, TAILQ_FIRST(&most->silent), AGENTS_CROWDED);
    return most;
}

bool net_park(struct agents *a, struct net *n, int fd, const struct address *from,
              net_queued_fn *on_queued)
{
    struct parked *p;
    struct err err;

    if (a->counters.connections + a->counters.parked >= a->links_max) {
        a->was_full = true;
        if (!drop_silent(a))
            return false;
    }
    p = xalloc(sizeof(*p));
    *p = (struct parked){ .agents = a,
                          .net = n,
                          .on_queued = on_queued,
                          .from = *from,
                          .since_ms = loop_now_ms(a->loop),
                          .fd = fd };
    if (hello_new(a->loop, fd, on_hello, p, &p->hello, &err)) {
        free(p);
        return false;
    }
    TAILQ_INSERT_TAIL(&n->silent, p, link);
    n->n_silent++;
    a->counters.parked++;
    return true;
}

bool net_is_full(const struct net *n)
{
    return n->n_parked > 0 && n->strangers >= NET_MAX;
}

static void drop_late(struct agents *a, struct net *n)
{
    int64_t now_ms = loop_now_ms(a->loop);

    while (has_silent(n, now_ms - SILENT_MS))
        parked_refuse(a, TAILQ_FIRST(&n->silent), AGENTS_HANDSHAKE);
    while (n->n_parked > 0 && TAILQ_FIRST(&n->parked)->since_ms <= now_ms - PARKED_MS)
        parked_refuse(a, TAILQ_FIRST(&n->parked), AGENTS_CROWDED);
}

/* The next network in turn that has room for another stranger; NULL: none. */
static struct net *next_net(struct agents *a)
{
    struct net *n;

    TAILQ_FOREACH(n, &a->parking, link) {
        if (n->strangers < NET_MAX)
            return n;
    }
    return NULL;
}

bool nets_take(struct agents *a, int *ret_fd, struct address *ret_from, struct net **ret_net)
{
    struct net *n = next_net(a);
    struct parked *p;

    if (!n)
        return false;
    p = TAILQ_FIRST(&n->parked);
    *ret_fd = p->fd;
    *ret_from = p->from;
    *ret_net = n;
    TAILQ_REMOVE(&a->parking, n, link); /* networks take turns */
    TAILQ_INSERT_TAIL(&a->parking, n, link);
    parked_free(a, p);
    return true;
}

void nets_sweep(struct agents *a)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&a->nets, &at));) {
        drop_late(a, e->value);
        net_drop_idle(a, e->value);
    }
}

void nets_free(struct agents *a)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&a->nets, &at));) {
        struct net *n = e->value;

        while (n->n_silent > 0)
            parked_refuse(a, TAILQ_FIRST(&n->silent), AGENTS_CROWDED);
        while (n->n_parked > 0)
            parked_refuse(a, TAILQ_FIRST(&n->parked), AGENTS_CROWDED);
        free(n);
    }
    map_free(&a->nets);
}
