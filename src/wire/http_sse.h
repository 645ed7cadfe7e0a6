/* SPDX-License-Identifier: MIT */
/* http_sse.h - server-sent events: a streamed answer (http_req.h) in the form
 * that browsers' EventSource reads. */
#ifndef WIRE_HTTP_SSE_H
#define WIRE_HTTP_SSE_H

#include <stdbool.h>

#include "wire/http_req.h"

/* The head of the answer; http_stream_end() is owed from here on. */
void http_sse_begin(struct http_req *req);

/* One event.  `name` and `id` may be NULL and have no line breaks; `data` may have
 * any.  False as http_stream_send() is. */
bool http_sse_send(struct http_req *req, const char *name, const char *id, const char *data);

/* A comment, so that proxies and peers see that somebody is there. */
bool http_sse_beat(struct http_req *req);

#endif
