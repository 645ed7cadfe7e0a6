/* SPDX-License-Identifier: MIT */
/* agent_policy.h - the policy in force, for the agent's own sources.  It is asked before an
 * operation begins and again before a command runs: a link may lead elsewhere by then. */
#ifndef AGENT_AGENT_POLICY_H
#define AGENT_AGENT_POLICY_H

#include "agent/policy.h"

struct agent;

struct agent_policy {
    struct policy now;
    struct arena texts;
};

/* From the next operation on; NULL: all is allowed.  The core is told when there is one. */
void agent_policy_set(struct agent *a, const struct policy *p);
void agent_policy_done(struct agent *a);

int hand_allow(void *agent, const struct proc_spec *spec, const char *line, struct err *err);
/* The process and this command of it, both. */
int agent_policy_allow(struct agent *a, const struct proc_spec *spec, const char *line,
                       struct err *err);

#endif
