/* SPDX-License-Identifier: MIT */
/* agents_nets.c - the networks that strangers come from.  See agents_peer.h.
 *
 * A relay has thousands of agents behind one address, and whoever floods us has one too.  So
 * of a network some are strangers at one time, and the others wait in line as bare sockets,
 * oldest first, without keeping anybody of another network out: those go ahead of it, as long
 * as their own network has not its share of strangers too. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "server/agents_peer.h"

enum {
    NET_MAX = 400,         /* strangers of one network */
    PARKED_MS = 38 * 1000, /* who has waited longer gives up soon */
    FAILURES_MAX = 20,     /* of one network, in a row */
    FAILURE_MS = 3000,     /* one is forgiven in this time */
    NETS_MAX = 4096,       /* remembered only for their failures */
};

struct parked {
    struct address from;
    int64_t since_ms;
    int fd;
    STAILQ_ENTRY(parked) link;
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
    STAILQ_INIT(&n->parked);
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

void net_failed(struct agents *a, struct net *n)
{
    net_decay(a, n);
    n->failures++;
}

bool net_is_blocked(struct agents *a, struct net *n)
{
    net_decay(a, n);
    return n->failures >= FAILURES_MAX;
}

void net_drop_idle(struct agents *a, struct net *n)
{
    net_decay(a, n);
    if (n->strangers > 0 || n->n_parked > 0 || (n->failures > 0 && a->nets.n <= NETS_MAX))
        return;
    map_del_str(&a->nets, n->name);
    free(n);
}

/* ---- those who wait ---- */

static void take_out(struct agents *a, struct net *n, struct parked *p)
{
    STAILQ_REMOVE_HEAD(&n->parked, link);
    a->counters.parked--;
    if (--n->n_parked == 0)
        TAILQ_REMOVE(&a->parking, n, link);
    free(p);
}

static void turn_away(struct agents *a, struct net *n)
{
    struct parked *p = STAILQ_FIRST(&n->parked);

    sys_close(p->fd);
    peers_count(a, AGENTS_CROWDED);
    take_out(a, n, p);
}

bool net_park(struct agents *a, struct net *n, int fd, const struct address *from)
{
    struct parked *p;

    if (a->counters.connections + a->counters.parked >= a->links_max)
        return false;
    p = xalloc(sizeof(*p));
    *p = (struct parked){ .from = *from, .since_ms = loop_now_ms(a->loop), .fd = fd };
    STAILQ_INSERT_TAIL(&n->parked, p, link);
    a->counters.parked++;
    if (n->n_parked++ == 0)
        TAILQ_INSERT_TAIL(&a->parking, n, link);
    return true;
}

static void drop_late(struct agents *a, struct net *n)
{
    int64_t since_ms = loop_now_ms(a->loop) - PARKED_MS;

    while (n->n_parked > 0 && STAILQ_FIRST(&n->parked)->since_ms <= since_ms)
        turn_away(a, n);
}

/* The next network in turn that may have another stranger; NULL if there is none. */
static struct net *next_net(struct agents *a)
{
    struct net *n;

    TAILQ_FOREACH(n, &a->parking, link)
    {
        if (n->strangers < NET_MAX)
            return n;
    }
    return NULL;
}

void nets_unpark(struct agents *a)
{
    struct net *n;

    while (peers_have_room(a) && (n = next_net(a))) {
        struct parked p = *STAILQ_FIRST(&n->parked);

        TAILQ_REMOVE(&a->parking, n, link); /* each network in its turn */
        TAILQ_INSERT_TAIL(&a->parking, n, link);
        take_out(a, n, STAILQ_FIRST(&n->parked));
        peer_take_up(a, p.fd, &p.from, n);
    }
}

void peers_sweep(struct agents *a)
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

        while (n->n_parked > 0)
            turn_away(a, n);
        free(n);
    }
    map_free(&a->nets);
}
