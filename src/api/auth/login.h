/* SPDX-License-Identifier: MIT */
/* login.h - users of a bk_token, from BlueKing's login service.
 *
 * The user of a token is cached for 60 s, an invalid token for 5 s; LOGIN_MAX tokens are cached, by
 * their digests.  Concurrent questions about one token share one request.  That the service does
 * not answer is not cached: the next question is sent again. */
#ifndef API_AUTH_LOGIN_H
#define API_AUTH_LOGIN_H

#include "base/io/log.h"
#include "base/io/loop.h"

enum { LOGIN_MAX = 2000, LOGIN_KNOWN_MS = 60 * 1000, LOGIN_REFUSED_MS = 5 * 1000 };

struct login_config {
    const char *url; /* of is_login, either version; without a path the older version is used */
    const char *app_code, *app_token; /* our identity for the service; token "": none is sent */
    const char *ca;                   /* file of certificates; "": those of the system */
    int64_t timeout_ms;
};

enum login_answer {
    LOGIN_KNOWN,
    LOGIN_REFUSED, /* the token is invalid or expired */
    LOGIN_AWAY,    /* the service does not answer */
};

struct login;

int login_new(struct loop *loop, struct log *log, const struct login_config *config,
              struct login **ret, struct err *err);

/* Answers all waiting callers with LOGIN_AWAY. NULL is allowed. */
void login_free(struct login *l);

/* `fn` is called once, perhaps before this returns.  `user` is valid during the call; NULL unless
 * LOGIN_KNOWN. */
typedef void login_told_fn(void *arg, enum login_answer answer, const char *user);
void login_ask(struct login *l, const char *token, login_told_fn *fn, void *arg);

#endif
