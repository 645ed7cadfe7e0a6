/* SPDX-License-Identifier: MIT */
/* call.h - one request and its answer in its dialect.  pipeline.h drives a call from its head to
 * its handler.
 *
 * A call is created when the head of its request is complete, and freed with the answer.
 * Everything that is built for it lives in its arena, which is the arena of the request.  A handler
 * reads c->ask and ends the call exactly once, at once or from a later event: by call_finish(), by
 * call_data() and call_end(), or by call_fail().  The call is freed then.  A handler need not know
 * whether the client is still connected. */
#ifndef API_PIPELINE_CALL_H
#define API_PIPELINE_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "api/auth/apps.h"
#include "api/pipeline/body_quota.h"
#include "api/pipeline/call_counts.h"
#include "api/pipeline/dialect.h"
#include "api/pipeline/params.h"
#include "api/pipeline/request_id.h"
#include "wire/http/http_req.h"
#include "wire/json/shape.h"

struct api;
struct fleet_host;
struct gate_lookup;
struct route;
struct signature_row;
struct used;

/* The result of a call for the audit log.  A handler may set more than the answer shows. */
struct call_result {
    int status; /* HTTP status, while the answer waits for the audit log */
    int code;   /* as in the answer; 0: success */
    const char *name, *message, *task_id; /* name of the code; NULL: none */
    bool is_unrecorded;                   /* the call is not recorded */
    bool is_refusal;                      /* permission denied: repeated ones are folded */
    const char *what; /* JSON to record instead of the request; NULL: the request */
};

struct call {
    struct api *api;
    struct http_req *req;
    struct arena *arena;
    const struct dialect *dialect;
    const struct route *route;
    const char *rest; /* of the path: the word that matches the "*" of the route */
    char request_id[REQUEST_ID_SIZE];
    bool is_admin; /* arrived at the admin door */
    const struct app *app;
    const char *user;           /* "": no user was named */
    bool user_is_proven;        /* checked by the login service; false: as claimed by the caller */
    void *ask;                  /* the struct of route->in; NULL: the route has no parameters */
    struct body_holder body;    /* counted in api->strange_bodies */
    struct gate_lookup *lookup; /* lookup of the app named in the header; NULL: none in progress */
    struct call_result result;
    enum call_outcome outcome;
    int64_t begun_us;   /* time when its request was complete; -1: not measured */
    const char *type;   /* content type of the answer; NULL: JSON */
    char *request_name; /* key in api->requests (idempotency.h); NULL: no idempotency key */
    const char *request_key, *request_digest; /* the key, and the digest of the request */
    bool is_replay, is_kept;                  /* answered from the store; its answer is stored */
    unsigned allowed; /* METHOD_* allowed for this path, if refused for its method; 0: otherwise */
    const char *denied;  /* action in struct answer_context */
    struct used *replay; /* its signature in memory; NULL: not signed (replay.h) */
    const struct signature_row *stored_signature; /* stored before anything changes; NULL: none */
    bool joins_only; /* its signature was used before: it may only join an unfinished task */
    int64_t retry_s; /* value of Retry-After if it is refused; 0: no such header */
    struct buf out;
    TAILQ_ENTRY(call) link;
};

/* Steps of the pipeline at the end of a call.  The modules of the steps use call.c, so call.c
 * reaches them through this table (api->steps). */
struct call_steps {
    /* result.status is set: calls call_send(), at once or when the result is recorded. */
    void (*answer)(struct call *c);
    void (*release)(struct call *c); /* the call is about to be freed */
};

/* Finds dialect and route.  If there is no such route it answers at once and returns NULL. */
struct call *call_new(struct api *api, bool is_admin, struct http_req *req);
void call_free(struct call *c);   /* without an answer: the request is gone */
void call_settle(struct call *c); /* takes its body out of the quota for unauthenticated callers */

void call_finish(struct call *c, const struct shape *s, const void *data);
struct buf *call_data(struct call *c); /* opens a success; returns where to write the data */
void call_end(struct call *c);         /* closes a success and sends it */
void call_fail(struct call *c, const struct err *err);
void call_refuse(struct call *c, enum refusal why, const char *about);
void call_answer(struct call *c, int status); /* records the result, then sends c->out */
void call_send(struct call *c);               /* sends c->out at once; frees the call */
/* Counts a call that ends; call_send() and call_stream_end() do it themselves. */
void call_count(const struct call *c, enum call_outcome outcome);
extern const struct err call_stopping; /* failure of calls after api_stop() */

/* A streaming answer, written with http_stream_*() of c->req.  The call lives until
 * call_stream_end(), which must be called even if the client has disconnected. */
void call_stream(struct call *c);
void call_stream_end(struct call *c);

/* For handlers. */
struct params call_params(const struct call *c);
bool call_may_see(const struct call *c, const struct fleet_host *h); /* by its business */
bool call_may_business(const struct call *c, int64_t biz_id); /* its own, or one of its sets */
enum lang call_lang(const struct call *c); /* from the header Blueking-Language */

#endif
