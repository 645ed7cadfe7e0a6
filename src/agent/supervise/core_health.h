/* SPDX-License-Identifier: MIT */
/* core_health.h - version and health of a process, and drift of its configuration
 * (core_drift.h).  For the core's own sources.
 *
 * version_cmd runs after a start and on a query.  health_cmd runs on a query and, while the
 * process is hosted and running, every health_interval.  Such a command may take HEALTH_MS, or
 * op_timeout if that is less; then it is killed, which counts as a failure.  A command that
 * cannot be started says nothing about the process.
 *
 * A process that fails its health command is unhealthy: an event is sent when this begins and
 * when it ends.  After unhealthy_restarts failures in a row the process is restarted, by
 * restart_cmd or by a stop and a start.  A failing check (core_checks.h) counts like a failure of
 * health_cmd, from the try with which it began to fail.  This counts as a restart attempt; when no
 * attempt is left, the process is left running. */
#ifndef AGENT_SUPERVISE_CORE_HEALTH_H
#define AGENT_SUPERVISE_CORE_HEALTH_H

#include "agent/supervise/core_in.h"

enum { HEALTH_MS = 10 * 1000, HEALTH_TEXT_BYTES = 1024 };

/* Call when the spec, the hosting or the running state changes. */
void health_look(struct proc *k);
void health_free(struct proc *k);

void health_on_start(struct proc *k); /* after a start: the version may have changed */
/* The outcome of a restart for its health. */
void health_on_done(struct proc *k, int code, const char *text);
void health_on_file(struct proc *k, const char *path, const char *md5, const char *why);

/* For a query: runs version_cmd and health_cmd, then done(arg).  False: there is nothing to wait
 * for, and done() is not called. */
bool health_ask(struct proc *k, const struct proc_spec *spec, void (*done)(void *arg), void *arg);
void health_forget(struct proc *k, void *arg); /* done() must not be called any more */

int64_t health_timeout_ms(const struct proc_spec *spec); /* of version_cmd and health_cmd */
void health_fill_view(const struct proc *k, struct proc_view *v);

#endif
