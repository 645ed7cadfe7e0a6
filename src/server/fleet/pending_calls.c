/* SPDX-License-Identifier: MIT */
/* pending_calls.c - see pending_calls.h. */
#include "server/fleet/pending_calls.h"

#include <stdlib.h>

#include "base/mem/mem.h"

struct pending_calls {
    struct store *store;
    int64_t out;
    bool is_over;
};

struct pending_call {
    struct pending_calls *pending_calls;
    store_done_fn *done;
    void *arg;
};

struct pending_calls *pending_calls_new(struct store *store)
{
    struct pending_calls *e = xalloc(sizeof(*e));

    e->store = store;
    return e;
}

static void free_if_last(struct pending_calls *e)
{
    if (e->is_over && !e->out)
        free(e);
}

void pending_calls_free(struct pending_calls *e)
{
    if (!e)
        return;
    e->is_over = true;
    free_if_last(e);
}

static void on_done(void *arg, struct store_call *c)
{
    struct pending_call pending_call = *(struct pending_call *)arg; /* freed with the call */

    pending_call.pending_calls->out--;
    if (!pending_call.pending_calls->is_over) {
        pending_call.done(pending_call.arg, c);
        return;
    }
    store_call_free(c);
    free_if_last(pending_call.pending_calls);
}

int pending_calls_submit(struct pending_calls *e, struct store_call *c, struct err *err)
{
    struct pending_call *pending_call = arena_alloc(&c->arena, sizeof(*pending_call));

    *pending_call = (struct pending_call){ e, c->done, c->arg };
    c->done = on_done;
    c->arg = pending_call;
    if (store_submit(e->store, c, err)) {
        c->done = pending_call->done;
        c->arg = pending_call->arg;
        return -1;
    }
    e->out++;
    return 0;
}

int64_t pending_calls_out(const struct pending_calls *e)
{
    return e->out;
}
