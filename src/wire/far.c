/* SPDX-License-Identifier: MIT */
/* far.c - see far.h, and far_in.h for the other side.
 *
 * A far that was freed by its owner stays until its other end is gone, so that what is on its
 * way finds it; it is `dropped` then, and hears nothing more. */
#include "wire/far.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "wire/far_in.h"

/* Notes, and bytes in them, that are read in one turn, so that others get theirs. */
enum { TURN_MAX = 512, TURN_BYTES = 512 * 1024 };

struct far_crew {
    struct loop *loop;
    struct queue *notes;
    struct watch *watch;
    struct queue_node *rest; /* taken, and not read in the last turn */
    struct timer again;      /* for those */
    size_t n, fars, next;    /* workers; fars that are there; whose turn it is */
    struct worker *workers[];
};

struct far {
    struct far_crew *crew;
    struct worker *worker;
    struct there *there; /* the worker's */
    const struct stream_owner *owner;
    void *arg;
    struct stream_limits limits;
    struct buf in;            /* shown but not taken */
    size_t arrived;           /* bytes, that the worker does not know of */
    size_t pending;           /* bytes written that the socket has not taken, as far as we know */
    int64_t moved_ms;         /* when it last took some, or they began */
    struct cert_facts *facts; /* of the peer; NULL: none, see no_facts */
    struct err *no_facts;
    struct timer timer; /* `why` is told in the next turn */
    struct err *why;
    bool is_resumed;
    bool told;    /* on_end() with a reason was called */
    bool in_done; /* and without one */
    bool ended;   /* far_end() was called */
    bool dropped; /* far_free() was */
};

void note_free(struct note *n)
{
    free(n->why);
    free(n->facts);
    free(n);
}

/* ---- to the other side ---- */

static void order(struct far *f, enum order_kind kind, const void *bytes, size_t n)
{
    struct order *o = xalloc(sizeof(*o) + (bytes ? n : 0));

    *o = (struct order){ .kind = kind, .to = f->there, .n = n };
    if (bytes)
        memcpy(o->bytes, bytes, n);
    worker_tell(f->worker, o);
}

static bool is_over(const struct far *f)
{
    return f->ended || f->dropped || f->told || f->why;
}

static void fail(struct far *f, const struct err *why)
{
    f->why = xalloc(sizeof(*why));
    *f->why = *why;
    timer_set(f->crew->loop, &f->timer, 0);
}

void far_write(struct far *f, const void *bytes, size_t n)
{
    struct err err = { 0 };

    if (n == 0 || is_over(f))
        return;
    if (n > f->limits.out_max || f->pending > f->limits.out_max - n) {
        err_set(&err, ERR_LIMIT, "the peer is too slow: more than %zu bytes wait to be sent",
                f->limits.out_max);
        fail(f, &err);
        return;
    }
    if (f->pending == 0)
        f->moved_ms = loop_now_ms(f->crew->loop);
    f->pending += n;
    order(f, ORDER_WRITE, bytes, n);
}

size_t far_pending(const struct far *f)
{
    return f->pending;
}

int64_t far_stuck_ms(const struct far *f)
{
    return f->pending > 0 ? loop_now_ms(f->crew->loop) - f->moved_ms : 0;
}

int far_peer(const struct far *f, struct cert_facts *ret, struct err *err)
{
    if (f->facts) {
        *ret = *f->facts;
        return 0;
    }
    if (!f->no_facts)
        return err_set(err, ERR_NOT_FOUND, "hands are not shaken yet");
    *err = *f->no_facts;
    return -1;
}

bool far_is_resumed(const struct far *f)
{
    return f->is_resumed;
}

void far_end(struct far *f)
{
    if (f->ended || f->dropped)
        return;
    f->ended = true;
    timer_stop(f->crew->loop, &f->timer);
    order(f, ORDER_END, NULL, 0);
}

void far_free(struct far *f)
{
    if (!f || f->dropped)
        return;
    f->dropped = true;
    timer_stop(f->crew->loop, &f->timer);
    order(f, ORDER_FREE, NULL, 0);
}

/* ---- from the other side ---- */

static void destroy(struct far *f)
{
    f->crew->fars--;
    buf_free(&f->in);
    free(f->facts);
    free(f->no_facts);
    free(f->why);
    free(f);
}

static void tell_end(struct far *f, const struct err *why)
{
    if (f->told || (!why && f->in_done))
        return;
    f->told = why != NULL;
    f->in_done = true;
    f->owner->on_end(f->arg, why);
}

static void on_timer(void *arg)
{
    struct far *f = arg;

    tell_end(f, f->why);
}

static void on_ready(struct far *f, struct note *n)
{
    f->facts = n->facts;
    f->no_facts = n->why;
    n->facts = NULL;
    n->why = NULL;
    f->is_resumed = n->is_resumed;
    if (f->owner->on_ready)
        f->owner->on_ready(f->arg);
}

static size_t show(struct far *f, const char *bytes, size_t n)
{
    size_t done = f->owner->on_bytes(f->arg, bytes, n);

    assert(done <= n);
    return done;
}

static size_t show_kept(struct far *f)
{
    size_t done = show(f, buf_data(&f->in), f->in.len);

    buf_drop(&f->in, done);
    return done;
}

/* New bytes are shown where they are; only what is not taken is copied. */
static size_t take_in(struct far *f, const struct note *n)
{
    size_t done;

    if (f->in.len > 0) {
        buf_add(&f->in, n->bytes, n->n);
        return show_kept(f);
    }
    done = show(f, n->bytes, n->n);
    buf_add(&f->in, n->bytes + done, n->n - done);
    return done;
}

/* More comes while less than in_max is kept; so what is more is shown again at once. */
static void on_bytes(struct far *f, const struct note *n)
{
    size_t last = take_in(f, n);
    struct err err = { 0 };

    while (last > 0 && f->in.len >= f->limits.in_max && !is_over(f))
        last = show_kept(f);
    if (f->in.len >= f->limits.in_max && !is_over(f)) {
        err_set(&err, ERR_LIMIT, "the peer sent %zu bytes without the end of a message", f->in.len);
        fail(f, &err);
    }
    if (f->in.len == 0)
        buf_free(&f->in);
    f->arrived += n->n;
    if (f->arrived >= FAR_WAY / 2 && !f->dropped) {
        order(f, ORDER_MORE, NULL, f->arrived);
        f->arrived = 0;
    }
}

static void on_sent(struct far *f, size_t n)
{
    f->pending -= n;
    f->moved_ms = loop_now_ms(f->crew->loop);
    if (f->pending == 0 && !is_over(f) && f->owner->on_drained)
        f->owner->on_drained(f->arg);
}

static void on_closed(struct far *f)
{
    void (*closed)(void *arg) = f->owner->on_closed;
    void *arg = f->arg;

    far_free(f);
    if (closed)
        closed(arg);
}

static void take(struct note *n)
{
    struct far *f = n->to;

    if (n->kind == NOTE_GONE)
        destroy(f);
    else if (n->kind == NOTE_SENT)
        on_sent(f, n->n);
    else if (n->kind == NOTE_CLOSED && !f->dropped)
        on_closed(f);
    else if (is_over(f))
        ; /* its owner has left, or has heard the last word */
    else if (n->kind == NOTE_READY)
        on_ready(f, n);
    else if (n->kind == NOTE_BYTES)
        on_bytes(f, n);
    else if (n->kind == NOTE_END)
        tell_end(f, n->why);
    note_free(n);
}

/* ---- the crew ---- */

static void read_notes(struct far_crew *c)
{
    size_t bytes = 0;

    if (!c->rest)
        c->rest = queue_take(c->notes);
    for (int i = 0; i < TURN_MAX && bytes < TURN_BYTES && c->rest; i++) {
        struct note *n = (struct note *)c->rest;

        c->rest = c->rest->next;
        bytes += n->n;
        take(n);
    }
    if (c->rest)
        timer_set(c->loop, &c->again, 0);
}

static void on_notes(void *arg, unsigned ready)
{
    struct far_crew *c = arg;

    (void)ready;
    if (!c->rest) /* else they have their turn already */
        read_notes(c);
}

static void on_again(void *arg)
{
    read_notes(arg);
}

int far_crew_new(struct loop *loop, unsigned threads, struct far_crew **ret, struct err *err)
{
    struct far_crew *c = xalloc(sizeof(*c) + threads * sizeof(c->workers[0]));

    assert(threads > 0 && threads <= FAR_THREADS_MAX);
    c->loop = loop;
    timer_init(&c->again, on_again, c);
    if (queue_new(SIZE_MAX, &c->notes, err) ||
        watch_new(loop, queue_fd(c->notes), on_notes, c, &c->watch, err) ||
        watch_want(c->watch, WATCH_READ, err)) {
        far_crew_free(c);
        return -1;
    }
    for (; c->n < threads; c->n++) {
        if (worker_new(c->notes, &c->workers[c->n], err)) {
            far_crew_free(c);
            return -1;
        }
    }
    *ret = c;
    return 0;
}

/* Owners have left by now: what is still said is only that the other ends are gone. */
void far_crew_free(struct far_crew *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        worker_free(c->workers[i]);
    if (c->notes) {
        do {
            read_notes(c);
        } while (c->rest || queue_len(c->notes) > 0);
    }
    assert(c->fars == 0);
    timer_stop(c->loop, &c->again);
    watch_free(c->watch);
    queue_free(c->notes);
    free(c);
}

size_t far_crew_load(const struct far_crew *c)
{
    return c->fars;
}

void far_new(struct far_crew *c, int fd, struct tls *tls, const struct stream_limits *limits,
             const struct stream_owner *owner, void *arg, struct far **ret)
{
    struct far *f = xalloc(sizeof(*f));
    struct there *there = xalloc(sizeof(*there));

    assert(limits->in_max > 0);
    *f = (struct far){ .crew = c, .there = there, .owner = owner, .arg = arg, .limits = *limits };
    f->worker = c->workers[c->next++ % c->n];
    timer_init(&f->timer, on_timer, f);
    *there = (struct there){ .worker = f->worker, .far = f, .limits = *limits, .fd = fd };
    there->tls = tls ? tls_use(tls) : NULL;
    c->fars++;
    order(f, ORDER_OPEN, NULL, 0);
    *ret = f;
}
