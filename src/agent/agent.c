/* SPDX-License-Identifier: MIT */
/* agent.c - the agent's life: what happens reaches the core, and what the core asks
 * for is carried out. */
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "agent/core_use.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/time.h"

enum { TICK_MS = 10 * 1000, ACT_TEXT_BYTES = 512 };

/* Acts carried out before the loop has its turn, and operations after which memory goes
 * back to the system, when none is left. */
enum { ACTS_AT_ONCE = 32, OPS_TRIM = 250 };

/* How long a check waits while commands are being started, and how many are made in a turn
 * when they have waited so long. */
enum { CHECK_WAIT_MS = 1000, CHECKS_AT_ONCE = 2 };

int64_t agent_now_ms(struct agent *a)
{
    const struct clock *clock = loop_clock(a->loop);
    int64_t now_ms = clock_mono_ms(clock);

    core_on_time(a->core, now_ms, clock_wall_ms(clock));
    return now_ms;
}

void agent_wake(struct agent *a)
{
    timer_set(a->loop, &a->settle, 0);
}

void agent_settle_in(struct agent *a, int64_t in_ms)
{
    if (!a->settle.place || a->settle.due_ms > loop_now_ms(a->loop) + in_ms)
        timer_set(a->loop, &a->settle, in_ms);
}

/* ---- what is to be done */

bool agent_is_busy(const struct agent *a)
{
    return !TAILQ_EMPTY(&a->acts) || !TAILQ_EMPTY(&a->runs) || !TAILQ_EMPTY(&a->starting) ||
           !TAILQ_EMPTY(&a->checks);
}

struct act *act_new(struct agent *a, enum act_kind kind)
{
    struct act *act = xalloc(sizeof(*act));

    act->kind = kind;
    act->list = kind == ACT_RUN ? &a->runs : &a->acts;
    TAILQ_INSERT_TAIL(act->list, act, link);
    arena_init(&act->arena, ACT_TEXT_BYTES);
    agent_wake(a);
    return act;
}

void act_move(struct act *act, struct act_list *to)
{
    TAILQ_REMOVE(act->list, act, link);
    act->list = to;
    TAILQ_INSERT_TAIL(to, act, link);
}

void act_free(struct act *act)
{
    TAILQ_REMOVE(act->list, act, link);
    if (act->gone)
        watch_free_held(act->gone);
    arena_free(&act->arena);
    free(act);
}

void act_identity(struct act *act, const struct proc_identity *from)
{
    struct arena *a = &act->arena;

    act->identity = (struct proc_identity){
        .index_key = arena_strdup(a, from->index_key),
        .proc_name = arena_strdup(a, from->proc_name),
        .setup_path = arena_strdup(a, from->setup_path),
        .pid_path = arena_strdup(a, from->pid_path),
        .config_path = arena_strdup(a, from->config_path),
        .log_path = arena_strdup(a, from->log_path),
        .user = arena_strdup(a, from->user),
    };
}

const struct user *act_user(struct agent *a, struct act *act, const char *name)
{
    const struct user *user = users_find(&a->users, name, clock_mono_ms(loop_clock(a->loop)));
    struct job *job;

    if (user || act->has_failed)
        return user;
    act->waits = true;
    if (map_find_str(&a->looking_up, name))
        return NULL;
    job = xalloc(sizeof(*job));
    job->user_name = xstrdup(name);
    if (help_do(a->lookups, job)) {
        map_put_str(&a->looking_up, job->user_name, job);
        return NULL;
    }
    free(job->user_name);
    free(job);
    act->waits = false;
    agent_retry(a);
    return NULL;
}

static void hear_user(struct act_list *list, const struct job *job)
{
    struct act *act;

    TAILQ_FOREACH(act, list, link)
    {
        if (!act->waits || strcmp(act->identity.user, job->user_name) != 0)
            continue;
        act->waits = false;
        act->again_ms = 0;
        act->has_failed = job->has_failed;
        act->failure = job->err;
    }
}

static void on_user(struct agent *a, struct job *job)
{
    int64_t now_ms = clock_mono_ms(loop_clock(a->loop));

    map_del_str(&a->looking_up, job->user_name);
    if (!job->has_failed)
        users_put(&a->users, job->user, now_ms);
    else if (users_fail(&a->users, job->user_name, &job->err, now_ms))
        job->has_failed = false;
    hear_user(&a->acts, job);
    hear_user(&a->runs, job);
    hear_user(&a->checks, job);
    agent_wake(a);
}

static void on_started(struct agent *a, struct act *act)
{
    run_started(a, act);
    act_free(act);
    agent_wake(a);
}

static void on_job(struct agent *a, struct job *job)
{
    if (job->act)
        on_started(a, job->act);
    else if (job->name)
        local_on_name(a->local, job->name);
    else if (job->user_name)
        on_user(a, job);
    else
        disk_on_sync(a, &job->sync);
    free(job->name);
    free(job->user_name);
    free(job);
}

static bool carry_out(struct agent *a, struct act *act)
{
    if (act->kind == ACT_PROBE)
        return probe_carry_out(a, act);
    watch_gone(act->gone);
    return true;
}

/* It waits for somebody, or for its time; then it is looked at again. */
static bool is_waiting(struct agent *a, const struct act *act, int64_t now_ms)
{
    if (!act->waits && act->again_ms > now_ms)
        agent_retry(a);
    return act->waits || act->again_ms > now_ms;
}

/* What comes of one is at the end of the lists. */
static void carry_out_all(struct agent *a, const struct act_list *list, int left, int64_t now_ms)
{
    struct act *act, *next;

    for (act = TAILQ_FIRST(list); act; act = next) {
        bool is_done;

        next = TAILQ_NEXT(act, link);
        if (is_waiting(a, act, now_ms))
            continue;
        if (left-- == 0) {
            agent_wake(a);
            break;
        }
        is_done = carry_out(a, act);
        act->again_ms = now_ms + AGENT_RETRY_MS;
        next = TAILQ_NEXT(act, link);
        if (is_done)
            act_free(act);
    }
}

/* Whether one is still there can wait a little; whoever is to be started is down meanwhile. */
static void check_all(struct agent *a, int64_t now_ms)
{
    const struct act *first = TAILQ_FIRST(&a->checks);

    if (TAILQ_EMPTY(&a->starting))
        carry_out_all(a, &a->checks, ACTS_AT_ONCE, now_ms);
    else if (first && now_ms - first->look.since_ms >= CHECK_WAIT_MS)
        carry_out_all(a, &a->checks, CHECKS_AT_ONCE, now_ms);
    else if (first)
        agent_retry(a);
}

static void run_all(struct agent *a, int64_t now_ms)
{
    struct act *act, *next;

    for (act = TAILQ_FIRST(&a->runs); act; act = next) {
        bool is_alone = TAILQ_EMPTY(&a->starting) && TAILQ_EMPTY(&a->acts) &&
                        act == TAILQ_FIRST(&a->runs) && !TAILQ_NEXT(act, link);

        next = TAILQ_NEXT(act, link);
        if (is_waiting(a, act, now_ms))
            continue;
        switch (run_carry_out(a, act, is_alone)) {
        case RUN_WAITS: act->again_ms = now_ms + AGENT_RETRY_MS; break;
        case RUN_HAS_NO_ROOM: return; /* there is, when one of the starters is done */
        case RUN_IS_STARTING: break;
        case RUN_DONE: act_free(act); break;
        }
    }
}

/* A thousand operations leave much behind that the next thousand, some day, need again. */
static void give_memory_back(struct agent *a)
{
    uint64_t ops = core_at_rest(a->core);

    if (agent_is_busy(a))
        return;
    exes_forget(a->exes);
    if (ops < a->ops_then + OPS_TRIM)
        return;
    a->ops_then = ops;
    mem_give_back();
}

/* The timer of the core, if nothing is to be done before. */
static void sleep_until_due(struct agent *a)
{
    int64_t next_ms = core_next_ms(a->core), now_ms = loop_now_ms(a->loop);
    int64_t in_ms = next_ms > now_ms ? next_ms - now_ms : 0;

    if (next_ms == INT64_MAX || (a->settle.place && a->settle.due_ms <= now_ms + in_ms))
        return;
    timer_set(a->loop, &a->settle, in_ms);
}

/* The kernel looks at every child we have to find one that has ended, so now and then has
 * to do.  One that is being started is not held yet, and no stray for that. */
static void reap(struct agent *a, int64_t now_ms)
{
    if (!TAILQ_EMPTY(&a->starting) || now_ms < a->reap_ms) {
        agent_retry(a);
        return;
    }
    a->reap_ms = now_ms + AGENT_RETRY_MS;
    watch_reap(a);
}

/* Nothing is run whose record is not in the journal; to look needs none. */
static void on_settle(void *agent)
{
    struct agent *a = agent;
    int64_t now_ms;

    runs_collect(a); /* before it is said that they took too long */
    now_ms = agent_now_ms(a);
    watch_retry(a);
    samples_settle(a);
    carry_out_all(a, &a->acts, ACTS_AT_ONCE, now_ms);
    run_all(a, now_ms);
    check_all(a, now_ms);
    watch_bury(a);
    if (a->has_dead)
        reap(a, now_ms);
    runs_tell(a, now_ms);
    upgrade_settle(a);
    disk_settle(a);
    give_memory_back(a);
    sleep_until_due(a);
}

/* It may have been set while nothing happened. */
static void look_at_clock(struct agent *a)
{
    int64_t next_ms = core_next_ms(a->core);

    agent_now_ms(a);
    if (core_next_ms(a->core) != next_ms)
        agent_wake(a);
}

static void on_tick(void *agent)
{
    struct agent *a = agent;

    said_on_tick(a->said);
    trims_on_tick(a->trims);
    if (TAILQ_EMPTY(&a->starting)) /* whoever is being started may be about to enter one */
        cgroups_tidy(a->cgroups);
    look_at_clock(a);
    a->has_dead = true; /* whom somebody else has left to us: nothing tells of that */
    agent_retry(a);
    timer_set(a->loop, &a->tick, TICK_MS);
}

/* Where there are no pidfds.  Else a signal for each that ends would only cost time: whom we
 * hold is told of by its own. */
static void on_child(void *agent, int number)
{
    struct agent *a = agent;

    (void)number;
    a->has_dead = true;
    agent_wake(a);
}

/* ---- the server */

static void hand_send(void *agent, unsigned type, const struct shape *s, const void *message)
{
    struct agent *a = agent;

    if (!local_send(a->local, type, s, message))
        a->o.send(a->o.arg, type, s, message);
}

void agent_on_up(struct agent *a, const struct message_welcome *welcome)
{
    int64_t now_ms = agent_now_ms(a);

    core_on_link(a->core, true, now_ms);
    core_on_message(a->core, MESSAGE_WELCOME, welcome, now_ms);
    agent_wake(a);
}

void agent_on_message(struct agent *a, unsigned type, const void *message)
{
    if (type == MESSAGE_LOG_ASK) {
        said_answer(a, message);
        return;
    }
    core_on_message(a->core, type, message, agent_now_ms(a));
    agent_wake(a);
}

void agent_on_down(struct agent *a)
{
    core_on_link(a->core, false, agent_now_ms(a));
}

/* ---- its life */

static const struct core_hands hands = {
    .journal = hand_journal,
    .send = hand_send,
    .run = hand_run,
    .adopt = hand_adopt,
    .end_run = hand_end_run,
    .probe = hand_probe,
    .watch = hand_watch,
    .signal = hand_signal,
    .allow = hand_allow,
    .sample = hand_sample,
    .files = hand_files,
    .try_port = hand_try_port,
    .figures = hand_figures,
};

static void set_limits(struct agent *a, const struct agent_options *o)
{
    if (o->limit_interval_ms)
        core_set_limits(a->core, o->limit_interval_ms, o->limit_grace_ms);
}

void agent_set(struct agent *a, const struct agent_options *o)
{
    a->o.output_max_bytes = o->output_max_bytes;
    if (o->at_once)
        core_set_at_once(a->core, o->at_once);
    a->o.local_socket = a->o.local_socket ? o->local_socket : NULL;
    a->o.local_group = o->local_group;
    local_set(a->local);
    set_limits(a, o);
    proc_set_path(a, o->proc_file);
    agent_policy_set(a, o->policy);
    time_zone_read();
    core_on_zone(a->core);
    agent_wake(a);
}

/* Others' files are none of ours to write to, nor ours theirs. */
static int make_folder(const char *path, struct err *err)
{
    struct stat st;

    if (sys_mkdir(path, 0700) && errno != EEXIST)
        return err_sys(err, "data_dir %s", path);
    if (sys_stat(path, &st))
        return err_sys(err, "data_dir %s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_INVALID, "data_dir %s is not a folder", path);
    if (st.st_uid != geteuid() || (st.st_mode & 022))
        return err_set(err, ERR_DENIED,
                       "data_dir %s: others can write to it; it must belong to uid %u, with mode "
                       "0755 or less",
                       path, (unsigned)geteuid());
    return 0;
}

/* Every process takes a descriptor, so as many as there may be.  Children get the limit
 * that we were started with. */
static void raise_fd_limit(struct agent *a)
{
    struct rlimit limit;
    struct err err;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    if (spawner_own_limit(a->spawner, RLIMIT_NOFILE, &limit, &err))
        LOG(a->log, LOG_WARN, "the number of open files stays as it is", log_err(&err));
}

/* The limit first, so that they know of it too. */
static int open_starters(struct agent *a, struct err *err)
{
    raise_fd_limit(a);
    for (int i = 0; i < STARTERS; i++) {
        struct spawner *s;

        if (spawner_copy(a->spawner, &s, err))
            return -1;
        if (help_new(a, on_job, s, &a->starters[i], err)) {
            spawner_free(s);
            return -1;
        }
    }
    return 0;
}

static void open_kernel(struct agent *a)
{
    const struct facilities *f = &a->facilities;

    facilities_probe(&a->facilities, a->o.without ? a->o.without : "");
    a->cgroups = cgroups_open(a->o.dir, (enum cgroup_use)a->o.cgroups, NULL, NULL, &a->facilities);
    for (int i = 0; i < FACILITIES; i++) {
        if (!f->has[i])
            LOG(a->log, LOG_INFO, "a facility of the kernel is not used",
                log_str("facility", facility_rows[i].name), log_str("reason", f->why[i]),
                log_str("instead", facility_rows[i].instead));
    }
}

static int open_hands(struct agent *a, struct err *err)
{
    char *output = xprintf("%s/output", a->o.dir);
    int result = 0;

    open_kernel(a);
    if (procfs_boot_id(a->boot_id, err) || spawner_new(a->boot_id, &a->spawner, err) ||
        outlog_open(output, &a->outlog, err) || help_new(a, on_job, NULL, &a->syncs, err) ||
        help_new(a, on_job, NULL, &a->lookups, err) || samples_new(a, &a->samples, err) ||
        watch_open(a, err) ||
        (!a->facilities.has[HAS_PIDFD] && loop_on_signal(a->loop, SIGCHLD, on_child, a, err)))
        result = -1;
    else if (open_starters(a, err))
        result = -1;
    else if (sys_prctl(PR_SET_CHILD_SUBREAPER, 1))
        result = err_sys(err, "become child subreaper");
    free(output);
    return result;
}

static void begin(struct agent *a)
{
    const struct clock *clock = loop_clock(a->loop);
    bool same_boot;

    a->said = said_new(a);
    a->trims = trims_new(a);
    a->files = files_new(a);
    a->notices = notices_new(a);
    a->ports = ports_new(a);
    same_boot = !strcmp(a->disk.boot_id, a->boot_id);

    proc_start(a);
    if (a->o.at_once)
        core_set_at_once(a->core, a->o.at_once);
    set_limits(a, &a->o);
    core_start(a->core, same_boot, clock_mono_ms(clock), clock_wall_ms(clock));
    watch_start(a);
    proc_started(a);
    disk_start(a, same_boot);
    a->local = local_new(a);
    timer_set(a->loop, &a->tick, TICK_MS);
    agent_wake(a);
}

int agent_new(struct loop *loop, struct log *log, const struct agent_options *o, struct agent **ret,
              struct err *err)
{
    struct agent *a = xalloc(sizeof(*a));

    a->loop = loop;
    a->log = log;
    a->o = *o;
    a->o.dir = xstrdup(o->dir);
    a->started_s = clock_wall_ms(loop_clock(loop)) / 1000;
    agent_policy_set(a, o->policy);
    mem_share_heap(); /* the threads do little with memory: a heap each would be waste */
    TAILQ_INIT(&a->acts);
    TAILQ_INIT(&a->runs);
    TAILQ_INIT(&a->starting);
    TAILQ_INIT(&a->checks);
    TAILQ_INIT(&a->unwatched);
    TAILQ_INIT(&a->unburied);
    timer_init(&a->settle, on_settle, a);
    timer_init(&a->tick, on_tick, a);
    proc_init(a);
    a->exes = exes_new();
    a->pidfiles = pidfiles_new();
    a->core = core_new(&hands, a, clock_mono_ms(loop_clock(loop)), clock_wall_ms(loop_clock(loop)));
    if (make_folder(a->o.dir, err) || disk_open(a, err) || open_hands(a, err)) {
        agent_free(a);
        return -1;
    }
    begin(a);
    *ret = a;
    return 0;
}

void agent_free(struct agent *a)
{
    struct act *act;

    if (!a)
        return;
    a->disk.is_closing = true;
    for (int i = 0; i < STARTERS; i++)
        help_free(a->starters[i]); /* what they have started is written down */
    upgrade_done(a);
    help_free(a->syncs);
    disk_close(a);
    local_free(a->local);
    files_free(a->files);
    notices_free(a->notices);
    ports_free(a->ports);
    a->local = NULL;
    help_free(a->lookups); /* may take a while, and nothing is lost if nobody waits for it */
    timer_stop(a->loop, &a->settle);
    timer_stop(a->loop, &a->tick);
    watch_done(a);
    while ((act = TAILQ_FIRST(&a->acts)) || (act = TAILQ_FIRST(&a->runs)) ||
           (act = TAILQ_FIRST(&a->checks)))
        act_free(act);
    proc_done(a);
    core_free(a->core);
    spawner_free(a->spawner);
    cgroups_close(a->cgroups);
    exes_free(a->exes);
    pidfiles_free(a->pidfiles);
    said_free(a->said);
    trims_free(a->trims);
    samples_free(a->samples);
    outlog_close(a->outlog);
    users_done(&a->users);
    map_free(&a->looking_up);
    agent_policy_done(a);
    arena_free(&a->hello);
    free((char *)a->o.dir);
    free(a);
}
