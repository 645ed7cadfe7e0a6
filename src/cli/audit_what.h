/* SPDX-License-Identifier: MIT */
/* audit_what.h - a summary of a row of the audit log for people: the operation, the process, the
 * number of hosts and the first of them, then the other parameters.  (api/pipeline/audit.h
 * writes the row as JSON; --json shows that.) */
#ifndef CLI_AUDIT_WHAT_H
#define CLI_AUDIT_WHAT_H

#include "base/mem/buf.h"
#include "model/code.h"

/* Appends the summary, which may be empty.  Text that is not valid JSON is shown unchanged. */
void audit_what_put(struct buf *to, const char *route, const char *json, enum lang lang);

#endif
