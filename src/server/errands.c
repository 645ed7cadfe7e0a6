/* SPDX-License-Identifier: MIT */
/* errands.c - see errands.h. */
#include "server/errands.h"

#include <stdlib.h>

#include "base/mem.h"

struct errands {
    struct store *store;
    int64_t out;
    bool is_over;
};

struct errand {
    struct errands *errands;
    store_done_fn *done;
    void *arg;
};

struct errands *errands_new(struct store *store)
{
    struct errands *e = xalloc(sizeof(*e));

    e->store = store;
    return e;
}

static void free_if_last(struct errands *e)
{
    if (e->is_over && !e->out)
        free(e);
}

void errands_free(struct errands *e)
{
    if (!e)
        return;
    e->is_over = true;
    free_if_last(e);
}

static void on_done(void *arg, struct store_call *c)
{
    struct errand errand = *(struct errand *)arg; /* it goes with the call */

    errand.errands->out--;
    if (!errand.errands->is_over) {
        errand.done(errand.arg, c);
        return;
    }
    store_call_free(c);
    free_if_last(errand.errands);
}

int errands_submit(struct errands *e, struct store_call *c, struct err *err)
{
    struct errand *errand = arena_alloc(&c->arena, sizeof(*errand));

    *errand = (struct errand){ e, c->done, c->arg };
    c->done = on_done;
    c->arg = errand;
    if (store_submit(e->store, c, err)) {
        c->done = errand->done;
        c->arg = errand->arg;
        return -1;
    }
    e->out++;
    return 0;
}

int64_t errands_out(const struct errands *e)
{
    return e->out;
}
