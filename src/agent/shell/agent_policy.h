/* SPDX-License-Identifier: MIT */
/* agent_policy.h - the policy in force.
 *
 * It is evaluated before an operation starts and again before a command runs, because a symbolic
 * link may have changed in between. A policy with paths reads the file system, so a worker
 * evaluates it. Before an operation the loop waits for the result within the limits of
 * workers_put_and_wait(). Without a result by then, a worker evaluates it before the probe
 * (core_look.unchecked), and the loop does not wait. */
#ifndef AGENT_SHELL_AGENT_POLICY_H
#define AGENT_SHELL_AGENT_POLICY_H

#include "agent/confine/policy.h"

struct agent_base;

struct agent_policy {
    struct agent_base *agent;
    struct policy now;
    struct arena texts;
};

/* Applies to following operations; NULL: everything is allowed. Informs the core, if there is one
 * already, whether there is a policy. */
void agent_policy_init(struct agent_policy *mine, struct agent_base *a, const struct policy *p);
void agent_policy_set(struct agent_policy *mine, const struct policy *p);
void agent_policy_done(struct agent_policy *mine);

/* Before an operation: see core_effects.h. */
int agent_policy_allow(const struct agent_policy *mine, const struct proc_spec *spec,
                       const char *line, struct err *err);

/* A copy for a worker, evaluated before a command starts. NULL: everything is allowed. */
struct policy_check {
    struct policy policy;
    struct proc_spec spec;
    const char *const *lines; /* NULL-terminated */
    const char *owner;        /* job owner (workers.h) of a job that does only this */
};

const struct policy_check *policy_check_new(const struct agent_policy *mine,
                                            const struct proc_spec *spec, const char *const *lines,
                                            struct arena *arena);
/* Checks the process and these commands of it. May block. */
int policy_check_run(const struct policy_check *c, struct err *err);

#endif
