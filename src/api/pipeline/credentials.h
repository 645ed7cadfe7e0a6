/* SPDX-License-Identifier: MIT */
/* credentials.h - the credentials of a request.
 *
 * If the header X-Bkapi-Authorization is present, only its credentials count.  Otherwise ESB reads
 * them from the query (GET) or the body (POST); the gateway from both, query first.  A JSON body is
 * scanned without allocation.  /v1 takes HTTP Basic, never the query.  A signature is always in the
 * query.  The headers of a trusted ESB (access.h) are accepted as they are. */
#ifndef API_PIPELINE_CREDENTIALS_H
#define API_PIPELINE_CREDENTIALS_H

#include "api/auth/signature.h"
#include "api/pipeline/call.h"

/* Texts are in the call's arena; NULL: absent. */
struct credentials {
    const char *code, *secret, *user, *token;
    const char *access_token; /* from the header */
    struct signature signature;
    bool is_trusted; /* code and user were checked by a trusted ESB */
};

enum credentials_where { CREDENTIALS_NOWHERE, CREDENTIALS_THERE, CREDENTIALS_WRONG };

/* Reads the credentials in the head.  CREDENTIALS_WRONG: *ret_why is set. */
enum credentials_where credentials_in_head(const struct call *c, struct credentials *ret,
                                           enum refusal *ret_why);

/* Whether the head has a non-empty header for credentials. */
bool credentials_has_header(const struct call *c);

/* Reads head, query and body.  False: the call was ended. */
bool credentials_read(struct call *c, struct credentials *ret);

#endif
