/* SPDX-License-Identifier: MIT */
/* stream.c - see stream.h.
 *
 * The loop calls two functions, stream_on_watch() and stream_on_timer().  They look up the handler
 * of the state, then call stream_settle().  While they run the stream is `busy`: requests of the
 * owner's callbacks are noted in the fields and carried out by stream_settle(), the only function
 * that changes the interest in the socket and that frees.  So a callback may do anything, and its
 * caller only has to check the state again.
 *
 * One timer is enough, because each state waits for one thing: a deadline before OPEN and in
 * ENDING, the next turn of the loop in the others. */
#include "wire/net/stream.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "wire/net/plain.h"
#include "wire/net/timeslice.h"

enum {
    SCRATCH = 64 * 1024,           /* largest read, on the stack */
    TURN_MAX = 256 * 1024,         /* handled per wake-up, so that other events get their turn; */
    READ_COST = 1024,              /* minimum charge of a read */
    DISCARD_MAX = 64 * 1024 * 1024 /* discarded while ending: more than the largest body */
};

enum state {
    CONNECTING,
    HANDSHAKING,
    ACCEPTED, /* plain and connected; on_ready() not called yet */
    OPEN,
    ENDING, /* stream_end() was called: sends the rest, discards input */
    BROKEN, /* reports `why` in the next turn; then only stream_free() is allowed */
    DEAD,   /* stream_settle() frees it */
    STATES
};

struct stream {
    struct loop *loop;
    struct watch *watch;
    struct tls_conn *tls; /* NULL: plain, or after the TLS close */
    const struct stream_owner *owner;
    void *arg;
    struct stream_limits limits;
    struct buf in, out; /* unread input; unsent output */
    struct timer timer;
    struct timeslice_waiter place; /* HANDSHAKING: queued for the next step */
    struct err *why;               /* BROKEN: not reported yet */
    size_t discarded;              /* ENDING: bytes discarded */
    int64_t moved_ms;              /* last progress of `out`; HANDSHAKING: time of the last step */
    int fd;
    enum state state;
    bool busy;
    bool ended;          /* stream_end() was called, perhaps before OPEN */
    bool dropped;        /* stream_free() was called */
    bool in_done;        /* the peer has ended its side */
    bool out_done;       /* we have ended ours */
    bool paused;         /* by the owner */
    bool unwatched;      /* paused, and more has come: the socket is not watched for reading */
    bool in_wants_write; /* TLS cannot read before it has written */
    bool out_wants_read; /* TLS cannot write before it has read */
    bool shake_wants_write;
};

static void stream_settle(struct stream *s, bool from_loop);

static void stream_fail(struct stream *s, const struct err *why)
{
    if (s->state == BROKEN || s->state == DEAD)
        return;
    if (s->ended) {
        s->state = DEAD;
        return;
    }
    s->state = BROKEN;
    s->why = xalloc(sizeof(*why));
    *s->why = *why;
    buf_free(&s->out);
    timer_set(s->loop, &s->timer, 0);
}

/* ---- the socket, plain or TLS ---- */

/* Whether a read of `got` of `asked` bytes has emptied the socket; the loop reports new bytes. */
static bool is_drained(const struct stream *s, size_t got, size_t asked)
{
    return s->tls ? tls_conn_is_drained(s->tls) : got < asked;
}

/* Writes at most `max` (rounded up to a TLS record) of the n bytes; returns how many were accepted.
 * May break the stream. */
static size_t push(struct stream *s, const char *from, size_t n, size_t max)
{
    enum tls_status st = TLS_OK;
    size_t sent = 0;
    struct err err;

    while (st == TLS_OK && sent < n && sent < max) {
        size_t put = 0, left = n - sent;

        st = s->tls ? tls_conn_write(s->tls, from + sent, left, &put, &err)
                    : plain_write(s->fd, from + sent, left, &put, &err);
        sent += put;
        if (!s->tls && put < left)
            break; /* the socket is full; another try would fail */
    }
    s->out_wants_read = st == TLS_WANT_READ;
    if (sent > 0)
        s->moved_ms = loop_now_ms(s->loop);
    if (st == TLS_FAILED)
        stream_fail(s, &err);
    return sent;
}

/* ---- bytes out ---- */

static void push_kept(struct stream *s)
{
    buf_drop(&s->out, push(s, buf_data(&s->out), s->out.len, TURN_MAX));
    if (s->out.len == 0)
        buf_free(&s->out);
}

static void keep_out(struct stream *s, const char *bytes, size_t n)
{
    struct err err;

    if (n > s->limits.out_max || s->out.len > s->limits.out_max - n) {
        err_set(&err, ERR_LIMIT, "the peer is too slow: more than %zu bytes wait to be sent",
                s->limits.out_max);
        stream_fail(s, &err);
        return;
    }
    if (s->out.len == 0)
        s->moved_ms = loop_now_ms(s->loop);
    buf_add(&s->out, bytes, n);
}

void stream_write(struct stream *s, const void *bytes, size_t n)
{
    size_t sent = 0;

    if (n == 0 || s->ended || s->state > OPEN)
        return;
    if (s->state == OPEN && s->out.len == 0)
        sent = push(s, bytes, n, n);
    if (s->state <= OPEN && sent < n)
        keep_out(s, (const char *)bytes + sent, n - sent);
    stream_settle(s, false);
}

size_t stream_pending(const struct stream *s)
{
    return s->out.len;
}

int64_t stream_stuck_ms(const struct stream *s)
{
    return s->out.len > 0 ? loop_now_ms(s->loop) - s->moved_ms : 0;
}

int64_t stream_shake_ms(const struct stream *s)
{
    return s->state == HANDSHAKING && !s->place.is_waiting ? loop_now_ms(s->loop) - s->moved_ms : 0;
}

static void flush(struct stream *s)
{
    if (s->out.len == 0)
        return;
    push_kept(s);
    if (s->state == OPEN && s->out.len == 0 && s->owner->on_drained)
        s->owner->on_drained(s->arg);
}

/* ---- bytes in ---- */

static bool is_reading(const struct stream *s)
{
    return s->state == OPEN && !s->paused && !s->in_done;
}

static size_t stream_show(struct stream *s, const char *bytes, size_t n)
{
    size_t done = s->owner->on_bytes(s->arg, bytes, n);

    assert(done <= n);
    return done;
}

static void check_in_max(struct stream *s)
{
    struct err err;

    if (s->in.len < s->limits.in_max || !is_reading(s))
        return;
    err_set(&err, ERR_LIMIT, "the peer sent %zu bytes without the end of a message", s->in.len);
    stream_fail(s, &err);
}

static void show_kept(struct stream *s)
{
    buf_drop(&s->in, stream_show(s, buf_data(&s->in), s->in.len));
    if (s->in.len == 0)
        buf_free(&s->in);
    check_in_max(s);
}

/* Passes new bytes to the owner in place; only unread ones are copied. */
static void take_in(struct stream *s, const char *bytes, size_t n)
{
    size_t done;

    if (s->in.len > 0) {
        buf_add(&s->in, bytes, n);
        show_kept(s);
        return;
    }
    done = stream_show(s, bytes, n);
    buf_add(&s->in, bytes + done, n - done);
    check_in_max(s);
}

static void peer_ended(struct stream *s)
{
    s->in_done = true;
    s->owner->on_end(s->arg, NULL);
}

/* There is always room, except in a stream that was just resumed: its kept bytes come first. */
static void read_in(struct stream *s)
{
    char scratch[SCRATCH];
    size_t seen = 0;
    struct err err;

    while (is_reading(s) && !s->timer.place && s->in.len < s->limits.in_max && seen < TURN_MAX) {
        size_t room = s->limits.in_max - s->in.len, got = 0;
        enum tls_status st;

        room = room < SCRATCH ? room : SCRATCH;
        st = s->tls ? tls_conn_read(s->tls, scratch, room, &got, &err)
                    : plain_read(s->fd, scratch, room, &got, &err);
        s->in_wants_write = st == TLS_WANT_WRITE;
        seen += got > READ_COST ? got : READ_COST;
        if (st == TLS_OK)
            take_in(s, scratch, got);
        else if (st == TLS_END)
            peer_ended(s);
        else if (st == TLS_FAILED)
            stream_fail(s, &err);
        if (st != TLS_OK || is_drained(s, got, room))
            return;
    }
    if (is_reading(s) && s->tls && tls_conn_has_pending(s->tls))
        timer_set(s->loop, &s->timer, 0);
}

/* The next turn, after stream_resume() or after TURN_MAX bytes. */
static void stream_go_on(struct stream *s)
{
    if (s->in.len > 0 && is_reading(s))
        show_kept(s);
    if (is_reading(s) && !s->timer.place && s->tls && tls_conn_has_pending(s->tls))
        read_in(s);
}

/* No system call: the socket is unwatched only if more bytes arrive meanwhile. */
void stream_pause(struct stream *s)
{
    s->paused = true;
}

void stream_resume(struct stream *s)
{
    if (!s->paused)
        return;
    s->paused = false;
    s->unwatched = false;
    if (s->state == OPEN && (s->busy || s->in.len > 0 || (s->tls && tls_conn_has_pending(s->tls))))
        timer_set(s->loop, &s->timer, 0);
    stream_settle(s, false);
}

static void transfer(struct stream *s, unsigned ready)
{
    if (ready & WATCH_WRITE || s->out_wants_read)
        flush(s);
    if (s->state != OPEN || !(ready & WATCH_READ || s->in_wants_write))
        return;
    if (s->timer.place)
        return; /* just resumed: kept bytes come before new ones */
    if (!s->paused) {
        read_in(s);
        return;
    }
    s->unwatched = true;
    s->in_wants_write = false; /* determined again when resumed */
}

static void opened(struct stream *s)
{
    if (s->ended) {
        s->state = ENDING;
        return;
    }
    timer_stop(s->loop, &s->timer);
    s->state = OPEN;
    if (s->owner->on_ready)
        s->owner->on_ready(s->arg);
    if (s->state == OPEN)
        flush(s);
    if (is_reading(s) && s->tls && tls_conn_has_pending(s->tls))
        read_in(s); /* bytes that arrived with the end of the handshake */
}

/* `ready` is 0 when called by the timeslice. */
static void shake(struct stream *s, unsigned ready)
{
    struct err err;
    enum tls_status st;

    if (ready && s->limits.timeslice) {
        timeslice_wait(s->limits.timeslice, &s->place);
        return;
    }
    s->moved_ms = loop_now_ms(s->loop);
    st = tls_conn_handshake(s->tls, &err);
    s->shake_wants_write = st == TLS_WANT_WRITE;
    if (st == TLS_OK)
        opened(s);
    else if (st == TLS_FAILED)
        stream_fail(s, &err);
}

static void check_connected(struct stream *s, unsigned ready)
{
    struct err err;

    if (plain_connected(s->fd, &err)) {
        stream_fail(s, &err);
    } else if (s->tls) {
        s->state = HANDSHAKING;
        shake(s, ready);
    } else {
        opened(s);
    }
}

static void timed_out(struct stream *s)
{
    struct err err;

    err_set(&err, ERR_TIMEOUT, "%s: not done within %lld ms",
            s->state == CONNECTING ? "connect" : "TLS handshake",
            (long long)s->limits.handshake_ms);
    stream_fail(s, &err);
}

/* ---- the end ---- */

static void tell_broken(struct stream *s)
{
    s->owner->on_end(s->arg, s->why);
}

static void stream_give_up(struct stream *s)
{
    s->state = DEAD;
}

/* Below TLS: discarded bytes need not be decrypted. */
static void discard(struct stream *s, unsigned ready)
{
    enum tls_status st = TLS_OK;

    if (ready & WATCH_READ)
        st = plain_discard(s->fd, TURN_MAX, &s->discarded);
    s->in_done |= st == TLS_END;
    if (st == TLS_FAILED || s->discarded > DISCARD_MAX)
        s->state = DEAD;
}

/* Advances the close as far as the socket allows: remaining output, TLS close, shutdown. */
static void wind_up(struct stream *s)
{
    if (s->out.len > 0)
        push_kept(s);
    if (s->out.len > 0 || s->state != ENDING)
        return;
    if (s->tls && tls_conn_end(s->tls) == TLS_WANT_WRITE)
        return;
    tls_conn_free(s->tls);
    s->tls = NULL;
    if (!s->out_done && sys_shutdown(s->fd, SHUT_WR))
        s->state = DEAD; /* the peer has reset the connection: nothing to wait for */
    s->out_done = true;
    if (s->in_done)
        s->state = DEAD;
}

void stream_end(struct stream *s)
{
    if (s->ended || s->state == DEAD)
        return;
    s->ended = true;
    timer_set(s->loop, &s->timer, s->limits.linger_ms);
    if (s->state == BROKEN || (s->state < ACCEPTED && s->out.len == 0))
        s->state = DEAD;
    else if (s->state >= ACCEPTED)
        s->state = ENDING;
    stream_settle(s, false);
}

int stream_peer(const struct stream *s, struct cert_facts *ret, struct err *err)
{
    if (!s->tls)
        return err_set(err, ERR_NOT_FOUND, "the connection is not encrypted");
    return tls_conn_peer(s->tls, ret, err);
}

bool stream_is_resumed(const struct stream *s)
{
    return s->tls && tls_conn_is_resumed(s->tls);
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    s->dropped = true;
    s->state = DEAD;
    stream_settle(s, false);
}

static void stream_destroy(struct stream *s)
{
    timer_stop(s->loop, &s->timer);
    if (s->limits.timeslice)
        timeslice_leave(s->limits.timeslice, &s->place);
    watch_free(s->watch);
    tls_conn_free(s->tls);
    sys_close(s->fd);
    buf_free(&s->in);
    buf_free(&s->out);
    free(s->why);
    free(s);
}

static const struct {
    void (*ready)(struct stream *s, unsigned ready);
    void (*timer)(struct stream *s);
} states[STATES] = {
    /* clang-format off */
    [CONNECTING]  = { check_connected, timed_out },
    [HANDSHAKING] = { shake,           timed_out },
    [ACCEPTED]    = { NULL,            opened },
    [OPEN]        = { transfer,        stream_go_on },
    [ENDING]      = { discard,         stream_give_up },
    [BROKEN]      = { NULL,            tell_broken },
    /* clang-format on */
};

static unsigned interest(const struct stream *s)
{
    bool in = false, out = false;

    switch (s->state) {
    case CONNECTING: out = true; break;
    case HANDSHAKING:
        out = s->shake_wants_write && !s->place.is_waiting;
        in = !s->shake_wants_write && !s->place.is_waiting;
        break;
    case OPEN:
        in = (!s->in_done && !s->unwatched) || s->out_wants_read;
        out = (s->out.len > 0 && !s->out_wants_read) || s->in_wants_write;
        break;
    case ENDING:
        in = !s->in_done;
        out = !s->out_done;
        break;
    case ACCEPTED:
    case BROKEN:
    case DEAD:
    case STATES: break;
    }
    return (in ? WATCH_READ : 0) | (out ? WATCH_WRITE : 0);
}

/* Frees a dead stream.  on_closed() is called from the loop only, so it may need the next turn. */
static void stream_bury(struct stream *s, bool from_loop)
{
    void (*on_closed)(void *arg) = s->ended && !s->dropped ? s->owner->on_closed : NULL;
    void *arg = s->arg;

    if (on_closed && !from_loop) {
        (void)watch_want(s->watch, 0, NULL); /* cannot fail without interest */
        timer_set(s->loop, &s->timer, 0);
        return;
    }
    stream_destroy(s);
    if (on_closed)
        on_closed(arg);
}

static void stream_settle(struct stream *s, bool from_loop)
{
    struct err err;

    if (s->busy)
        return;
    if (s->state == ENDING)
        wind_up(s);
    if (s->state != DEAD && watch_want(s->watch, interest(s), &err))
        stream_fail(s, &err);
    if (s->state == DEAD)
        stream_bury(s, from_loop);
}

static void stream_on_watch(void *arg, unsigned ready)
{
    struct stream *s = arg;

    s->busy = true;
    if (states[s->state].ready)
        states[s->state].ready(s, ready);
    s->busy = false;
    stream_settle(s, true);
}

/* Queued for a step of the handshake; the state may have changed since. */
static void on_place(void *arg)
{
    struct stream *s = arg;

    if (s->state == HANDSHAKING)
        stream_on_watch(s, 0);
}

static void stream_on_timer(void *arg)
{
    struct stream *s = arg;

    s->busy = true;
    if (states[s->state].timer)
        states[s->state].timer(s);
    s->busy = false;
    stream_settle(s, true);
}

/* Chooses the first state and its deadline. */
static void stream_begin(struct stream *s, bool is_client)
{
    if (is_client)
        s->state = CONNECTING;
    else if (s->tls)
        s->state = HANDSHAKING;
    else
        s->state = s->owner->on_ready ? ACCEPTED : OPEN;
    if (s->state < ACCEPTED)
        timer_set(s->loop, &s->timer, s->limits.handshake_ms);
    else if (s->state == ACCEPTED)
        timer_set(s->loop, &s->timer, 0);
}

int stream_new(struct loop *loop, int fd, struct tls *tls, const char *host,
               const struct stream_limits *limits, const struct stream_owner *owner, void *arg,
               struct stream **ret, struct err *err)
{
    struct stream *s = xalloc(sizeof(*s));

    assert(limits->in_max > 0);
    *s = (struct stream){ .loop = loop, .fd = fd, .limits = *limits, .owner = owner, .arg = arg };
    s->moved_ms = loop_now_ms(loop);
    timer_init(&s->timer, stream_on_timer, s);
    s->place = (struct timeslice_waiter){ .fn = on_place, .arg = s };
    (void)sys_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* fails for a unix socket */
    if (tls && tls_conn_new(tls, fd, host, &s->tls, err))
        goto fail;
    if (watch_new(loop, fd, stream_on_watch, s, &s->watch, err))
        goto fail;
    stream_begin(s, host != NULL);
    if (watch_want(s->watch, interest(s), err))
        goto fail;
    *ret = s;
    return 0;
fail:
    s->fd = -1; /* still owned by the caller */
    stream_destroy(s);
    return -1;
}
