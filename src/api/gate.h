/* SPDX-License-Identifier: MIT */
/* gate.h - the one gate every request passes: who calls, for whom, and may it.
 *
 * In ESB's order: the app, by its secret or a signature (shown.h); the user; what the app may
 * do; how often it may ask.  The app's secret is compared with the hashes the store has
 * (apps.h).
 *
 * Users.  Only ESB and Job ask for one.  A bk_token is proof, if there is a login service to
 * ask (login.h); a bare bk_username counts for apps that the settings list, and for all where
 * there is no login service: then nobody could prove anything.  The gateway and /v1 take the
 * name as it comes; the gateway checks a token that is there.
 *
 * Strangers.  Until the gate has let a call in its body is a stranger's.  Those without the
 * header may send GATE_STRANGE_BODY_MAX bytes each: SDKs have their credentials in the body
 * of batches of a thousand processes.  All strange bodies together, as they are announced,
 * are GATE_STRANGE_BYTES_MAX at most, a quarter of what the HTTP server allows all bodies
 * to be; more are told to try again.  Who shows a known app's secret in the header is no
 * stranger from the first byte. */
#ifndef API_GATE_H
#define API_GATE_H

#include "api/call.h"

enum {
    GATE_STRANGE_BODY_MAX = 8 * 1024 * 1024,
    GATE_STRANGE_BYTES_MAX = 64 * 1024 * 1024,
};

/* The head is there: says how large the body may be, or ends the call. */
void gate_head(struct call *c);

/* The body is there: `in` is called with c->app and c->user set, now or later; or the call
 * was ended. */
void gate_pass(struct call *c, void (*in)(struct call *c));

#endif
