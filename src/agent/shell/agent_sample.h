/* SPDX-License-Identifier: MIT */
/* agent_sample.h - resource usage of processes, requested by the core, and the list of process
 * groups with a limit, written to `procgroupinfo.json` for other tools.
 *
 * Requests wait until the next settle(), and the number per settle() is limited. */
#ifndef AGENT_SHELL_AGENT_SAMPLE_H
#define AGENT_SHELL_AGENT_SAMPLE_H

#include "agent/supervise/core_effects.h"
#include "base/text/err.h"

struct agent_base;
struct samples;

int samples_new(struct agent_base *a, struct samples **ret,
                struct err *err);     /* a->core must exist */
void samples_free(struct samples *s); /* NULL is allowed */

void samples_ask(struct samples *s, struct core_ident ident); /* -> core_on_sample() */
void samples_settle(struct samples *s);
bool samples_are_wanted(const struct samples *s); /* some requests are left for the next settle() */

#endif
