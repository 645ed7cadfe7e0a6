/* SPDX-License-Identifier: MIT */
/* core_checks.h - the checks of a process (spec.holdfast.checks).  For the core's own sources.
 *
 * A set of checks is tried in one of two ways: each by its interval, while the process is hosted
 * and runs (checks_watch(), for core_health.h), or all at once (checks_try(), for core_ready.h).
 *
 * A check passes with its first success, and fails after `threshold` failures in a row.  The first
 * try is made within a second; its failures do not count before one interval has passed, because
 * the process may have started just now.  A try that could not be made says nothing. */
#ifndef AGENT_SUPERVISE_CORE_CHECKS_H
#define AGENT_SUPERVISE_CORE_CHECKS_H

#include "agent/supervise/core_in.h"
#include "agent/supervise/core_net.h"
#include "model/check.h"

struct checks;

/* A try has ended.  `was`: the state before it. */
typedef void checks_fn(void *arg, const struct proc_check_view *check, enum proc_check_state was);

/* Copies the checks of the spec; `fn` is called after each try that counts. */
struct checks *checks_new(struct proc *k, const struct proc_spec *spec, checks_fn *fn, void *arg);
void checks_free(struct checks *all); /* NULL is allowed */
bool checks_are_of(const struct checks *all, const struct proc_spec *spec);

/* Whether they are to be tried by their intervals now; forgets results of another process. */
void checks_watch(struct checks *all, bool is_on);
void checks_reset(struct checks *all); /* NULL is allowed */

/* Tries those that are not being tried: of a start, whose main process may not be known yet. */
void checks_try(struct checks *all, struct core_ident main, struct core_ident start);

bool checks_pass(const struct checks *all); /* the last try of each succeeded */
/* Failures in a row of a failing check, from the one with which it began to fail; 0: none fails. */
int64_t checks_failures(const struct checks *all);
/* A check that does not pass; NULL: all pass. */
const struct proc_check_view *checks_first_bad(const struct checks *all);
/* NULL is allowed: no checks.  Valid as long as these checks. */
struct list checks_views(const struct checks *all);

/* Whose listener a check asks for. */
void checks_fill_family(const struct proc *k, const struct proc_spec *spec, struct core_ident main,
                        struct core_ident start, struct core_family *ret);

/* Ends a try whose result is no longer wanted. */
void checks_drop_try(struct core *c, uint64_t id);

/* False: the id is not that of a try. */
bool checks_on_result(struct core *c, uint64_t id, const struct core_checked *got);

#endif
