/* SPDX-License-Identifier: MIT */
/* client.h - requests to the server's /v1, over HTTP or its admin socket.
 *
 * One connection, kept between requests.  A GET whose connection breaks is sent once
 * more, and so is a POST that has a key by which the server knows it again; another never: it
 * may have been carried out.  No redirect is followed and no
 * proxy of the environment used: the secret goes to the server that was named.
 *
 * Failures are ERR_UNAVAILABLE where trying again may help, and name the address. */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "model/code.h"

enum { CLIENT_BODY_MAX = 64 << 20, CLIENT_CONNECT_MS = 5000 };

struct client;

struct client_config {
    const char *server, *socket; /* socket "": over the network */
    const char *app, *secret;    /* "": none */
    const char *ca;              /* "": those of the system */
    enum lang lang;

    /* Asked now and then during a request: true ends it.  May be NULL. */
    bool (*is_over)(void);
};

struct client_pair { /* of a query; those without a value are left out */
    const char *key, *value;
};

struct client_answer {
    int status;
    struct buf body; /* the caller's to free */
};

int client_new(const struct client_config *config, struct client **ret, struct err *err);
void client_free(struct client *c);
const char *client_address(const struct client *c); /* for people */

/* Appends the text as one piece of a path or a query. */
void client_escape(struct buf *b, const char *text);

/* `query` ends with a NULL key, and may be NULL. */
int client_get(struct client *c, const char *path, const struct client_pair *query,
               int64_t timeout_ms, struct client_answer *ret, struct err *err);
int client_send(struct client *c, const char *method, const char *path,
                const struct client_pair *query, const struct buf *body, int64_t timeout_ms,
                struct client_answer *ret, struct err *err); /* POST, PUT, DELETE */

/* A POST with an Idempotency-Key of its own: one whose connection breaks before the answer is
 * asked again, and the server does it once. */
int client_post_once(struct client *c, const char *path, const struct buf *body, int64_t timeout_ms,
                     struct client_answer *ret, struct err *err);

/* A stream of server-sent events, until either side ends it: the bytes go to the sink as they
 * come, whose false ends it too; so does a server that is silent for too long.  What is not
 * status 200 is an answer like others. */
struct client_sink {
    bool (*fn)(void *arg, const char *bytes, size_t n);
    void *arg;
    int64_t silence_ms;
};
int client_stream(struct client *c, const char *path, const struct client_pair *query,
                  const char *last_id, const struct client_sink *sink, struct client_answer *ret,
                  struct err *err);

#endif
