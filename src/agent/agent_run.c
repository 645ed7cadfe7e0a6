/* SPDX-License-Identifier: MIT */
/* agent_run.c - commands: as which user, with their output where, begun and ended. */
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/tree.h"
#include "base/mem.h"
#include "base/sys.h"
#include "model/code.h"

/* The file of the process a command belongs to. */
static void output_name(const char *space, const char *name, char to[OUTLOG_NAME_SIZE])
{
    char *key = xprintf("%s:%s", space, name);

    outlog_name(key, to);
    free(key);
}

/* "NAME=value", as spawn() wants them. */
static const char *const *write_env(const struct list *env, struct arena *a)
{
    const struct proc_env *pairs = env->items;
    const char **texts = arena_alloc(a, (env->n + 1) * sizeof(*texts));

    for (size_t i = 0; i < env->n; i++)
        texts[i] = arena_printf(a, "%s=%s", pairs[i].key, pairs[i].value);
    return texts;
}

void hand_run(void *agent, const struct core_run *run)
{
    struct agent *a = agent;
    struct act *act = act_new(a, ACT_RUN);

    act->run = *run;
    act->run.task = arena_strdup(&act->arena, run->task);
    act->run.space = arena_strdup(&act->arena, run->space);
    act->run.name = arena_strdup(&act->arena, run->name);
    act->run.what = arena_strdup(&act->arena, run->what);
    act->run.line = arena_strdup(&act->arena, run->line);
    act_identity(act, run->identity);
    act->run.identity = &act->identity;
    act->env = write_env(run->env, &act->arena);
}

static int begin(struct agent *a, const struct act *act, const struct user *user, struct held **ret,
                 struct err *err)
{
    const struct core_run *run = &act->run;
    char name[OUTLOG_NAME_SIZE];
    struct outlog_file out;
    struct spawn_request request = { .command = run->line,
                                     .setup_path = run->identity->setup_path,
                                     .user = user,
                                     .env = act->env,
                                     .cgroup_fd = -1 };
    struct spawn_result got;
    bool trimmed;
    int result;

    output_name(run->space, run->name, name);
    if (outlog_trim(a->outlog, name, (uint64_t)a->o.output_max_bytes, &trimmed, err) ||
        outlog_begin(a->outlog, name, user->uid, user->gid, &out, err))
        return err_wrap(err, "output of %s:%s", run->space, run->name);
    request.out_fd = out.fd;
    result = spawn(a->spawner, &request, &got, err);
    sys_close(out.fd);
    if (result)
        return -1;
    *ret = watch_hold(a, &got.id, got.pidfd);
    (*ret)->run = run->id;
    (*ret)->output = xstrdup(name);
    (*ret)->out_from = out.from;
    return 0;
}

/* What is asked for by a task must be written down first; keeping a hosted process
 * alive goes on without. */
static bool is_refused(struct agent *a, struct act *act)
{
    if (act->has_failed || !disk_flush(a) || !*act->run.task)
        return act->has_failed;
    act->has_failed = true;
    err_set(&act->failure, CODE_SYSTEM,
            "not run: the agent's journal can not be written; see its log, and make room on the "
            "disk of %s",
            a->o.dir);
    return true;
}

bool run_carry_out(struct agent *a, struct act *act)
{
    const struct user *user = NULL;
    struct core_began began = { 0 };
    struct held *held;

    if (!is_refused(a, act)) {
        user = act_user(a, act, act->identity.user);
        if (!user && !act->has_failed)
            return false;
    }
    if (user && !begin(a, act, user, &held, &act->failure))
        began = (struct core_began){ .ident = { held->id.pid, held->id.start_ticks },
                                     .out_from = (int64_t)held->out_from };
    LOG(a->log, began.ident.pid ? LOG_INFO : LOG_WARN,
        began.ident.pid ? "a command runs" : "a command can not run",
        log_str("namespace", act->run.space), log_str("process", act->run.name),
        log_str("task", act->run.task), log_int("pid", began.ident.pid),
        log_str("error", began.ident.pid ? "" : act->failure.text));
    core_on_run(a->core, act->run.id, &began, began.ident.pid ? NULL : &act->failure,
                agent_now_ms(a));
    return true;
}

void run_ended(struct agent *a, const struct held *h, int status)
{
    struct buf output = { 0 };
    struct err err;

    if (outlog_tail(a->outlog, h->output, h->out_from, OUTLOG_TAIL_BYTES, &output, &err))
        LOG(a->log, LOG_WARN, "what a command said can not be read", log_err(&err));
    core_on_run_end(a->core, h->run, status, buf_text(&output), agent_now_ms(a));
    buf_free(&output);
}

/* Still a child of ours after an upgrade in place, somebody else's after a crash: then
 * how it ended may be known to nobody. */
void hand_adopt(void *agent, const struct core_adopt *adopt)
{
    struct agent *a = agent;
    char name[OUTLOG_NAME_SIZE];
    struct held *h = watch_adopt(a, adopt->ident);

    output_name(adopt->space, adopt->name, name);
    h->run = adopt->id;
    h->output = xstrdup(name);
    h->out_from = (uint64_t)adopt->out_from;
}

static void drop_waiting(struct agent *a, uint64_t id)
{
    struct act *act;

    TAILQ_FOREACH(act, &a->acts, link)
    {
        if (act->kind != ACT_RUN || act->run.id != id)
            continue;
        act->waits = false;
        act->again_ms = 0;
        act->has_failed = true;
        err_set(&act->failure, CODE_TIMEOUT, "user %s: nobody could say in time who that is",
                act->identity.user);
        agent_wake(a);
    }
}

void hand_end_run(void *agent, uint64_t id)
{
    struct agent *a = agent;
    struct held *h = watch_find_run(a, id);
    struct err err;
    size_t killed;

    if (!h)
        drop_waiting(a, id);
    else if (tree_kill(&h->id, true, &killed, &err) && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_WARN, "a command that took too long can not be ended",
            log_int("pid", h->pid), log_err(&err));
}

static void trim(void *agent, const char *space, const char *name)
{
    struct agent *a = agent;
    char file[OUTLOG_NAME_SIZE];
    struct err err;
    bool trimmed;

    output_name(space, name, file);
    if (outlog_trim(a->outlog, file, (uint64_t)a->o.output_max_bytes, &trimmed, &err))
        LOG(a->log, LOG_WARN, "output can not be trimmed", log_err(&err));
}

void run_trim_outputs(struct agent *a)
{
    core_each_running(a->core, trim, a);
}
