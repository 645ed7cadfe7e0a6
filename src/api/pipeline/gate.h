/* SPDX-License-Identifier: MIT */
/* gate.h - authentication and authorization of every request.
 *
 * Checked in ESB's order: the app, by its secret or a signature (credentials.h); the user; the
 * app's rights; its rate.  The app's secret is compared with the hashes in the store (apps.h).
 *
 * Users.  Only ESB and Job require one.  A bk_token proves the user if a login service is
 * configured (login.h).  A bare bk_username is accepted from apps that the settings list, and from
 * all apps if there is no login service.  The gateway and /v1 accept the name as it is; the gateway
 * checks a token if there is one.
 *
 * Strangers.  A caller is a stranger until its app is authenticated.  If the header has code and
 * secret of an app, this is done before the body is read: an app that is not cached is looked up
 * first.  Without the header a body may have GATE_STRANGE_BODY_MAX bytes, because SDKs put their
 * credentials into the body of batches of a thousand processes.  All bodies of strangers together
 * may have GATE_STRANGE_BYTES_MAX bytes, at most a quarter of what the HTTP server allows for all
 * bodies.  Beyond that the largest body of the address that holds the most is refused with "try
 * again" (body_quota.h).  A body of GATE_SMALL_BODY bytes is therefore always read. */
#ifndef API_PIPELINE_GATE_H
#define API_PIPELINE_GATE_H

#include <stdbool.h>
#include <stddef.h>

struct api;
struct call;

enum {
    GATE_STRANGE_BODY_MAX = 8 * 1024 * 1024,
    GATE_STRANGE_BYTES_MAX = 64 * 1024 * 1024,
    GATE_SMALL_BODY = 64 * 1024,
};

void gate_init(struct api *api);

/* The head is complete: sets the limit of the body, at once or later (http_hold_body()), or ends
 * the call. */
void gate_head(struct call *c);
bool gate_body(struct call *c, size_t n); /* n bytes arrived; false: the call was ended */
void gate_forget(struct call *c);         /* the call ends */

/* The body is complete: calls `in` with c->app and c->user set, at once or later; or ends the
 * call. */
void gate_pass(struct call *c, void (*in)(struct call *c));

#endif
