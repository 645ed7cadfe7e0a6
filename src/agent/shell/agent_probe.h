/* SPDX-License-Identifier: MIT */
/* agent_probe.h - identifies the process of a name and reads its kernel state.
 *
 * A process that was found before is the answer as long as it lives, unless the core asks whether
 * its pid file names a successor. A running command of the agent is the process only if its name,
 * or that of exactly one topmost descendant, matches.
 *
 * A worker does the probe, because it opens paths of the process's user and reads
 * /proc/PID/cmdline. That is memory of the process, which the user may have mapped from a file
 * system that does not answer. The loop answers itself where neither is needed. */
#ifndef AGENT_SHELL_AGENT_PROBE_H
#define AGENT_SHELL_AGENT_PROBE_H

#include "agent/shell/agent_effect.h"
#include "agent/supervise/core_effects.h"

struct agent_base;
struct agent_policy;
struct others;
struct probes;
struct watches;

struct probes *probes_new(struct agent_base *a, struct effects *effects,
                          const struct agent_policy *policy, struct watches *watches);
void probes_free(struct probes *p); /* no worker probes any more; NULL is allowed */

void probes_add(struct probes *p, const struct core_look *look); /* -> core_on_probe() */

enum probe_fate probe_carry_out(struct effect *effect);

struct others *probes_take_others(struct probes *p); /* one snapshot for a turn, with a reference */
void probes_end_turn(struct probes *p); /* the next turn takes a new snapshot of the core */
void probes_forget(struct probes *p);   /* the agent is idle: forgets what it read of executables */

#endif
