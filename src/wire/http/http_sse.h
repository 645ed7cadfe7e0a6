/* SPDX-License-Identifier: MIT */
/* http_sse.h - server-sent events: a streamed answer (http_req.h) in the format of the browser's
 * EventSource. */
#ifndef WIRE_HTTP_HTTP_SSE_H
#define WIRE_HTTP_HTTP_SSE_H

#include <stdbool.h>

#include "wire/http/http_req.h"

/* Sends the head of the answer; http_stream_end() must be called later. */
void http_sse_begin(struct http_req *req);

/* Sends one event.  `name` and `id` may be NULL and must not contain line breaks; `data` may.
 * Returns false like http_stream_send(). */
bool http_sse_send(struct http_req *req, const char *name, const char *id, const char *data);

/* Sends a comment, so that proxies and peers see that the connection is alive. */
bool http_sse_beat(struct http_req *req);

#endif
