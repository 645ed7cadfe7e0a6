/* SPDX-License-Identifier: MIT */
/* store_audit.h - who has changed what: verbs of store.h.
 *
 * Rows are only ever added; the one verb that takes some away goes by their age. */
#ifndef STORE_STORE_AUDIT_H
#define STORE_STORE_AUDIT_H

#include "store/store.h"

struct audit_row {
    int64_t at_ms;
    const char *request_id, *app, *user;
    bool is_proven; /* the user, by a token */
    const char *peer, *method, *route;
    const char *what; /* JSON: what was asked for, but for secrets; NULL: it could not be read */
    int64_t code;     /* as its caller saw it; 0: done */
    const char *message, *task_id;
    const char *code_name; /* "": it had none */
};

struct audit_page { /* from the newest on */
    int64_t before_ms;
    const char *before_id; /* behind the row with these; INT64_MAX and "": from the first */
    int64_t since_ms, until_ms;
    const char *app, *user, *route; /* "": of all */
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
extern const struct store_verb store_audit_trim; /* audit_trim; list of audit_ref, gone now */

#endif
