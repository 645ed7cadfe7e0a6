/* SPDX-License-Identifier: MIT */
/* call.h - one request on its way: admitted (gate.h), read by its route's shape, done by the
 * route's handler, and answered in its dialect.
 *
 * A call is made when the head of its request has come, and ends with the answer.  What is
 * built for it lives in its arena, which is the request's.  A handler has c->ask, and ends
 * the call exactly once, now or from a later event: by call_finish(), call_data() and
 * call_end(), or call_fail().  The call is gone then.  Whether the client is still there
 * makes no difference to it. */
#ifndef API_CALL_H
#define API_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "api/api.h"
#include "api/apps.h"
#include "api/call_counts.h"
#include "api/dialect.h"
#include "api/params.h"
#include "wire/shape.h"

struct route;

enum { REQUEST_ID_BYTES = 16, REQUEST_ID_SIZE = 2 * REQUEST_ID_BYTES + 1 };

/* What came of a call, for the audit log; a handler may say more than its answer does. */
struct call_result {
    int status;                           /* of HTTP, while the answer waits for the log */
    int code;                             /* as the caller sees it; 0: done */
    const char *name, *message, *task_id; /* name: of the code; NULL: none */
    bool is_unsaid;                       /* nothing is to be written down */
    const char *what;                     /* JSON, in place of what was asked; NULL: that */
};

struct call {
    struct api *api;
    struct http_req *req;
    struct arena *arena;
    const struct dialect *dialect;
    const struct route *route;
    const char *rest; /* of the path, what the route's "*" stands for */
    char request_id[REQUEST_ID_SIZE];
    bool is_admin; /* came in by the admin door */
    const struct app *app;
    const char *user;    /* "": nobody is named */
    bool user_is_proven; /* by the login service; else it is as the caller says */
    void *ask;           /* the struct of route->in; NULL if it has none */
    size_t held_bytes;   /* of api->strange_bytes */
    struct call_result result;
    enum call_outcome outcome;
    int64_t begun_us;   /* when its request was there; -1: it is not asked */
    const char *type;   /* of the answer; NULL: JSON */
    char *request_name; /* with the app: what idempotency.h knows it by; NULL: it has no key */
    const char *request_key, *request_digest; /* and what was asked with it */
    bool is_replay, is_kept;                  /* it is told once more; its answer is on the disk */
    unsigned allowed;   /* METHOD_*: it came by another; 0: that is not why it is refused */
    const char *denied; /* as teller's action */
    int64_t retry_s;    /* it is refused, and may come again after so long; 0: nothing is said */
    struct buf out;
    TAILQ_ENTRY(call) link;
};

/* Finds dialect and route, and answers at once if there is none; NULL then. */
struct call *call_new(struct api *api, bool is_admin, struct http_req *req);
void call_free(struct call *c);   /* without an answer: the request is gone, or not owned */
void call_start(struct call *c);  /* the body is there */
void call_settle(struct call *c); /* its body no longer counts as a stranger's */

void call_finish(struct call *c, const struct shape *s, const void *data);
struct buf *call_data(struct call *c); /* where a success writes its data, as JSON */
void call_end(struct call *c);         /* and that was it */
void call_fail(struct call *c, const struct err *err);
void call_refuse(struct call *c, enum refusal why, const char *about);
void call_answer(struct call *c, int status); /* with what c->out has by now */
extern const struct err call_stopping;        /* why those fail who come too late */

/* An answer that goes on, by http_stream_*() of c->req: the call stays until it is ended,
 * which is owed also when the client is gone. */
void call_stream(struct call *c);
void call_stream_end(struct call *c);

/* For handlers. */
struct params call_params(const struct call *c);
bool call_may_see(const struct call *c, const struct fleet_host *h); /* its business */
bool call_may_business(const struct call *c, int64_t biz_id);        /* or a set that has it */
enum lang call_lang(const struct call *c); /* that the caller reads: Blueking-Language */

#endif
