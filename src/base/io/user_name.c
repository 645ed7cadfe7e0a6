/* SPDX-License-Identifier: MIT */
/* user_name.c - see user_name.h.
 *
 * getpwuid_r() may block for any time and cannot be cancelled.  So a lookup is referenced by its
 * thread and by the table that asked; the last of them to drop it frees it, and the thread is
 * never joined. */
#include "base/io/user_name.h"

#include <errno.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/io/queue.h"
#include "base/io/thread.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/text/utf8.h"

enum { ENTRY_MAX = 1 << 20, ASKS_MAX = 8, KNOWN_MAX = 1000, FRESH_MS = 60 * 1000 };

/* ---- one name ---- */

static bool is_plain_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)name[i] <= ' ' || name[i] == ':' || name[i] == 127)
            return false;
    }
    return n > 0 && n <= 32 && utf8_valid(name, n) == n;
}

static void user_name_put_number(uid_t uid, char to[USER_NAME_SIZE])
{
    snprintf(to, USER_NAME_SIZE, "%u", (unsigned)uid);
}

void user_name_of(uid_t uid, char to[USER_NAME_SIZE])
{
    struct passwd entry, *found = NULL;
    struct buf room = { 0 };
    int error = ERANGE;

    for (size_t size = 1024; error == ERANGE && size < ENTRY_MAX; size *= 2)
        error = getpwuid_r(uid, &entry, buf_reserve(&room, size), size, &found);
    if (found && is_plain_name(found->pw_name))
        snprintf(to, USER_NAME_SIZE, "%s", found->pw_name);
    else
        user_name_put_number(uid, to);
    buf_free(&room);
}

/* ---- names for a loop ---- */

struct question {
    struct queue_node node; /* must be first; queued in `answers` once the name is found */
    struct queue *answers;
    atomic_int holders;
    uid_t uid;
    char name[USER_NAME_SIZE];
};

struct ask {
    TAILQ_ENTRY(ask) link;
    struct user_names *names;
    struct question *question;
    struct watch *watch;
    user_name_fn *fn;
    void *arg;
};

struct cached_name {
    uid_t uid;
    int64_t known_ms;
    char name[USER_NAME_SIZE];
};

struct user_names {
    struct loop *loop;
    struct map known; /* key: the bytes of the uid */
    TAILQ_HEAD(, ask) asks;
    size_t n_asks;
};

static void lookup_unref(struct question *q)
{
    if (atomic_fetch_sub(&q->holders, 1) != 1)
        return;
    (void)queue_take(q->answers); /* it contains only this node */
    queue_free(q->answers);
    free(q);
}

static void *user_name_run(void *arg)
{
    struct question *q = arg;

    user_name_of(q->uid, q->name);
    (void)queue_put(q->answers, &q->node); /* the queue has room for one message */
    lookup_unref(q);
    return NULL;
}

static void forget_all(struct user_names *n)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&n->known, &at));)
        free(e->value);
    map_free(&n->known);
}

static void user_name_remember(struct user_names *n, const struct question *q)
{
    struct cached_name *k = xalloc(sizeof(*k));

    if (n->known.n >= KNOWN_MAX)
        forget_all(n);
    k->uid = q->uid;
    k->known_ms = loop_now_ms(n->loop);
    memcpy(k->name, q->name, sizeof(k->name));
    free(map_del(&n->known, (const char *)&k->uid, sizeof(k->uid)));
    map_put(&n->known, (const char *)&k->uid, sizeof(k->uid), k);
}

static void free_ask(struct ask *a)
{
    TAILQ_REMOVE(&a->names->asks, a, link);
    a->names->n_asks--;
    watch_free(a->watch);
    if (a->question)
        lookup_unref(a->question);
    free(a);
}

static void user_name_on_answer(void *arg, unsigned ready)
{
    struct ask *a = arg;
    struct question *q = a->question;
    user_name_fn *fn = a->fn;
    void *fn_arg = a->arg;

    (void)ready;
    if (!queue_take(q->answers))
        return;
    user_name_remember(a->names, q);
    atomic_fetch_add(&q->holders, 1); /* fn uses the name after the lookup has left the table */
    free_ask(a);
    fn(fn_arg, q->name);
    lookup_unref(q);
}

static int start_lookup(struct ask *a, uid_t uid, struct err *err)
{
    struct question *q = xalloc(sizeof(*q));

    if (queue_new(1, &q->answers, err)) {
        free(q);
        return -1;
    }
    q->uid = uid;
    q->holders = 1;
    a->question = q;
    if (watch_new(a->names->loop, queue_fd(q->answers), user_name_on_answer, a, &a->watch, err) ||
        watch_want(a->watch, WATCH_READ, err))
        return -1;
    atomic_fetch_add(&q->holders, 1);
    if (thread_start_detached(user_name_run, q, err) == 0)
        return 0;
    lookup_unref(q);
    return -1;
}

static struct ask *new_ask(struct user_names *n, uid_t uid, user_name_fn *fn, void *arg)
{
    struct ask *a = xalloc(sizeof(*a));
    struct err ignored; /* the number as text is used instead */

    *a = (struct ask){ .names = n, .fn = fn, .arg = arg };
    TAILQ_INSERT_TAIL(&n->asks, a, link);
    n->n_asks++;
    if (start_lookup(a, uid, &ignored) == 0)
        return a;
    free_ask(a);
    return NULL;
}

void user_names_find(struct user_names *n, uid_t uid, user_name_fn *fn, void *arg)
{
    const struct cached_name *k = map_find(&n->known, (const char *)&uid, sizeof(uid));
    char number[USER_NAME_SIZE];

    if (uid == 0) {
        fn(arg, "root");
    } else if (k && loop_now_ms(n->loop) - k->known_ms < FRESH_MS) {
        memcpy(number, k->name, sizeof(number)); /* fn may make the table forget this entry */
        fn(arg, number);
    } else if (n->n_asks >= ASKS_MAX || !new_ask(n, uid, fn, arg)) {
        user_name_put_number(uid, number);
        fn(arg, number);
    }
}

struct user_names *user_names_new(struct loop *loop)
{
    struct user_names *n = xalloc(sizeof(*n));

    n->loop = loop;
    TAILQ_INIT(&n->asks);
    return n;
}

void user_names_free(struct user_names *n)
{
    if (!n)
        return;
    while (!TAILQ_EMPTY(&n->asks))
        free_ask(TAILQ_FIRST(&n->asks));
    forget_all(n);
    free(n);
}
