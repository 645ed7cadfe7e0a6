/* SPDX-License-Identifier: MIT */
/* agent_effect.c - see agent_effect.h. */
#include "agent/shell/agent_effect.h"

#include <stdlib.h>
#include <string.h>

#include "agent/shell/agent_base.h"
#include "agent/shell/job_thread.h"
#include "agent/shell/others.h"
#include "base/io/loop.h"
#include "base/mem/mem.h"
#include "base/os/time.h"

enum { EFFECT_TEXT_BYTES = 512 };

void effects_init(struct effects *e, struct agent_base *a)
{
    e->agent = a;
    TAILQ_INIT(&e->waiting);
    TAILQ_INIT(&e->runs);
    TAILQ_INIT(&e->starting);
    TAILQ_INIT(&e->checks);
    TAILQ_INIT(&e->probing);
    TAILQ_INIT(&e->stuck);
    TAILQ_INIT(&e->lost);
}

void effects_done(struct effects *e)
{
    users_done(&e->users);
    map_free(&e->looking_up);
}

bool effects_are_busy(const struct effects *e)
{
    const struct effect *last = TAILQ_LAST(&e->probing, effect_list); /* earlier ones may hang */

    return !TAILQ_EMPTY(&e->waiting) || !TAILQ_EMPTY(&e->runs) || !TAILQ_EMPTY(&e->starting) ||
           !TAILQ_EMPTY(&e->checks) || (last && !last->is_slow);
}

struct effect *effect_new(struct effects *e, enum effect_kind kind)
{
    struct effect *effect = xalloc(sizeof(*effect));

    effect->effects = e;
    effect->kind = kind;
    effect->list = kind == EFFECT_RUN ? &e->runs : &e->waiting;
    TAILQ_INSERT_TAIL(effect->list, effect, link);
    arena_init(&effect->arena, EFFECT_TEXT_BYTES);
    agent_wake(e->agent);
    return effect;
}

void effect_move(struct effect *effect, struct effect_list *to)
{
    TAILQ_REMOVE(effect->list, effect, link);
    effect->list = to;
    TAILQ_INSERT_TAIL(to, effect, link);
}

void effect_free(struct effect *effect)
{
    TAILQ_REMOVE(effect->list, effect, link);
    others_unref(effect->others);
    arena_free(&effect->arena);
    free(effect);
}

void effect_identity(struct effect *effect, const struct proc_identity *from)
{
    struct arena *a = &effect->arena;

    effect->identity = (struct proc_identity){
        .index_key = arena_strdup(a, from->index_key),
        .proc_name = arena_strdup(a, from->proc_name),
        .setup_path = arena_strdup(a, from->setup_path),
        .pid_path = arena_strdup(a, from->pid_path),
        .config_path = arena_strdup(a, from->config_path),
        .log_path = arena_strdup(a, from->log_path),
        .user = arena_strdup(a, from->user),
    };
}

/* Length of the first two components of a path. */
static int two_parts(const char *path)
{
    size_t n = strspn(path, "/");

    n += strcspn(path + n, "/");
    n += strspn(path + n, "/");
    return (int)(n + strcspn(path + n, "/"));
}

const char *owner_of(const char *user, const char *path, struct arena *a)
{
    return strcmp(user, "root") != 0 ? user : arena_printf(a, "root:%.*s", two_parts(path), path);
}

const char *effect_owner(struct effect *effect)
{
    const struct proc_identity *id = &effect->identity;

    if (!effect->owner)
        effect->owner =
            owner_of(id->user, *id->pid_path ? id->pid_path : id->setup_path, &effect->arena);
    return effect->owner;
}

void effect_send(struct effect *effect, const char *owner,
                 void (*work)(struct worker_job *job, struct spawner *s),
                 void (*done)(struct worker_job *job))
{
    struct agent_base *a = effect->effects->agent;

    effect->job = (struct worker_job){ .work = work, .done = done, .arg = effect };
    effect_move(effect, &effect->effects->probing);
    effect->sent_ms = clock_mono_ms(&clock_system);
    effect->is_slow = false;
    agent_settle_in(a, AGENT_STUCK_MS); /* runs_watch() */
    workers_put(a->workers, owner, &effect->job);
}

void effect_wait_for_room(struct effect *effect, uint64_t op)
{
    struct agent_base *a = effect->effects->agent;
    int64_t now_ms = clock_mono_ms(&clock_system);

    if (!effect->sent_ms)
        effect->sent_ms = now_ms;
    if (effect->is_slow)
        return;
    if (now_ms - effect->sent_ms < AGENT_STUCK_MS) {
        agent_settle_in(a, AGENT_STUCK_MS);
        return;
    }
    effect->is_slow = true;
    core_on_slow(a->core, op, agent_now_ms(a));
}

/* A user to look up. */
struct user_job {
    struct job job;
    struct effects *all;
    char *name;
    struct user *user;
    bool has_failed;
    struct err err;
};

static void free_user_job(struct user_job *job)
{
    free(job->name);
    free(job);
}

static void look_up_user(struct job *job)
{
    struct user_job *u = (struct user_job *)job;

    if (user_new(u->name, &u->user, &u->err))
        u->has_failed = true;
}

static void hear_user(struct effect_list *list, const struct user_job *job)
{
    struct effect *effect;

    TAILQ_FOREACH(effect, list, link) {
        if (!effect->waits || strcmp(effect->identity.user, job->name) != 0)
            continue;
        effect->waits = false;
        effect->again_ms = 0;
        effect->has_failed = job->has_failed;
        effect->failure = job->err;
    }
}

static void on_user(struct job *job)
{
    struct user_job *u = (struct user_job *)job;
    struct effects *e = u->all;
    int64_t now_ms = clock_mono_ms(loop_clock(e->agent->loop));

    map_del_str(&e->looking_up, u->name);
    if (!u->has_failed)
        users_put(&e->users, u->user, now_ms);
    else if (users_fail(&e->users, u->name, &u->err, now_ms))
        u->has_failed = false;
    hear_user(&e->waiting, u);
    hear_user(&e->runs, u);
    hear_user(&e->checks, u);
    agent_wake(e->agent);
    free_user_job(u);
}

const struct user *effect_user(struct effect *effect, const char *name)
{
    struct effects *e = effect->effects;
    struct agent_base *a = e->agent;
    const struct user *user = users_find(&e->users, name, clock_mono_ms(loop_clock(a->loop)));
    struct user_job *job;

    if (user || effect->has_failed)
        return user;
    effect->waits = true;
    if (map_find_str(&e->looking_up, name))
        return NULL;
    job = xalloc(sizeof(*job));
    *job = (struct user_job){ { .work = look_up_user, .done = on_user }, e, xstrdup(name) };
    if (job_thread_do(e->lookups, &job->job)) {
        map_put_str(&e->looking_up, job->name, job);
        return NULL;
    }
    free_user_job(job);
    effect->waits = false;
    agent_retry(a);
    return NULL;
}
