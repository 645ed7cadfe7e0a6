/* SPDX-License-Identifier: MIT */
/* sim_net.c - frames in transit: lost, duplicated, delayed, reordered. */
#include "tests/sim/lib/sim_in.h"

static int64_t takes_ms(struct sim *s, const struct host *h)
{
    int64_t ms = 1 + (int64_t)sim_below(s, sim_chance(s, 5) ? 5000 : 20);

    return h->slow_until_ms > s->now_ms ? ms + (int64_t)sim_below(s, 8000) : ms;
}

static struct event *post(struct host *h, int64_t in_ms, int64_t epoch, unsigned type,
                          void (*fn)(struct event *e))
{
    struct event *e = sim_later(h->sim, in_ms, h->n, 0, fn);

    e->a = epoch;
    e->type = type;
    return e;
}

static void post_some(struct host *h, int64_t epoch, unsigned type, const struct shape *shape,
                      const void *message, void (*fn)(struct event *e))
{
    struct sim *s = h->sim;

    if (h->hole_until_ms > s->now_ms)
        return;
    for (int copies = sim_chance(s, 5) ? 2 : 1; copies > 0; copies--) {
        if (!sim_chance(s, 5))
            post(h, takes_ms(s, h), epoch, type, fn)->json = sim_json(s, shape, message);
    }
}

static void on_frame_to_agent(struct event *e)
{
    struct host *h = &e->sim->hosts[e->host];

    if (h->core && h->link == (uint64_t)e->a)
        host_deliver(h, e->type, e->json);
}

static void on_frame_to_server(struct event *e)
{
    server_deliver(e->sim, e->host, e->a, e->type, e->json);
}

void net_to_agent(struct sim *s, int host, int64_t epoch, unsigned type, const struct shape *shape,
                  const void *message)
{
    post_some(&s->hosts[host], epoch, type, shape, message, on_frame_to_agent);
}

void net_to_server(struct host *h, unsigned type, const struct shape *shape, const void *message)
{
    if (h->link)
        post_some(h, (int64_t)h->link, type, shape, message, on_frame_to_server);
}

void net_welcome(struct sim *s, int host, int64_t epoch)
{
    const struct message_welcome welcome = { .version = LINK_VERSION,
                                             .epoch = epoch,
                                             .ping_ms = 5000,
                                             .server_ms = s->now_ms,
                                             .wants_processes = true };

    post(&s->hosts[host], 1, epoch, MESSAGE_WELCOME, on_frame_to_agent)->json =
        sim_json(s, &message_welcome_shape, &welcome);
}
