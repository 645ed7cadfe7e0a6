/* SPDX-License-Identifier: MIT */
/* hosts.h - hosts as /v1 names and shows them, limited to those that the caller may see. */
#ifndef API_PIPELINE_HOSTS_H
#define API_PIPELINE_HOSTS_H

#include "api/pipeline/call.h"
#include "model/host.h"
#include "server/fleet/fleet_spaces.h"

/* A page ends after examining this many hosts and processes, even if few of them match the filter:
 * it is short then, and has a `next`.  No filter can block the loop. */
enum { HOSTS_LOOKS_MAX = 20000 };

/* By agent id, "cloud:ip", or an address in cloud area 0; NULL if there is none.  Does not check
 * whether the caller may see it. */
const struct fleet_host *hosts_find(const struct call *c, const char *text);

/* The part of the fleet that the caller may see, businesses sorted by number; limited to one
 * namespace ("": all) or one business.  Valid until something changes; `space` and `biz_id` must
 * live as long. */
struct fleet_part hosts_part(const struct call *c);
struct fleet_part hosts_part_in(const struct call *c, const char *const *space);
void hosts_keep_business(const struct call *c, const int64_t *biz_id, struct fleet_part *part);

/* Iterates over the hosts after `after` that have processes in the namespace. */
void hosts_walk_in(const struct call *c, const char *const *space, const char *after,
                   struct fleet_walk *ret);

/* Ends the call with NOT_FOUND: there is no such host, or the caller may not see it. */
void hosts_fail(struct call *c, const char *field, const char *text);

/* Adds a host, and those of its processes that the caller may see. */
void hosts_count(const struct call *c, const struct fleet_host *h, struct fleet_totals *t);

enum host_state hosts_state(const struct fleet_host *h);

/* The texts are the host's, except the list of addresses. */
struct host_view hosts_view(const struct call *c, const struct fleet_host *h);

/* Whether an address, the name, agent id or note contains the text, ignoring case. */
bool hosts_has_text(const struct fleet_host *h, const char *text);

/* Epoch seconds; 0: connected.  In /v1 a host is offline as soon as its session ends; its state,
 * the totals and the state of its processes follow that.  BlueKing's calls wait for it to reconnect
 * first (offline.h). */
int64_t hosts_unknown_since_s(const struct fleet_host *h);

/* The same process with the agent's messages in the caller's language. */
struct proc_view hosts_translated(const struct call *c, const struct proc_view *v);

/* A process of the host.  All texts are the fleet's, its messages in the caller's language; `why`
 * is the agent's. */
struct process_view hosts_process(const struct call *c, const struct fleet_host *h,
                                  const struct fleet_proc *p);

/* Parses "cloud:ip"; false: it is something else.  The address is returned in canonical form.  Some
 * texts are also an IPv6 address ("3:fd00::1"). */
bool hosts_read_place(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

/* Parses an address in cloud area *cloud_id (tried first) or "cloud:ip". */
bool hosts_read_address(const char *text, int64_t *cloud_id, struct arena *a, const char **ret_ip);

#endif
