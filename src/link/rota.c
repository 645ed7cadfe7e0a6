/* SPDX-License-Identifier: MIT */
/* rota.c - see rota.h. */
#include "link/rota.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "link/lookup.h"

/* Any number from 0 to `most`. */
static int64_t some_of(int64_t most)
{
    uint64_t r;

    sys_random(&r, sizeof(r));
    return (int64_t)(r % ((uint64_t)most + 1));
}

int rota_init(struct rota *r, const char *const *servers, struct err *err)
{
    size_t n = 0;

    for (; servers[n]; n++) {
        const char *wrong = lookup_check(servers[n]);

        if (wrong)
            return err_set(err, ERR_INVALID, "servers[%zu]: '%s' %s", n, servers[n], wrong);
    }
    if (!n)
        return err_set(err, ERR_INVALID, "servers: at least one is needed");
    *r = (struct rota){ .servers = xalloc(n * sizeof(*r->servers)), .n = n };
    for (size_t i = 0; i < n; i++)
        r->servers[i] = xstrdup(servers[i]);
    r->turn = (uint64_t)some_of((int64_t)n - 1);
    return 0;
}

void rota_done(struct rota *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->servers[i]);
    free(r->servers);
    *r = (struct rota){ 0 };
}

const char *rota_server(const struct rota *r)
{
    return r->servers[r->turn % r->n];
}

int rota_set(struct rota *r, const char *const *servers, bool *ret_is_there, struct err *err)
{
    struct rota to;
    size_t i = 0;

    if (rota_init(&to, servers, err))
        return -1;
    while (i < to.n && strcmp(to.servers[i], rota_server(r)) != 0)
        i++;
    if (i < to.n)
        to.turn = i + to.n * (r->turn / r->n); /* at the same one of its addresses */
    to.failures = r->failures;
    rota_done(r);
    *r = to;
    *ret_is_there = i < to.n;
    return 0;
}

size_t rota_place(const struct rota *r, size_t n)
{
    return r->turn / r->n % n;
}

void rota_next(struct rota *r)
{
    r->turn++;
}

void rota_forgive(struct rota *r)
{
    r->failures = 0;
}

int64_t rota_fail(struct rota *r)
{
    int64_t most = ROTA_FIRST_MS;

    for (unsigned i = 0; i < r->failures && most < ROTA_LONGEST_MS; i++)
        most *= 2;
    r->failures++;
    return some_of(most < ROTA_LONGEST_MS ? most : ROTA_LONGEST_MS);
}

int64_t rota_told(int64_t retry_ms)
{
    int64_t told_ms = retry_ms < ROTA_TOLD_MAX_MS ? retry_ms : ROTA_TOLD_MAX_MS;

    return told_ms + some_of(told_ms / 4);
}
