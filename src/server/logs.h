/* SPDX-License-Identifier: MIT */
/* logs.h - what processes have said, asked of their agents; nothing of it is kept here.
 *
 * A question goes out once, by the session its host has then, and ends exactly once: with
 * the agent's answer, or with CODE_OFFLINE when the session is gone, CODE_DEADLINE after
 * LOGS_MS, ERR_UNAVAILABLE when we stop.  An answer that nobody waits for, or not of the
 * session it was asked of, is passed over.  No more than LOGS_MAX are on their way, and
 * LOGS_OF_ONE to one agent, so that neither those who ask nor an agent that does not answer
 * can fill our memory. */
#ifndef SERVER_LOGS_H
#define SERVER_LOGS_H

#include "base/loop.h"
#include "link/output.h"
#include "server/fleet.h"

enum { LOGS_MS = 10 * 1000, LOGS_MAX = 512, LOGS_OF_ONE = 16 };

struct logs;

/* As agents_send(). */
typedef void logs_send_fn(void *arg, const char *agent, int64_t epoch, unsigned type,
                          const struct shape *s, const void *message);
struct logs *logs_new(struct loop *loop, logs_send_fn *send, void *arg);
void logs_free(struct logs *l); /* tells all who wait; NULL is fine */

/* The answer lives until it returns.  answer NULL: `failure` says why there is none. */
typedef void logs_fn(void *arg, const struct message_log *answer, const struct err *failure);

/* Its id is ours to give.  On failure (CODE_OFFLINE, ERR_UNAVAILABLE) fn is not called; it
 * never is out of this call. */
int logs_ask(struct logs *l, const struct fleet_host *host, const struct message_log_ask *ask,
             logs_fn *fn, void *arg, struct err *err);

/* For the sessions. */
void logs_on_answer(struct logs *l, const char *agent, int64_t epoch,
                    const struct message_log *answer);
void logs_on_session_end(struct logs *l, const char *agent, int64_t epoch);

#endif
