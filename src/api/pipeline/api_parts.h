/* SPDX-License-Identifier: MIT */
/* api_parts.h - the parts of the server that the api uses. */
#ifndef API_PIPELINE_API_PARTS_H
#define API_PIPELINE_API_PARTS_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "server/dispatch/tasks.h"
#include "server/fleet/fleet.h"
#include "server/fleet/scopes.h"
#include "server/sessions/logs.h"
#include "store/store.h"

struct access;
struct events;
struct groups;
struct login;
struct seal;

struct api_parts { /* all outlive the api, except as described in api.h */
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct fleet *fleet;
    struct tasks *tasks;
    struct logs *logs;
    struct groups *groups;
    struct events *events; /* NULL: there is no event stream */
    struct scopes *scopes;
    struct access *access;      /* NULL: no trusted peers or apps, and no rate limit */
    struct login *login;        /* NULL: users are not checked with a login service */
    const struct seal *seal;    /* NULL: signed requests are refused */
    const char *ca_fingerprint; /* agents_ca_fingerprint(), for join tokens */
    const char *version;
    int64_t body_bytes_total;          /* limit for all bodies in the HTTP server; 0: its default */
    int64_t audit_days;                /* rows of the audit log are deleted after this; 0: never */
    const struct retention *retention; /* NULL: the age of rows is taken from the clock alone */
};

#endif
