/* SPDX-License-Identifier: MIT */
/* audit_what.h - what a row of the audit log was about, for people: the operation, the process,
 * how many hosts and the first of them, then what else was said.  (api/audit.h writes it, as
 * JSON; --json shows that.) */
#ifndef CLI_AUDIT_WHAT_H
#define CLI_AUDIT_WHAT_H

#include "base/buf.h"
#include "model/code.h"

/* Appends it; nothing if there is nothing to say.  JSON that can not be read is shown as it is. */
void audit_what_put(struct buf *to, const char *route, const char *json, enum lang lang);

#endif
