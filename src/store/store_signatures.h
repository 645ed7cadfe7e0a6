/* SPDX-License-Identifier: MIT */
/* store_signatures.h - signatures of requests that change something, so that a restarted server
 * still knows which ones were used: verbs of store.h. */
#ifndef STORE_STORE_SIGNATURES_H
#define STORE_STORE_SIGNATURES_H

#include "store/store.h"

struct signature_row {
    const char *app, *signature;
    int64_t expires_s; /* the last second in which its bk_timestamp is accepted */
};

/* signature_use_ask; signature_use_got. */
struct signature_use_ask {
    struct signature_row row;
    int64_t now_s; /* rows that expired before it are deleted, a few with each call */
};

struct signature_use_got {
    bool is_new; /* false: it was used before */
};

extern const struct store_verb store_signature_use;

#endif
