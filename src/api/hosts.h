/* SPDX-License-Identifier: MIT */
/* hosts.h - hosts of the fleet as /v1 names and shows them, and those a caller may see. */
#ifndef API_HOSTS_H
#define API_HOSTS_H

#include "api/call.h"
#include "model/host.h"
#include "server/fleet_spaces.h"

/* A page ends when so many hosts and processes were looked at, however few of them are asked
 * for: then it is short, and has a `next` like any other.  So no filter holds up others. */
enum { HOSTS_LOOKS_MAX = 20000 };

/* By agent id, "cloud:ip", or an address of cloud area 0; NULL if there is none.  Whether
 * the caller may see it is not asked. */
const struct fleet_host *hosts_find(const struct call *c, const char *text);

/* What the caller may see of the fleet, businesses in the order of their numbers; and of that
 * what is of one namespace ("": of all), or one business.  Good until something changes, the
 * namespace and the number as long as they are there. */
struct fleet_part hosts_part(const struct call *c);
struct fleet_part hosts_part_in(const struct call *c, const char *const *space);
void hosts_keep_business(const struct call *c, const int64_t *biz_id, struct fleet_part *part);

/* A walk over the hosts behind `after` that have processes of the namespace. */
void hosts_walk_in(const struct call *c, const char *const *space, const char *after,
                   struct fleet_walk *ret);

/* Ends the call with NOT_FOUND: the field named nobody, or nobody the caller may see. */
void hosts_fail(struct call *c, const char *field, const char *text);

/* Adds what the caller may see of a host. */
void hosts_count(const struct call *c, const struct fleet_host *h, struct fleet_totals *t);

enum host_state hosts_state(const struct fleet_host *h);

/* The texts are the host's, but for the list of addresses. */
struct host_view hosts_view(const struct call *c, const struct fleet_host *h);

/* Whether it has the text in an address, its name, agent id or note; small and capital letters
 * are the same. */
bool hosts_has_text(const struct fleet_host *h, const char *text);

/* A process of it; `wall_ms` is now.  All texts are the fleet's, and `why` is the agent's. */
struct process_view hosts_process(const struct fleet_host *h, const struct fleet_proc *p,
                                  int64_t wall_ms);

/* "cloud:ip"; false: it is not.  The address is given in its one spelling.  With one of IPv6 it
 * may be an address as well ("3:fd00::1"). */
bool hosts_read_place(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

/* An address of the cloud area in *cloud_id, which comes first, or "cloud:ip". */
bool hosts_read_address(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

#endif
