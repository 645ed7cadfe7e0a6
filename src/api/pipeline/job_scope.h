/* SPDX-License-Identifier: MIT */
/* job_scope.h - the scope of a request of Job: a business or a business set.
 *
 * bk_scope_type and bk_scope_id take precedence if one of them is given; otherwise bk_biz_id, where
 * 8000000 to 9999999 are business sets. */
#ifndef API_PIPELINE_JOB_SCOPE_H
#define API_PIPELINE_JOB_SCOPE_H

#include "api/pipeline/call.h"
#include "model/job.h"
#include "server/fleet/scopes.h"

struct job_found {
    enum scope_kind kind;
    int64_t id;
    const char *field; /* the field that named it, for messages */
    const char *space; /* namespace of its processes: "job.biz.2", "job.biz_set.8000001" */
};

/* Fails with ERR_INVALID; with CODE_DENIED if the app may not use it, whether it exists or not;
 * with CODE_NO_BUSINESS or CODE_NO_SCOPE if it does not exist. */
int job_scope_find(struct call *c, const struct job_scope *given, struct job_found *ret,
                   struct err *err);

/* Whether the host is in the scope. */
bool job_scope_has(const struct call *c, const struct job_found *scope, const struct fleet_host *h);

#endif
