/* SPDX-License-Identifier: MIT */
/* server_list.c - see server_list.h. */
#include "link/server_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/lookup.h"

/* A random number from 0 to `most`. */
static int64_t random_up_to(int64_t most)
{
    uint64_t r;

    sys_random(&r, sizeof(r));
    return (int64_t)(r % ((uint64_t)most + 1));
}

int server_list_init(struct server_list *r, const char *const *servers, struct err *err)
{
    size_t n = 0;

    for (; servers[n]; n++) {
        const char *wrong = lookup_check(servers[n]);

        if (wrong)
            return err_set(err, ERR_INVALID, "servers[%zu]: '%s' %s", n, servers[n], wrong);
    }
    if (!n)
        return err_set(err, ERR_INVALID, "servers: at least one is needed");
    *r = (struct server_list){ .servers = xalloc(n * sizeof(*r->servers)),
                               .refusals = xalloc(n * sizeof(*r->refusals)),
                               .n = n };
    for (size_t i = 0; i < n; i++)
        r->servers[i] = xstrdup(servers[i]);
    r->turn = (uint64_t)random_up_to((int64_t)n - 1);
    return 0;
}

void server_list_done(struct server_list *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->servers[i]);
    free(r->servers);
    free(r->refusals);
    *r = (struct server_list){ 0 };
}

const char *server_list_server(const struct server_list *r)
{
    return r->servers[r->turn % r->n];
}

int server_list_set(struct server_list *r, const char *const *servers, bool *ret_is_there,
                    struct err *err)
{
    struct server_list to;
    size_t i = 0;

    if (server_list_init(&to, servers, err))
        return -1;
    while (i < to.n && strcmp(to.servers[i], server_list_server(r)) != 0)
        i++;
    if (i < to.n)
        to.turn = i + to.n * (r->turn / r->n); /* at the same address of it */
    to.failures = r->failures;
    server_list_done(r);
    *r = to;
    *ret_is_there = i < to.n;
    return 0;
}

static struct server_refusal *server_list_refusal_of(const struct server_list *r, uint64_t turn)
{
    return &r->refusals[turn % r->n];
}

size_t server_list_place(struct server_list *r, size_t n)
{
    server_list_refusal_of(r, r->turn)->places = n;
    return r->turn / r->n % n;
}

/* If all servers are to be skipped, takes the one that may be asked first. */
void server_list_next(struct server_list *r, int64_t now_ms)
{
    uint64_t soonest = r->turn + 1;

    for (uint64_t turn = r->turn + 1; turn <= r->turn + r->n; turn++) {
        if (server_list_refusal_of(r, turn)->until_ms <
            server_list_refusal_of(r, soonest)->until_ms)
            soonest = turn;
        if (server_list_refusal_of(r, turn)->until_ms <= now_ms) {
            soonest = turn;
            break;
        }
    }
    r->turn = soonest;
}

void server_list_forgive(struct server_list *r)
{
    r->failures = 0;
    *server_list_refusal_of(r, r->turn) = (struct server_refusal){ 0 };
}

int64_t server_list_fail(struct server_list *r)
{
    int64_t most = SERVER_LIST_FIRST_MS;

    for (unsigned i = 0; i < r->failures && most < SERVER_LIST_LONGEST_MS; i++)
        most *= 2;
    r->failures++;
    return random_up_to(most < SERVER_LIST_LONGEST_MS ? most : SERVER_LIST_LONGEST_MS);
}

int64_t server_list_wait_ms(int64_t retry_ms)
{
    int64_t told_ms = retry_ms < SERVER_LIST_TOLD_MAX_MS ? retry_ms : SERVER_LIST_TOLD_MAX_MS;

    return told_ms + random_up_to(told_ms / 4);
}

int64_t server_list_refused(struct server_list *r, int64_t retry_ms, int64_t now_ms)
{
    struct server_refusal *refusal = server_list_refusal_of(r, r->turn);
    int64_t left_ms;

    if (++refusal->n >= refusal->places) {
        refusal->n = 0;
        refusal->until_ms = now_ms + server_list_wait_ms(retry_ms);
    }
    server_list_next(r, now_ms);
    left_ms = server_list_refusal_of(r, r->turn)->until_ms - now_ms;
    return left_ms > 0 ? left_ms : 0;
}
