/* SPDX-License-Identifier: MIT */
/* conn.c - see conn.h.
 *
 * While frames are passed to the owner the conn is `busy`: the owner may free it in the middle of a
 * buffer, and it is then freed after the buffer.  A failure within a call of the owner is reported
 * by the timer, in the next turn.
 *
 * Messages of one turn are sent together at its end: a thousand small messages need few TLS records
 * and system calls. */
#include "link/conn.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem/mem.h"
#include "wire/net/frame.h"

static const struct stream_limits plain_limits = {
    .in_max = FRAME_HEAD_SIZE + FRAME_BODY_MAX,
    .out_max = 16 * 1024 * 1024,
    .handshake_ms = 10 * 1000,
    .linger_ms = 2000,
};

/* More than this is sent before the end of the turn. */
enum { TOGETHER_MAX = 16 * 1024 };

enum { CLIENT_HANDSHAKE_MS = 40 * 1000 };

struct conn {
    struct loop *loop;
    struct stream *stream; /* NULL: closed */
    const struct conn_owner *owner;
    void *arg;
    struct arena arena;       /* of the current message */
    struct timer timer;       /* the next turn */
    struct buf out;           /* messages of this turn, */
    struct timer flush;       /* sent at its end */
    struct err *why;          /* not reported yet */
    uint64_t seq_in, seq_out; /* of the last frame */
    int64_t heard_ms;
    size_t body_max;
    const struct shape *(*shape_of)(unsigned type);
    struct conn_counters *counters; /* NULL: not counted */
    size_t left;                    /* bytes of an incomplete frame */
    bool busy;                      /* passing frames to the owner */
    bool broken;  /* no more input or output: `why` is set, or the stream is broken */
    bool told;    /* conn_on_end() was called */
    bool ended;   /* conn_end() was called */
    bool dropped; /* conn_free() was called while busy */
};

static void conn_destroy(struct conn *c)
{
    timer_stop(c->loop, &c->timer);
    timer_stop(c->loop, &c->flush);
    stream_free(c->stream);
    buf_free(&c->out);
    arena_free(&c->arena);
    free(c->why);
    free(c);
}

static bool is_open(const struct conn *c)
{
    return !c->broken && !c->ended && !c->dropped && !c->told;
}

/* From the loop only; the conn may be freed afterwards. */
static void tell_end(struct conn *c, const struct err *why)
{
    if (c->told || c->ended)
        return;
    c->told = true;
    c->owner->on_end(c->arg, why);
}

static void break_off(struct conn *c, const struct err *why)
{
    c->broken = true;
    c->why = xalloc(sizeof(*why));
    *c->why = *why;
    timer_set(c->loop, &c->timer, 0);
}

static void conn_count(const struct conn *c, enum conn_way way, unsigned type, size_t bytes)
{
    unsigned at = type < CONN_TYPES && message_name(type) ? type : 0;

    if (!c->counters)
        return;
    c->counters->frames[way][at]++;
    c->counters->bytes[way][at] += bytes;
}

/* ---- out ---- */

static void flush(struct conn *c)
{
    timer_stop(c->loop, &c->flush);
    if (c->out.len > 0 && c->stream)
        stream_write(c->stream, buf_data(&c->out), c->out.len);
    buf_free(&c->out);
}

static void on_flush(void *arg)
{
    flush(arg);
}

void conn_send(struct conn *c, unsigned type, const struct shape *s, const void *message)
{
    struct err err = { 0 };
    size_t mark, before = c->out.len;

    if (!is_open(c))
        return;
    mark = frame_begin(&c->out, (uint8_t)type, 0, c->seq_out + 1);
    shape_write(s, message, &c->out);
    if (frame_end(&c->out, mark, &err)) {
        err_wrap(&err, "message %s", s->name);
        buf_truncate(&c->out, before);
        flush(c);
        break_off(c, &err);
        return;
    }
    c->seq_out++;
    conn_count(c, CONN_OUT, type, c->out.len - before);
    if (c->out.len >= TOGETHER_MAX)
        flush(c);
    else if (!c->flush.place)
        timer_set(c->loop, &c->flush, 0);
}

void conn_refuse(struct conn *c, unsigned type, int code, int64_t retry_ms, const char *text)
{
    const struct message_error e = { type, code, text ? text : "", retry_ms };

    conn_send(c, MESSAGE_ERROR, &message_error_shape, &e);
}

void conn_set_body_max(struct conn *c, size_t bytes)
{
    c->body_max = bytes;
}

void conn_set_shapes(struct conn *c, const struct shape *(*shape_of)(unsigned type))
{
    c->shape_of = shape_of;
}

void conn_set_counters(struct conn *c, struct conn_counters *to)
{
    c->counters = to;
}

size_t conn_pending(const struct conn *c)
{
    return c->stream ? c->out.len + stream_pending(c->stream) : 0;
}

int64_t conn_stuck_ms(const struct conn *c)
{
    return c->stream ? stream_stuck_ms(c->stream) : 0;
}

int64_t conn_shake_ms(const struct conn *c)
{
    return c->stream ? stream_shake_ms(c->stream) : 0;
}

/* ---- in ---- */

void conn_pause(struct conn *c)
{
    if (c->stream)
        stream_pause(c->stream);
}

void conn_resume(struct conn *c)
{
    if (c->stream)
        stream_resume(c->stream);
}

/* Tells the peer what is wrong with its message, as the last message. */
static void refuse_all(struct conn *c, unsigned type, const struct err *why)
{
    conn_refuse(c, type, why->code, 0, why->text);
    if (!is_open(c))
        return;
    flush(c);
    break_off(c, why);
    stream_end(c->stream);
}

static void pass_over(struct conn *c, const struct frame *f)
{
    char text[64];

    snprintf(text, sizeof(text), "messages of type %u are not known here", f->type);
    conn_refuse(c, f->type, ERR_NOT_FOUND, 0, text);
}

static void hand_out(struct conn *c, const struct frame *f)
{
    const struct shape *s = c->shape_of(f->type);
    struct err err = { 0 };
    void *message;

    if (!s) {
        pass_over(c, f);
        return;
    }
    message = arena_alloc(&c->arena, s->size);
    if (shape_read(s, f->body, f->body_n, 0, &c->arena, message, &err)) {
        err_wrap(&err, "message %s", message_name(f->type) ? message_name(f->type) : s->name);
        refuse_all(c, f->type, &err);
    } else {
        c->owner->on_message(c->arg, f->type, message);
    }
    arena_reset(&c->arena);
}

static void take_frame(struct conn *c, const struct frame *f)
{
    struct err err = { 0 };

    if (f->seq != c->seq_in + 1) {
        err_set(&err, ERR_MALFORMED, "a frame with the number %llu, the next one is %llu",
                (unsigned long long)f->seq, (unsigned long long)c->seq_in + 1);
        refuse_all(c, f->type, &err);
        return;
    }
    c->seq_in++;
    conn_count(c, CONN_IN, f->type, FRAME_HEAD_SIZE + f->body_n);
    c->heard_ms = loop_now_ms(c->loop);
    hand_out(c, f);
}

/* An incomplete frame is kept in memory, so its announced size is checked at once. */
static enum frame_status read_frame(const struct conn *c, const char *bytes, size_t n,
                                    struct frame *ret, size_t *ret_used, struct err *err)
{
    enum frame_status st = frame_read(bytes, n, ret, ret_used, err);
    size_t has = st == FRAME_READY ? *ret_used : n;

    if (st == FRAME_BAD || has <= FRAME_HEAD_SIZE + c->body_max)
        return st;
    err_set(err, ERR_LIMIT, "a frame's body of more than %zu bytes, too much for now", c->body_max);
    return FRAME_BAD;
}

/* Returns the number of consumed bytes: all of them after the end. */
static size_t take_frames(struct conn *c, const char *bytes, size_t n)
{
    size_t done = 0;

    while (is_open(c)) {
        struct err err = { 0 };
        struct frame f;
        size_t used;

        switch (read_frame(c, bytes + done, n - done, &f, &used, &err)) {
        case FRAME_MORE: return done;
        case FRAME_BAD: refuse_all(c, 0, &err); break;
        case FRAME_READY:
            take_frame(c, &f);
            done += used;
            break;
        }
    }
    return n;
}

static size_t conn_on_bytes(void *arg, const char *bytes, size_t n)
{
    struct conn *c = arg;
    size_t done;

    c->busy = true;
    done = take_frames(c, bytes, n);
    c->busy = false;
    c->left = n - done;
    arena_free(&c->arena); /* an idle conn must not hold memory: there are thousands */
    if (c->dropped)
        conn_destroy(c);
    return done;
}

/* ---- the end ---- */

static void conn_on_ready(void *arg)
{
    struct conn *c = arg;

    c->heard_ms = loop_now_ms(c->loop);
    if (!c->broken && c->owner->on_ready)
        c->owner->on_ready(c->arg);
}

static void conn_on_end(void *arg, const struct err *why)
{
    struct conn *c = arg;
    struct err torn = { 0 };

    if (c->why)
        why = c->why; /* the first failure */
    c->broken = true;
    if (!why && c->left > 0) {
        err_set(&torn, ERR_MALFORMED, "the peer ended in the middle of a frame");
        why = &torn;
    }
    tell_end(c, why);
}

/* conn_end() has completed. */
static void conn_bury(struct conn *c)
{
    void (*conn_on_closed)(void *arg) = c->owner->on_closed;
    void *arg = c->arg;

    conn_destroy(c);
    if (conn_on_closed)
        conn_on_closed(arg);
}

static void conn_on_closed(void *arg)
{
    struct conn *c = arg;

    c->stream = NULL;
    if (c->ended)
        conn_bury(c);
}

static const struct stream_owner stream_owner = {
    .on_bytes = conn_on_bytes,
    .on_end = conn_on_end,
    .on_ready = conn_on_ready,
    .on_closed = conn_on_closed,
};

static void conn_on_timer(void *arg)
{
    struct conn *c = arg;

    if (c->ended)
        conn_bury(c);
    else
        tell_end(c, c->why);
}

static int conn_make(struct loop *loop, int fd, struct tls *tls, const char *host,
                     const struct stream_limits *limits, const struct conn_owner *owner, void *arg,
                     struct conn **ret, struct err *err)
{
    struct conn *c = xalloc(sizeof(*c));

    *c = (struct conn){ .loop = loop, .owner = owner, .arg = arg };
    c->heard_ms = loop_now_ms(loop);
    c->body_max = FRAME_BODY_MAX;
    c->shape_of = message_shape;
    timer_init(&c->timer, conn_on_timer, c);
    timer_init(&c->flush, on_flush, c);
    if (stream_new(loop, fd, tls, host, limits, &stream_owner, c, &c->stream, err)) {
        free(c);
        return -1;
    }
    *ret = c;
    return 0;
}

/* A client may have to queue behind a whole fleet: giving up early would put it at the end of the
 * queue again. */
int conn_new(struct loop *loop, int fd, struct tls *tls, const char *host,
             const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err)
{
    struct stream_limits limits = plain_limits;

    if (host)
        limits.handshake_ms = CLIENT_HANDSHAKE_MS;
    return conn_make(loop, fd, tls, host, &limits, owner, arg, ret, err);
}

int conn_new_by(struct loop *loop, int fd, struct tls *tls, const struct conn_means *means,
                const struct conn_owner *owner, void *arg, struct conn **ret, struct err *err)
{
    struct stream_limits limits = plain_limits;

    limits.timeslice = means->timeslice;
    if (means->out_max)
        limits.out_max = means->out_max;
    return conn_make(loop, fd, tls, NULL, &limits, owner, arg, ret, err);
}

int conn_peer(const struct conn *c, struct cert_facts *ret, struct err *err)
{
    if (!c->stream)
        return err_set(err, ERR_NOT_FOUND, "the connection is closed");
    return stream_peer(c->stream, ret, err);
}

bool conn_is_resumed(const struct conn *c)
{
    return c->stream && stream_is_resumed(c->stream);
}

int64_t conn_heard_ms(const struct conn *c)
{
    return c->heard_ms;
}

/* From here on the stream's conn_on_closed() frees the conn; without a stream, the next turn does.
 */
void conn_end(struct conn *c)
{
    if (c->ended || c->dropped)
        return;
    c->ended = true;
    timer_stop(c->loop, &c->timer);
    flush(c);
    if (c->stream)
        stream_end(c->stream);
    else
        timer_set(c->loop, &c->timer, 0);
}

void conn_free(struct conn *c)
{
    if (!c)
        return;
    flush(c); /* as far as the socket accepts it */
    if (!c->busy) {
        conn_destroy(c);
        return;
    }
    c->dropped = true;
    timer_stop(c->loop, &c->timer);
    stream_free(c->stream); /* within its own callback it stays valid until that returns */
    c->stream = NULL;
}
