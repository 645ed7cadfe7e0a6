/* SPDX-License-Identifier: MIT */
/* stream.c - see stream.h.
 *
 * All begins in two functions that the loop calls, on_watch() and on_timer().
 * They look up what the state does, and settle() afterwards.  While they run
 * the stream is `busy`: what the owner's callbacks ask for is written down in
 * the fields and carried out by settle(), which alone changes the interest in
 * the socket and alone frees.  So a callback may do anything, and whoever has
 * called one only has to look at the state again.
 *
 * One timer is enough, because each state waits for one thing: a deadline
 * before OPEN and in ENDING, the next turn in the others. */
#include "wire/stream.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "wire/pace.h"
#include "wire/plain.h"

enum {
    SCRATCH = 64 * 1024,           /* read at once, on the stack */
    TURN_MAX = 256 * 1024,         /* handled per wake-up, so that others get their turn; */
    READ_COST = 1024,              /* a read counts as so much at least */
    DISCARD_MAX = 64 * 1024 * 1024 /* thrown away while ending: more than a body may have */
};

enum state {
    CONNECTING,
    HANDSHAKING,
    ACCEPTED, /* plain and connected, the owner does not know yet */
    OPEN,
    ENDING, /* the owner has left; what is kept goes out, what comes is thrown away */
    BROKEN, /* `why` is told in the next turn, then only stream_free() is left */
    DEAD,   /* to be freed by settle() */
    STATES
};

struct stream {
    struct loop *loop;
    struct watch *watch;
    struct tls_conn *tls; /* NULL: plain, or TLS has said goodbye */
    const struct stream_owner *owner;
    void *arg;
    struct stream_limits limits;
    struct buf in, out; /* shown but not taken; written but not sent */
    struct timer timer;
    struct pace_place place; /* HANDSHAKING: in line for the next step */
    struct err *why;         /* BROKEN: not yet told */
    size_t discarded;        /* ENDING: bytes thrown away */
    int64_t moved_ms;        /* when the socket last took some of `out`, or `out` began */
    int fd;
    enum state state;
    bool busy;
    bool ended;          /* stream_end() was called, perhaps before OPEN */
    bool dropped;        /* stream_free() was */
    bool in_done;        /* the peer has ended its side */
    bool out_done;       /* we have ended ours */
    bool paused;         /* by the owner */
    bool unwatched;      /* paused, and more has come: the socket is not watched for reading */
    bool in_wants_write; /* TLS cannot read before it has written */
    bool out_wants_read; /* TLS cannot write before it has read */
    bool shake_wants_write;
};

static void settle(struct stream *s, bool from_loop);

static void fail(struct stream *s, const struct err *why)
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

/* Whether a read that gave `got` of `asked` bytes has left nothing behind; the
 * loop tells when more comes. */
static bool is_drained(const struct stream *s, size_t got, size_t asked)
{
    return s->tls ? tls_conn_is_drained(s->tls) : got < asked;
}

/* Gives the socket at most `max` bytes (and what a TLS record has more) of the
 * n; returns how many it took.  May break the stream. */
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
            break; /* the socket is full; asking again would only say so */
    }
    s->out_wants_read = st == TLS_WANT_READ;
    if (sent > 0)
        s->moved_ms = loop_now_ms(s->loop);
    if (st == TLS_FAILED)
        fail(s, &err);
    return sent;
}

/* ---- bytes out ---- */

static void push_kept(struct stream *s)
{
    size_t sent = push(s, buf_data(&s->out), s->out.len, TURN_MAX);

    buf_drop(&s->out, sent);
    if (s->out.len == 0)
        buf_free(&s->out);
}

static void keep_out(struct stream *s, const char *bytes, size_t n)
{
    struct err err;

    if (n > s->limits.out_max || s->out.len > s->limits.out_max - n) {
        err_set(&err, ERR_LIMIT, "the peer is too slow: more than %zu bytes wait to be sent",
                s->limits.out_max);
        fail(s, &err);
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
    settle(s, false);
}

size_t stream_pending(const struct stream *s)
{
    return s->out.len;
}

int64_t stream_stuck_ms(const struct stream *s)
{
    return s->out.len > 0 ? loop_now_ms(s->loop) - s->moved_ms : 0;
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

static size_t show(struct stream *s, const char *bytes, size_t n)
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
    fail(s, &err);
}

static void show_kept(struct stream *s)
{
    buf_drop(&s->in, show(s, buf_data(&s->in), s->in.len));
    if (s->in.len == 0)
        buf_free(&s->in);
    check_in_max(s);
}

/* New bytes are shown where they are; only what is not taken is copied. */
static void take_in(struct stream *s, const char *bytes, size_t n)
{
    size_t done;

    if (s->in.len > 0) {
        buf_add(&s->in, bytes, n);
        show_kept(s);
        return;
    }
    done = show(s, bytes, n);
    buf_add(&s->in, bytes + done, n - done);
    check_in_max(s);
}

static void peer_ended(struct stream *s)
{
    s->in_done = true;
    s->owner->on_end(s->arg, NULL);
}

/* There is always room, but for a stream just resumed: it is shown first what
 * it has. */
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
            fail(s, &err);
        if (st != TLS_OK || is_drained(s, got, room))
            return;
    }
    if (is_reading(s) && s->tls && tls_conn_has_pending(s->tls))
        timer_set(s->loop, &s->timer, 0);
}

/* The next turn has come, after stream_resume() or a full measure of reading. */
static void go_on(struct stream *s)
{
    if (s->in.len > 0 && is_reading(s))
        show_kept(s);
    if (is_reading(s) && !s->timer.place && s->tls && tls_conn_has_pending(s->tls))
        read_in(s);
}

/* Costs no system call: the socket is let go only if more comes meanwhile. */
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
    settle(s, false);
}

static void transfer(struct stream *s, unsigned ready)
{
    if (ready & WATCH_WRITE || s->out_wants_read)
        flush(s);
    if (s->state != OPEN || !(ready & WATCH_READ || s->in_wants_write))
        return;
    if (s->timer.place)
        return; /* just resumed: what was kept is shown before what comes after it */
    if (!s->paused) {
        read_in(s);
        return;
    }
    s->unwatched = true;
    s->in_wants_write = false; /* found out again when resumed */
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
        read_in(s); /* came in one piece with the end of the handshake */
}

/* `ready` is 0 for one whose turn has come. */
static void shake(struct stream *s, unsigned ready)
{
    struct err err;
    enum tls_status st;

    if (ready && s->limits.pace) {
        pace_wait(s->limits.pace, &s->place);
        return;
    }
    st = tls_conn_handshake(s->tls, &err);
    s->shake_wants_write = st == TLS_WANT_WRITE;
    if (st == TLS_OK)
        opened(s);
    else if (st == TLS_FAILED)
        fail(s, &err);
}

static void check_connected(struct stream *s, unsigned ready)
{
    struct err err;

    if (plain_connected(s->fd, &err)) {
        fail(s, &err);
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
    fail(s, &err);
}

/* ---- the end ---- */

static void tell_broken(struct stream *s)
{
    s->owner->on_end(s->arg, s->why);
}

static void give_up(struct stream *s)
{
    s->state = DEAD;
}

/* Past TLS: what is thrown away need not be understood. */
static void discard(struct stream *s, unsigned ready)
{
    enum tls_status st;

    if (!(ready & WATCH_READ))
        return;
    st = plain_discard(s->fd, TURN_MAX, &s->discarded);
    s->in_done = st == TLS_END;
    if (st == TLS_FAILED || s->discarded > DISCARD_MAX)
        s->state = DEAD;
}

/* Takes the end as far as the socket lets it: the rest, TLS's goodbye, ours. */
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
        s->state = DEAD; /* the peer has reset it; nobody is there to wait for */
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
    settle(s, false);
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
    settle(s, false);
}

static void destroy(struct stream *s)
{
    timer_stop(s->loop, &s->timer);
    if (s->limits.pace)
        pace_leave(s->limits.pace, &s->place);
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
    [OPEN]        = { transfer,        go_on },
    [ENDING]      = { discard,         give_up },
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

/* Frees a dead stream.  An owner that wants to know of the end of what it ended
 * is told from the loop only, so for that the next turn may have to come. */
static void bury(struct stream *s, bool from_loop)
{
    void (*on_closed)(void *arg) = s->ended && !s->dropped ? s->owner->on_closed : NULL;
    void *arg = s->arg;

    if (on_closed && !from_loop) {
        (void)watch_want(s->watch, 0, NULL); /* wanting nothing can not fail */
        timer_set(s->loop, &s->timer, 0);
        return;
    }
    destroy(s);
    if (on_closed)
        on_closed(arg);
}

static void settle(struct stream *s, bool from_loop)
{
    struct err err;

    if (s->busy)
        return;
    if (s->state == ENDING)
        wind_up(s);
    if (s->state != DEAD && watch_want(s->watch, interest(s), &err))
        fail(s, &err);
    if (s->state == DEAD)
        bury(s, from_loop);
}

static void on_watch(void *arg, unsigned ready)
{
    struct stream *s = arg;

    s->busy = true;
    if (states[s->state].ready)
        states[s->state].ready(s, ready);
    s->busy = false;
    settle(s, true);
}

/* In line for a step of the handshake; where it stands by now may be elsewhere. */
static void on_place(void *arg)
{
    struct stream *s = arg;

    if (s->state == HANDSHAKING)
        on_watch(s, 0);
}

static void on_timer(void *arg)
{
    struct stream *s = arg;

    s->busy = true;
    if (states[s->state].timer)
        states[s->state].timer(s);
    s->busy = false;
    settle(s, true);
}

/* Decides where a new stream begins, and how long it may take to open. */
static void begin(struct stream *s, bool is_client)
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
    timer_init(&s->timer, on_timer, s);
    s->place = (struct pace_place){ .fn = on_place, .arg = s };
    (void)sys_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1); /* a unix socket has no such thing */
    if (tls && tls_conn_new(tls, fd, host, &s->tls, err))
        goto fail;
    if (watch_new(loop, fd, on_watch, s, &s->watch, err))
        goto fail;
    begin(s, host != NULL);
    if (watch_want(s->watch, interest(s), err))
        goto fail;
    *ret = s;
    return 0;
fail:
    s->fd = -1; /* the caller's */
    destroy(s);
    return -1;
}
