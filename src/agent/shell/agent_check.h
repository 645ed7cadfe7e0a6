/* SPDX-License-Identifier: MIT */
/* agent_check.h - carries out checks over the network (model/check.h), with sockets that do not
 * block, on the loop.
 *
 * CHECKER_AT_ONCE checks are in progress at the same time, CHECKER_PER_PROCESS of one process, each
 * with two sockets at most; others wait in order of arrival.  Ports that starts wait for have as
 * many slots of their own.  A check that does not begin within its timeout is not done; one that
 * begins has its whole timeout from that moment.  Nothing of an answer is stored but what
 * http_reply.h needs.
 *
 * The listener of a connection within this host has to belong to the process's family.  Whose it
 * is, a worker finds out (agent_family.h, listener.h).  If that is not to be determined at all, the
 * connection alone counts.  If it is not found before the deadline, it counts for a running
 * process; a check of a start gets OWNER_MS for it, and is not done then: it is tried again. */
#ifndef AGENT_SHELL_AGENT_CHECK_H
#define AGENT_SHELL_AGENT_CHECK_H

#include <stdint.h>

struct agent_base;
struct checker;
struct core_check;
struct families;

enum { CHECKER_AT_ONCE = 64, CHECKER_PER_PROCESS = 4 };

struct checker *checker_new(struct agent_base *a, struct families *families);
void checker_free(struct checker *c); /* NULL is allowed */

void checker_add(struct checker *c, const struct core_check *check); /* -> core_on_check() */
void checker_drop(struct checker *c, uint64_t id);                   /* its result does not come */

#endif
