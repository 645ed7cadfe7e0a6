/* SPDX-License-Identifier: MIT */
/* app.c - the shapes of app.h, and what an app may do. */
#include "model/app.h"

#include <ctype.h>
#include <string.h>

#include "base/text/msg.h"
#include "model/operation.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { LIST_MAX = 1000, PAGE_MAX = 1000, YEAR_S = 366 * DAY_S, RATE_MAX = 1000000 };

/* The code is part of paths, where ".." has a meaning, and of command lines, where "-x" has one. */
const char *rule_app_code(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
            return MSG("must be letters, digits, \"-\", \"_\" and \".\"");
    }
    return *text == '-' || *text == '.' ? MSG("must begin with a letter, a digit or \"_\"") : NULL;
}

/* clang-format off */
static const struct enum_name right_names[] = {
    { APP_READ, "read" }, { APP_OPERATE, "operate" }, { APP_ADMIN, "admin" }, { APP_METRICS, "metrics" }, { 0 },
};
static const struct field right_fields[] = {
    { "right", .type = FIELD_ENUM, AT(app_number, number), .names = right_names, .fallback = APP_READ,
      .flags = FIELD_BY_NAME },
    { 0 },
};
static const struct shape right_shape = { "right", sizeof(struct app_number), right_fields, .bare = true };

static const struct field operation_fields[] = {
    { "operation", .type = FIELD_ENUM, AT(app_number, number), .names = operation_names, .fallback = PROC_OP_QUERY,
      .flags = FIELD_BY_NAME },
    { 0 },
};
static const struct shape operation_shape = { "operation", sizeof(struct app_number), operation_fields, .bare = true };

static const struct field space_fields[] = {
    { "namespace", .type = FIELD_STR, AT(app_text, text), .min = 1, .max = NAME_MAX_BYTES, .check = rule_space },
    { 0 },
};
static const struct shape space_shape = { "namespace", sizeof(struct app_text), space_fields, .bare = true };

static const struct field business_fields[] = {
    { "business", .type = FIELD_INT, AT(app_number, number) },
    { 0 },
};
static const struct shape business_shape = { "business", sizeof(struct app_number), business_fields, .bare = true };

static const struct field permission_fields[] = {
    { "rights", .type = FIELD_LIST, AT(app_permissions, rights), .max = LIST_MAX, .sub = &right_shape,
      .doc = "`read`, `operate`, `admin`, `metrics`, the last two only without limits; empty: `read` and `operate`" },
    { "operations", .type = FIELD_LIST, AT(app_permissions, operations), .max = LIST_MAX, .sub = &operation_shape,
      .doc = "only these, by name: `start`, `query` ...; empty: all" },
    { "namespaces", .type = FIELD_LIST, AT(app_permissions, spaces), .max = LIST_MAX, .sub = &space_shape,
      .doc = "only processes of these; empty: all" },
    { "businesses", .type = FIELD_LIST, AT(app_permissions, businesses), .max = LIST_MAX, .sub = &business_shape,
      .doc = "only hosts of these; empty: all" },
    { "business_sets", .type = FIELD_LIST, AT(app_permissions, business_sets), .max = LIST_MAX, .sub = &business_shape,
      .doc = "and hosts of the businesses in these sets; empty: only those of `businesses`" },
    { "rate_per_second", .type = FIELD_INT, AT(app_permissions, rate_per_second), .max = RATE_MAX,
      .doc = "requests per second that it may send; 0: the server's setting `rate_per_second`" },
    { "signatures", .type = FIELD_BOOL, AT(app_permissions, signatures),
      .doc = "it may sign requests instead of sending its secret; the server then stores its secrets, encrypted, from the "
             "next new secret on" },
    { 0 },
};
const struct shape app_permissions_shape = { "permissions", sizeof(struct app_permissions), permission_fields,
                                             .doc = "What an app may do, and where." };

static const struct field app_ask_fields[] = {
    { "code", .type = FIELD_STR, AT(app_ask, code), .flags = FIELD_REQUIRED, .min = 1, .max = APP_CODE_MAX_BYTES,
      .check = rule_app_code, .doc = "bk_app_code" },
    { "permissions", .type = FIELD_OBJ, AT(app_ask, permissions), .sub = &app_permissions_shape,
      .doc = "what it may do" },
    { 0 },
};
const struct shape app_ask_shape = { "app_ask", sizeof(struct app_ask), app_ask_fields };

static const struct field app_set_ask_fields[] = {
    { "permissions", .type = FIELD_OBJ, AT(app_set_ask, permissions), .flags = FIELD_REQUIRED,
      .sub = &app_permissions_shape, .doc = "what it may do; a permission that is left out is as for a new app" },
    { 0 },
};
const struct shape app_set_ask_shape = { "app_set_ask", sizeof(struct app_set_ask), app_set_ask_fields };

static const struct field app_view_fields[] = {
    { "code", .type = FIELD_STR, AT(app_view, code), .flags = FIELD_REQUIRED, .max = APP_CODE_MAX_BYTES,
      .doc = "bk_app_code" },
    { "secret", .type = FIELD_STR, AT(app_view, secret), .max = APP_SECRET_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "bk_app_secret; shown once, when it is created" },
    { "permissions", .type = FIELD_OBJ, AT(app_view, permissions), .sub = &app_permissions_shape,
      .doc = "what it may do" },
    { "can_sign", .type = FIELD_BOOL, AT(app_view, can_sign), .flags = FIELD_OMIT_EMPTY,
      .doc = "it may sign requests: its newest secret was created after that was allowed" },
    { "created_s", .type = FIELD_INT, AT(app_view, created_s), .doc = "since 1970" },
    { 0 },
};
const struct shape app_view_shape = { "app_view", sizeof(struct app_view), app_view_fields };

static const struct field app_page_fields[] = {
    { "apps", .type = FIELD_LIST, AT(app_page, apps), .max = PAGE_MAX, .sub = &app_view_shape, .doc = "by code" },
    { "next", .type = FIELD_STR, AT(app_page, next), .max = APP_CODE_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape app_page_shape = { "app_page", sizeof(struct app_page), app_page_fields };

static const struct field token_ask_fields[] = {
    { "cloud_id", .type = FIELD_INT, AT(token_ask, cloud_id), .max = INT32_MAX, .doc = "cloud area of the hosts that join with it" },
    { "biz_id", .type = FIELD_INT, AT(token_ask, biz_id), .max = INT32_MAX, .doc = "business of the hosts that join with it" },
    { "ttl_s", .type = FIELD_INT, AT(token_ask, ttl_s), .min = 1, .max = YEAR_S, .fallback = DAY_S,
      .doc = "how long it is valid" },
    { "uses", .type = FIELD_INT, AT(token_ask, uses), .min = 1, .max = 1000000, .fallback = 1,
      .doc = "hosts that may join with it" },
    { "note", .type = FIELD_STR, AT(token_ask, note), .max = NAME_MAX_BYTES, .check = rule_line, .doc = "for people" },
    { "relay", .type = FIELD_BOOL, AT(token_ask, relay), .flags = FIELD_OMIT_EMPTY,
      .doc = "agents that join with it connect through a relay or NAT: their source address need not be their own" },
    { 0 },
};
const struct shape token_ask_shape = { "token_ask", sizeof(struct token_ask), token_ask_fields };

static const struct field token_view_fields[] = {
    { "token", .type = FIELD_STR, AT(token_view, token), .flags = FIELD_REQUIRED, .max = 256,
      .doc = "the join token; shown once" },
    { "id", .type = FIELD_STR, AT(token_view, id), .max = 64, .doc = "identifies it, to revoke it" },
    { "cloud_id", .type = FIELD_INT, AT(token_view, cloud_id), .doc = "cloud area of the hosts that join with it" },
    { "biz_id", .type = FIELD_INT, AT(token_view, biz_id), .doc = "business of the hosts that join with it" },
    { "expires_s", .type = FIELD_INT, AT(token_view, expires_s), .doc = "since 1970" },
    { "uses", .type = FIELD_INT, AT(token_view, uses), .doc = "hosts that may join with it" },
    { "relay", .type = FIELD_BOOL, AT(token_view, relay), .flags = FIELD_OMIT_EMPTY,
      .doc = "agents that join with it connect through a relay or NAT: their source address need not be their own" },
    { 0 },
};
const struct shape token_view_shape = { "token_view", sizeof(struct token_view), token_view_fields };

static const struct field token_line_fields[] = {
    { "id", .type = FIELD_STR, AT(token_line, id), .flags = FIELD_REQUIRED, .max = 64, .doc = "identifies it, to revoke it" },
    { "cloud_id", .type = FIELD_INT, AT(token_line, cloud_id), .doc = "cloud area of the hosts that join with it" },
    { "biz_id", .type = FIELD_INT, AT(token_line, biz_id), .doc = "business of the hosts that join with it" },
    { "uses_left", .type = FIELD_INT, AT(token_line, uses_left), .doc = "hosts that may still join with it" },
    { "created_s", .type = FIELD_INT, AT(token_line, created_s), .doc = "since 1970; 0: not known" },
    { "expires_s", .type = FIELD_INT, AT(token_line, expires_s), .doc = "since 1970" },
    { "app", .type = FIELD_STR, AT(token_line, app), .max = APP_CODE_MAX_BYTES, .doc = "the app that created it" },
    { "user", .type = FIELD_STR, AT(token_line, user), .max = NAME_MAX_BYTES, .doc = "the user on whose behalf" },
    { "note", .type = FIELD_STR, AT(token_line, note), .max = NAME_MAX_BYTES, .doc = "for people" },
    { "revoked_s", .type = FIELD_INT, AT(token_line, revoked_s), .doc = "since 1970; 0: it was not revoked" },
    { "relay", .type = FIELD_BOOL, AT(token_line, relay), .flags = FIELD_OMIT_EMPTY,
      .doc = "agents that join with it connect through a relay or NAT: their source address need not be their own" },
    { 0 },
};
const struct shape token_line_shape = { "token_line", sizeof(struct token_line), token_line_fields };

static const struct field token_page_fields[] = {
    { "tokens", .type = FIELD_LIST, AT(token_page, tokens), .max = PAGE_MAX, .sub = &token_line_shape,
      .doc = "in no particular order" },
    { "next", .type = FIELD_STR, AT(token_page, next), .max = 128,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape token_page_shape = { "token_page", sizeof(struct token_page), token_page_fields };
/* clang-format on */

static bool app_has(const struct list *numbers, int64_t number)
{
    const struct app_number *n = numbers->items;

    for (size_t i = 0; i < numbers->n; i++) {
        if (n[i].number == number)
            return true;
    }
    return false;
}

bool app_has_limits(const struct app_permissions *p)
{
    return p->spaces.n || p->businesses.n || p->business_sets.n;
}

bool app_is_plain(const struct app_permissions *p)
{
    return !app_has_limits(p) && !p->rights.n && !p->operations.n && !p->rate_per_second &&
           !p->signatures;
}

const char *app_right_name(unsigned right)
{
    const struct enum_name *e = right_names;

    while (e->name && e->value != (int64_t)right)
        e++;
    return e->name ? e->name : "";
}

/* An empty list means read and operate.  An app with limits never has admin or metrics: an admin
 * could create an app without limits, and metrics cover all hosts. */
unsigned app_rights(const struct app_permissions *p)
{
    const struct app_number *numbers = p->rights.items;
    unsigned bits = p->rights.n ? 0 : APP_READ | APP_OPERATE;

    for (size_t i = 0; i < p->rights.n; i++)
        bits |= (unsigned)numbers[i].number;
    if (app_has_limits(p) || p->operations.n)
        bits &= ~(unsigned)(APP_ADMIN | APP_METRICS);
    return bits & APP_ADMIN ? bits | APP_READ : bits;
}

bool app_may_op(const struct app_permissions *p, int64_t op)
{
    return !p->operations.n || app_has(&p->operations, op);
}

bool app_may_bring_spec(const struct app_permissions *p)
{
    for (const struct enum_name *e = operation_names; e->name; e++) {
        if (operation_find(e->value)->brings_spec && app_may_op(p, e->value))
            return true;
    }
    return false;
}

int64_t app_may_host(const struct app_permissions *p)
{
    if (!app_may_op(p, PROC_OP_HOST))
        return MAY_HOST_NONE;
    return p->spaces.n ? MAY_HOST_SPACE : MAY_HOST_ALL;
}

bool app_may_space(const struct app_permissions *p, const char *space)
{
    const struct app_text *spaces = p->spaces.items;

    for (size_t i = 0; i < p->spaces.n; i++) {
        if (!strcmp(spaces[i].text, space))
            return true;
    }
    return !p->spaces.n;
}

bool app_may_business(const struct app_permissions *p, int64_t biz_id)
{
    if (!p->businesses.n && !p->business_sets.n)
        return true;
    return app_has(&p->businesses, biz_id);
}
