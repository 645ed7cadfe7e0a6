/* SPDX-License-Identifier: MIT */
/* agents_ask.h - calls to the store, on behalf of a peer or of none.
 *
 * When a peer is freed while a call of it is at the store, the call returns without a peer. */
#ifndef SERVER_SESSIONS_AGENTS_ASK_H
#define SERVER_SESSIONS_AGENTS_ASK_H

#include "server/sessions/agents_state.h"

struct ask;
/* `p` is NULL if the peer is gone.  The call is freed afterwards. */
typedef void ask_done_fn(struct agents *a, struct peer *p, struct store_call *c, void *data);

/* A call whose arena the caller fills; ask_submit() sends it. */
struct store_call *ask_new(struct agents *a, struct peer *p, const struct store_verb *verb,
                           ask_done_fn *done);
void ask_set_data(struct store_call *c, void *data);   /* passed to done() */
int ask_submit(struct store_call *c, struct err *err); /* on failure the call is freed */
void ask_forget(struct ask *ask);                      /* its peer is freed; NULL is allowed */

#endif
