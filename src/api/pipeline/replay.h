/* SPDX-License-Identifier: MIT */
/* replay.h - used signatures: an eavesdropper can not repeat a signed request.
 *
 * A signature covers method, path, query and body, so an equal signature means the same request.
 * Clients repeat a request after a time-out: a query is answered again while the first is
 * unanswered, and an operation joins its unfinished task.  All other repetitions are refused.  A
 * signature is remembered until its bk_timestamp is too old for signature_judge().
 *
 * The signature of a call that changes something is in the store before the call is carried out, so
 * it is refused after a restart too.  Signatures of queries are only in memory. */
#ifndef API_PIPELINE_REPLAY_H
#define API_PIPELINE_REPLAY_H

#include "api/auth/refusal.h"
#include "api/auth/signature.h"

struct api;
struct call;
struct replays;

/* Limits for remembered signatures, of all apps and of one app; beyond them: REFUSAL_RATE. */
enum { REPLAYS_MAX = 200000, REPLAYS_PER_APP = 25000 };

struct replays *replays_new(void);
void replays_free(struct replays *r); /* NULL is allowed; after the last call */

/* The signature is valid for this app: records its use.  REFUSALS: the call continues; with
 * `joins_only` set it may only join a task. */
enum refusal replay_enter(struct call *c, const char *app, const struct signature *s);

/* Calls `in` once the signature is stored, if the call is signed and changes something; or refuses
 * the call because an earlier server process recorded the signature. */
void replay_pass(struct call *c, void (*in)(struct call *c));

void replay_release(struct call *c); /* the call was answered, or ends without an answer */

#endif
