/* SPDX-License-Identifier: MIT */
/* app.h - apps that may call the API, their permissions, and join tokens, as /v1 and the store have
 * them. */
#ifndef MODEL_APP_H
#define MODEL_APP_H

#include <stdint.h>

#include "wire/json/shape.h"

enum { APP_CODE_MAX_BYTES = 32, APP_SECRET_MAX_BYTES = 128 };

/* Rights that a route can require; one bit each. */
enum app_right {
    APP_READ = 1 << 0,    /* read hosts, processes, tasks */
    APP_OPERATE = 1 << 1, /* start, stop, host ... */
    APP_ADMIN = 1 << 2,   /* manage apps and tokens */
    APP_METRICS = 1 << 3, /* read figures of the whole fleet and of the server */
};

struct app_text {
    const char *text;
};

/* What an app may do, and where.  Lists have exact names; an empty list means no restriction.
 * Businesses and business sets are one restriction: the union of both. */
struct app_permissions {
    struct list rights;        /* struct app_number: enum app_right */
    struct list operations;    /* struct app_number: enum proc_op */
    struct list spaces;        /* struct app_text: namespaces */
    struct list businesses;    /* struct app_number */
    struct list business_sets; /* struct app_number */
    int64_t rate_per_second;   /* requests; 0: the server's setting */
    bool signatures; /* it may sign requests, so its secrets are stored (wire/tls/seal.h) */
};

struct app_number {
    int64_t number;
};

/* Which names of a host an app may host besides those that it operates now.  Its limits are on
 * operations, namespaces and hosts, and the host was checked, so these three say all. */
enum app_may_host {
    MAY_HOST_NONE,  /* also where it is not known */
    MAY_HOST_SPACE, /* those of the same namespace */
    MAY_HOST_ALL,
};

/* POST /v1/apps, whose answer has the secret, once; and GET, whose answer never has it. */
struct app_ask {
    const char *code;
    struct app_permissions permissions;
};

struct app_view {
    const char *code, *secret; /* secret "": not shown */
    struct app_permissions permissions;
    bool can_sign; /* its newest secret is stored */
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
    bool relay; /* agents connect through a relay or NAT: their source address is not the host's */
};

struct token_view {
    const char *token, *id;
    int64_t cloud_id, biz_id, expires_s, uses;
    bool relay;
};

/* GET /v1/tokens, which never shows a token; DELETE /v1/tokens/ID, which shows what was deleted. */
struct token_line {
    const char *id;
    int64_t cloud_id, biz_id, uses_left, created_s, expires_s;
    const char *app, *user, *note;
    int64_t revoked_s;
    bool relay;
};

struct token_page {
    struct list tokens; /* struct token_line */
    const char *next;
};

/* PUT /v1/apps/CODE: replaces the permissions. */
struct app_set_ask {
    struct app_permissions permissions;
};

const char *app_right_name(unsigned right); /* of one bit of enum app_right */

/* Bits of enum app_right.  An empty list gives read and operate; with limits there is never admin
 * or metrics.  Admin includes read. */
unsigned app_rights(const struct app_permissions *p);
bool app_has_limits(const struct app_permissions *p); /* on namespaces or businesses */
bool app_is_plain(const struct app_permissions *p);   /* has only defaults, like a new app */
bool app_may_op(const struct app_permissions *p, int64_t op); /* enum proc_op */
/* Whether requests of the app may carry a spec with commands, user and paths.  An app that may
 * start or host can run anything anyway; any other app may only operate what is registered. */
bool app_may_bring_spec(const struct app_permissions *p);
int64_t app_may_host(const struct app_permissions *p); /* enum app_may_host */
bool app_may_space(const struct app_permissions *p, const char *space);

/* Checks only the list of businesses; server/fleet/scopes.h resolves business sets. */
bool app_may_business(const struct app_permissions *p, int64_t biz_id);
const char *rule_app_code(const char *text); /* NULL, or what is wrong */

extern const struct shape app_permissions_shape, app_ask_shape, app_set_ask_shape, app_view_shape,
    app_page_shape, token_ask_shape, token_view_shape, token_line_shape, token_page_shape;

#endif
