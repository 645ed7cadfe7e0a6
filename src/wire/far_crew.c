/* SPDX-License-Identifier: MIT */
/* far_crew.c - a thread and the streams on it.  See far_in.h. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "wire/far_in.h"

enum { PROGRESS_MS = 500 };

struct worker {
    struct loop *loop;
    struct queue *orders, *notes;
    struct watch *watch;
    pthread_t thread;
    bool is_running;
};

/* ---- to the owner ---- */

static void tell(struct there *t, enum note_kind kind, const struct note *with, const char *bytes)
{
    struct note *n = xalloc(sizeof(*n) + with->n * !!bytes);

    *n = *with;
    n->kind = kind;
    n->to = t->far;
    if (bytes)
        memcpy(n->bytes, bytes, with->n);
    if (!queue_put(t->worker->notes, &n->node))
        abort(); /* it has no limit, and is closed after us */
}

static struct err *copy_of(const struct err *err)
{
    struct err *copy = xalloc(sizeof(*copy));

    *copy = *err;
    return copy;
}

static void tell_sent(struct there *t)
{
    size_t left = t->stream ? stream_pending(t->stream) : 0, sent = t->written - left;

    if (sent > t->sent)
        tell(t, NOTE_SENT, &(struct note){ .n = sent - t->sent }, NULL);
    t->sent = sent;
    if (left > 0)
        timer_set(t->worker->loop, &t->progress, PROGRESS_MS);
}

static void on_progress(void *arg)
{
    tell_sent(arg);
}

/* ---- what the stream says ---- */

static size_t on_bytes(void *arg, const char *bytes, size_t n)
{
    struct there *t = arg;

    tell(t, NOTE_BYTES, &(struct note){ .n = n }, bytes);
    t->away += n;
    t->paused = t->away >= FAR_WAY;
    if (t->paused)
        stream_pause(t->stream);
    return n;
}

static void on_drained(void *arg)
{
    tell_sent(arg);
}

static void on_end(void *arg, const struct err *why)
{
    tell(arg, NOTE_END, &(struct note){ .why = why ? copy_of(why) : NULL }, NULL);
}

static void on_ready(void *arg)
{
    struct there *t = arg;
    struct note n = { .facts = xalloc(sizeof(*n.facts)) };
    struct err err = { 0 };

    if (stream_peer(t->stream, n.facts, &err)) {
        free(n.facts);
        n.facts = NULL;
        n.why = copy_of(&err);
    }
    n.is_resumed = stream_is_resumed(t->stream);
    tell(t, NOTE_READY, &n, NULL);
}

static void on_closed(void *arg)
{
    struct there *t = arg;

    t->stream = NULL;
    tell(t, NOTE_CLOSED, &(struct note){ 0 }, NULL);
}

static const struct stream_owner owner = { on_bytes, on_drained, on_end, on_ready, on_closed };

/* ---- orders ---- */

static void open_it(struct there *t)
{
    struct err err = { 0 };

    timer_init(&t->progress, on_progress, t);
    t->limits.pace = NULL;
    if (stream_new(t->worker->loop, t->fd, t->tls, NULL, &t->limits, &owner, t, &t->stream, &err)) {
        sys_close(t->fd);
        on_end(t, &err);
    }
    tls_free(t->tls);
    t->tls = NULL;
}

static void write_it(struct there *t, const struct order *o)
{
    t->written += o->n;
    if (t->stream)
        stream_write(t->stream, o->bytes, o->n);
    tell_sent(t);
}

static void read_more(struct there *t, size_t n)
{
    t->away -= n;
    if (!t->paused || t->away >= FAR_WAY)
        return;
    t->paused = false;
    if (t->stream)
        stream_resume(t->stream);
}

static void end_it(struct there *t)
{
    if (t->stream)
        stream_end(t->stream);
    else
        on_closed(t);
}

static void free_it(struct there *t)
{
    timer_stop(t->worker->loop, &t->progress);
    stream_free(t->stream);
    tell(t, NOTE_GONE, &(struct note){ 0 }, NULL);
    free(t);
}

static void obey(const struct order *o)
{
    switch (o->kind) {
    case ORDER_OPEN: open_it(o->to); return;
    case ORDER_WRITE: write_it(o->to, o); return;
    case ORDER_MORE: read_more(o->to, o->n); return;
    case ORDER_END: end_it(o->to); return;
    case ORDER_FREE: free_it(o->to); return;
    }
}

static void on_orders(void *arg, unsigned ready)
{
    struct worker *w = arg;
    bool is_last = queue_is_closed(w->orders); /* before the rest is taken */
    struct queue_node *node = queue_take(w->orders);

    (void)ready;
    while (node) {
        struct order *o = (struct order *)node;

        node = node->next;
        obey(o);
        free(o);
    }
    if (is_last)
        loop_stop(w->loop);
}

/* ---- the thread ---- */

/* A loop whose wait fails has no way to go on, and its streams have none either. */
static void *run(void *arg)
{
    struct worker *w = arg;
    struct err err = { 0 };

    if (loop_run(w->loop, &err))
        abort();
    return NULL;
}

static int start(struct worker *w, struct err *err)
{
    sigset_t all, old;
    int number;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number)
        return err_set(err, ERR_SYSTEM, "link.threads: a thread can not be started: %s",
                       strerror(number));
    w->is_running = true;
    return 0;
}

int worker_new(struct queue *notes, struct worker **ret, struct err *err)
{
    struct worker *w = xalloc(sizeof(*w));

    *w = (struct worker){ .notes = notes };
    if (loop_new(&clock_system, &w->loop, err) || queue_new(SIZE_MAX, &w->orders, err) ||
        watch_new(w->loop, queue_fd(w->orders), on_orders, w, &w->watch, err) ||
        watch_want(w->watch, WATCH_READ, err) || start(w, err)) {
        worker_free(w);
        return -1;
    }
    *ret = w;
    return 0;
}

void worker_tell(struct worker *w, struct order *o)
{
    if (!queue_put(w->orders, &o->node))
        abort(); /* it has no limit, and is closed last */
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    if (w->is_running) {
        queue_close(w->orders);
        pthread_join(w->thread, NULL);
    }
    watch_free(w->watch);
    queue_free(w->orders);
    loop_free(w->loop);
    free(w);
}
