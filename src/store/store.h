/* SPDX-License-Identifier: MIT */
/* store.h - the server's persistent data.
 *
 * The store_*.h headers define the verbs: each with the struct that it takes and the one that it
 * returns ("list of x": a struct list).  A call is one verb with its arguments:
 *
 *     struct store_call *c = store_call_new(&store_app_put, on_put, me);
 *     struct app_row *row = arena_alloc(&c->arena, sizeof(*row));
 *     ... fill it, with texts in c->arena or texts that outlive the call ...
 *     c->in = row;
 *     if (store_submit(s, c, err))
 *         store_call_free(c), ... answer "unavailable" ...
 *
 *     static void on_put(void *arg, struct store_call *c)   on the loop's thread
 *     { if (c->failed) ... c->err ... else ... c->out ...; store_call_free(c); }
 *
 * Calls that write go to one thread, which runs all waiting calls in one transaction: a call that
 * fails rolls back only its own changes, and done() is called after the commit, so its result is on
 * the disk.  They run in the order of submission.  Calls that read go to a few threads with
 * connections of their own; a read that is submitted after done() of a write sees that write.
 *
 * Every submitted call comes back by done() exactly once.  At most calls_max calls are in progress;
 * further ones are refused with ERR_UNAVAILABLE. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/io/queue.h"
#include "base/mem/arena.h"
#include "base/mem/hist.h"
#include "base/text/err.h"
#include "wire/json/shape.h"

struct store;
struct store_verb;
struct store_call;

typedef void store_done_fn(void *arg, struct store_call *c);

struct store_call {
    struct queue_node node; /* used while the call is in progress */
    const struct store_verb *verb;
    struct arena arena; /* owns what in and out point to */
    const void *in;
    void *out; /* the verb's result; all zeroes if it failed */
    bool failed;
    struct err err;
    int64_t commit;    /* number of the commit that a write was part of; 0: none */
    int64_t commit_us; /* duration of the transaction with that commit */
    store_done_fn *done;
    void *arg;
    struct queue *reply;
};

struct store_options {
    const char *url;   /* see db_open() */
    int64_t calls_max; /* in progress at once; 0: 4096 */
    int64_t readers;   /* number of threads; 0: 2 */
};

struct store_counters {
    uint64_t calls, failed, refused;
    uint64_t by_mode[2]; /* reading calls, writing calls */
    int64_t on_their_way, commits;
    struct hist commit; /* durations of the commits */
};

struct store_page {    /* a page of a list in the order of its keys */
    const char *after; /* last key of the previous page; "": first page */
    int64_t limit;
};

/* Opens the database, checks it and runs the missing migrations. */
int store_open(const struct store_options *o, struct store **ret, struct err *err);

/* Waits for all submitted calls and calls their done(); calls that done() submits are refused.
 * NULL is fine. */
void store_close(struct store *s);

struct store_call *store_call_new(const struct store_verb *verb, store_done_fn *done, void *arg);
void store_call_free(struct store_call *c); /* NULL is fine */

/* From the loop's thread only.  A refused call still belongs to the caller. */
int store_submit(struct store *s, struct store_call *c, struct err *err);

/* For the loop: watch store_fd() for reading and call store_on_ready(). */
int store_fd(const struct store *s);
void store_on_ready(void *s, unsigned ready);

const struct store_counters *store_counters(const struct store *s);

/* Runs a verb and waits for it: at start, in tools and tests, from any thread except the loop's.
 * *in belongs to the caller; *out, which may be NULL, is the verb's result; what it points to is in
 * the arena. */
int store_sync(struct store *s, const struct store_verb *verb, const void *in, struct arena *a,
               void *out, struct err *err);

#endif
