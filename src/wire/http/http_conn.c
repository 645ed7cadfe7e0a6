/* SPDX-License-Identifier: MIT */
/* http_conn.c - one connection: reads requests from a stream.  See http_conn.h.
 *
 * Invariants: `req` is set in HEAD, BODY, HELD, WAIT and STREAM and in no other state.  The
 * stream is paused exactly while there are bytes that the state does not read.  It is not paused
 * merely because a request is in progress: reading is how a disconnect is noticed. */
#include "wire/http/http_conn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys_unix.h"

/* Requests served from one input buffer before other connections get their turn. */
enum { TURN_MAX = 64 };

/* ---- requests ---- */

static struct http_request *request_new(struct http_conn *c)
{
    struct http_request *r = xalloc(sizeof(*r));

    r->server = c->server;
    r->conn = c;
    LIST_INSERT_HEAD(&c->server->requests, r, link);
    c->server->counters.open_requests++;
    return r;
}

/* The budget counts all bytes received for the request, even if the owner has moved them out. */
void http_request_free(struct http_request *r)
{
    if (r->server) {
        r->server->counters.body_bytes -= r->body_bytes;
        r->server->counters.open_requests--;
        LIST_REMOVE(r, link);
    }
    buf_free(&r->pub.body);
    arena_free(&r->pub.arena);
    free(r);
}

void http_request_gone(struct http_request *r, enum http_gone tell)
{
    const struct http_server *s = r->server;
    bool is_ending = !r->pub.is_owned;

    r->conn = NULL;
    r->is_ending = is_ending;
    if (tell == HTTP_TELL && r->is_shown && s->owner->on_gone)
        s->owner->on_gone(s->arg, &r->pub);
    if (is_ending)
        http_request_free(r);
}

/* ---- the life of a connection ---- */

bool http_conn_keep_body(struct http_conn *c, struct buf *body)
{
    struct http_counters *n = &c->server->counters;

    if (n->answer_bytes + body->cap > c->server->limits.answer_budget_bytes) {
        n->refused[HTTP_OVER_BUDGET]++;
        return false;
    }
    n->answer_bytes += body->cap;
    c->body_cap = body->cap;
    c->body = *body;
    return true;
}

static void drop_body(struct http_conn *c)
{
    c->server->counters.answer_bytes -= c->body_cap;
    c->body_cap = 0;
    buf_free(&c->body);
}

static void http_conn_destroy(struct http_conn *c)
{
    buf_free(&c->body);
    free(c->address);
    free(c);
}

void http_conn_enter(struct http_conn *c)
{
    c->depth++;
}

void http_conn_leave(struct http_conn *c)
{
    if (--c->depth == 0 && !c->stream)
        http_conn_destroy(c);
}

/* Stops reading and answering, and detaches the request in progress. */
static void detach_request(struct http_conn *c, enum http_gone tell)
{
    struct http_request *r = c->req;

    c->is_closed = true;
    c->req = NULL;
    drop_body(c);
    timer_stop(c->server->loop, &c->timer);
    if (r)
        http_request_gone(r, tell);
}

static void end_handshake(struct http_conn *c)
{
    if (!c->is_shaking)
        return;
    c->is_shaking = false;
    c->peer->shaking--;
    c->server->counters.shaking--;
    c->server->on_handshake_end(c->server);
}

/* Removes the connection from the server's lists. */
static void leave_server(struct http_conn *c)
{
    LIST_REMOVE(c, link);
    end_handshake(c);
    http_server_leave(c->server, c->peer);
}

/* The connection stays in the server's lists, and counts against the limits, until its stream is
 * closed. */
void http_conn_end(struct http_conn *c)
{
    if (c->is_closed)
        return;
    http_conn_enter(c);
    stream_end(c->stream);
    detach_request(c, HTTP_TELL);
    http_conn_leave(c);
}

static void http_conn_on_closed(void *arg)
{
    struct http_conn *c = arg;

    http_conn_enter(c);
    c->stream = NULL;
    leave_server(c);
    http_conn_leave(c);
}

void http_conn_drop(struct http_conn *c, enum http_gone tell)
{
    if (!c->stream)
        return;
    http_conn_enter(c);
    stream_free(c->stream);
    c->stream = NULL;
    detach_request(c, tell);
    leave_server(c);
    http_conn_leave(c);
}

/* The timer is not moved if it goes off early enough: a busy connection moves its deadline
 * several times per request. */
void http_conn_deadline(struct http_conn *c, int64_t in_ms)
{
    int64_t now = loop_now_ms(c->server->loop);

    c->deadline_ms = in_ms ? now + in_ms : 0;
    if (in_ms && (!c->timer.place || c->timer.due_ms > c->deadline_ms))
        timer_set(c->server->loop, &c->timer, in_ms);
}

static void pause(struct http_conn *c)
{
    c->is_paused = true;
    stream_pause(c->stream);
}

static void resume(struct http_conn *c)
{
    c->is_paused = false;
    stream_resume(c->stream);
}

void http_conn_next(struct http_conn *c)
{
    drop_body(c);
    if (!c->keeps || c->server->is_draining || (c->has_ended && !c->is_paused)) {
        http_conn_end(c);
        return;
    }
    c->state = CONN_IDLE;
    http_conn_deadline(c, c->server->limits.idle_ms);
    if (c->is_paused)
        resume(c);
}

/* ---- bodies ---- */

static void body_done(struct http_conn *c)
{
    struct http_server *s = c->server;
    struct http_request *r = c->req;

    r->is_read = true;
    r->pub.is_owned = true;
    c->state = CONN_WAIT;
    http_conn_deadline(c, 0);
    s->owner->on_request(s->arg, &r->pub);
}

/* False if the request was refused. */
static bool add_body(struct http_conn *c, const char *bytes, size_t n)
{
    struct http_server *s = c->server;
    struct http_request *r = c->req;

    if (n > r->pub.body_max - r->pub.body.len) {
        http_conn_refuse(c, HTTP_LARGE_BODY, 413, "body: larger than is allowed here");
        return false;
    }
    if (s->counters.body_bytes + n > s->limits.body_budget_bytes) {
        http_conn_refuse(c, HTTP_OVER_BUDGET, 503, "body: too many are being read, try again");
        return false;
    }
    if (n > 0 && s->owner->on_body && !s->owner->on_body(s->arg, &r->pub, n))
        return false; /* the request is freed */
    buf_add(&r->pub.body, bytes, n);
    r->body_bytes += n;
    s->counters.body_bytes += n;
    return true;
}

static size_t read_plain(struct http_conn *c, const char *bytes, size_t n)
{
    struct http_request *r = c->req;

    if ((int64_t)n > r->left)
        n = (size_t)r->left;
    r->left -= (int64_t)n;
    if (add_body(c, bytes, n) && r->left == 0)
        body_done(c);
    return n;
}

static size_t read_chunked(struct http_conn *c, const char *bytes, size_t n)
{
    struct http_request *r = c->req;
    struct http_span span;
    struct err err;
    size_t taken;

    if (http_chunks_read(&r->chunks, bytes, n, &taken, &span, &err)) {
        http_conn_refuse(c, HTTP_BAD_BODY, r->chunks.status, err.text);
        return n;
    }
    if (add_body(c, span.bytes, span.n) && r->chunks.state == CHUNK_DONE)
        body_done(c);
    return taken;
}

static size_t read_body(struct http_conn *c, const char *bytes, size_t n)
{
    return c->req->pub.head.chunked ? read_chunked(c, bytes, n) : read_plain(c, bytes, n);
}

/* `has_more`: bytes of the body came together with the head, so the peer does not wait for a 100
 * Continue. */
static void begin_body(struct http_conn *c, bool has_more)
{
    struct http_request *r = c->req;

    assert(r->pub.body_max <= HTTP_BODY_MAX);
    if (r->is_read) {
        body_done(c);
        return;
    }
    if (r->left > (int64_t)r->pub.body_max) {
        http_conn_refuse(c, HTTP_LARGE_BODY, 413, "body: larger than is allowed here");
        return;
    }
    if (r->pub.head.expects_continue && !has_more)
        http_conn_continue(c);
    c->mark = -1;
    http_conn_deadline(c, c->server->limits.body_grace_ms);
}

void http_hold_body(struct http_req *req)
{
    struct http_conn *c = ((struct http_request *)req)->conn;

    assert(c->state == CONN_BODY);
    c->state = CONN_HELD;
    http_conn_deadline(c, 0);
}

/* A peer that has closed its sending side before the body will not send one. */
void http_read_body(struct http_req *req)
{
    struct http_conn *c = ((struct http_request *)req)->conn;

    assert(c->state == CONN_HELD);
    http_conn_enter(c);
    c->state = CONN_BODY;
    if (c->has_ended && !c->is_paused && !c->req->is_read)
        http_conn_end(c);
    else
        begin_body(c, c->is_paused);
    if (!c->is_closed && c->state == CONN_BODY && c->is_paused)
        resume(c);
    http_conn_leave(c);
}

/* ---- heads ---- */

static void begin_head(struct http_conn *c)
{
    c->req = request_new(c);
    c->state = CONN_HEAD;
    if (!c->is_first)
        http_conn_deadline(c, c->server->limits.header_ms);
    c->is_first = false;
}

static void head_done(struct http_conn *c, bool has_more)
{
    struct http_server *s = c->server;
    struct http_request *r = c->req;

    s->counters.requests++;
    r->left = r->pub.head.length;
    r->is_read = !r->pub.head.chunked && r->left == 0;
    r->pub.peer = arena_strdup(&r->pub.arena, c->address);
    r->pub.net = arena_strdup(&r->pub.arena, c->peer->host);
    r->pub.is_peer_told = c->is_peer_told;
    r->pub.peer_uid = c->peer_uid;
    r->is_shown = true;
    c->state = CONN_BODY;
    s->owner->on_head(s->arg, &r->pub);
    if (c->req && c->state == CONN_BODY)
        begin_body(c, has_more);
}

static size_t http_conn_read_head(struct http_conn *c, const char *bytes, size_t n)
{
    struct http_request *r;
    struct err err;
    size_t taken;

    if (c->state == CONN_IDLE)
        begin_head(c);
    r = c->req;
    if (c->wants_tls) {
        http_conn_refuse(c, HTTP_BAD_HEAD, 400, "this port speaks TLS: use https://");
        return n;
    }
    if (http_head_read(&r->pub.head, bytes, n, &r->pub.arena, &taken, &err)) {
        http_conn_refuse(c, HTTP_BAD_HEAD, r->pub.head.status, err.text);
        return n;
    }
    if (taken)
        head_done(c, taken < n);
    return taken;
}

/* ---- callbacks of the stream ---- */

static bool is_reading(const struct http_conn *c)
{
    return !c->is_closed && c->state <= CONN_BODY;
}

/* Reads until the state wants no more, the bytes do not suffice, or other connections must get
 * their turn. */
static size_t read_some(struct http_conn *c, const char *bytes, size_t n)
{
    size_t done = 0;

    for (int requests = 0; done < n && is_reading(c) && requests < TURN_MAX;) {
        bool in_body = c->state == CONN_BODY;
        size_t taken = in_body ? read_body(c, bytes + done, n - done)
                               : http_conn_read_head(c, bytes + done, n - done);

        if (taken == 0)
            break;
        done += taken;
        requests += !in_body;
    }
    return done;
}

static size_t http_conn_on_bytes(void *arg, const char *bytes, size_t n)
{
    struct http_conn *c = arg;
    size_t done;

    http_conn_enter(c);
    done = read_some(c, bytes, n);
    c->server->counters.bytes_in += done;
    if (!c->is_closed && done < n && c->state != CONN_HEAD) {
        pause(c);
        if (is_reading(c))
            resume(c); /* continues in the next turn */
    }
    http_conn_leave(c);
    return done;
}

static void on_drained(void *arg)
{
    struct http_conn *c = arg;

    http_conn_enter(c);
    if (c->state == CONN_WRITE)
        http_conn_pump(c);
    else if (c->state == CONN_STREAM)
        http_conn_deadline(c, 0);
    http_conn_leave(c);
}

/* A peer that has only closed its sending side still gets its answer.  For a stream it counts as
 * gone, because stream clients keep both directions open. */
static void on_end(void *arg, const struct err *why)
{
    struct http_conn *c = arg;

    http_conn_enter(c);
    c->has_ended = true;
    if (why || c->state == CONN_STREAM)
        http_conn_drop(c, HTTP_TELL);
    else if (is_reading(c))
        http_conn_end(c);
    http_conn_leave(c);
}

static void on_ready(void *arg)
{
    end_handshake(arg);
}

static const struct stream_owner plain_owner = { http_conn_on_bytes, on_drained, on_end, NULL,
                                                 http_conn_on_closed };
static const struct stream_owner tls_owner = { http_conn_on_bytes, on_drained, on_end, on_ready,
                                               http_conn_on_closed };

/* ---- deadlines ---- */

static void late_head(struct http_conn *c)
{
    http_conn_refuse(c, HTTP_LATE_HEAD, 408, "head: not complete in time");
}

static void check_body(struct http_conn *c)
{
    const struct http_limits *l = &c->server->limits;
    int64_t received = (int64_t)c->req->body_bytes;

    if (c->mark >= 0 && (received - c->mark) * 1000 < l->body_rate * l->body_grace_ms) {
        http_conn_refuse(c, HTTP_SLOW_BODY, 408, "body: too slow");
        return;
    }
    c->mark = received;
    http_conn_deadline(c, l->body_grace_ms);
}

static void check_reader(struct http_conn *c)
{
    const struct http_limits *l = &c->server->limits;
    int64_t progress = http_conn_progress(c);

    if ((progress - c->mark) * 1000 < l->body_rate * l->write_ms) {
        c->server->counters.refused[HTTP_SLOW_READER]++;
        http_conn_drop(c, HTTP_TELL);
        return;
    }
    c->mark = progress;
    http_conn_deadline(c, l->write_ms);
}

static void (*const late[CONN_STATES])(struct http_conn *c) = {
    [CONN_IDLE] = http_conn_end, [CONN_HEAD] = late_head,      [CONN_BODY] = check_body,
    [CONN_WRITE] = check_reader, [CONN_STREAM] = check_reader,
};

static void http_conn_on_timer(void *arg)
{
    struct http_conn *c = arg;
    int64_t left = c->deadline_ms - loop_now_ms(c->server->loop);

    if (!c->deadline_ms)
        return;
    if (left > 0) {
        timer_set(c->server->loop, &c->timer, left);
        return;
    }
    http_conn_enter(c);
    c->deadline_ms = 0;
    late[c->state](c);
    http_conn_leave(c);
}

static void read_peer(struct http_conn *c, int fd)
{
    struct sys_peer who;

    if (strncmp(c->address, "unix", 4) != 0 || sys_peer(fd, &who))
        return;
    c->is_peer_told = sys_peer_is_told(&who);
    c->peer_uid = who.uid;
}

int http_conn_new(struct http_server *s, int fd, struct tls *tls, struct http_peer *peer,
                  const char *address, struct err *err)
{
    const struct stream_owner *owner = tls ? &tls_owner : &plain_owner;
    struct http_conn *c = xalloc(sizeof(*c));

    if (stream_new(s->loop, fd, tls, NULL, &s->stream_limits, owner, c, &c->stream, err)) {
        free(c);
        return -1;
    }
    c->is_shaking = tls;
    s->counters.shaking += c->is_shaking;
    peer->shaking += c->is_shaking;
    c->server = s;
    c->peer = peer;
    c->address = xstrdup(address);
    read_peer(c, fd);
    c->is_first = true;
    timer_init(&c->timer, http_conn_on_timer, c);
    LIST_INSERT_HEAD(&s->conns, c, link);
    http_conn_deadline(c, s->limits.header_ms);
    return 0;
}
