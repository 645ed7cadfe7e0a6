/* SPDX-License-Identifier: MIT */
/* core_care.h - what else is known of a process: its version, its health, whether its
 * configuration is as it should be (core_drift.h).  For the core's own sources.
 *
 * The version is asked after a start and when somebody queries; the health when somebody
 * queries and, while it is hosted and runs, every health_interval.  A command for that may
 * take CARE_MS, or op_timeout if that is less; then it is ended, which is a failure.  That one
 * can not be begun says nothing of the process.
 *
 * One that fails its health command is unhealthy: an event when that begins, and one when it
 * is over.  After unhealthy_restarts failures in a row it is restarted, by restart_cmd or a
 * stop and a start; that counts as a try to pull it up, and when those are used up it is left
 * as it is. */
#ifndef AGENT_CORE_CARE_H
#define AGENT_CORE_CARE_H

#include "agent/core_in.h"

enum { CARE_MS = 10 * 1000, CARE_TEXT_BYTES = 1024 };

/* Something about it has changed: its spec, its hosting, whether it runs. */
void care_look(struct kept *k);
void care_free(struct kept *k);

void care_on_start(struct kept *k); /* it has been started: its version may be another */
void care_on_done(struct kept *k, int code, const char *text); /* of a restart for its health */
void care_on_file(struct kept *k, const char *path, const char *md5, const char *why);

/* For a query: runs version_cmd and health_cmd, then done(arg).  False: there is nothing
 * to wait for, and done() is not called. */
bool care_ask(struct kept *k, const struct proc_spec *spec, void (*done)(void *arg), void *arg);
void care_forget(struct kept *k, void *arg); /* that done() must not be called any more */

int64_t care_timeout_ms(const struct proc_spec *spec); /* of such a command */
void care_fill_view(const struct kept *k, struct proc_view *v);

#endif
