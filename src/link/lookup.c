/* SPDX-License-Identifier: MIT */
/* lookup.c - see lookup.h.
 *
 * getaddrinfo() can block for any time and cannot be cancelled.  So the question is a reference
 * counted object that the thread and the lookup share; the last holder frees it, and the thread is
 * never joined. */
#include "link/lookup.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/queue.h"
#include "base/io/thread.h"
#include "base/mem/mem.h"
#include "base/text/msg.h"

enum { FOUND_MAX = 16, NAME_MAX_BYTES = 253 };

struct question {
    struct queue_node node; /* first member; put into `answers` by the thread */
    struct queue *answers;
    atomic_int holders;
    char *name, *port;
    struct address found[FOUND_MAX];
    size_t n;
    struct err why;
};

struct lookup {
    struct loop *loop;
    lookup_fn *fn;
    void *arg;
    struct timer timer; /* numeric address: calls back in the next turn */
    struct address numeric;
    struct question *question; /* NULL: the address is numeric */
    struct watch *watch;
};

/* ---- syntax ---- */

static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");
    long port = n > 0 && n <= 5 && !text[n] ? strtol(text, NULL, 10) : 0;

    return port >= 1 && port <= 65535;
}

static bool is_name(const char *text, size_t n)
{
    static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";

    return n > 0 && n <= NAME_MAX_BYTES && strspn(text, chars) == n;
}

static bool is_numeric(const char *server, struct address *ret)
{
    struct err err;

    return address_parse(server, ret, &err) == 0;
}

const char *lookup_check(const char *server)
{
    const char *colon = strrchr(server, ':');
    struct address a;

    if (!strncmp(server, "unix:", 5))
        return is_numeric(server, &a) ? NULL
                                      : MSG("must be the path of a socket, as in unix:/run/x");
    if (!colon || colon == server || !is_port(colon + 1))
        return MSG("must be a name or address and a port of 1 to 65535, as in 10.0.0.1:7021");
    if (is_numeric(server, &a) || is_name(server, (size_t)(colon - server)))
        return NULL;
    return MSG("must be a name or an address, IPv6 in brackets, as in [::1]:7021");
}

/* ---- on the thread ---- */

static void question_release(struct question *q)
{
    if (atomic_fetch_sub(&q->holders, 1) != 1)
        return;
    (void)queue_take(q->answers); /* it can hold only this question */
    queue_free(q->answers);
    free(q->name);
    free(q->port);
    free(q);
}

static void question_add_addresses(struct question *q, const struct addrinfo *list)
{
    for (const struct addrinfo *i = list; i && q->n < FOUND_MAX; i = i->ai_next) {
        struct address *a = &q->found[q->n];

        if (i->ai_addrlen > sizeof(a->u))
            continue;
        memcpy(&a->u, i->ai_addr, i->ai_addrlen);
        a->len = i->ai_addrlen;
        q->n++;
    }
}

static void question_resolve(struct question *q)
{
    const struct addrinfo wish = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int number = getaddrinfo(q->name, q->port, &wish, &list);
    char reason[128];

    if (number) {
        msg_constant(reason, sizeof(reason), gai_strerror(number));
        err_set(&q->why, ERR_UNAVAILABLE, "look up '%s': %s", q->name, reason);
        return;
    }
    question_add_addresses(q, list);
    freeaddrinfo(list);
    if (!q->n)
        err_set(&q->why, ERR_UNAVAILABLE, "look up '%s': it has no address", q->name);
}

static void *lookup_thread(void *arg)
{
    struct question *q = arg;

    question_resolve(q);
    (void)queue_put(q->answers, &q->node); /* cannot fail: the queue has room for one */
    question_release(q);
    return NULL;
}

/* ---- on the loop ---- */

static void lookup_on_answer(void *arg, unsigned ready)
{
    struct lookup *l = arg;
    struct question *q = l->question;

    (void)ready;
    if (!queue_take(q->answers))
        return;
    watch_free(l->watch);
    l->watch = NULL;
    atomic_fetch_add(&q->holders, 1); /* the callback may free the lookup */
    l->fn(l->arg, q->found, q->n, q->n ? NULL : &q->why);
    question_release(q);
}

static void on_numeric(void *arg)
{
    struct lookup *l = arg;
    const struct address a = l->numeric;

    l->fn(l->arg, &a, 1, NULL);
}

static int start_lookup_thread(struct lookup *l, const char *server, struct err *err)
{
    const char *colon = strrchr(server, ':');
    struct question *q = xalloc(sizeof(*q));

    if (queue_new(1, &q->answers, err)) {
        free(q);
        return -1;
    }
    l->question = q;
    q->holders = 1;
    q->name = xmemdup(server, (size_t)(colon - server));
    q->port = xstrdup(colon + 1);
    if (watch_new(l->loop, queue_fd(q->answers), lookup_on_answer, l, &l->watch, err) ||
        watch_want(l->watch, WATCH_READ, err))
        return -1;
    atomic_fetch_add(&q->holders, 1);
    if (thread_start_detached(lookup_thread, q, err)) {
        question_release(q);
        return -1;
    }
    return 0;
}

int lookup_new(struct loop *loop, const char *server, lookup_fn *fn, void *arg, struct lookup **ret,
               struct err *err)
{
    struct lookup *l = xalloc(sizeof(*l));
    const char *wrong = lookup_check(server);

    *l = (struct lookup){ .loop = loop, .fn = fn, .arg = arg };
    timer_init(&l->timer, on_numeric, l);
    if (wrong) {
        lookup_free(l);
        return err_set(err, ERR_INVALID, "%s: %s", server, wrong);
    }
    if (is_numeric(server, &l->numeric)) {
        timer_set(loop, &l->timer, 0);
    } else if (start_lookup_thread(l, server, err)) {
        lookup_free(l);
        return err_wrap(err, "look up '%s'", server);
    }
    *ret = l;
    return 0;
}

void lookup_free(struct lookup *l)
{
    if (!l)
        return;
    timer_stop(l->loop, &l->timer);
    watch_free(l->watch);
    if (l->question)
        question_release(l->question);
    free(l);
}
