/* SPDX-License-Identifier: MIT */
/* errands.h - calls to the store on behalf of somebody who may be gone when they come
 * back: what returns after errands_free() is dropped. */
#ifndef SERVER_ERRANDS_H
#define SERVER_ERRANDS_H

#include "store/store.h"

struct errands;

struct errands *errands_new(struct store *store);
void errands_free(struct errands *e); /* NULL is fine */

/* As store_submit(), but done() is called only while the errands are there. */
int errands_submit(struct errands *e, struct store_call *c, struct err *err);

int64_t errands_out(const struct errands *e); /* how many are on their way */

#endif
