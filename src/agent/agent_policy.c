/* SPDX-License-Identifier: MIT */
/* agent_policy.c - see agent_policy.h. */
#include "agent/agent_policy.h"

#include "agent/agent_in.h"

void agent_policy_set(struct agent *a, const struct policy *p)
{
    static const struct policy all = { 0 };
    struct agent_policy old = a->policy;

    a->policy = (struct agent_policy){ 0 };
    policy_copy(p ? p : &all, &a->policy.texts, &a->policy.now);
    arena_free(&old.texts);
    if (a->core)
        core_on_policy(a->core, agent_now_ms(a));
}

void agent_policy_done(struct agent *a)
{
    arena_free(&a->policy.texts);
}

int hand_allow(void *agent, const struct proc_spec *spec, const char *line, struct err *err)
{
    const struct agent *a = agent;

    return policy_allow(&a->policy.now, spec, line, err);
}

int agent_policy_allow(struct agent *a, const struct proc_spec *spec, const char *line,
                       struct err *err)
{
    return hand_allow(a, spec, "", err) || hand_allow(a, spec, line, err) ? -1 : 0;
}
