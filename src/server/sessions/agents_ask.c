/* SPDX-License-Identifier: MIT */
/* agents_ask.c - see agents_ask.h. */
#include "server/sessions/agents_ask.h"

struct ask {
    struct agents *agents;
    struct peer *peer;
    ask_done_fn *done;
    void *data;
};

static void on_asked(void *arg, struct store_call *c)
{
    struct ask *ask = arg;

    if (ask->peer)
        ask->peer->ask = NULL;
    ask->done(ask->agents, ask->peer, c, ask->data);
    store_call_free(c);
}

struct store_call *ask_new(struct agents *a, struct peer *p, const struct store_verb *verb,
                           ask_done_fn *done)
{
    struct store_call *c = store_call_new(verb, on_asked, NULL);
    struct ask *ask = arena_alloc(&c->arena, sizeof(*ask));

    *ask = (struct ask){ a, p, done, NULL };
    c->arg = ask;
    return c;
}

void ask_set_data(struct store_call *c, void *data)
{
    struct ask *ask = c->arg;

    ask->data = data;
}

int ask_submit(struct store_call *c, struct err *err)
{
    struct ask *ask = c->arg;

    if (pending_calls_submit(ask->agents->pending_calls, c, err)) {
        store_call_free(c);
        return -1;
    }
    if (ask->peer)
        ask->peer->ask = ask;
    return 0;
}

void ask_forget(struct ask *ask)
{
    if (ask)
        ask->peer = NULL;
}
