/* SPDX-License-Identifier: MIT */
/* store_audit.h - the audit log: verbs of store.h.
 *
 * Rows are only added; the one verb that deletes rows selects them by age. */
#ifndef STORE_STORE_AUDIT_H
#define STORE_STORE_AUDIT_H

#include "store/store.h"

struct audit_row {
    int64_t at_ms;
    const char *request_id, *app, *user;
    bool is_proven; /* the user was verified, by a token */
    const char *peer, *method, *route;
    const char *what; /* JSON: the request without secrets; NULL: it could not be parsed */
    int64_t code;     /* as the caller got it; 0: success */
    const char *message, *task_id;
    const char *code_name; /* "": none */
    int64_t repeats; /* 0, or how many equal refusals this row stands for; it is the last of them */
};

struct audit_page { /* newest first */
    int64_t before_ms;
    const char *before_id; /* starts after the row with these; INT64_MAX and "": first page */
    int64_t since_ms, until_ms;
    const char *app, *user, *route; /* "": any */
    int64_t limit;
};

struct audit_trim {
    int64_t before_ms, limit;
};

struct audit_ref {
    int64_t at_ms;
    const char *request_id;
};

extern const struct store_verb store_audit_put;  /* audit_row; nothing */
extern const struct store_verb store_audit_list; /* audit_page; list of audit_row */
extern const struct store_verb
    store_audit_trim; /* audit_trim; list of audit_ref that were deleted */

#endif
