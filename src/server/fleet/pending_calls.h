/* SPDX-License-Identifier: MIT */
/* pending_calls.h - calls to the store whose owner may be freed before they return: a call that
 * returns after pending_calls_free() is dropped. */
#ifndef SERVER_FLEET_PENDING_CALLS_H
#define SERVER_FLEET_PENDING_CALLS_H

#include "store/store.h"

struct pending_calls;

struct pending_calls *pending_calls_new(struct store *store);
void pending_calls_free(struct pending_calls *e); /* NULL is allowed */

/* As store_submit(), but done() is called only until pending_calls_free(). */
int pending_calls_submit(struct pending_calls *e, struct store_call *c, struct err *err);

int64_t pending_calls_out(const struct pending_calls *e); /* calls at the store */

#endif
