/* SPDX-License-Identifier: MIT */
/* login.h - whose a bk_token is: BlueKing's login service knows.
 *
 * Who a token belongs to is believed for 60 s, that it is nobody's for 5 s; LOGIN_MAX tokens
 * are remembered, by their digests.  Several who ask about one token at once are told by one
 * request.  A service that does not answer is not remembered: the next one asks again. */
#ifndef API_LOGIN_H
#define API_LOGIN_H

#include "base/log.h"
#include "base/loop.h"

enum { LOGIN_MAX = 2000, LOGIN_KNOWN_MS = 60 * 1000, LOGIN_REFUSED_MS = 5 * 1000 };

struct login_config {
    const char *url; /* of is_login, either version; without a path the older one's is meant */
    const char *app_code, *app_token; /* who we are to it; token "": nothing is said */
    const char *ca;                   /* file of certificates; "": those of the system */
    int64_t timeout_ms;
};

enum login_answer {
    LOGIN_KNOWN,
    LOGIN_REFUSED, /* it is nobody's, or nobody's any more */
    LOGIN_AWAY,    /* nobody can say */
};

struct login;

int login_new(struct loop *loop, struct log *log, const struct login_config *config,
              struct login **ret, struct err *err);

/* Tells those who wait that it is away.  NULL is fine. */
void login_free(struct login *l);

/* `fn` is called once, perhaps before this returns.  `user` is good during it; NULL unless
 * LOGIN_KNOWN. */
typedef void login_told_fn(void *arg, enum login_answer answer, const char *user);
void login_ask(struct login *l, const char *token, login_told_fn *fn, void *arg);

#endif
