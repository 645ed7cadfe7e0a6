/* SPDX-License-Identifier: MIT */
/* http_callers.h - sockets of TLS addresses that are not connections yet: see http_server.h for
 * their state.  Only for http.c. */
#ifndef WIRE_HTTP_HTTP_CALLERS_H
#define WIRE_HTTP_HTTP_CALLERS_H

#include "wire/http/http_server.h"

void http_callers_init(struct http_server *s);
void http_callers_free(struct http_server *s); /* closes all callers */

/* The socket must be counted as a connection.  On failure the caller of this still owns it. */
int http_caller_new(struct http_door *door, int fd, struct http_peer *peer, const char *address,
                    struct err *err);

/* Closes the oldest silent caller of the host, or (NULL) of the host with the most; false: none. */
bool http_callers_drop(struct http_server *s, struct http_peer *of);

#endif
