/* SPDX-License-Identifier: MIT */
/* gate.h - the one gate every request passes: who calls, and may it.
 *
 * Credentials come from the header X-Bkapi-Authorization; if that is there, from nowhere
 * else.  Without it, ESB looks for them in the query (GET) or the body (POST), the gateway in
 * both, query first, by a scan that allocates nothing where the body is JSON; /v1 takes HTTP
 * Basic.  The app's
 * secret is compared with the hashes the store has (apps.h), then its rights with what the
 * route asks for.
 *
 * Users.  bk_username is taken as it comes, for the task's record and the log: nobody has
 * proven it.  There is no login service to ask about a bk_token yet, so it is not looked at,
 * and no call needs a user.  Signatures can not be checked, because of secrets we keep only
 * hashes; one that comes without a secret is refused as a wrong one.
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
    GATE_SIGNATURE_MS = 300 * 1000, /* how old one may be */
};

/* The head is there: says how large the body may be, or ends the call. */
void gate_head(struct call *c);

/* The body is there: `in` is called with c->app and c->user set, now or later; or the call
 * was ended. */
void gate_pass(struct call *c, void (*in)(struct call *c));

#endif
