/* SPDX-License-Identifier: MIT */
/* idempotency.h - Idempotency-Key: a client that got no answer to a POST of /v1 can repeat it
 * without a second execution.
 *
 * A key belongs to its app and to the exact method, path and body.  For IDEMPOTENCY_MS a repetition
 * gets the first answer, also after a restart of the server.  Another request with the same key is
 * refused (409), and so is a repetition while the first request is in progress.  Only successes are
 * stored: a failed request changed nothing and can be repeated with the same key.
 *
 * An answer that contains a secret or is very large is not stored; a repetition is told that the
 * request was done, or is executed again if the route is repeatable.  For a request that was in
 * progress when the server ended: if it created a task, the task is returned; if it is a PUT or
 * route.is_repeatable, it is executed again; otherwise the answer says that its result is
 * unknown. */
#ifndef API_PIPELINE_IDEMPOTENCY_H
#define API_PIPELINE_IDEMPOTENCY_H

#include <stdbool.h>

struct call;

enum { IDEMPOTENCY_KEY_MAX = 255, IDEMPOTENCY_ANSWER_MAX = 64 * 1024 };
#define IDEMPOTENCY_MS (24 * 3600 * INT64_C(1000))

/* Calls the route's handler, at once or later, or ends the call. */
void idempotency_pass(struct call *c);

/* The call is about to be answered.  True: call_answer() is called again once the answer is
 * stored. */
bool idempotency_keep(struct call *c, int status);

/* The call ends: its key is no longer in progress. */
void idempotency_release(struct call *c);

#endif
