/* SPDX-License-Identifier: MIT */
/* api.h - the HTTP API: BlueKing's ESB and gateway dialects, and our own /v1.
 *
 * For main: one api, and a door for each way in.  The public door asks everybody for
 * credentials; the admin door (a unix socket that only root can open) asks nobody, and
 * whoever comes in there may do all, as app "admin".
 *
 *     struct api_door public = { api, false }, admin = { api, true };
 *     http_server_new(loop, NULL, &api_owner, &admin)    where there is nothing but API
 *
 * A server that has pages as well keeps an owner of its own, whose on_head, on_request and
 * on_gone begin with
 *
 *     if (api_is_path(req->head.path)) { api_owner.on_head(&public, req); return; }
 *
 * The api uses req->user of its own requests.  A request is answered exactly once, now or
 * when the store or the tasks have done their part; a client that goes meanwhile is no
 * problem.
 *
 * To stop: http_server_free(), api_stop(), login_free(), tasks_free(), fleet_free(),
 * store_close(), api_free(), in this order: from api_stop() on neither login service nor tasks
 * nor fleet are asked for anything, whatever the store still brings; what has not been answered
 * by the end, because the tasks are gone, is let go by api_free(). */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>

#include "base/log.h"
#include "base/loop.h"
#include "server/fleet.h"
#include "server/logs.h"
#include "server/scopes.h"
#include "server/tasks.h"
#include "store/store.h"
#include "wire/http.h"

struct access;
struct api;
struct events;
struct groups;
struct login;
struct seal;

struct api_parts { /* all of them outlive the api, but as told above */
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct fleet *fleet;
    struct tasks *tasks;
    struct logs *logs;
    struct groups *groups;
    struct events *events; /* NULL: nobody can listen to them */
    struct scopes *scopes;
    struct access *access;      /* NULL: no app is believed more than another, nor held back */
    struct login *login;        /* NULL: nobody asks who a user is */
    const struct seal *seal;    /* NULL: nobody may sign requests */
    const char *ca_fingerprint; /* agents_ca_fingerprint(), for join tokens */
    const char *version;
    int64_t audit_days;                /* that rows of the audit log are kept; 0: for ever */
    const struct retention *retention; /* NULL: their age goes by the clock alone */
};

struct api_door {
    struct api *api;
    bool is_admin;
};

struct api *api_new(const struct api_parts *parts);
void api_drain(struct api *a); /* a stop begins: streams, which nobody else would, end */
void api_stop(struct api *a);  /* NULL is fine */
void api_free(struct api *a);  /* NULL is fine */

/* Whether a path is the API's to answer, be it with "no such thing". */
bool api_is_path(const char *path);

extern const struct http_owner api_owner; /* its arg is a struct api_door */

#endif
