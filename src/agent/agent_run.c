/* SPDX-License-Identifier: MIT */
/* agent_run.c - commands: as which user, with their output where, begun and ended. */
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/command.h"
#include "agent/envfile.h"
#include "agent/tree.h"
#include "base/mem.h"
#include "base/sys.h"
#include "model/code.h"

/* How many a starter is given at a time: enough to be busy until the loop's next turn,
 * few enough that one which hangs (a dead network disk) takes few with it. */
enum { STARTS_EACH = 12 };

/* Between two messages about what has changed, while many are started; and after the start of one
 * alone. */
enum { TELL_MS = 100, LET_RUN_MS = 3 };

/* "NAME=value", as spawn() wants them. */
static const char *const *write_env(const struct list *env, const char *notify, struct arena *a)
{
    const struct proc_env *pairs = env->items;
    const char **texts = arena_alloc(a, (env->n + 2) * sizeof(*texts));

    for (size_t i = 0; i < env->n; i++)
        texts[i] = arena_printf(a, "%s=%s", pairs[i].key, pairs[i].value);
    if (*notify)
        texts[env->n] = arena_printf(a, "NOTIFY_SOCKET=%s", notify);
    return texts;
}

/* Where a process that is to say so says that it is ready; "": it need not. */
static const char *notify_socket(const struct agent *a, const struct core_run *run)
{
    bool says_so = run->spec->extra.ready.kind == READY_NOTIFY && said_is_own(run->what);

    return says_so ? notices_socket(a->notices) : "";
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

/* Variables are for every command, the rest for those that the process comes of. */
static void copy_extra(struct agent *a, struct act *act, const struct proc_extra *from, bool is_own)
{
    static const struct proc_caps none;
    bool has_file = from->env_file && *from->env_file;
    struct act_extra *e;

    act->is_grouped = is_own && cgroup_is_wanted(a->cgroups, &from->caps);
    if (!has_file && !(is_own && (act->is_grouped || from->nice || from->rlimits.n)))
        return;
    e = arena_alloc(&act->arena, sizeof(*e));
    e->env_file = has_file ? arena_strdup(&act->arena, from->env_file) : "";
    e->commands = a->policy.now.commands;
    e->caps = is_own ? from->caps : none;
    e->nice = is_own ? (int)from->nice : 0;
    e->n_limits = is_own ? from->rlimits.n : 0;
    if (e->n_limits)
        e->limits = copy_limits(&from->rlimits, &act->arena);
    act->extra = e;
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
    act_identity(act, &run->spec->identity);
    act->env = write_env(&run->spec->extra.env, notify_socket(a, run), &act->arena);
    said_name(run->space, run->name, run->what, act->output);
    copy_extra(a, act, &run->spec->extra, said_is_own(run->what));
    trims_set_max(a->trims, act->output, run->spec->extra.log_max_bytes);
    act->has_failed = agent_policy_allow(a, run->spec, run->line, &act->failure) != 0;
    act->run.spec = NULL; /* what is needed of it is copied by now */
}

/* ---- the start itself, by any thread */

static int check_variables(struct act *act, const char *const *file, struct err *err)
{
    const struct policy p = { .commands = act->extra->commands };

    for (size_t i = 0; file[i]; i++) {
        const char *name = arena_memdup(&act->arena, file[i], strcspn(file[i], "="));

        if (policy_allow_variable(&p, name, "env_file", err))
            return -1;
    }
    return 0;
}

/* The file's first: the later ones win. */
static int add_env_file(struct act *act, struct err *err)
{
    const char *const *file;
    const char **all;
    size_t n = 0, m = 0;

    if (envfile_read(act->extra->env_file, act->user, &act->arena, &file, err) ||
        check_variables(act, file, err))
        return -1;
    while (file[n])
        n++;
    while (act->env[m])
        m++;
    all = arena_alloc(&act->arena, (n + m + 1) * sizeof(*all));
    memcpy(all, file, n * sizeof(*all));
    memcpy(all + n, act->env, m * sizeof(*all));
    act->env = all;
    return 0;
}

static int spawn_grouped(const struct agent *a, struct act *act, struct spawner *s,
                         struct spawn_request *request, struct err *err)
{
    struct cgroup_way way;
    int result;

    if (cgroup_enter(a->cgroups, act->output, &act->extra->caps, &way, err))
        return -1;
    request->cgroup_fd = way.born;
    request->join = way.join;
    request->n_join = way.n_join;
    result = spawn(s, request, &act->began, err);
    cgroup_leave(&way);
    return result;
}

static int start(const struct agent *a, struct act *act, struct spawner *s, struct err *err)
{
    const struct core_run *run = &act->run;
    struct spawn_request request = { .command = run->line,
                                     .setup_path = act->identity.setup_path,
                                     .user = act->user,
                                     .env = act->env,
                                     .cgroup_fd = -1 };
    int result;

    if (act->extra) {
        request.nice = act->extra->nice;
        request.limits = act->extra->limits;
        request.n_limits = act->extra->n_limits;
        if (*act->extra->env_file && add_env_file(act, err))
            return -1;
        request.env = act->env;
    }
    if (outlog_append(a->outlog, act->output, act->user->uid, act->user->gid, &request.out_fd,
                      &act->out_size, err))
        return err_wrap(err, "output of %s:%s", run->space, run->name);
    result = act->is_grouped ? spawn_grouped(a, act, s, &request, err)
                             : spawn(s, &request, &act->began, err);
    sys_close(request.out_fd);
    return result;
}

void run_start(const struct agent *a, struct act *act, struct spawner *s)
{
    act->has_failed = start(a, act, s, &act->failure) != 0;
}

/* ---- before and after it */

/* The bound is kept from time to time (agent_trim.c); a disk too full for this is no reason
 * not to have started a process. */
static void trim_output(struct agent *a, const struct act *act)
{
    uint64_t max_bytes = trims_max(a->trims, act->output);
    struct err ignored;
    bool trimmed;

    if (act->out_size > max_bytes)
        (void)outlog_trim(a->outlog, act->output, max_bytes, &trimmed, &ignored);
}

static void hold(struct agent *a, const struct act *act, struct core_began *ret)
{
    const struct core_run *run = &act->run;
    struct held *held = watch_hold(a, &act->began.id, act->began.pidfd);
    uint64_t from = act->out_from + act->out_size;

    watch_set_run(held, run->id, act->output, from);
    held->wants_output = run->wants_output;
    trim_output(a, act);
    *ret = (struct core_began){
        .ident = { held->id.pid, held->id.start_ticks },
        .out_from = (int64_t)from,
        .fits = act->began.is_direct && command_has_name(run->line, act->identity.proc_name),
    };
}

void run_started(struct agent *a, struct act *act)
{
    struct core_began began = { 0 };

    if (!act->has_failed)
        hold(a, act, &began);
    watch_bury(a); /* whose log comes before that of who follows */
    LOG(a->log, began.ident.pid ? LOG_INFO : LOG_WARN,
        began.ident.pid ? "a command runs" : "a command can not run",
        log_str("namespace", act->run.space), log_str("process", act->run.name),
        log_str("task", act->run.task), log_int("pid", began.ident.pid),
        log_str("error", began.ident.pid ? "" : act->failure.text));
    core_on_run(a->core, act->run.id, &began, began.ident.pid ? NULL : &act->failure,
                agent_now_ms(a));
    if (act->is_late && began.ident.pid)
        hand_end_run(a, act->run.id);
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

/* The one with least to do; NULL: all have enough. */
static struct help *free_starter(const struct agent *a)
{
    struct help *best = a->starters[0];

    for (int i = 1; i < STARTERS; i++) {
        if (help_load(a->starters[i]) < help_load(best))
            best = a->starters[i];
    }
    return help_load(best) < STARTS_EACH ? best : NULL;
}

/* What was started before one that hangs must not wait for that. */
void runs_collect(struct agent *a)
{
    for (int i = 0; i < STARTERS; i++)
        help_collect(a->starters[i]);
    if (!TAILQ_EMPTY(&a->starting))
        agent_retry(a);
}

/* Of a thousand that died at once most run again when the server hears of them: to tell of each
 * when it dies and again when it runs would hold up those that are still to be started.  Likewise
 * the death of one alone is told when its successor has had the time to get into its program.  A
 * result is told of at once, after the state it leads to. */
void runs_tell(struct agent *a, int64_t now_ms)
{
    int64_t due_ms = TAILQ_EMPTY(&a->starting) ? a->lone_ms + LET_RUN_MS : a->told_ms + TELL_MS;

    if (now_ms < due_ms) {
        agent_settle_in(a, due_ms - now_ms);
        return;
    }
    a->told_ms = now_ms;
    core_tell_now(a->core);
}

static enum run_fate begin(struct agent *a, struct act *act, bool is_alone)
{
    struct help *starter = is_alone ? NULL : free_starter(a);
    struct job *job;

    if (!is_alone && !starter)
        return RUN_HAS_NO_ROOM;
    if (*act->run.task || !is_alone)
        watch_bury(a); /* a command may look whether who was before it lives, by its pid */
    act->out_from = outlog_base(a->outlog, act->output);
    if (is_alone) {
        run_start(a, act, a->spawner);
        if (said_is_own(act->run.what) && a->lone_ms < a->told_ms) /* the first that is untold */
            a->lone_ms = agent_now_ms(a);
        run_started(a, act);
        return RUN_DONE;
    }
    act->user = user_copy(act->user, &act->arena); /* the one we know may be renewed meanwhile */
    act_move(act, &a->starting);
    agent_retry(a); /* as runs_collect() does for those before it */
    job = xalloc(sizeof(*job));
    job->act = act;
    (void)help_do(starter, job); /* there is room for more than STARTS_EACH */
    return RUN_IS_STARTING;
}

enum run_fate run_carry_out(struct agent *a, struct act *act, bool is_alone)
{
    const struct user *user = NULL;

    if (!is_refused(a, act)) {
        user = act_user(a, act, act->identity.user);
        if (!user && !act->has_failed)
            return RUN_WAITS;
    }
    if (!user) {
        run_started(a, act);
        return RUN_DONE;
    }
    act->user = user;
    if (act->extra && *act->extra->env_file)
        is_alone = false; /* it may be on a dead disk, and is read before the start */
    if (act->is_grouped && caps_are_set(&act->extra->caps)) {
        if (cgroups_prepare(a->cgroups, &act->extra->caps, &act->failure)) {
            act->has_failed = true;
            run_started(a, act);
            return RUN_DONE;
        }
        is_alone = false; /* the kernel takes its time to move it, and others need not wait */
    }
    return begin(a, act, is_alone);
}

/* What it said is for who waits for it, and then to tell what went wrong. */
void run_ended(struct agent *a, const struct held *h, int status)
{
    struct buf output = { 0 };
    struct err err;

    if ((status != 0 || h->wants_output) && core_has_run(a->core, h->run) &&
        outlog_tail(a->outlog, h->output, h->out_from, 0, OUTLOG_TAIL_BYTES, &output, &err))
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

    said_name(adopt->space, adopt->name, adopt->what, name);
    watch_set_run(h, adopt->id, name, (uint64_t)adopt->out_from);
}

static void drop_waiting(struct agent *a, uint64_t id)
{
    struct act *act;

    TAILQ_FOREACH(act, &a->starting, link)
    act->is_late |= act->run.id == id;
    TAILQ_FOREACH(act, &a->runs, link)
    {
        if (act->run.id != id)
            continue;
        if (act->waits)
            err_set(&act->failure, CODE_TIMEOUT, "user %s: nobody could say in time who that is",
                    act->identity.user);
        else
            err_set(&act->failure, CODE_TIMEOUT,
                    "not begun in time: the commands before it hang while they are being started");
        act->waits = false;
        act->again_ms = 0;
        act->has_failed = true;
        agent_wake(a);
    }
}

void hand_end_run(void *agent, uint64_t id)
{
    struct agent *a = agent;
    struct held *h = watch_find_run(a, id);
    struct err err;
    size_t killed;

    if (h)
        h->is_killed = true;
    if (!h)
        drop_waiting(a, id);
    else if (tree_kill(&h->id, true, &killed, &err) && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_WARN, "a command that took too long can not be ended",
            log_int("pid", h->pid), log_err(&err));
}
