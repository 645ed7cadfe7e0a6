/* SPDX-License-Identifier: MIT */
/* idempotency.h - Idempotency-Key: a POST of /v1 that says who it is, so that a client that
 * got no answer may ask again without doing it again.
 *
 * A key belongs to its app and to what was asked with it: method, path and body, word for
 * word.  For IDEMPOTENCY_MS the same again gets the first answer again, also from a server
 * that was started since; something else with the same key is refused (409), and so is the
 * same while the first is in work.  Only what went well is kept: what failed has done
 * nothing, and may be tried again with the same key.
 *
 * An answer that tells a secret, or is very large, is not kept; the same again is told that it
 * was done, or done again if that does no harm.  Of what was in work when a server ended, a
 * task that was made is found again; what does no harm twice (a PUT, or route.is_repeatable)
 * is done; of the rest nobody knows, and that is said. */
#ifndef API_IDEMPOTENCY_H
#define API_IDEMPOTENCY_H

#include <stdbool.h>

struct call;

enum { IDEMPOTENCY_KEY_MAX = 255, IDEMPOTENCY_ANSWER_MAX = 64 * 1024 };
#define IDEMPOTENCY_MS (24 * 3600 * INT64_C(1000))

/* Has the route's handler called, now or later, or ends the call. */
void idempotency_pass(struct call *c);

/* The call is about to be answered.  True: it will be later, by call_answer(), when that is
 * on the disk. */
bool idempotency_keep(struct call *c, int status);

/* The call goes: its key is no more in work. */
void idempotency_release(struct call *c);

#endif
