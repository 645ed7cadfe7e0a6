/* SPDX-License-Identifier: MIT */
/* signature.h - requests that are signed with the app's secret instead of containing it.
 *
 * bk_signature, in the query, is base64 of HMAC-SHA1 over
 *
 *     METHOD PATH ? k=v & k=v ...
 *
 * without the blanks: all other parameters of the query, decoded and sorted by key; for a POST
 * including data=BODY. bk_nonce and bk_timestamp are required.
 *
 * PATH is the path as the client sent it: a proxy that rewrites it puts the original into
 * X-Request-Uri.  Any client can set that header, so both paths must end with the same call: a
 * signature for one call is not valid for another.
 *
 * Repeated requests: see replay.h. */
#ifndef API_AUTH_SIGNATURE_H
#define API_AUTH_SIGNATURE_H

#include "api/auth/refusal.h"
#include "base/mem/arena.h"
#include "wire/http/http_req.h"
#include "wire/http/http_uri.h"

enum { SIGNATURE_S = 300 }; /* maximum age, and maximum time in the future */

struct signature {
    const char *given;        /* NULL: not signed */
    const char *nonce, *time; /* NULL: absent */
    struct http_pair *pairs;  /* all but the signature, sorted */
    size_t n;
    bool is_ambiguous; /* a key occurs twice */
};

/* Parses the query. */
int signature_read(const char *query, struct arena *arena, struct signature *ret, struct err *err);

/* Checks nonce and time, before the signature is computed; REFUSALS: they are valid. */
enum refusal signature_judge(const struct signature *s, int64_t wall_s);

/* Whether one of the app's secrets ("": none) was used for it. */
bool signature_fits(const struct signature *s, const struct http_req *req,
                    const char *const secrets[2], struct arena *arena);

#endif
