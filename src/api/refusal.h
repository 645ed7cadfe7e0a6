/* SPDX-License-Identifier: MIT */
/* refusal.h - why a request is not looked at, and what each dialect says to that. */
#ifndef API_REFUSAL_H
#define API_REFUSAL_H

#include "base/buf.h"
#include "model/code.h"

/* Job's answers and those behind an ESB are wrapped like ESB's, and refused like them. */
enum dialect_kind {
    DIALECT_ESB,
    DIALECT_GATEWAY,
    DIALECT_V1,
    DIALECT_JOB,
    DIALECT_BACKEND,
    DIALECTS
};

/* What `about` is stands beside it. */
enum refusal {
    REFUSAL_PATH,           /* method="POST" path="/x" */
    REFUSAL_METHOD,         /* the same, and allowed="GET, POST" */
    REFUSAL_TOO_LARGE,      /* the limit in bytes */
    REFUSAL_STRANGE_LARGE,  /* the same; with credentials in the header it would be higher */
    REFUSAL_BUSY,           /* - */
    REFUSAL_HEADER,         /* X-Bkapi-Authorization is no JSON object, or there are two */
    REFUSAL_BASIC,          /* Authorization is not Basic, or nothing that can be read */
    REFUSAL_NO_CREDENTIALS, /* neither secret nor signature */
    REFUSAL_NO_CODE,
    REFUSAL_NO_SECRET,
    REFUSAL_ACCESS_TOKEN, /* that nobody here can check */
    REFUSAL_UNKNOWN_APP,  /* its code */
    REFUSAL_WRONG_SECRET, /* the app's code */
    REFUSAL_SIGNATURE,
    REFUSAL_NONCE_NONE,
    REFUSAL_NONCE_ILLEGAL,
    REFUSAL_NONCE_NEGATIVE,
    REFUSAL_TIME_NONE,
    REFUSAL_TIME_ILLEGAL,
    REFUSAL_TIME_EXPIRED,
    REFUSAL_TOKEN,   /* a bk_token that the login service does not know */
    REFUSAL_LOGIN,   /* the login service can not be asked now */
    REFUSAL_NO_USER, /* neither bk_token nor a name that may be believed */
    REFUSAL_RATE,    /* the app's code: it asks too often */
    REFUSAL_RIGHT,   /* the component; of /v1 the right */
    REFUSAL_FORM,    /* what is wrong with a field, and its label: of ESB's own forms */
    REFUSALS
};

/* "{}" in a text is what it is about. */
struct said {
    int status, code;
    const char *name; /* of the code; NULL: it has none */
    const char *text[LANGS];
};

/* Appends such a text, with what it is about in its place. */
void refusal_fill(struct buf *to, const char *text, const char *about);

/* Text NULL: the dialect never refuses so. */
struct said refusal_said(enum refusal why, enum dialect_kind kind);

#endif
