/* SPDX-License-Identifier: MIT */
/* agent_check.h - carries out checks over the network (model/check.h), with sockets that do not
 * block, on the loop.
 *
 * CHECKER_AT_ONCE checks are in progress at the same time, each with two sockets at most; others
 * wait in order of arrival.  A check has a deadline from the moment it begins.  Nothing of an
 * answer is stored but what http_reply.h needs.
 *
 * The listener of a connection within this host has to belong to the process's family.  Whose it
 * is, a worker finds out (agent_family.h, listener.h); if that is not to be determined before the
 * deadline, the connection alone counts. */
#ifndef AGENT_SHELL_AGENT_CHECK_H
#define AGENT_SHELL_AGENT_CHECK_H

struct agent_base;
struct checker;
struct core_check;
struct families;

enum { CHECKER_AT_ONCE = 64 };

struct checker *checker_new(struct agent_base *a, struct families *families);
void checker_free(struct checker *c); /* NULL is allowed */

void checker_add(struct checker *c, const struct core_check *check); /* -> core_on_check() */

#endif
