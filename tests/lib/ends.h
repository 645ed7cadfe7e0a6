/* SPDX-License-Identifier: MIT */
/* ends.h - two streams that talk to each other in one loop, or one stream and a
 * bare socket, over each kind of transport; what each has seen is written down,
 * and what it does in a callback can be chosen. */
#ifndef TESTS_LIB_ENDS_H
#define TESTS_LIB_ENDS_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/rig.h"
#include "wire/net/stream.h"

enum transport { OVER_UNIX, OVER_TCP, OVER_TLS };
enum place { IN_NONE, IN_READY, IN_BYTES, IN_DRAINED, IN_END };
enum deed { DO_NOTHING, DO_FREE, DO_END, DO_PAUSE, DO_WRITE, DO_RESUME, DO_WRITE_AND_END, DEEDS };

struct end {
    struct stream *s; /* NULL: gone */
    int fd;           /* as long as it is open; for looking and for breaking */
    struct buf got;   /* all that was taken, unless it discards */
    size_t taken;
    size_t shown_max; /* the most that was shown at once */
    size_t take_max;  /* takes at most so much at once */
    bool echo, discard;
    int readies, shows, drains, ends, breaks;
    struct err why;
    enum place at;
    enum deed deed;
    bool again;         /* each time, not only the first */
    bool gone_inside;   /* freed or ended by its own callback */
    size_t to_send;     /* produces so many bytes of the pattern, */
    size_t sent;        /* watching stream_pending() */
    size_t pending_max; /* the most that was pending */
};

struct ends {
    struct rig rig;
    enum transport over;
    char dir[32], cert[64], key[64];
    struct tls *server_tls, *client_tls;
    struct stream_limits limits;
    struct end a, b; /* client, server */
};

static inline char ends_pattern(size_t i)
{
    return (char)(i * 7 + (i >> 10) + (i >> 17));
}

static inline void end_produce(struct end *e)
{
    char piece[20000];

    while (e->s && !e->breaks && e->sent < e->to_send && stream_pending(e->s) == 0) {
        size_t n = e->to_send - e->sent < sizeof(piece) ? e->to_send - e->sent : sizeof(piece);

        for (size_t i = 0; i < n; i++)
            piece[i] = ends_pattern(e->sent + i);
        stream_write(e->s, piece, n);
        e->sent += n;
        if (stream_pending(e->s) > e->pending_max)
            e->pending_max = stream_pending(e->s);
    }
}

static inline void end_act(struct end *e, enum place at)
{
    struct stream *s = e->s;

    assert_false(e->gone_inside); /* no callback after the end */
    if (e->at != at || e->deed == DO_NOTHING)
        return;
    e->gone_inside = e->deed == DO_FREE || e->deed == DO_END || e->deed == DO_WRITE_AND_END;
    if (e->gone_inside)
        e->s = NULL;
    if (e->deed == DO_WRITE || e->deed == DO_WRITE_AND_END)
        stream_write(s, "deed", 4);
    if (e->deed == DO_PAUSE || e->deed == DO_RESUME)
        stream_pause(s);
    if (e->deed == DO_RESUME)
        stream_resume(s);
    if (e->deed == DO_END || e->deed == DO_WRITE_AND_END)
        stream_end(s);
    if (e->deed == DO_FREE)
        stream_free(s);
    e->deed = e->gone_inside || e->again ? e->deed : DO_NOTHING;
}

static inline void end_on_ready(void *arg)
{
    struct end *e = arg;

    e->readies++;
    end_act(e, IN_READY);
    end_produce(e);
}

static inline size_t end_on_bytes(void *arg, const char *bytes, size_t n)
{
    struct end *e = arg;
    size_t done = n < e->take_max ? n : e->take_max;

    assert_int_equal(e->readies, 1);
    assert_int_equal(e->ends + e->breaks, 0);
    e->shows++;
    e->shown_max = n > e->shown_max ? n : e->shown_max;
    e->taken += done;
    if (!e->discard)
        buf_add(&e->got, bytes, done);
    if (e->echo && e->s)
        stream_write(e->s, bytes, done);
    end_act(e, IN_BYTES);
    return done;
}

static inline void end_on_drained(void *arg)
{
    struct end *e = arg;

    e->drains++;
    assert_int_equal(stream_pending(e->s), 0);
    end_act(e, IN_DRAINED);
    end_produce(e);
}

static inline void end_on_end(void *arg, const struct err *why)
{
    struct end *e = arg;

    if (why) {
        e->breaks++;
        e->why = *why;
    } else {
        e->ends++;
    }
    assert_true(e->ends <= 1 && e->breaks <= 1);
    end_act(e, IN_END);
}

static const struct stream_owner end_owner = { end_on_bytes, end_on_drained, end_on_end,
                                               end_on_ready };

static inline void end_free(struct end *e)
{
    stream_free(e->s);
    buf_free(&e->got);
    *e = (struct end){ .take_max = SIZE_MAX };
}

static inline void ends_make_tls(struct ends *w)
{
    static const char *const names[] = { "localhost", NULL };
    struct tls_config server = { w->cert, w->key, NULL, false }, client = { .ca_path = w->cert };
    struct err err = { 0 };

    snprintf(w->dir, sizeof(w->dir), "/tmp/ends-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->cert, sizeof(w->cert), "%s/cert", w->dir);
    snprintf(w->key, sizeof(w->key), "%s/key", w->dir);
    if (tls_make_self_signed(w->cert, w->key, names, 30, &err) ||
        tls_server_new(&server, &w->server_tls, &err) ||
        tls_client_new(&client, &w->client_tls, &err))
        fail_msg("%s", err.text);
    unlink(w->cert);
    unlink(w->key);
    rmdir(w->dir);
}

/* For cmocka: the first state is the transport, as a string's first letter. */
static inline int ends_setup(void **state)
{
    struct ends *w = xalloc(sizeof(*w));
    const char *over = *state;

    w->over = *over == 'u' ? OVER_UNIX : *over == 't' ? OVER_TCP : OVER_TLS;
    w->limits = (struct stream_limits){ 65536, 1 << 20, 60000, 60000 };
    rig_init(&w->rig);
    if (w->over == OVER_TLS)
        ends_make_tls(w);
    end_free(&w->a);
    end_free(&w->b);
    *state = w;
    return 0;
}

static inline int ends_teardown(void **state)
{
    struct ends *w = *state;

    sys_fault("any", 0, 0);
    end_free(&w->a);
    end_free(&w->b);
    tls_free(w->server_tls);
    tls_free(w->client_tls);
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1); /* what was ended goes by then */
    rig_pass_ms(&w->rig, w->limits.linger_ms + 1);
    rig_done(&w->rig);
    free(w);
    return 0;
}

static inline void tcp_pair(int fds[2])
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(l, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(l, 1), 0);
    assert_int_equal(getsockname(l, (struct sockaddr *)&at, &len), 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)connect(fds[0], (struct sockaddr *)&at, len); /* goes on by itself */
    fds[1] = accept4(l, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(fds[0] >= 0 && fds[1] >= 0);
    close(l);
}

static inline void ends_sockets(const struct ends *w, int fds[2])
{
    if (w->over == OVER_UNIX)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
                         0);
    else
        tcp_pair(fds);
}

static inline void ends_make_stream(struct ends *w, struct end *e, int fd)
{
    bool is_client = e == &w->a;
    struct tls *tls = is_client ? w->client_tls : w->server_tls;
    struct err err = { 0 };

    e->fd = fd;
    if (stream_new(w->rig.loop, fd, tls, is_client ? "localhost" : NULL, &w->limits, &end_owner, e,
                   &e->s, &err))
        fail_msg("%s", err.text);
}

/* Two streams; not yet ready. */
static inline void ends_join(struct ends *w)
{
    int fds[2];

    ends_sockets(w, fds);
    ends_make_stream(w, &w->a, fds[0]);
    ends_make_stream(w, &w->b, fds[1]);
}

static inline void ends_join_and_open(struct ends *w)
{
    ends_join(w);
    TURN_UNTIL(&w->rig, w->a.readies && w->b.readies);
}

/* The server's end as a stream and a bare socket for the peer. */
static inline int ends_join_bare(struct ends *w)
{
    int fds[2];

    ends_sockets(w, fds);
    ends_make_stream(w, &w->b, fds[1]);
    return fds[0];
}

static inline bool fd_is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

#endif
