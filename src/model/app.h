/* SPDX-License-Identifier: MIT */
/* app.h - who may call us, what for, and join tokens; as /v1 and the store have
 * them. */
#ifndef MODEL_APP_H
#define MODEL_APP_H

#include <stdint.h>

#include "wire/shape.h"

enum { APP_CODE_MAX_BYTES = 32, APP_SECRET_MAX_BYTES = 128 };

/* What a route asks for; a bit each. */
enum app_right {
    APP_READ = 1 << 0,    /* look at hosts, processes, tasks */
    APP_OPERATE = 1 << 1, /* start, stop, host ... */
    APP_ADMIN = 1 << 2,   /* apps, tokens */
    APP_METRICS = 1 << 3, /* figures of all hosts together, and of the server */
};

struct app_text {
    const char *text;
};

/* What an app may do, and where: exact names; an empty list means all of them, and another
 * is a limit.  Businesses and sets of them are one limit: what either of them has. */
struct app_permissions {
    struct list rights;        /* struct app_number: enum app_right */
    struct list operations;    /* struct app_number: enum proc_op */
    struct list spaces;        /* struct app_text: namespaces */
    struct list businesses;    /* struct app_number */
    struct list business_sets; /* struct app_number */
    int64_t rate_per_second;   /* requests; 0: as the server's settings say */
    bool signatures;           /* it may sign requests, so its secrets are kept (wire/seal.h) */
};

struct app_number {
    int64_t number;
};

/* POST /v1/apps, which answers with the secret, once; and GET, which never does. */
struct app_ask {
    const char *code;
    struct app_permissions permissions;
};

struct app_view {
    const char *code, *secret; /* secret "": not told */
    struct app_permissions permissions;
    bool can_sign; /* its newest secret is kept */
    int64_t created_s;
};

struct app_page {
    struct list apps; /* struct app_view, by code */
    const char *next;
};

/* POST /v1/tokens. */
struct token_ask {
    int64_t cloud_id, biz_id, ttl_s, uses;
    const char *note;
};

struct token_view {
    const char *token, *id;
    int64_t cloud_id, biz_id, expires_s, uses;
};

/* GET /v1/tokens, which never tells a token; DELETE /v1/tokens/ID, which tells what is gone. */
struct token_line {
    const char *id;
    int64_t cloud_id, biz_id, uses_left, created_s, expires_s;
    const char *app, *user, *note;
    int64_t revoked_s;
};

struct token_page {
    struct list tokens; /* struct token_line */
    const char *next;
};

/* PUT /v1/apps/CODE: what it may do from now on. */
struct app_set_ask {
    struct app_permissions permissions;
};

const char *app_right_name(unsigned right); /* one of them */

/* Bits; read and operate, if the list is empty; never admin or metrics, if there are limits. */
unsigned app_rights(const struct app_permissions *p);
bool app_has_limits(const struct app_permissions *p);         /* to some namespaces or businesses */
bool app_is_plain(const struct app_permissions *p);           /* nothing is said: as a new one is */
bool app_may_op(const struct app_permissions *p, int64_t op); /* enum proc_op */
bool app_may_space(const struct app_permissions *p, const char *space);

/* Whether the list of businesses has it; what its sets have is for server/scopes.h to say. */
bool app_may_business(const struct app_permissions *p, int64_t biz_id);
const char *rule_app_code(const char *text); /* NULL, or what is wrong */

extern const struct shape app_permissions_shape, app_ask_shape, app_set_ask_shape, app_view_shape,
    app_page_shape, token_ask_shape, token_view_shape, token_line_shape, token_page_shape;

#endif
