/* SPDX-License-Identifier: MIT */
/* request_id.h - random ids of requests, as hex text. */
#ifndef API_PIPELINE_REQUEST_ID_H
#define API_PIPELINE_REQUEST_ID_H

#include <stddef.h>

enum { REQUEST_ID_BYTES = 16, REQUEST_ID_SIZE = 2 * REQUEST_ID_BYTES + 1 };

/* A supply of random ids.  All zero: empty. */
struct request_ids {
    unsigned char bytes[64][REQUEST_ID_BYTES];
    size_t n; /* unused ones */
};

void request_id_make(struct request_ids *ids, char to[REQUEST_ID_SIZE]);

#endif
