/* SPDX-License-Identifier: MIT */
/* front.h - the handlers behind the public address: the API, and a few pages that need no
 * credentials (health, OpenAPI).  Refused connections are counted. */
#ifndef BIN_FRONT_H
#define BIN_FRONT_H

#include "api/pipeline/api.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "wire/http/http.h"

struct front {
    struct loop *loop;
    struct log *log;
    struct api_door *door;
    const struct http_server *http; /* set when it exists; front_owner needs it */
    int64_t started_ms;
    bool is_stopping;
    uint64_t refused[HTTP_REASONS]; /* as of the last log line */
    struct buf openapi;             /* empty: not requested yet */
};

extern const struct http_owner front_owner; /* its arg is a struct front */

/* Logs one line with all refusals since the last one. */
void front_log_refusals(struct front *f);
void front_done(struct front *f); /* all zeroes is fine */

#endif
