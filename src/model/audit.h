/* SPDX-License-Identifier: MIT */
/* audit.h - who has changed what, as /v1 shows it. */
#ifndef MODEL_AUDIT_H
#define MODEL_AUDIT_H

#include <stdint.h>

#include "wire/shape.h"

/* The query of GET /v1/audit. */
struct audit_ask {
    const char *app, *user, *route, *after;
    int64_t since_s, until_s, limit;
};

struct audit_view {
    int64_t at_ms; /* since 1970 */
    const char *request_id, *app, *user;
    bool user_proven;
    const char *from, *method, *route;
    const char *what; /* JSON; NULL: it could not be read */
    int64_t code;     /* as its caller saw it */
    const char *code_name, *message, *task_id;
};

struct audit_page_view {
    struct list rows; /* struct audit_view, the newest first */
    const char *next;
};

extern const struct shape audit_ask_shape, audit_view_shape, audit_page_view_shape;

#endif
