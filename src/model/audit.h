/* SPDX-License-Identifier: MIT */
/* audit.h - the audit log of changes, as /v1 shows it. */
#ifndef MODEL_AUDIT_H
#define MODEL_AUDIT_H

#include <stdint.h>

#include "wire/json/shape.h"

/* The query of GET /v1/audit. */
struct audit_ask {
    const char *app, *user, *route, *after;
    int64_t since_s, until_s, limit;
};

struct audit_view {
    int64_t at_ms; /* milliseconds since 1970 */
    const char *request_id, *app, *user;
    bool user_proven;
    const char *from, *method, *route;
    const char *what; /* JSON; NULL: the request could not be parsed */
    int64_t code;     /* result code, as the caller got it */
    const char *code_name, *message, *task_id;
    int64_t repeats; /* 0, or how many equal refusals this row stands for; it is the last of them */
};

struct audit_page_view {
    struct list rows; /* struct audit_view, newest first */
    const char *next;
};

extern const struct shape audit_ask_shape, audit_view_shape, audit_page_view_shape;

#endif
