/* SPDX-License-Identifier: MIT */
/* logs.h - queries for the output of processes, answered by their agents; the server stores none of
 * it.
 *
 * A query is sent once, in the current session of the host, and ends exactly once: with the agent's
 * answer, with CODE_OFFLINE when the session ends, with CODE_DEADLINE after LOGS_MS, or with
 * ERR_UNAVAILABLE when the server stops.  An answer without a query, or from another session, is
 * ignored.  At most LOGS_MAX queries are in progress, and LOGS_OF_ONE per agent, so neither clients
 * nor an unresponsive agent can fill our memory. */
#ifndef SERVER_SESSIONS_LOGS_H
#define SERVER_SESSIONS_LOGS_H

#include "base/io/loop.h"
#include "link/message.h"
#include "server/fleet/fleet.h"

enum { LOGS_MS = 10 * 1000, LOGS_MAX = 512, LOGS_OF_ONE = 16 };

struct logs;

/* As agents_send(). */
typedef void logs_send_fn(void *arg, const char *agent, int64_t epoch, unsigned type,
                          const struct shape *s, const void *message);
struct logs *logs_new(struct loop *loop, logs_send_fn *send, void *arg);
void logs_free(struct logs *l); /* fails all queries in progress; NULL is allowed */

/* The answer is valid until the callback returns. answer NULL: `failure` says why there is none. */
typedef void logs_fn(void *arg, const struct message_log *answer, const struct err *failure);

/* Assigns the id of the query itself.  On failure (CODE_OFFLINE, ERR_UNAVAILABLE) fn is not called.
 * It is never called before this returns. */
int logs_ask(struct logs *l, const struct fleet_host *host, const struct message_log_ask *ask,
             logs_fn *fn, void *arg, struct err *err);

/* Called by the sessions. */
void logs_on_answer(struct logs *l, const char *agent, int64_t epoch,
                    const struct message_log *answer);
void logs_on_session_end(struct logs *l, const char *agent, int64_t epoch);

#endif
