/* SPDX-License-Identifier: MIT */
/* body_quota.h - memory for the bodies of callers that are not authenticated yet.
 *
 * Bytes are charged when they arrive, not when they are announced.  All holders together have at
 * most `max` bytes.  When a body needs more, another body that is still being read is evicted: the
 * largest (of equal ones the oldest) of the address that holds the most.  Bodies of up to `small`
 * bytes are spared while a larger one can be evicted, unless the small bodies of their address
 * together have more than a BODY_QUOTA_CROWD-th of `max`.  A body of up to `small` bytes is
 * therefore always accepted, and no address can use up the memory that others need.  A larger body
 * that would itself be evicted is refused. */
#ifndef API_PIPELINE_BODY_QUOTA_H
#define API_PIPELINE_BODY_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/mem/map.h"

enum { BODY_QUOTA_CROWD = 8 };

struct body_address;

/* One body.  All zero: not counted. */
struct body_holder {
    struct body_address *address; /* NULL: not counted */
    size_t bytes;
    bool is_read; /* the body is complete and is no longer evicted */
    TAILQ_ENTRY(body_holder) link;
};

struct body_quota {
    size_t max, small;
    /* Must end the body of the holder and call body_quota_leave(). */
    void (*evict)(struct body_holder *h);
    size_t bytes; /* of all holders */
    struct map addresses;
};

void body_quota_done(struct body_quota *q); /* there must be no holders */

/* `address`: the network of the peer, as in wire/http/http_req.h. */
void body_quota_enter(struct body_quota *q, struct body_holder *h, const char *address);

/* Charges n bytes; false: they do not fit, and nothing was charged. */
bool body_quota_add(struct body_quota *q, struct body_holder *h, size_t n);
void body_quota_leave(struct body_quota *q, struct body_holder *h); /* if counted */

#endif
