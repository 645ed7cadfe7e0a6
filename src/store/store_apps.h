/* SPDX-License-Identifier: MIT */
/* store_apps.h - who may call us, and who may join: verbs of store.h. */
#ifndef STORE_STORE_APPS_H
#define STORE_STORE_APPS_H

#include "store/store.h"

/* An app may have two secrets at once; "" is none. */
struct app_row {
    const char *code;
    const char *secret_1, *secret_2; /* SHA-256, in hex */
    const char *permissions;         /* JSON, or NULL */
    int64_t created_ms;              /* stays what it was at first */
    const char *sealed_1, *sealed_2; /* the secrets themselves, of who may sign (wire/seal.h) */
};

struct app_find_ask {
    const char *code;
};

extern const struct store_verb store_app_put;  /* app_row; nothing */
extern const struct store_verb store_app_find; /* app_find_ask; list of app_row, at most one */
extern const struct store_verb store_app_list; /* store_page; list of app_row by code */
extern const struct store_verb store_app_del;  /* app_find_ask; nothing, be it there or not */

/* A token is named by the first digits of its hash, "sha256:...", which tell nothing of it. */
enum { TOKEN_ID_CHARS = 12 };

struct token_row {
    const char *hash; /* of the token, which nobody has stored */
    int64_t cloud_id, biz_id;
    int64_t expires_ms, uses_left;
    const char *note;
    int64_t created_ms; /* 0: before this was written down */
    const char *app, *user_name;
    int64_t revoked_ms; /* 0: it was not; else it has no uses left either */
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

/* Takes all its uses away, for good: token_revoke_ask; list of token_row, at most one, as it is
 * then.  Again is fine, and changes nothing. */
extern const struct store_verb store_token_revoke;

/* Takes one use of it away: token_take_ask; list of token_row, one, as it is then.
 * Unknown, used up or expired: ERR_CONFLICT. */
extern const struct store_verb store_token_take;

#endif
