/* SPDX-License-Identifier: MIT */
/* agent_policy.c - see agent_policy.h. */
#include "agent/shell/agent_policy.h"

#include <stdlib.h>

#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"

void agent_policy_set(struct agent_policy *mine, const struct policy *p)
{
    static const struct policy all = { 0 };
    struct agent_base *a = mine->agent;
    struct agent_policy old = *mine;

    *mine = (struct agent_policy){ .agent = a };
    policy_copy(p ? p : &all, &mine->texts, &mine->now);
    mine->now.pid_dir = mine->agent->pid_dir;
    arena_free(&old.texts);
    if (a->core)
        core_on_policy(a->core, agent_now_ms(a));
}

void agent_policy_init(struct agent_policy *mine, struct agent_base *a, const struct policy *p)
{
    mine->agent = a;
    agent_policy_set(mine, p);
}

void agent_policy_done(struct agent_policy *mine)
{
    arena_free(&mine->texts);
}

/* ---- before a command, on a worker */

/* Separate from jobs that read pid files and start processes: a check that hangs is not killed, as
 * a start is, and its paths may be on another file system. */
static const char *owner_of_check(const struct proc_spec *spec, struct arena *arena)
{
    const struct proc_identity *id = &spec->identity;
    const char *path = *id->setup_path ? id->setup_path : id->pid_path;

    return arena_printf(arena, "policy:%s", owner_of(id->user, path, arena));
}

const struct policy_check *policy_check_new(const struct agent_policy *mine,
                                            const struct proc_spec *spec, const char *const *lines,
                                            struct arena *arena)
{
    const struct policy *p = &mine->now;
    struct policy_check *c;
    const char **copies;
    size_t n = 0;

    if (!p->users.n && !p->paths.n && p->commands == COMMANDS_ANY)
        return NULL;
    while (lines[n])
        n++;
    copies = arena_alloc(arena, (n + 1) * sizeof(*copies));
    for (size_t i = 0; i < n; i++)
        copies[i] = arena_strdup(arena, lines[i]);
    c = arena_alloc(arena, sizeof(*c));
    policy_copy(p, arena, &c->policy);
    proc_spec_copy(spec, arena, &c->spec);
    c->lines = copies;
    c->owner = owner_of_check(spec, arena);
    return c;
}

int policy_check_run(const struct policy_check *c, struct err *err)
{
    if (!c)
        return 0;
    if (policy_allow(&c->policy, &c->spec, "", err))
        return -1;
    for (size_t i = 0; c->lines[i]; i++) {
        if (policy_allow(&c->policy, &c->spec, c->lines[i], err))
            return -1;
    }
    return 0;
}

/* ---- before an operation */

struct question {
    struct worker_job job;
    struct arena arena;
    struct policy policy;
    struct proc_spec spec;
    const char *line;
    int result;
    struct err err;
};

static void policy_ask(struct worker_job *job, struct spawner *s)
{
    struct question *q = job->arg;

    (void)s;
    q->result = policy_allow(&q->policy, &q->spec, q->line, &q->err);
}

static void on_asked(struct worker_job *job)
{
    struct question *q = job->arg;

    arena_free(&q->arena);
    free(q);
}

static int ask_worker(const struct agent_policy *mine, const struct proc_spec *spec,
                      const char *line, struct err *err)
{
    struct question *q = xalloc(sizeof(*q));
    char *owner;
    bool has_answer;

    q->job = (struct worker_job){ .work = policy_ask, .done = on_asked, .arg = q };
    policy_copy(&mine->now, &q->arena, &q->policy);
    proc_spec_copy(spec, &q->arena, &q->spec);
    q->line = arena_strdup(&q->arena, line);
    owner = xstrdup(owner_of_check(spec, &q->arena)); /* the request may be freed earlier */
    has_answer = workers_put_and_wait(mine->agent->workers, owner, &q->job);
    free(owner);
    if (!has_answer)
        return err_set(err, ERR_UNAVAILABLE, "policy.paths: the paths have not been checked yet");
    if (q->result)
        *err = q->err;
    return q->result;
}

int agent_policy_allow(const struct agent_policy *mine, const struct proc_spec *spec,
                       const char *line, struct err *err)
{
    const struct policy *p = &mine->now;

    if (!p->paths.n && p->commands == COMMANDS_ANY)
        return policy_allow(p, spec, line, err);
    if (policy_allow_user(p, spec, err))
        return -1;
    return ask_worker(mine, spec, line, err);
}
