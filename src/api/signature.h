/* SPDX-License-Identifier: MIT */
/* signature.h - requests that are signed with the app's secret instead of showing it.
 *
 * bk_signature, in the query, is base64 of HMAC-SHA1 over
 *
 *     METHOD PATH ? k=v & k=v ...
 *
 * without the blanks: all other parameters of the query, decoded and sorted by key, and
 * data=BODY among them where it is a POST.  bk_nonce and bk_timestamp are required.
 *
 * PATH is what the client has asked for: in front of us may be somebody who changed it, and
 * says so by X-Request-Uri.  Anybody can say that, so a path that ends in another call than
 * the one that was asked for is not believed: what was signed for one is no key to another.
 *
 * That the same bytes come again within SIGNATURE_S is let pass, as ESB does: clients
 * send a request again when they have waited too long (docs/decisions/0018). */
#ifndef API_SIGNATURE_H
#define API_SIGNATURE_H

#include "api/refusal.h"
#include "base/arena.h"
#include "wire/http_req.h"
#include "wire/http_uri.h"

enum { SIGNATURE_S = 300 }; /* how old one may be, and how far ahead */

struct signature {
    const char *given;        /* NULL: there is none */
    const char *nonce, *time; /* NULL: not there */
    struct http_pair *pairs;  /* all but the signature, sorted */
    size_t n;
    bool is_ambiguous; /* a key stands twice */
};

/* All that the query says. */
int signature_read(const char *query, struct arena *arena, struct signature *ret, struct err *err);

/* What is wrong before anything is computed; REFUSALS: nothing. */
enum refusal signature_judge(const struct signature *s, int64_t wall_s);

/* Whether one of the app's secrets ("": none) has made it. */
bool signature_fits(const struct signature *s, const struct http_req *req,
                    const char *const secrets[2], struct arena *arena);

#endif
