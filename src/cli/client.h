/* SPDX-License-Identifier: MIT */
/* client.h - requests to the server's /v1, over HTTP or its admin socket.
 *
 * There is one connection, which is kept between requests.  If it breaks, a GET is sent once
 * more, and so is a POST with a key by which the server recognizes it; other requests are not,
 * because they may have been carried out.  Redirects are not followed and proxies of the
 * environment are not used: the secret is only sent to the named server.
 *
 * Failures are ERR_UNAVAILABLE if trying again may help, and name the address. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "base/text/err.h"
#include "model/code.h"

enum { CLIENT_BODY_MAX = 64 << 20, CLIENT_CONNECT_MS = 5000 };

struct client;

struct client_config {
    const char *server, *socket; /* socket "": use the network */
    const char *app, *secret;    /* "": none */
    const char *ca;              /* "": the CAs of the system */
    enum lang lang;

    /* Called from time to time during a request: true ends it.  May be NULL. */
    bool (*is_over)(void);
};

struct client_pair { /* of a query; pairs without a value are omitted */
    const char *key, *value;
};

struct client_answer {
    int status;
    struct buf body; /* the caller frees it */
};

int client_new(const struct client_config *config, struct client **ret, struct err *err);
void client_free(struct client *c);
const char *client_address(const struct client *c); /* URL or socket, for messages */

/* Appends the text, escaped as one segment of a path or a query. */
void client_escape(struct buf *b, const char *text);

/* `query` is terminated by a NULL key, and may be NULL. */
int client_get(struct client *c, const char *path, const struct client_pair *query,
               int64_t timeout_ms, struct client_answer *ret, struct err *err);
int client_send(struct client *c, const char *method, const char *path,
                const struct client_pair *query, const struct buf *body, int64_t timeout_ms,
                struct client_answer *ret, struct err *err); /* POST, PUT, DELETE */

/* A POST with a new Idempotency-Key: if the connection breaks before the answer, it is sent
 * again, and the server executes it once. */
int client_post_once(struct client *c, const char *path, const struct buf *body, int64_t timeout_ms,
                     struct client_answer *ret, struct err *err);

/* A stream of server-sent events, until either side ends it.  The sink gets the bytes as they
 * arrive; it ends the stream by returning false.  A server that is silent for too long also ends
 * it.  An answer with a status other than 200 is returned like any other. */
struct client_sink {
    bool (*fn)(void *arg, const char *bytes, size_t n);
    void *arg;
    int64_t silence_ms;
};
int client_stream(struct client *c, const char *path, const struct client_pair *query,
                  const char *last_id, const struct client_sink *sink, struct client_answer *ret,
                  struct err *err);

#endif
