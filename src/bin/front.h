/* SPDX-License-Identifier: MIT */
/* front.h - what stands behind the public address: the API, and beside it a few pages that need
 * no key (how we are, what the API is).  Whatever is turned away there is counted. */
#ifndef BIN_FRONT_H
#define BIN_FRONT_H

#include "api/api.h"
#include "base/log.h"
#include "base/loop.h"
#include "wire/http.h"

struct front {
    struct loop *loop;
    struct log *log;
    struct api_door *door;
    const struct http_server *http; /* from when there is one; front_owner needs it */
    int64_t started_ms;
    bool is_stopping;
    uint64_t refused[HTTP_REASONS]; /* as of the last line in the log */
    struct buf openapi;             /* empty: nobody has asked for it */
};

extern const struct http_owner front_owner; /* its arg is a struct front */

/* One line for all that were turned away since the last. */
void front_log_refusals(struct front *f);
void front_done(struct front *f); /* what is all zeroes is fine */

#endif
