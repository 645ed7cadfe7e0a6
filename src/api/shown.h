/* SPDX-License-Identifier: MIT */
/* shown.h - what a request shows to be let in: its credentials, wherever they stand.
 *
 * Those of the header X-Bkapi-Authorization count alone, if it is there.  Without it, ESB
 * looks for them in the query (GET) or the body (POST), the gateway in both, query first, by a
 * scan that allocates nothing where the body is JSON; /v1 takes HTTP Basic, and never the
 * query.  A signature stands in the query in any case.  From an ESB that is trusted
 * (access.h) its own headers are taken. */
#ifndef API_SHOWN_H
#define API_SHOWN_H

#include "api/call.h"
#include "api/signature.h"

/* Texts are in the call's arena; NULL: not there. */
struct shown {
    const char *code, *secret, *user, *token;
    const char *access_token; /* of the header */
    struct signature signature;
    bool is_trusted; /* code and user are an ESB's word, which is enough */
};

enum shown_where { SHOWN_NOWHERE, SHOWN_THERE, SHOWN_WRONG };

/* What the head alone says; SHOWN_WRONG: *ret_why is set. */
enum shown_where shown_in_head(const struct call *c, struct shown *ret, enum refusal *ret_why);

/* Whether the head has a place for credentials that is not empty. */
bool shown_has_header(const struct call *c);

/* All of it.  False: the call was ended. */
bool shown_read(struct call *c, struct shown *ret);

#endif
