/* SPDX-License-Identifier: MIT */
/* audit.c - the shapes of audit.h. */
#include "model/audit.h"

#include "model/app.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { PAGE_MAX = 1000, PAGE_USUAL = 100, CURSOR_MAX_BYTES = 64, ROUTE_MAX_BYTES = 128 };

/* clang-format off */
static const struct field ask_fields[] = {
    { "app", .type = FIELD_STR, AT(audit_ask, app), .max = APP_CODE_MAX_BYTES, .doc = "only changes by this app" },
    { "user", .type = FIELD_STR, AT(audit_ask, user), .max = NAME_MAX_BYTES, .doc = "only changes on behalf of this user" },
    { "route", .type = FIELD_STR, AT(audit_ask, route), .max = ROUTE_MAX_BYTES,
      .doc = "only this API and paths below it: `operate_proc_v2`, `/v1/tokens`" },
    { "since_s", .type = FIELD_INT, AT(audit_ask, since_s), .max = INT32_MAX * INT64_C(1000),
      .doc = "not before this second since 1970" },
    { "until_s", .type = FIELD_INT, AT(audit_ask, until_s), .max = INT32_MAX * INT64_C(1000),
      .doc = "before this second since 1970; 0: until now" },
    { "after", .type = FIELD_STR, AT(audit_ask, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the previous page" },
    { "limit", .type = FIELD_INT, AT(audit_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "maximum number of items" },
    { 0 },
};
const struct shape audit_ask_shape = { "audit_ask", sizeof(struct audit_ask), ask_fields };

static const struct field view_fields[] = {
    { "at_ms", .type = FIELD_INT, AT(audit_view, at_ms), .doc = "when it was answered, milliseconds since 1970" },
    { "request_id", .type = FIELD_STR, AT(audit_view, request_id), .max = ID_MAX_BYTES, .doc = "of the request" },
    { "app", .type = FIELD_STR, AT(audit_view, app), .max = APP_CODE_MAX_BYTES,
      .doc = "the app; `admin`: over the admin socket" },
    { "user", .type = FIELD_STR, AT(audit_view, user), .max = NAME_MAX_BYTES, .doc = "the user on whose behalf" },
    { "user_proven", .type = FIELD_BOOL, AT(audit_view, user_proven),
      .doc = "the user was verified by the login service; otherwise the app named the user" },
    { "from", .type = FIELD_STR, AT(audit_view, from), .max = NAME_MAX_BYTES, .doc = "the client's address" },
    { "method", .type = FIELD_STR, AT(audit_view, method), .max = 16, .doc = "of the request" },
    { "route", .type = FIELD_STR, AT(audit_view, route), .max = ROUTE_MAX_BYTES, .doc = "the API" },
    { "what", .type = FIELD_RAW, AT(audit_view, what), .max = 8192,
      .doc = "the request without secrets and commands; long lists have their first items and `n`, the number of all" },
    { "code", .type = FIELD_INT, AT(audit_view, code), .doc = "the result as the caller got it; 0: done, or accepted as a task" },
    { "code_name", .type = FIELD_STR, AT(audit_view, code_name), .max = 64, .flags = FIELD_OMIT_EMPTY,
      .doc = "the name of the code, if the answer had one" },
    { "message", .type = FIELD_STR, AT(audit_view, message), .max = 512, .doc = "the message of the answer" },
    { "task_id", .type = FIELD_STR, AT(audit_view, task_id), .max = ID_MAX_BYTES, .doc = "the task it made" },
    { "repeats", .type = FIELD_INT, AT(audit_view, repeats), .flags = FIELD_OMIT_EMPTY,
      .doc = "how many equal refusals within a minute this entry stands for; it is the last of them" },
    { 0 },
};
const struct shape audit_view_shape = { "audit_view", sizeof(struct audit_view), view_fields,
                                        .doc = "A change, or an attempt at one." };

static const struct field page_fields[] = {
    { "rows", .type = FIELD_LIST, AT(audit_page_view, rows), .max = PAGE_MAX, .sub = &audit_view_shape,
      .doc = "the newest first" },
    { "next", .type = FIELD_STR, AT(audit_page_view, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape audit_page_view_shape = { "audit_page_view", sizeof(struct audit_page_view), page_fields };
/* clang-format on */
