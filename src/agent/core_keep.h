/* SPDX-License-Identifier: MIT */
/* core_keep.h - hosted processes are kept alive, for the core's own sources. */
#ifndef AGENT_CORE_KEEP_H
#define AGENT_CORE_KEEP_H

#include <stdbool.h>

struct kept;

void keep_on_exit(struct kept *k);                             /* whatever is in work */
void keep_on_done(struct kept *k, int code, const char *text); /* of a restart of ours */
void keep_look(struct kept *k); /* nothing is in work: is there something to do? */
void keep_on_time(void *kept);
void keep_resume(struct kept *k);  /* one of our own was in work when the agent died */
void keep_on_host(struct kept *k); /* it is to be kept from now on: what was before is the past */
bool keep_is_in_work(const struct kept *k); /* something is being done to it, or about to be */
/* It is pulled up should it be down: hosted, resident, and it has not ended as expected; nor
 * is it forbidden. */
bool keep_is_wanted(const struct kept *k);

/* For its health: it is restarted, though it runs.  False: there is no try left for that. */
bool keep_restart(struct kept *k);
void keep_forgive(struct kept *k); /* it is well; after a while its tries are forgotten */

#endif
