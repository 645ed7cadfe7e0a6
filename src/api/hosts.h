/* SPDX-License-Identifier: MIT */
/* hosts.h - hosts of the fleet as /v1 names them, and those a caller may see. */
#ifndef API_HOSTS_H
#define API_HOSTS_H

#include "api/call.h"
#include "server/fleet.h"

/* By agent id, "cloud:ip", or an address of cloud area 0; NULL if there is none.  Whether
 * the caller may see it is not asked. */
const struct fleet_host *hosts_find(const struct call *c, const char *text);

/* The next one that the caller may see, as fleet_next(). */
const struct fleet_host *hosts_next(const struct call *c, const char *after);

/* Ends the call with NOT_FOUND: the field named nobody, or nobody the caller may see. */
void hosts_fail(struct call *c, const char *field, const char *text);

#endif
