/* SPDX-License-Identifier: MIT */
/* store.h - what the server remembers.
 *
 * What can be asked stands in store_apps.h, store_hosts.h, store_procs.h and
 * store_tasks.h: each verb with the struct it takes and the one it gives ("list of
 * x": a struct list).  A call is one verb with its arguments:
 *
 *     struct store_call *c = store_call_new(&store_app_put, on_put, me);
 *     struct app_row *row = arena_alloc(&c->arena, sizeof(*row));
 *     ... fill it, with texts in c->arena or ones that outlive the call ...
 *     c->in = row;
 *     if (store_submit(s, c, err))
 *         store_call_free(c), ... answer "unavailable" ...
 *
 *     static void on_put(void *arg, struct store_call *c)   on the loop's thread
 *     { if (c->failed) ... c->err ... else ... c->out ...; store_call_free(c); }
 *
 * Calls that write go to one thread that does all that waits in one transaction: a
 * call that fails takes back only its own changes, and done() is called after the
 * commit, so what it is told is on the disk.  They happen in the order they were
 * submitted.  Calls that read go to a few threads with connections of their own; one
 * submitted after a write was done sees it.
 *
 * Definite: every call that was submitted comes back by done() exactly once.  At most
 * calls_max are on their way; more are refused with ERR_UNAVAILABLE. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hist.h"
#include "base/queue.h"
#include "wire/shape.h"

struct store;
struct store_verb;
struct store_call;

typedef void store_done_fn(void *arg, struct store_call *c);

struct store_call {
    struct queue_node node; /* while it is on its way */
    const struct store_verb *verb;
    struct arena arena; /* what in and out point to */
    const void *in;
    void *out; /* what the verb gives; zeroes if it failed */
    bool failed;
    struct err err;
    int64_t commit;    /* the number of the commit that a write was part of; 0: none */
    int64_t commit_us; /* and what it took, from its begin on */
    store_done_fn *done;
    void *arg;
    struct queue *reply;
};

struct store_options {
    const char *url;   /* db.h */
    int64_t calls_max; /* on their way at once; 0: 4096 */
    int64_t readers;   /* threads; 0: 2 */
};

struct store_counters {
    uint64_t calls, failed, refused;
    uint64_t by_mode[2]; /* calls that read, that write */
    int64_t on_their_way, commits;
    struct hist commit; /* what each of them took */
};

struct store_page {    /* of a list in the order of its keys */
    const char *after; /* the last key of the page before; "" for the first */
    int64_t limit;
};

/* Opens the data, checks it and brings its tables up to date. */
int store_open(const struct store_options *o, struct store **ret, struct err *err);

/* Waits for all that was submitted, and calls its done(); what done() submits is
 * refused.  NULL is fine. */
void store_close(struct store *s);

struct store_call *store_call_new(const struct store_verb *verb, store_done_fn *done, void *arg);
void store_call_free(struct store_call *c); /* NULL is fine */

/* From the loop's thread alone.  A call that is refused is still the caller's. */
int store_submit(struct store *s, struct store_call *c, struct err *err);

/* For the loop: watch the one for reading, and have it call the other. */
int store_fd(const struct store *s);
void store_on_ready(void *s, unsigned ready);

const struct store_counters *store_counters(const struct store *s);

/* Does it and waits for it: for the start, tools and tests, from any thread that is
 * not the loop's.  *in is the caller's; *out, which may be NULL, is what the verb
 * gives, with what it points to in the arena. */
int store_sync(struct store *s, const struct store_verb *verb, const void *in, struct arena *a,
               void *out, struct err *err);

#endif
