/* SPDX-License-Identifier: MIT */
/* hosts.h - hosts of the fleet as /v1 names and shows them, and those a caller may see. */
#ifndef API_HOSTS_H
#define API_HOSTS_H

#include "api/call.h"
#include "model/host.h"
#include "server/fleet.h"

/* By agent id, "cloud:ip", or an address of cloud area 0; NULL if there is none.  Whether
 * the caller may see it is not asked. */
const struct fleet_host *hosts_find(const struct call *c, const char *text);

/* The next one that the caller may see, as fleet_next() and fleet_next_in(). */
const struct fleet_host *hosts_next(const struct call *c, const char *after);
const struct fleet_host *hosts_next_in(const struct call *c, const char *space, const char *after);

/* Ends the call with NOT_FOUND: the field named nobody, or nobody the caller may see. */
void hosts_fail(struct call *c, const char *field, const char *text);

/* Adds what the caller may see of a host. */
void hosts_count(const struct call *c, const struct fleet_host *h, struct fleet_totals *t);

/* The texts are the host's, but for the list of addresses. */
struct host_view hosts_view(const struct call *c, const struct fleet_host *h);

/* A process of it; `wall_ms` is now.  All texts are the fleet's, and `why` is the agent's. */
struct process_view hosts_process(const struct fleet_host *h, const struct fleet_proc *p,
                                  int64_t wall_ms);

/* "cloud:ip"; false: it is not.  The address is given in its one spelling.  With one of IPv6 it
 * may be an address as well ("3:fd00::1"). */
bool hosts_read_place(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

/* An address of the cloud area in *cloud_id, which comes first, or "cloud:ip". */
bool hosts_read_address(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

#endif
