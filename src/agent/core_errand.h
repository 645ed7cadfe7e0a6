/* SPDX-License-Identifier: MIT */
/* core_errand.h - a command beside the operations on a process (its version, its health),
 * for the core's own sources.
 *
 * It needs no journal and no slot of the operations', changes nothing, and is forgotten if
 * the agent dies.  ERRANDS_AT_ONCE run at the same time; the others wait, in the order they
 * came.  One that takes too long is ended, and whoever asked hears so at once; until it is
 * really gone, no other of its kind is begun for the same process. */
#ifndef AGENT_CORE_ERRAND_H
#define AGENT_CORE_ERRAND_H

#include "agent/core_in.h"

enum { ERRANDS_AT_ONCE = 16 };

struct errand;

/* Its status in place of one: it did not even begin.  That says nothing of the process. */
enum { ERRAND_NOT_BEGUN = -2 };

/* `failure` not NULL: it did not begin, or took too long; else its status and what it said.
 * The errand is over: it must not be dropped any more. */
typedef void errand_fn(struct kept *k, void *arg, int status, const char *output,
                       const char *failure);

/* `what` ("health") is not copied.  NULL: the last of this kind is not gone yet. */
struct errand *errand_run(struct kept *k, const struct proc_spec *spec, const char *what,
                          const char *line, int64_t timeout_ms, errand_fn *fn, void *arg);
bool errand_has_begun(const struct kept *k, const char *what); /* the last one, and is not gone */
void errand_drop(struct errand *e); /* nobody waits for it any more: it is ended; NULL is fine */

/* For core.c. */
void errands_begin(struct core *c);
void errands_close(struct core *c); /* the core ends: nothing is asked of the hands any more */
void errands_end(struct core *c);
void errands_forget(struct kept *k); /* it goes */
/* Whether the id is one's. */
bool errand_on_run(struct core *c, uint64_t id, const struct err *failure);
bool errand_on_run_end(struct core *c, uint64_t id, int status, const char *output);
bool errand_has(const struct core *c, uint64_t id); /* and somebody waits for it */

#endif
