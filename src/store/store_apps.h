/* SPDX-License-Identifier: MIT */
/* store_apps.h - apps and join tokens: verbs of store.h. */
#ifndef STORE_STORE_APPS_H
#define STORE_STORE_APPS_H

#include "store/store.h"

/* An app may have two valid secrets; "" is none. */
struct app_row {
    const char *code;
    const char *secret_1, *secret_2; /* SHA-256, hex */
    const char *permissions;         /* JSON, or NULL */
    int64_t created_ms;              /* kept when the row is replaced */
    const char *sealed_1,
        *sealed_2; /* encrypted secrets of an app that may sign (wire/tls/seal.h) */
};

struct app_find_ask {
    const char *code;
};

extern const struct store_verb store_app_put;  /* app_row; nothing */
extern const struct store_verb store_app_find; /* app_find_ask; list of app_row, at most one */
extern const struct store_verb store_app_list; /* store_page; list of app_row by code */
extern const struct store_verb store_app_del; /* app_find_ask; nothing; a missing app is no error */

/* A token is identified by the first digits of its hash, "sha256:...", which do not reveal it. */
enum { TOKEN_ID_CHARS = 12 };

struct token_row {
    const char *hash; /* of the token, which itself is never stored */
    int64_t cloud_id, biz_id;
    int64_t expires_ms, uses_left;
    const char *note;
    int64_t created_ms; /* 0: made by a version that did not record it */
    const char *app, *user_name;
    int64_t revoked_ms; /* 0: not revoked; else it has no uses left either */
    bool relay;         /* its agents may connect from another address than their own */
};

struct token_find_ask {
    const char *hash;
};

struct token_revoke_ask {
    const char *id;
    int64_t now_ms;
};

struct token_take_ask {
    const char *hash;
    int64_t now_ms;
};

extern const struct store_verb store_token_put;  /* token_row; nothing */
extern const struct store_verb store_token_find; /* token_find_ask; list of token_row, 0 or 1 */
extern const struct store_verb store_token_list; /* store_page; list of token_row by hash */

/* Removes all its uses permanently: token_revoke_ask; list of token_row, at most one, as changed.
 * Repeating it changes nothing. */
extern const struct store_verb store_token_revoke;

/* Takes one use: token_take_ask; list of token_row, one, as changed.  ERR_CONFLICT if the token is
 * unknown, used up or expired. */
extern const struct store_verb store_token_take;

#endif
