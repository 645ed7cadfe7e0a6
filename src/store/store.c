/* SPDX-License-Identifier: MIT */
/* store.c - the threads between callers and connections; see store.h.
 *
 * A worker owns a connection and a queue.  The queue `done` has room for all calls in progress, so
 * no worker ever waits for the loop. */
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/thread.h"
#include "base/mem/mem.h"
#include "base/os/time.h"
#include "store/migrations.h"
#include "store/verb.h"

enum { CALLS_MAX = 4096, READERS = 2 };

struct worker {
    struct db *db;
    struct queue *calls;
    pthread_t thread;
    bool runs;
    atomic_long n_calls; /* submitted and not answered yet */
    int64_t commits;
};

struct store {
    struct worker writer, *readers;
    size_t n_readers;
    struct queue *done;
    int64_t calls_max;
    struct store_counters counters; /* used by the loop's thread only */
};

/* The call belongs to the receiver as soon as it is in the queue, which always has room for it. */
static void reply(struct worker *w, struct store_call *c)
{
    w->n_calls--;
    if (!queue_put(c->reply, &c->node))
        abort();
}

/* ---- One call, inside a transaction. */

static int run_verb(struct db *db, struct store_call *c, struct err *err)
{
    const struct store_verb *v = c->verb;

    memset(c->out, 0, v->out_size);
    if (v->query)
        return db_run(db, v->query, c->in, &c->arena, c->out, err);
    return v->run(db, c->in, &c->arena, c->out, err);
}

static void end_call(struct store_call *c, const struct err *err)
{
    c->failed = err != NULL;
    if (!err)
        return;
    memset(c->out, 0, c->verb->out_size);
    c->err = *err;
    err_wrap(&c->err, "%s", c->verb->name);
}

/* Returns -1 only if the transaction cannot be continued. */
static int run_part(struct db *db, struct store_call *c, struct err *err)
{
    struct err why;

    if (db_part_begin(db, err))
        return -1;
    if (run_verb(db, c, &why) == 0) {
        end_call(c, NULL);
        return db_part_keep(db, err);
    }
    if (!db_is_in(db)) {
        *err = why;
        return -1;
    }
    end_call(c, &why);
    return db_part_undo(db, err);
}

/* ---- Writing: all waiting calls in one transaction. */

static struct store_call *next_call(const struct store_call *c)
{
    return (struct store_call *)c->node.next;
}

static int write_group(struct worker *w, struct store_call *first, bool *ret_begun, struct err *err)
{
    bool lone = !next_call(first); /* then it needs no savepoint of its own */
    int64_t begun_us = time_mono_us(), took_us;

    *ret_begun = db_begin(w->db, DB_WRITE, err) == 0;
    if (!*ret_begun)
        return -1;
    for (struct store_call *c = first; c; c = next_call(c)) {
        if (lone ? run_verb(w->db, c, err) : run_part(w->db, c, err)) {
            db_rollback(w->db);
            return -1;
        }
    }
    if (db_commit(w->db, err))
        return -1;
    w->commits++;
    took_us = time_mono_us() - begun_us;
    for (struct store_call *c = first; c; c = next_call(c)) {
        c->commit = w->commits;
        c->commit_us = took_us;
    }
    return 0;
}

/* Runs the call again in a transaction of its own; its result in the failed shared transaction is
 * discarded. */
static void write_alone(struct worker *w, struct store_call *c, bool *ret_begun, struct err *err)
{
    struct queue_node *next = c->node.next;

    c->node.next = NULL;
    end_call(c, write_group(w, c, ret_begun, err) ? err : NULL);
    c->node.next = next;
}

/* A transaction may have failed as a whole because of one call (which found no space, say): then
 * each call gets its own.  If the transaction could not even begin it has waited for another
 * program's lock, and each call would wait as long again. */
static void store_write_all(struct worker *w, struct store_call *first)
{
    bool begun = true;
    struct err err;

    if (next_call(first) && write_group(w, first, &begun, &err) == 0)
        return;
    for (struct store_call *c = first; c; c = next_call(c)) {
        if (begun)
            write_alone(w, c, &begun, &err);
        else
            end_call(c, &err);
    }
}

static void do_writes(struct worker *w, struct store_call *first)
{
    store_write_all(w, first);
    for (struct store_call *c = first, *next; c; c = next) {
        next = next_call(c);
        reply(w, c);
    }
}

/* ---- Reading: each call sees one snapshot. */

static int read_one(struct db *db, struct store_call *c, struct err *err)
{
    if (db_begin(db, DB_READ, err))
        return -1;
    if (run_verb(db, c, err)) {
        db_rollback(db);
        return -1;
    }
    return db_commit(db, err);
}

static void do_reads(struct worker *w, struct store_call *first)
{
    for (struct store_call *c = first, *next; c; c = next) {
        struct err err;

        next = next_call(c);
        end_call(c, read_one(w->db, c, &err) ? &err : NULL);
        reply(w, c);
    }
}

/* ---- Threads. */

static void worker_loop(struct worker *w,
                        void (*do_calls)(struct worker *w, struct store_call *first))
{
    struct queue_node *calls;

    while (queue_wait(w->calls, -1) && (calls = queue_take(w->calls))) {
        do_calls(w, (struct store_call *)calls);
        db_rest(w->db);
    }
}

static void *writer_main(void *arg)
{
    worker_loop(arg, do_writes);
    return NULL;
}

static void *reader_main(void *arg)
{
    worker_loop(arg, do_reads);
    return NULL;
}

static int worker_start(struct worker *w, void *(*start)(void *arg), struct err *err)
{
    if (thread_start(start, w, &w->thread, err))
        return -1;
    w->runs = true;
    return 0;
}

static int worker_open(struct worker *w, const char *url, enum db_mode mode, size_t limit,
                       struct err *err)
{
    if (db_open(url, mode, &w->db, err))
        return -1;
    return queue_new(limit, &w->calls, err);
}

/* Waiting calls are still run. */
static void worker_stop(struct worker *w)
{
    if (!w->runs)
        return;
    queue_close(w->calls);
    pthread_join(w->thread, NULL);
    w->runs = false;
}

static void worker_done(struct worker *w)
{
    worker_stop(w);
    queue_free(w->calls);
    db_close(w->db);
}

/* ---- The store. */

static int open_parts(struct store *s, const struct store_options *o, struct err *err)
{
    size_t limit = (size_t)s->calls_max;

    if (worker_open(&s->writer, o->url, DB_WRITE, limit, err))
        return -1;
    if (migrations_run(s->writer.db, store_migrations, err))
        return err_wrap(err, "%s", o->url);
    if (queue_new(limit, &s->done, err) || worker_start(&s->writer, writer_main, err))
        return -1;
    for (size_t i = 0; i < s->n_readers; i++) {
        if (worker_open(&s->readers[i], o->url, DB_READ, limit, err) ||
            worker_start(&s->readers[i], reader_main, err))
            return -1;
    }
    return 0;
}

int store_open(const struct store_options *o, struct store **ret, struct err *err)
{
    struct store *s = xalloc(sizeof(*s));

    s->calls_max = o->calls_max ? o->calls_max : CALLS_MAX;
    s->n_readers = (size_t)(o->readers ? o->readers : READERS);
    s->readers = xalloc(s->n_readers * sizeof(*s->readers));
    if (open_parts(s, o, err)) {
        store_close(s);
        return err_wrap(err, "store");
    }
    *ret = s;
    return 0;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    worker_stop(&s->writer);
    for (size_t i = 0; i < s->n_readers; i++)
        worker_stop(&s->readers[i]);
    if (s->done)
        store_on_ready(s, 0);
    for (size_t i = 0; i < s->n_readers; i++)
        worker_done(&s->readers[i]);
    worker_done(&s->writer);
    queue_free(s->done);
    free(s->readers);
    free(s);
}

struct store_call *store_call_new(const struct store_verb *verb, store_done_fn *done, void *arg)
{
    struct store_call *c = xalloc(sizeof(*c));

    c->verb = verb;
    c->out = arena_alloc(&c->arena, verb->out_size);
    c->done = done;
    c->arg = arg;
    return c;
}

void store_call_free(struct store_call *c)
{
    if (!c)
        return;
    arena_free(&c->arena);
    free(c);
}

static struct worker *least_busy(struct store *s)
{
    struct worker *best = &s->readers[0];

    for (size_t i = 1; i < s->n_readers; i++) {
        if (s->readers[i].n_calls < best->n_calls)
            best = &s->readers[i];
    }
    return best;
}

static int give_to_worker(struct store *s, struct store_call *c, struct err *err)
{
    struct worker *w = c->verb->mode == DB_WRITE ? &s->writer : least_busy(s);

    w->n_calls++;
    if (queue_put(w->calls, &c->node))
        return 0;
    w->n_calls--;
    if (queue_is_closed(w->calls))
        return err_set(err, ERR_UNAVAILABLE, "%s: the store is closing", c->verb->name);
    return err_set(err, ERR_UNAVAILABLE, "%s: %lld calls wait already: try again later",
                   c->verb->name, (long long)s->calls_max);
}

int store_submit(struct store *s, struct store_call *c, struct err *err)
{
    int refused;

    if (s->counters.on_their_way >= s->calls_max)
        refused = err_set(err, ERR_UNAVAILABLE, "%s: %lld calls are on their way: try again later",
                          c->verb->name, (long long)s->calls_max);
    else {
        c->reply = s->done;
        refused = give_to_worker(s, c, err);
    }
    if (refused) {
        s->counters.refused++;
        return -1;
    }
    s->counters.on_their_way++;
    return 0;
}

static void count_call(struct store_counters *n, const struct store_call *c)
{
    n->on_their_way--;
    n->calls++;
    n->by_mode[c->verb->mode == DB_WRITE]++;
    n->failed += c->failed;
    if (c->commit <= n->commits)
        return; /* a call of the same commit was counted already */
    n->commits = c->commit;
    hist_add(&n->commit, c->commit_us);
}

int store_fd(const struct store *s)
{
    return queue_fd(s->done);
}

void store_on_ready(void *arg, unsigned ready)
{
    struct store *s = arg;
    struct queue_node *calls = queue_take(s->done);

    (void)ready;
    while (calls) {
        struct store_call *c = (struct store_call *)calls;

        calls = calls->next;
        count_call(&s->counters, c);
        c->done(c->arg, c);
    }
}

const struct store_counters *store_counters(const struct store *s)
{
    return &s->counters;
}

/* ---- Synchronous calls. */

static int store_wait_for(struct store *s, struct store_call *c, struct err *err)
{
    if (queue_new(1, &c->reply, err))
        return -1;
    if (give_to_worker(s, c, err)) {
        queue_free(c->reply);
        return -1;
    }
    (void)queue_wait(c->reply, -1); /* without a time-out it always succeeds */
    (void)queue_take(c->reply);     /* returns c */
    queue_free(c->reply);
    if (!c->failed)
        return 0;
    *err = c->err;
    return -1;
}

int store_sync(struct store *s, const struct store_verb *verb, const void *in, struct arena *a,
               void *out, struct err *err)
{
    struct store_call c = { .verb = verb, .in = in };
    int result;

    if (a)
        c.arena = *a;
    c.out = xalloc(verb->out_size ? verb->out_size : 1);
    result = store_wait_for(s, &c, err);
    if (result == 0 && out)
        memcpy(out, c.out, verb->out_size);
    free(c.out);
    if (a)
        *a = c.arena;
    else
        arena_free(&c.arena);
    return result;
}
