/* SPDX-License-Identifier: MIT */
/* job_scope.h - in whose name a request of Job is: a business, or a set of them.
 *
 * bk_scope_type and bk_scope_id win, if one of them is given; else bk_biz_id, which names a
 * set from 8000000 to 9999999. */
#ifndef API_JOB_SCOPE_H
#define API_JOB_SCOPE_H

#include "api/call.h"
#include "model/job.h"
#include "server/scopes.h"

struct job_found {
    enum scope_kind kind;
    int64_t id;
    const char *field; /* that named it, for messages */
    const char *space; /* the namespace of its processes: "job.biz.2", "job.biz_set.8000001" */
};

/* ERR_INVALID; CODE_DENIED: it is not the app's, be it there or not; CODE_NO_BUSINESS and
 * CODE_NO_SCOPE: it is not there. */
int job_scope_find(struct call *c, const struct job_scope *given, struct job_found *ret,
                   struct err *err);

/* Whether it has the host. */
bool job_scope_has(const struct call *c, const struct job_found *scope, const struct fleet_host *h);

#endif
