/* SPDX-License-Identifier: MIT */
/* lookup.c - see lookup.h.
 *
 * getaddrinfo() may take as long as it likes and can not be told to stop.  So the
 * question is a thing of its own that the thread and the lookup both hold; who lets go
 * last frees it, and the thread is never waited for. */
#include "link/lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/queue.h"

enum { FOUND_MAX = 16, NAME_MAX_BYTES = 253 };

struct question {
    struct queue_node node; /* first; in `answers` once it is answered */
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
    struct timer timer; /* numeric: the next turn */
    struct address numeric;
    struct question *question; /* a name */
    struct watch *watch;
};

/* ---- what is asked for ---- */

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
        return is_numeric(server, &a) ? NULL : "must be the path of a socket, as in unix:/run/x";
    if (!colon || colon == server || !is_port(colon + 1))
        return "must be a name or address and a port of 1 to 65535, as in 10.0.0.1:7021";
    if (is_numeric(server, &a) || is_name(server, (size_t)(colon - server)))
        return NULL;
    return "must be a name or an address, IPv6 in brackets, as in [::1]:7021";
}

/* ---- the thread's part ---- */

static void let_go(struct question *q)
{
    if (atomic_fetch_sub(&q->holders, 1) != 1)
        return;
    (void)queue_take(q->answers); /* it holds nothing but this one */
    queue_free(q->answers);
    free(q->name);
    free(q->port);
    free(q);
}

static void keep_found(struct question *q, const struct addrinfo *list)
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

static void ask(struct question *q)
{
    const struct addrinfo wish = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int number = getaddrinfo(q->name, q->port, &wish, &list);

    if (number) {
        err_set(&q->why, ERR_UNAVAILABLE, "look up '%s': %s", q->name, gai_strerror(number));
        return;
    }
    keep_found(q, list);
    freeaddrinfo(list);
    if (!q->n)
        err_set(&q->why, ERR_UNAVAILABLE, "look up '%s': it has no address", q->name);
}

static void *run(void *arg)
{
    struct question *q = arg;

    ask(q);
    (void)queue_put(q->answers, &q->node); /* one always fits */
    let_go(q);
    return NULL;
}

/* ---- the loop's part ---- */

static void on_answer(void *arg, unsigned ready)
{
    struct lookup *l = arg;
    struct question *q = l->question;

    (void)ready;
    if (!queue_take(q->answers))
        return;
    watch_free(l->watch);
    l->watch = NULL;
    atomic_fetch_add(&q->holders, 1); /* the owner may free the lookup */
    l->fn(l->arg, q->found, q->n, q->n ? NULL : &q->why);
    let_go(q);
}

static void on_numeric(void *arg)
{
    struct lookup *l = arg;
    const struct address a = l->numeric;

    l->fn(l->arg, &a, 1, NULL);
}

/* No signal of ours is for this thread: the loop has them. */
static int start_thread(struct question *q, struct err *err)
{
    pthread_t thread;
    sigset_t all, old;
    int number;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&thread, NULL, run, q);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number)
        return err_set(err, ERR_SYSTEM, "start a thread: %s", strerror(number));
    pthread_detach(thread);
    return 0;
}

static int ask_in_thread(struct lookup *l, const char *server, struct err *err)
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
    if (watch_new(l->loop, queue_fd(q->answers), on_answer, l, &l->watch, err) ||
        watch_want(l->watch, WATCH_READ, err))
        return -1;
    atomic_fetch_add(&q->holders, 1);
    if (start_thread(q, err)) {
        let_go(q);
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
    } else if (ask_in_thread(l, server, err)) {
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
        let_go(l->question);
    free(l);
}
