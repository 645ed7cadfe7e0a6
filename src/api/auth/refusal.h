/* SPDX-License-Identifier: MIT */
/* refusal.h - the reasons to refuse a request before its parameters are read, and their texts in
 * each dialect. */
#ifndef API_AUTH_REFUSAL_H
#define API_AUTH_REFUSAL_H

#include "base/mem/buf.h"
#include "model/code.h"

/* Envelopes and refusals of Job and of the backend dialect are those of ESB. */
enum dialect_kind {
    DIALECT_ESB,
    DIALECT_GATEWAY,
    DIALECT_V1,
    DIALECT_JOB,
    DIALECT_BACKEND,
    DIALECTS
};

/* The comment says what `about` is. */
enum refusal {
    REFUSAL_PATH,           /* method="POST" path="/x" */
    REFUSAL_METHOD,         /* the same, and allowed="GET, POST" */
    REFUSAL_TOO_LARGE,      /* limit in bytes */
    REFUSAL_STRANGE_LARGE,  /* limit in bytes; it is higher with credentials in the header */
    REFUSAL_BUSY,           /* - */
    REFUSAL_HEADER,         /* X-Bkapi-Authorization is not a JSON object, or there are two */
    REFUSAL_BASIC,          /* Authorization is not Basic, or can not be decoded */
    REFUSAL_NO_CREDENTIALS, /* neither secret nor signature */
    REFUSAL_NO_CODE,
    REFUSAL_NO_SECRET,
    REFUSAL_ACCESS_TOKEN, /* access tokens can not be verified here */
    REFUSAL_UNKNOWN_APP,  /* the code */
    REFUSAL_WRONG_SECRET, /* the app's code */
    REFUSAL_SIGNATURE,
    REFUSAL_NONCE_NONE,
    REFUSAL_NONCE_ILLEGAL,
    REFUSAL_NONCE_NEGATIVE,
    REFUSAL_TIME_NONE,
    REFUSAL_TIME_ILLEGAL,
    REFUSAL_TIME_EXPIRED,
    REFUSAL_TOKEN,   /* a bk_token that the login service does not know */
    REFUSAL_LOGIN,   /* the login service can not be reached */
    REFUSAL_NO_USER, /* neither bk_token nor a name that is accepted without proof */
    REFUSAL_RATE,    /* the app's code: rate limit exceeded */
    REFUSAL_RIGHT,   /* the component; in /v1 the right */
    REFUSAL_PEER,    /* at the admin socket: the kernel does not report the peer */
    REFUSAL_FORM,    /* the label of a field and what is wrong with it; ESB's forms */
    REFUSALS
};

/* "{}" in a text stands for `about`. */
struct refusal_answer {
    int status, code;
    const char *name; /* of the code; NULL: none */
    const char *text[LANGS];
};

/* Appends the text with `about` in place of "{}". */
void refusal_fill(struct buf *to, const char *text, const char *about);

/* Text NULL: the dialect does not have this refusal. */
struct refusal_answer refusal_answer(enum refusal why, enum dialect_kind kind);

#endif
