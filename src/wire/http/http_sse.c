/* SPDX-License-Identifier: MIT */
/* http_sse.c - see http_sse.h. */
#include "wire/http/http_sse.h"

#include <assert.h>
#include <string.h>

void http_sse_begin(struct http_req *req)
{
    static const struct http_field extra[] = {
        { "Cache-Control", "no-store" },
        { "X-Accel-Buffering", "no" }, /* otherwise nginx would buffer events */
        { 0 },
    };

    http_stream_begin(req, 200, extra, "text/event-stream; charset=utf-8");
}

static void put_line(struct buf *b, const char *field, const char *text, size_t n)
{
    buf_puts(b, field);
    buf_puts(b, ": ");
    buf_add(b, text, n);
    buf_addc(b, '\n');
}

/* CR, LF and CRLF all end a line in this format, so each line of the data gets a field of its
 * own. */
static void put_data(struct buf *b, const char *data)
{
    for (;;) {
        size_t n = strcspn(data, "\r\n");

        put_line(b, "data", data, n);
        data += n;
        if (!*data)
            return;
        data += data[0] == '\r' && data[1] == '\n' ? 2 : 1;
    }
}

bool http_sse_send(struct http_req *req, const char *name, const char *id, const char *data)
{
    struct buf b = { 0 };
    bool sent;

    assert(!name || !strpbrk(name, "\r\n"));
    assert(!id || !strpbrk(id, "\r\n"));
    if (name)
        put_line(&b, "event", name, strlen(name));
    if (id)
        put_line(&b, "id", id, strlen(id));
    put_data(&b, data);
    buf_addc(&b, '\n');
    sent = http_stream_send(req, buf_data(&b), b.len);
    buf_free(&b);
    return sent;
}

bool http_sse_beat(struct http_req *req)
{
    return http_stream_send(req, ":\n\n", 3);
}
