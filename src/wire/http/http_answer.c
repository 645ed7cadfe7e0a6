/* SPDX-License-Identifier: MIT */
/* http_answer.c - answers, whole or streamed.  See http_req.h.
 *
 * The head and the first bytes of the body leave in one write.  The rest of a large body is
 * written from its place piece by piece, each after the previous one is sent, so that little of
 * it is copied. */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/mem/mem.h"
#include "wire/http/http_chars.h"
#include "wire/http/http_conn.h"

enum { TOGETHER_MAX = 16 * 1024, PIECE_MAX = 256 * 1024 };

const char http_full_answer[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                                "Content-Type: application/json; charset=utf-8\r\n"
                                "Content-Length: 50\r\n\r\n"
                                "{\"error\":\"too many connections, try again later\"}\n";

static const struct {
    int status;
    const char *text;
} phrases[] = {
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 412, "Precondition Failed" },
    { 413, "Content Too Large" },
    { 415, "Unsupported Media Type" },
    { 417, "Expectation Failed" },
    { 422, "Unprocessable Content" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
};

static const char *phrase(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
        if (phrases[i].status == status)
            return phrases[i].text;
    }
    return "Status";
}

/* ---- the head of an answer ---- */

enum framing { FRAMED_LENGTH, FRAMED_CHUNKS, FRAMED_CLOSE, FRAMED_EMPTY };

struct reply {
    int status;
    const struct http_field *extra;
    const char *type;
    enum framing framing;
    size_t length;
};

static bool has_no_body(int status)
{
    return status == 204 || status == 304;
}

/* Headers that only this file writes. */
static bool http_answer_is_ours(const char *name)
{
    static const char *const names[] = { "Content-Length", "Transfer-Encoding", "Connection",
                                         "Content-Type", "Date" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!strcasecmp(name, names[i]))
            return true;
    }
    return false;
}

static bool is_value(const char *s)
{
    return s[http_run(s, strlen(s), HTTP_VALUE)] == '\0';
}

/* Header values may contain bytes of a client.  They must not be able to end the header. */
static bool is_sound(const struct reply *a)
{
    if (a->status < 200 || a->status > 599 || (a->type && !is_value(a->type)))
        return false;
    for (const struct http_field *f = a->extra; f && f->name; f++) {
        if (f->name[0] == '\0' || f->name[http_run(f->name, strlen(f->name), HTTP_TOKEN)] != '\0')
            return false;
        if (http_answer_is_ours(f->name) || !f->value || !is_value(f->value))
            return false;
    }
    return true;
}

static const char *date(struct http_server *s)
{
    int64_t now = clock_wall_ms(loop_clock(s->loop));

    if (now / 1000 != s->date_s) {
        s->date_s = now / 1000;
        time_http(now, s->date);
    }
    return s->date;
}

static void put_field(struct buf *b, const char *name, const char *value)
{
    buf_puts(b, name);
    buf_add(b, ": ", 2);
    buf_puts(b, value);
    buf_add(b, "\r\n", 2);
}

static void put_framing(struct buf *b, const struct reply *a)
{
    switch (a->framing) {
    case FRAMED_LENGTH:
        buf_puts(b, "Content-Length: ");
        buf_put_int(b, (int64_t)a->length);
        buf_add(b, "\r\n", 2);
        break;
    case FRAMED_CHUNKS: put_field(b, "Transfer-Encoding", "chunked"); break;
    case FRAMED_CLOSE:
    case FRAMED_EMPTY: break;
    }
}

/* Writes to the scratch buffer, which must be empty. */
static void put_head(struct http_conn *c, const struct reply *a, int minor)
{
    struct buf *b = &c->server->scratch;

    buf_truncate(b, 0);
    buf_puts(b, "HTTP/1.1 ");
    buf_put_int(b, a->status);
    buf_addc(b, ' ');
    buf_puts(b, phrase(a->status));
    buf_puts(b, "\r\n");
    put_field(b, "Date", date(c->server));
    if (a->type)
        put_field(b, "Content-Type", a->type);
    put_framing(b, a);
    if (!c->keeps)
        put_field(b, "Connection", "close");
    else if (minor == 0)
        put_field(b, "Connection", "keep-alive");
    for (const struct http_field *f = a->extra; f && f->name; f++)
        put_field(b, f->name, f->value);
    buf_add(b, "\r\n", 2);
}

/* ---- writing ---- */

static void put_bytes(struct http_conn *c, const void *bytes, size_t n)
{
    stream_write(c->stream, bytes, n);
    c->moved += (int64_t)n;
    c->server->counters.bytes_out += n;
}

int64_t http_conn_progress(const struct http_conn *c)
{
    return c->moved - (int64_t)stream_pending(c->stream);
}

static void watch_reader(struct http_conn *c)
{
    c->mark = http_conn_progress(c);
    http_conn_deadline(c, c->server->limits.write_ms);
}

void http_conn_pump(struct http_conn *c)
{
    while (c->rest_n && stream_pending(c->stream) == 0) {
        size_t n = c->rest_n < PIECE_MAX ? c->rest_n : PIECE_MAX;

        put_bytes(c, c->rest, n);
        c->rest += n;
        c->rest_n -= n;
    }
    if (c->rest_n || stream_pending(c->stream))
        watch_reader(c);
    else
        http_conn_next(c);
}

/* Sends head and body; rest and rest_n are the body. */
static void send_reply(struct http_conn *c, const struct reply *a, int minor)
{
    struct buf *b = &c->server->scratch;
    size_t n = c->rest_n < TOGETHER_MAX ? c->rest_n : TOGETHER_MAX;

    put_head(c, a, minor);
    buf_add(b, c->rest, n);
    c->rest = n ? c->rest + n : NULL;
    c->rest_n -= n;
    c->moved = 0;
    put_bytes(c, buf_data(b), b->len);
}

static bool is_head(const struct http_request *r)
{
    return r->pub.head.method && !strcmp(r->pub.head.method, "HEAD");
}

/* Whether the connection stays open after the answer to this request. */
static bool keeps(const struct http_conn *c, const struct http_request *r)
{
    return r->pub.head.keep_alive && r->is_read && !c->server->is_draining;
}

/* Replaces a reply with invalid headers by a 500. */
static void make_sound(struct http_conn *c, struct reply *a)
{
    if (is_sound(a))
        return;
    c->server->counters.refused[HTTP_BAD_ANSWER]++;
    *a = (struct reply){ .status = 500, .framing = FRAMED_LENGTH };
    c->rest_n = 0;
}

/* `a` may point into the request, so the request is freed after the head is built and before the
 * next request is read. */
static void answer(struct http_conn *c, struct http_request *r, struct reply *a)
{
    int minor = r->pub.head.minor;

    http_conn_enter(c);
    c->keeps = keeps(c, r);
    make_sound(c, a);
    if (has_no_body(a->status))
        a->framing = FRAMED_EMPTY;
    if (is_head(r) || has_no_body(a->status))
        c->rest_n = 0;
    c->req = NULL;
    c->state = CONN_WRITE;
    send_reply(c, a, minor);
    http_request_free(r);
    http_conn_pump(c);
    http_conn_leave(c);
}

/* The client has disconnected: nothing is sent, and the request ends here, unless the server is
 * about to free it. */
static void answer_nobody(struct http_request *r)
{
    if (!r->is_ending)
        http_request_free(r);
}

void http_answer(struct http_req *req, int status, const struct http_field *extra, const char *type,
                 struct buf *body)
{
    struct http_request *r = (struct http_request *)req;
    struct reply a = { status, extra, type, FRAMED_LENGTH, body ? body->len : 0 };
    struct buf none = { 0 }, taken = body ? *body : none;

    assert(!r->is_streaming);
    if (body)
        *body = none;
    if (!r->conn) {
        buf_free(&taken);
        answer_nobody(r);
        return;
    }
    if (!http_conn_keep_body(r->conn, &taken)) {
        buf_free(&taken);
        a = (struct reply){ .status = 503, .framing = FRAMED_LENGTH };
    }
    r->conn->rest = buf_data(&r->conn->body);
    r->conn->rest_n = r->conn->body.len;
    answer(r->conn, r, &a);
}

void http_answer_const(struct http_req *req, int status, const struct http_field *extra,
                       const char *type, const void *bytes, size_t n)
{
    struct http_request *r = (struct http_request *)req;
    struct reply a = { status, extra, type, FRAMED_LENGTH, n };

    assert(!r->is_streaming);
    if (!r->conn) {
        answer_nobody(r);
        return;
    }
    r->conn->rest = bytes;
    r->conn->rest_n = n;
    answer(r->conn, r, &a);
}

/* ---- streams ---- */

void http_stream_begin(struct http_req *req, int status, const struct http_field *extra,
                       const char *type)
{
    struct http_request *r = (struct http_request *)req;
    struct http_conn *c = r->conn;
    struct reply a = { status, extra, type, req->head.minor ? FRAMED_CHUNKS : FRAMED_CLOSE, 0 };

    assert(!r->is_streaming && !has_no_body(status));
    r->is_streaming = true;
    req->is_owned = true;
    if (!c)
        return;
    if (c->has_ended) {
        http_conn_drop(c, HTTP_QUIET);
        return;
    }
    c->keeps = keeps(c, r) && a.framing == FRAMED_CHUNKS;
    make_sound(c, &a);
    r->is_mute = is_head(r) || a.framing == FRAMED_LENGTH;
    c->state = CONN_STREAM;
    http_conn_deadline(c, 0);
    send_reply(c, &a, req->head.minor);
}

/* Sends one piece of a stream, as a chunk if is_chunked, in one write. */
static void put_piece(struct http_conn *c, bool is_chunked, const void *bytes, size_t n)
{
    struct buf *b = &c->server->scratch;

    if (!is_chunked) {
        put_bytes(c, bytes, n);
        return;
    }
    buf_truncate(b, 0);
    buf_printf(b, "%zx\r\n", n);
    buf_add(b, bytes, n);
    buf_add(b, "\r\n", 2);
    put_bytes(c, buf_data(b), b->len);
}

bool http_stream_send(struct http_req *req, const void *bytes, size_t n)
{
    struct http_request *r = (struct http_request *)req;
    struct http_conn *c = r->conn;
    size_t max;

    assert(r->is_streaming);
    if (!c)
        return false;
    if (n == 0 || r->is_mute)
        return true;
    max = c->server->limits.stream_max_bytes;
    if (n > max || stream_pending(c->stream) > max - n) {
        c->server->counters.refused[HTTP_SLOW_READER]++;
        http_conn_drop(c, HTTP_QUIET);
        return false;
    }
    put_piece(c, req->head.minor == 1, bytes, n);
    if (stream_pending(c->stream) && !c->deadline_ms)
        watch_reader(c);
    return true;
}

size_t http_stream_pending(const struct http_req *req)
{
    const struct http_request *r = (const struct http_request *)req;

    return r->conn ? stream_pending(r->conn->stream) : 0;
}

void http_stream_end(struct http_req *req)
{
    struct http_request *r = (struct http_request *)req;
    struct http_conn *c = r->conn;

    assert(r->is_streaming);
    if (!c) {
        answer_nobody(r);
        return;
    }
    http_conn_enter(c);
    if (req->head.minor == 1 && !r->is_mute)
        put_bytes(c, "0\r\n\r\n", 5);
    c->req = NULL;
    c->state = CONN_WRITE;
    http_request_free(r);
    http_conn_pump(c);
    http_conn_leave(c);
}

bool http_is_gone(const struct http_req *req)
{
    return !((const struct http_request *)req)->conn;
}

/* ---- the server's own answers ---- */

void http_conn_continue(struct http_conn *c)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";

    put_bytes(c, text, sizeof(text) - 1);
}

void http_conn_refuse(struct http_conn *c, enum http_reason why, int status, const char *text)
{
    struct reply a = { status, NULL, "application/json; charset=utf-8", FRAMED_LENGTH, 0 };
    struct http_request *r = c->req;

    c->server->counters.refused[why]++;
    http_conn_enter(c);
    buf_puts(&c->body, "{\"error\":");
    buf_quote(&c->body, text, strlen(text));
    buf_puts(&c->body, "}\n");
    a.length = c->body.len;
    c->rest = buf_data(&c->body);
    c->rest_n = is_head(r) ? 0 : c->body.len;
    c->keeps = false;
    c->req = NULL;
    c->state = CONN_WRITE;
    send_reply(c, &a, 1);
    http_request_gone(r, HTTP_TELL);
    http_conn_pump(c);
    http_conn_leave(c);
}
