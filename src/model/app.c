/* SPDX-License-Identifier: MIT */
/* app.c - the shapes and the few questions of app.h. */
#include "model/app.h"

#include <ctype.h>
#include <string.h>

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { LIST_MAX = 1000, PAGE_MAX = 1000, YEAR_S = 366 * DAY_S };

const char *rule_app_code(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
            return "must be letters, digits, \"-\", \"_\" and \".\"";
    }
    return NULL;
}

/* clang-format off */
static const struct enum_name right_names[] = {
    { APP_READ, "read" }, { APP_OPERATE, "operate" }, { APP_ADMIN, "admin" }, { 0 },
};
static const struct field right_fields[] = {
    { "right", .type = FIELD_ENUM, AT(app_number, number), .names = right_names, .fallback = APP_READ,
      .flags = FIELD_BY_NAME },
    { 0 },
};
static const struct shape right_shape = { "right", sizeof(struct app_number), right_fields, .bare = true };

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
      .doc = "`read`, `operate`, `admin`, the last only without limits; empty: `read` and `operate`" },
    { "namespaces", .type = FIELD_LIST, AT(app_permissions, spaces), .max = LIST_MAX, .sub = &space_shape,
      .doc = "processes of these alone; empty: of all" },
    { "businesses", .type = FIELD_LIST, AT(app_permissions, businesses), .max = LIST_MAX, .sub = &business_shape,
      .doc = "hosts of these alone; empty: of all" },
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

static const struct field app_view_fields[] = {
    { "code", .type = FIELD_STR, AT(app_view, code), .flags = FIELD_REQUIRED, .max = APP_CODE_MAX_BYTES,
      .doc = "bk_app_code" },
    { "secret", .type = FIELD_STR, AT(app_view, secret), .max = APP_SECRET_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "bk_app_secret; told once, when it is made" },
    { "permissions", .type = FIELD_OBJ, AT(app_view, permissions), .sub = &app_permissions_shape,
      .doc = "what it may do" },
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
    { "cloud_id", .type = FIELD_INT, AT(token_ask, cloud_id), .max = INT32_MAX, .doc = "cloud area of who joins by it" },
    { "biz_id", .type = FIELD_INT, AT(token_ask, biz_id), .max = INT32_MAX, .doc = "business of who joins by it" },
    { "ttl_s", .type = FIELD_INT, AT(token_ask, ttl_s), .min = 1, .max = YEAR_S, .fallback = DAY_S,
      .doc = "good for so long" },
    { "uses", .type = FIELD_INT, AT(token_ask, uses), .min = 1, .max = 1000000, .fallback = 1,
      .doc = "hosts that may join by it" },
    { "note", .type = FIELD_STR, AT(token_ask, note), .max = NAME_MAX_BYTES, .check = rule_line, .doc = "for people" },
    { 0 },
};
const struct shape token_ask_shape = { "token_ask", sizeof(struct token_ask), token_ask_fields };

static const struct field token_view_fields[] = {
    { "token", .type = FIELD_STR, AT(token_view, token), .flags = FIELD_REQUIRED, .max = 256,
      .doc = "to join by; told once" },
    { "cloud_id", .type = FIELD_INT, AT(token_view, cloud_id), .doc = "cloud area of who joins by it" },
    { "biz_id", .type = FIELD_INT, AT(token_view, biz_id), .doc = "business of who joins by it" },
    { "expires_s", .type = FIELD_INT, AT(token_view, expires_s), .doc = "since 1970" },
    { "uses", .type = FIELD_INT, AT(token_view, uses), .doc = "hosts that may join by it" },
    { 0 },
};
const struct shape token_view_shape = { "token_view", sizeof(struct token_view), token_view_fields };
/* clang-format on */

bool app_has_limits(const struct app_permissions *p)
{
    return p->spaces.n || p->businesses.n;
}

/* An empty list is what an app without special rights has: all but admin.  Whoever is admin
 * can make an app that may do all: within limits there is no such right. */
unsigned app_rights(const struct app_permissions *p)
{
    const struct app_number *numbers = p->rights.items;
    unsigned bits = p->rights.n ? 0 : APP_READ | APP_OPERATE;

    for (size_t i = 0; i < p->rights.n; i++)
        bits |= (unsigned)numbers[i].number;
    return app_has_limits(p) ? bits & ~(unsigned)APP_ADMIN : bits;
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
    const struct app_number *numbers = p->businesses.items;

    for (size_t i = 0; i < p->businesses.n; i++) {
        if (numbers[i].number == biz_id)
            return true;
    }
    return !p->businesses.n;
}
