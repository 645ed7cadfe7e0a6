/* SPDX-License-Identifier: MIT */
/* agent_run.c - see agent_run.h. */
#include "agent/shell/agent_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/confine/cgroup.h"
#include "agent/confine/cgroup_caps.h"
#include "agent/exec/command.h"
#include "agent/exec/envfile.h"
#include "agent/exec/outlog_append.h"
#include "agent/identify/mark.h"
#include "agent/identify/tree.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_notify.h"
#include "agent/shell/agent_piddir.h"
#include "agent/shell/agent_policy.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/agent_watch.h"
#include "agent/shell/others.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "model/code.h"
#include "model/operation.h"

enum {
    START_MS = 5000,     /* a child that has not reached exec after this time is killed */
    GIVE_UP_MS = 1000,   /* a thread that has not returned by then: the command has failed */
    WATCH_EACH_MS = 250, /* polling interval of stuck starts */
};

/* Interval of state reports while many commands start; delay of the report of a single start. */
enum { TELL_MS = 100, LET_RUN_MS = 3 };

struct runs {
    struct run_parts parts;
    struct map searches;      /* struct mark_search, by the bytes of the mark */
    int64_t told_ms, lone_ms; /* last report to the server; last single start */
};

/* "NAME=value" strings in the form of spawn(). */
static const char *const *write_env(const struct core_run *run, const char *notify, struct arena *a)
{
    const struct list *env = &run->spec->extra.env;
    const struct proc_env *pairs = env->items;
    const char **texts = arena_alloc(a, (env->n + 3) * sizeof(*texts));
    size_t n = 0;

    for (size_t i = 0; i < env->n; i++)
        texts[n++] = arena_printf(a, "%s=%s", pairs[i].key, pairs[i].value);
    if (*notify)
        texts[n++] = arena_printf(a, "NOTIFY_SOCKET=%s", notify);
    if (run->mark)
        texts[n++] = mark_variable(run->mark, a);
    return texts;
}

/* $NOTIFY_SOCKET of a process that reports readiness; "": it does not. */
static const char *notify_socket(const struct runs *r, const struct core_run *run)
{
    bool says_so = run->spec->extra.ready.kind == READY_NOTIFY &&
                   operation_is_own_output(run->what) &&
                   strcmp(run->what, OPERATION_PRE_START) != 0;

    return says_so ? notices_socket(r->parts.notices) : "";
}

static struct spawn_limit *copy_limits(const struct list *from, struct arena *a)
{
    const struct proc_rlimit *rows = from->items;
    struct spawn_limit *to = arena_alloc(a, (from->n + 1) * sizeof(*to));

    for (size_t i = 0; i < from->n; i++) {
        rlim_t value = rows[i].value < 0 ? RLIM_INFINITY : (rlim_t)rows[i].value;

        to[i] = (struct spawn_limit){ arena_strdup(a, rows[i].name),
                                      proc_rlimit_number(rows[i].name),
                                      { value, value } };
    }
    return to;
}

/* A new main process may be born in a reload command.  The group of a process that is not in it
 * would tell nothing of its family, so it is not created for that. */
static bool is_grouped(const struct agent_base *a, const struct core_run *run, const char *group,
                       bool is_own)
{
    bool is_needed = run->spec->extra.scope == SCOPE_START && cgroups_are_possible(a->cgroups);

    if (!is_needed && !cgroup_is_wanted(a->cgroups, &run->spec->extra.caps))
        return false;
    return is_own || (!strcmp(run->what, "reload") && cgroup_look(a->cgroups, group).is_populated);
}

/* Variables apply to every command, other options to commands that create the process. */
static void copy_extra(const struct runs *r, struct effect *effect, const struct core_run *run)
{
    const struct agent_base *a = r->parts.agent;
    const struct proc_extra *from = &run->spec->extra;
    static const struct proc_caps none;
    bool is_own = operation_is_own_output(run->what), has_file = from->env_file && *from->env_file;
    char group[OUTLOG_NAME_SIZE];
    struct effect_extra *e;

    output_name(run->space, run->name, "start", group);
    effect->is_grouped = is_grouped(a, run, group, is_own);
    effect->needs_group = is_own && from->scope == SCOPE_START;
    if (!has_file && !effect->is_grouped && !(is_own && (from->nice || from->rlimits.n)))
        return;
    e = arena_alloc(&effect->arena, sizeof(*e));
    e->env_file = has_file ? arena_strdup(&effect->arena, from->env_file) : "";
    e->commands = r->parts.policy->now.commands;
    e->group = is_own ? effect->output : arena_strdup(&effect->arena, group);
    e->caps = effect->is_grouped ? from->caps : none;
    e->nice = is_own ? (int)from->nice : 0;
    e->n_limits = is_own ? from->rlimits.n : 0;
    if (e->n_limits)
        e->limits = copy_limits(&from->rlimits, &effect->arena);
    effect->extra = e;
}

void runs_add(struct runs *r, const struct core_run *run)
{
    struct effect *effect = effect_new(r->parts.effects, EFFECT_RUN);

    effect->runs = r;
    effect->run = *run;
    effect->run.task = arena_strdup(&effect->arena, run->task);
    effect->run.space = arena_strdup(&effect->arena, run->space);
    effect->run.name = arena_strdup(&effect->arena, run->name);
    effect->run.what = arena_strdup(&effect->arena, run->what);
    effect->run.line = arena_strdup(&effect->arena, run->line);
    effect_identity(effect, &run->spec->identity);
    effect->env = write_env(run, notify_socket(r, run), &effect->arena);
    output_name(run->space, run->name, run->what, effect->output);
    copy_extra(r, effect, run);
    trims_set_max(r->parts.trims, effect->output, run->spec->extra.log_max_bytes);
    if (operation_is_own_output(run->what))
        trims_forward(r->parts.trims, effect->output, run->space, run->name, run->spec);
    effect->check = policy_check_new(r->parts.policy, run->spec,
                                     (const char *[]){ run->line, NULL }, &effect->arena);
    effect->run.spec = NULL; /* everything needed of it has been copied */
}

/* ---- the start, on any thread */

static int check_variables(struct effect *effect, const char *const *file, struct err *err)
{
    const struct policy p = { .commands = effect->extra->commands };

    for (size_t i = 0; file[i]; i++) {
        const char *name = arena_memdup(&effect->arena, file[i], strcspn(file[i], "="));

        if (policy_allow_variable(&p, name, "env_file", err))
            return -1;
    }
    return 0;
}

/* Variables of the file come first: later ones win. */
static int add_env_file(struct effect *effect, struct err *err)
{
    const char *const *file;
    const char **all;
    size_t n = 0, m = 0;

    if (envfile_read(effect->extra->env_file, effect->user, &effect->arena, &file, err) ||
        check_variables(effect, file, err))
        return -1;
    while (file[n])
        n++;
    while (effect->env[m])
        m++;
    all = arena_alloc(&effect->arena, (n + m + 1) * sizeof(*all));
    memcpy(all, file, n * sizeof(*all));
    memcpy(all + n, effect->env, m * sizeof(*all));
    effect->env = all;
    return 0;
}

typedef int enter_fn(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                     struct cgroup_way *ret, struct err *err);

static int spawn_in(const struct agent_base *a, struct effect *effect, struct spawner *s,
                    struct spawn_request *request, enter_fn *enter, bool *ret_may_be_dead,
                    struct err *err)
{
    struct cgroup_way way;
    int result;

    *ret_may_be_dead = false;
    if (enter(a->cgroups, effect->extra->group, &effect->extra->caps, &way, err))
        return -1;
    request->cgroup_fd = way.born;
    request->join = way.join;
    request->n_join = way.n_join;
    result = spawn(s, request, &effect->began, err);
    *ret_may_be_dead = way.may_be_dead;
    cgroup_leave(&way);
    return result;
}

/* If another program has written to cgroup.kill of the group, the kernel kills the next process of
 * the group too; nothing else shows it. */
static int spawn_grouped(const struct agent_base *a, struct effect *effect, struct spawner *s,
                         struct spawn_request *request, struct err *err)
{
    bool may_be_dead;

    if (!spawn_in(a, effect, s, request, cgroup_enter, &may_be_dead, err))
        return 0;
    if (!may_be_dead || err->code != ERR_SYSTEM || err->sys)
        return -1;
    return spawn_in(a, effect, s, request, cgroup_enter_dead, &may_be_dead, err);
}

static int start(struct agent_base *a, struct effect *effect, struct spawner *s, struct err *err)
{
    const struct core_run *run = &effect->run;
    struct spawn_request request = { .command = run->line,
                                     .setup_path = effect->identity.setup_path,
                                     .user = effect->user,
                                     .env = effect->env,
                                     .cgroup_fd = -1,
                                     .progress = &effect->progress };
    int result;

    if (policy_check_run(effect->check, err))
        return -1;
    if (effect->extra) {
        request.nice = effect->extra->nice;
        request.limits = effect->extra->limits;
        request.n_limits = effect->extra->n_limits;
        if (*effect->extra->env_file && add_env_file(effect, err))
            return -1;
        request.env = effect->env;
    }
    if (operation_is_own_output(run->what))
        piddir_drop(a, effect->identity.pid_path, 0);
    if (outlog_append(a->outlog, effect->output, effect->user->uid, effect->user->gid,
                      &request.out_fd, &effect->out_from, err))
        return err_wrap(err, "output of %s:%s", run->space, run->name);
    result = effect->is_grouped ? spawn_grouped(a, effect, s, &request, err)
                                : spawn(s, &request, &effect->began, err);
    sys_close(request.out_fd);
    return result;
}

static void start_work(struct worker_job *job, struct spawner *s)
{
    struct effect *effect = job->arg;

    effect->has_failed = start(effect->effects->agent, effect, s, &effect->failure) != 0;
}

/* ---- before and after the start */

static void hold(const struct runs *r, const struct effect *effect, struct core_began *ret)
{
    const struct core_run *run = &effect->run;
    struct watched *watched = watch_hold(r->parts.watches, &effect->began.id, effect->began.pidfd);

    watch_set_run(watched, run->id, effect->output, effect->out_from);
    watched->wants_output = run->wants_output;
    trims_set_pid(r->parts.trims, effect->output, watched->id.pid);
    if (effect->out_from > 0)
        trims_look(r->parts.trims, effect->output);
    *ret = (struct core_began){
        .ident = { watched->id.pid, watched->id.start_ticks },
        .out_from = (int64_t)effect->out_from,
        .fits = effect->began.is_direct && command_has_name(run->line, effect->identity.proc_name),
    };
}

static void run_started(struct effect *effect)
{
    struct runs *r = effect->runs;
    struct agent_base *a = r->parts.agent;
    struct core_began began = { 0 };

    if (!effect->has_failed)
        hold(r, effect, &began);
    if (effect->is_grouped && effect->has_failed)
        cgroup_ended(a->cgroups, effect->extra->group); /* it may have been created */
    else if (effect->is_grouped)
        cgroup_entered(a->cgroups, effect->extra->group);
    watch_bury(
        r->parts.watches); /* logs the exit of the old process before the start of the new one */
    LOG(a->log, began.ident.pid ? LOG_INFO : LOG_WARN,
        began.ident.pid ? "a command runs" : "a command can not run",
        log_str("namespace", effect->run.space), log_str("process", effect->run.name),
        log_str("task", effect->run.task), log_int("pid", began.ident.pid),
        log_str("error", began.ident.pid ? "" : effect->failure.text));
    core_on_run(a->core, effect->run.id, &began, began.ident.pid ? NULL : &effect->failure,
                agent_now_ms(a));
    if (effect->is_late && began.ident.pid)
        runs_end(r, effect->run.id);
}

/* A command of a task needs a durable record; restarts of hosted processes continue without one. */
static bool is_refused(struct effect *effect)
{
    const struct run_parts *parts = &effect->runs->parts;

    if (effect->has_failed || !disk_flush(parts->disk) || !*effect->run.task)
        return effect->has_failed;
    effect->has_failed = true;
    err_set(&effect->failure, CODE_SYSTEM,
            "not run: the agent's journal can not be written; see its log, and make room on the "
            "disk of %s",
            parts->agent->dir);
    return true;
}

/* ---- slow starts */

static int64_t system_ms(void)
{
    return clock_mono_ms(&clock_system);
}

static void kill_child(struct effect *effect, int64_t now_ms)
{
    if (effect->kill_ms)
        return;
    effect->kill_ms = now_ms;
    err_set(&effect->late, CODE_TIMEOUT,
            "the command did not reach its program within %d s, and was killed: it was stopped, or "
            "its folder or file does not answer (step %s)",
            START_MS / 1000, spawn_progress_text(&effect->progress));
    spawn_kill(&effect->progress);
}

struct run_spared {
    const struct core *core;
    struct core_whose whose; /* its process */
};

/* What it has started may be hosted under another name by now. */
static bool run_spares(void *arg, const struct ident *id)
{
    const struct run_spared *s = arg;

    return others_have_now(s->core, (struct core_ident){ id->pid, id->start_ticks }, s->whose.space,
                           s->whose.name);
}

static int end_command(const struct core *c, const struct ident *command, struct core_whose whose,
                       struct err *err)
{
    const struct tree_spared spared = { run_spares, &(struct run_spared){ c, whose } };
    size_t killed;

    return tree_kill(command, true, &spared, &killed, err);
}

/* The result is not needed any more. */
static void drop_began(struct effect *effect)
{
    const struct core_whose whose = { effect->run.space, effect->run.name, 0 };
    struct err why;

    if (effect->has_failed)
        return;
    (void)end_command(effect->effects->agent->core, &effect->began.id, whose,
                      &why); /* it may have ended; if not, it is a stray now */
    sys_close(effect->began.pidfd);
    effect->has_failed = true;
}

/* The thread hangs in the kernel; the command is reported as failed. */
static void run_give_up(struct effect *effect)
{
    struct agent_base *a = effect->effects->agent;

    effect->is_given_up = true;
    effect_move(effect, &effect->effects->lost);
    LOG(a->log, LOG_WARN, "a command can not run", log_str("namespace", effect->run.space),
        log_str("process", effect->run.name), log_str("task", effect->run.task),
        log_err(&effect->late));
    core_on_run(a->core, effect->run.id, &(struct core_began){ 0 }, &effect->late, agent_now_ms(a));
    agent_wake(a);
}

static void watch_stuck(struct effect *effect, int64_t now_ms)
{
    int64_t began_ms = workers_began_ms(effect->effects->agent->workers, &effect->job);

    if (effect->kill_ms && now_ms - effect->kill_ms >= GIVE_UP_MS)
        run_give_up(effect);
    else if (began_ms && now_ms - began_ms >= START_MS)
        kill_child(effect, now_ms);
}

void runs_watch(struct runs *r)
{
    struct agent_base *a = r->parts.agent;
    struct effects *e = r->parts.effects;
    int64_t now_ms = system_ms();
    struct effect *effect, *next;

    workers_collect(a->workers); /* before they are reported as timed out */
    for (effect = TAILQ_FIRST(&e->stuck); effect; effect = next) {
        next = TAILQ_NEXT(effect, link);
        watch_stuck(effect, now_ms);
    }
    for (effect = TAILQ_FIRST(&e->starting); effect; effect = next) {
        next = TAILQ_NEXT(effect, link);
        if (now_ms - effect->sent_ms < AGENT_STUCK_MS)
            continue;
        effect_move(effect, &e->stuck);
        core_on_slow(a->core, effect->run.id, agent_now_ms(a));
    }
    TAILQ_FOREACH(effect, &e->probing, link) {
        if (effect->is_slow || now_ms - effect->sent_ms < AGENT_STUCK_MS)
            continue;
        effect->is_slow = true;
        core_on_slow(a->core, effect->look.id, agent_now_ms(a));
    }
    effect = TAILQ_LAST(&e->probing, effect_list);
    if (!TAILQ_EMPTY(&e->starting) || (effect && !effect->is_slow))
        agent_settle_in(a, AGENT_STUCK_MS);
    else if (!TAILQ_EMPTY(&e->stuck))
        agent_settle_in(a, WATCH_EACH_MS);
}

void runs_kill(struct runs *r)
{
    const struct effects *e = r->parts.effects;
    struct effect *effect;

    TAILQ_FOREACH(effect, &e->starting, link)
        kill_child(effect, system_ms());
    TAILQ_FOREACH(effect, &e->stuck, link)
        kill_child(effect, system_ms());
}

/* ---- passing to a worker and back */

static void on_started(struct worker_job *job)
{
    struct effect *effect = job->arg;
    struct agent_base *a = effect->effects->agent;

    if (effect->kill_ms || effect->is_given_up) {
        drop_began(effect);
        effect->failure = effect->late;
    }
    if (!effect->is_given_up && !(effect->kill_ms && a->is_closing))
        run_started(
            effect); /* otherwise it has failed already, or the next agent finds the result */
    effect_free(effect);
    agent_wake(a);
}

/* Reports are batched: of a thousand processes that exit at once most run again when the server
 * gets the report, and two reports for each would delay the remaining starts. Likewise the exit of
 * a single process is reported after its successor has had time to reach exec. A result is reported
 * at once, after the state it leads to. */
void runs_tell(struct runs *r, int64_t now_ms)
{
    struct agent_base *a = r->parts.agent;
    bool is_quiet = TAILQ_EMPTY(&r->parts.effects->starting);
    int64_t due_ms = is_quiet ? r->lone_ms + LET_RUN_MS : r->told_ms + TELL_MS;

    if (now_ms < due_ms) {
        agent_settle_in(a, due_ms - now_ms);
        return;
    }
    r->told_ms = now_ms;
    core_tell_now(a->core);
}

static enum run_fate run_begin(struct effect *effect, bool is_alone)
{
    struct runs *r = effect->runs;
    struct agent_base *a = r->parts.agent;

    if (!workers_have_room(a->workers, effect_owner(effect))) {
        effect_wait_for_room(effect, effect->run.id);
        return RUN_HAS_NO_ROOM;
    }
    if (*effect->run.task || !is_alone)
        watch_bury(
            r->parts.watches); /* a command may check by pid whether its predecessor is alive */
    if (is_alone && operation_is_own_output(effect->run.what) && r->lone_ms < r->told_ms)
        r->lone_ms = agent_now_ms(a); /* time of the first unreported start */
    effect->user =
        user_copy(effect->user, &effect->arena); /* the cached user may be replaced meanwhile */
    effect_move(effect, &effect->effects->starting);
    effect->sent_ms = system_ms();
    effect->job = (struct worker_job){ .work = start_work, .done = on_started, .arg = effect };
    spawn_progress_init(&effect->progress);
    workers_put(a->workers, effect_owner(effect), &effect->job);
    agent_settle_in(a, AGENT_STUCK_MS); /* runs_watch() */
    return RUN_IS_STARTING;
}

static int prepare_group(const struct agent_base *a, const struct effect *effect, struct err *err)
{
    if (effect->needs_group && !cgroups_are_possible(a->cgroups))
        return err_set(
            err, CODE_SYSTEM,
            "spec.holdfast.scope: start is not possible on this host, %s; take it out of "
            "the spec, or give the agent a cgroup it can write to",
            a->facilities.why[HAS_CGROUP]);
    if (effect->needs_group && cgroups_use(a->cgroups, err))
        return -1;
    if (effect->is_grouped && caps_are_set(&effect->extra->caps))
        return cgroups_prepare(a->cgroups, &effect->extra->caps, err);
    return 0;
}

enum run_fate run_carry_out(struct effect *effect, bool is_alone)
{
    struct agent_base *a = effect->effects->agent;
    const struct user *user = NULL;

    if (!is_refused(effect)) {
        user = effect_user(effect, effect->identity.user);
        if (!user && !effect->has_failed)
            return RUN_WAITS;
    }
    if (!user) {
        run_started(effect);
        return RUN_DONE;
    }
    effect->user = user;
    if (prepare_group(a, effect, &effect->failure)) {
        effect->has_failed = true;
        run_started(effect);
        return RUN_DONE;
    }
    return run_begin(effect, is_alone);
}

/* ---- a command that the previous agent was about to start */

struct mark_search {
    struct worker_job job;
    int64_t mark;
    char *output;
    bool is_done, is_found;
    struct mark_found found;
};

static void search_mark(struct worker_job *job, struct spawner *s)
{
    struct mark_search *m = job->arg;

    (void)s;
    m->is_found = mark_find(m->mark, m->output, &m->found);
}

static void on_mark(struct worker_job *job)
{
    struct mark_search *m = job->arg;

    m->is_done = true;
}

static void free_search(struct mark_search *m)
{
    free(m->output);
    free(m);
}

struct runs *runs_new(const struct run_parts *parts)
{
    struct runs *r = xalloc(sizeof(*r));

    r->parts = *parts;
    return r;
}

void runs_free(struct runs *r)
{
    struct map_entry *e;

    if (!r)
        return;
    for (size_t at = 0; (e = map_next(&r->searches, &at));)
        free_search(e->value);
    map_free(&r->searches);
    free(r);
}

/* Output file of commands of the process. */
static char *output_path(const struct agent_base *a, const struct core_run *run)
{
    char *folder = xprintf("%s/output", a->dir), *real = realpath(folder, NULL), *path;
    char name[OUTLOG_NAME_SIZE];

    output_name(run->space, run->name, "start", name);
    path = xprintf("%s/%s", real ? real : folder, name);
    free(folder);
    free(real);
    return path;
}

/* The search reads memory of user processes, which the user can make block. So each user has its
 * own job owner. Commands of root may have changed their user, so each of them has its own owner.
 */
static struct mark_search *begin_search(struct runs *r, const struct core_run *run)
{
    const struct agent_base *a = r->parts.agent;
    const char *user = run->spec->identity.user;
    bool is_root = !strcmp(user, "root");
    char *output = output_path(a, run);
    char *owner = xprintf("mark:%s%s", user, is_root ? output : "");
    struct mark_search *m = NULL;

    if (workers_have_room(a->workers, owner)) {
        m = xalloc(sizeof(*m));
        *m = (struct mark_search){ .mark = run->mark, .output = output };
        m->job = (struct worker_job){ .work = search_mark, .done = on_mark, .arg = m };
        map_put(&r->searches, (const char *)&m->mark, sizeof(m->mark), m);
        workers_put(a->workers, owner, &m->job);
    } else {
        free(output);
    }
    free(owner);
    return m;
}

/* Only at start, and repeated until a worker has the answer. */
enum core_begun runs_find(struct runs *r, const struct core_run *run, struct core_ident *ret)
{
    struct mark_search *m = map_find(&r->searches, (const char *)&run->mark, sizeof(run->mark));
    bool is_found;

    if (!m)
        m = begin_search(r, run);
    if (!m || !m->is_done)
        return BEGUN_UNKNOWN;
    is_found = m->is_found;
    if (is_found)
        *ret = (struct core_ident){ m->found.pid, m->found.start_ticks };
    map_del(&r->searches, (const char *)&m->mark, sizeof(m->mark));
    free_search(m);
    if (!is_found)
        return BEGUN_NOT;
    LOG(r->parts.agent->log, LOG_INFO, "a command that an agent before us was about to begin runs",
        log_int("pid", ret->pid));
    return BEGUN_RUNS;
}

/* After an upgrade in place the command is still a child; after a crash it is not, and its exit
 * status may be unknown. */
void runs_adopt(struct runs *r, const struct core_adopt *adopt)
{
    char name[OUTLOG_NAME_SIZE];
    struct watched *h = watch_adopt(r->parts.watches, adopt->ident);

    output_name(adopt->space, adopt->name, adopt->what, name);
    watch_set_run(h, adopt->id, name, (uint64_t)adopt->out_from);
}

/* A command that is being started is killed once it has begun; one that has not begun is not
 * started. */
static void drop_starting(struct runs *r, struct effect_list *list, uint64_t id)
{
    struct effect *effect, *next;

    for (effect = TAILQ_FIRST(list); effect; effect = next) {
        next = TAILQ_NEXT(effect, link);
        if (effect->run.id != id)
            continue;
        effect->is_late = true;
        if (workers_take_back(r->parts.agent->workers, &effect->job))
            effect_move(effect, &effect->effects->runs);
        else
            spawn_kill(&effect->progress);
    }
}

static void drop_waiting(struct runs *r, uint64_t id)
{
    struct effects *e = r->parts.effects;
    struct effect *effect;

    drop_starting(r, &e->starting, id);
    drop_starting(r, &e->stuck, id);
    TAILQ_FOREACH(effect, &e->runs, link) {
        if (effect->run.id != id)
            continue;
        if (effect->waits)
            err_set(&effect->failure, CODE_TIMEOUT, "the look-up of user %s timed out",
                    effect->identity.user);
        else
            err_set(&effect->failure, CODE_TIMEOUT,
                    "not begun in time: the commands before it hang while they are being started");
        effect->waits = false;
        effect->again_ms = 0;
        effect->has_failed = true;
        agent_wake(r->parts.agent);
    }
}

void runs_end(struct runs *r, uint64_t id)
{
    struct watched *h = watch_find_run(r->parts.watches, id);
    struct core_whose whose = { "", "", 0 };
    struct err err;

    (void)core_find_run(r->parts.agent->core, id, &whose);
    if (h)
        h->is_killed = true;
    if (!h)
        drop_waiting(r, id);
    else if (end_command(r->parts.agent->core, &h->id, whose, &err) && err.code != ERR_NOT_FOUND)
        LOG(r->parts.agent->log, LOG_WARN, "a command that took too long can not be ended",
            log_int("pid", h->pid), log_err(&err));
}
