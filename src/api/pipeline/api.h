/* SPDX-License-Identifier: MIT */
/* api.h - the HTTP API: BlueKing's ESB and gateway dialects, and our own /v1.
 *
 * main makes one api, and one door for each listening address.  The public door requires
 * credentials.  The admin door (a unix socket that only root can open) requires none; its calls run
 * as app "admin", which may do everything.
 *
 *     struct api_door public = { api, false }, admin = { api, true };
 *     http_server_new(loop, NULL, &api_owner, &admin)    for an address that serves only the API
 *
 * A server that also serves pages has an http_owner of its own.  Its on_head, on_request, on_body
 * and on_gone begin with
 *
 *     if (api_is_path(req->head.path)) { api_owner.on_head(&public, req); return; }
 *
 * The api uses req->user of its requests.  Each request is answered exactly once: at once, or when
 * the store or the tasks have done their part.  The client may disconnect meanwhile.
 *
 * To stop, call in this order: http_server_free(), api_stop(), login_free(), tasks_free(),
 * fleet_free(), store_close(), api_free().  After api_stop() the api no longer uses login service,
 * tasks and fleet, even when a store call completes.  api_free() drops the calls that are still
 * unanswered because the tasks are gone. */
#ifndef API_PIPELINE_API_H
#define API_PIPELINE_API_H

#include <stdbool.h>

#include "api/pipeline/api_parts.h"
#include "wire/http/http.h"

struct api;

struct api_door {
    struct api *api;
    bool is_admin;
};

struct api *api_new(const struct api_parts *parts);
void api_drain(struct api *a); /* begins to stop: ends event streams */
void api_stop(struct api *a);  /* NULL is allowed */
void api_free(struct api *a);  /* NULL is allowed */

/* Whether the API answers requests to this path, including with "not found". */
bool api_is_path(const char *path);

extern const struct http_owner api_owner; /* its arg is a struct api_door */

#endif
