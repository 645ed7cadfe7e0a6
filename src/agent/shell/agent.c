/* SPDX-License-Identifier: MIT */
/* agent.c - main part of the agent: passes events to the core and executes the effects it requests.
 */
#include "agent/shell/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/confine/cgroup.h"
#include "agent/exec/outlog.h"
#include "agent/exec/spawn.h"
#include "agent/shell/agent_check.h"
#include "agent/shell/agent_family.h"
#include "agent/shell/agent_files.h"
#include "agent/shell/agent_local.h"
#include "agent/shell/agent_notify.h"
#include "agent/shell/agent_output.h"
#include "agent/shell/agent_parts.h"
#include "agent/shell/agent_piddir.h"
#include "agent/shell/agent_probe.h"
#include "agent/shell/agent_run.h"
#include "agent/shell/agent_sample.h"
#include "agent/shell/agent_specs.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/agent_upgrade.h"
#include "agent/shell/agent_watch.h"
#include "agent/shell/job_thread.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_use.h"
#include "base/mem/mem.h"
#include "base/os/self.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "model/check.h"

enum { TICK_MS = 10 * 1000 };

/* Effects executed per turn of the loop; number of operations after which an idle agent returns
 * free memory to the system. */
enum { ACTS_AT_ONCE = 32, OPS_TRIM = 250 };

/* Shutdown: time for workers to finish, then for workers that hang. */
enum { QUICK_END_MS = 300, END_MS = 700 };

/* Longest delay of a check while commands are being started, and number of delayed checks per turn.
 */
enum { CHECK_WAIT_MS = 1000, CHECKS_AT_ONCE = 2 };

/* ---- pending effects */

static enum probe_fate carry_out(struct effect *effect)
{
    if (effect->kind == EFFECT_PROBE)
        return probe_carry_out(effect);
    if (effect->kind == EFFECT_FAMILY)
        return family_carry_out(effect);
    watch_gone(effect->gone);
    effect->gone = NULL;
    return PROBE_DONE;
}

/* Waits for a user look-up or for a point in time; evaluated again later. */
static bool is_waiting(struct agent *a, const struct effect *effect, int64_t now_ms)
{
    if (!effect->waits && effect->again_ms > now_ms)
        agent_retry(&a->base);
    return effect->waits || effect->again_ms > now_ms;
}

/* Effects refused by the workers for lack of room do not count: a user whose jobs hang may have a
 * thousand of them. */
static void carry_out_all(struct agent *a, const struct effect_list *list, int left, int64_t now_ms)
{
    struct effect *effect, *next;

    for (effect = TAILQ_FIRST(list); effect; effect = next) {
        next = TAILQ_NEXT(effect, link);
        if (is_waiting(a, effect, now_ms))
            continue;
        if (left == 0) {
            agent_wake(&a->base);
            break;
        }
        switch (carry_out(effect)) {
        case PROBE_WAITS: effect->again_ms = now_ms + AGENT_RETRY_MS; break;
        case PROBE_HAS_NO_ROOM: continue; /* retried when a worker is done */
        case PROBE_IS_SENT: break;
        case PROBE_DONE: effect_free(effect); break;
        }
        left--;
    }
}

/* A check of a running process can wait a little; a process to be started is down meanwhile. */
static void agent_check_all(struct agent *a, int64_t now_ms)
{
    const struct effect *first = TAILQ_FIRST(&a->effects.checks);

    if (TAILQ_EMPTY(&a->effects.starting))
        carry_out_all(a, &a->effects.checks, ACTS_AT_ONCE, now_ms);
    else if (first && now_ms - first->look.since_ms >= CHECK_WAIT_MS)
        carry_out_all(a, &a->effects.checks, CHECKS_AT_ONCE, now_ms);
    else if (first)
        agent_retry(&a->base);
}

static void run_all(struct agent *a, int64_t now_ms)
{
    struct effect *effect, *next;

    for (effect = TAILQ_FIRST(&a->effects.runs); effect; effect = next) {
        bool is_alone = TAILQ_EMPTY(&a->effects.starting) && TAILQ_EMPTY(&a->effects.waiting) &&
                        TAILQ_EMPTY(&a->effects.probing) &&
                        effect == TAILQ_FIRST(&a->effects.runs) && !TAILQ_NEXT(effect, link);

        next = TAILQ_NEXT(effect, link);
        if (is_waiting(a, effect, now_ms))
            continue;
        switch (run_carry_out(effect, is_alone)) {
        case RUN_WAITS: effect->again_ms = now_ms + AGENT_RETRY_MS; break;
        case RUN_HAS_NO_ROOM: break; /* retried when a worker is done */
        case RUN_IS_STARTING: break;
        case RUN_DONE: effect_free(effect); break;
        }
    }
}

/* A large batch of operations leaves much free memory in the heap. */
static void give_memory_back(struct agent *a)
{
    uint64_t ops = core_at_rest(a->base.core);

    if (effects_are_busy(&a->effects))
        return;
    probes_forget(a->probes);
    if (ops < a->ops_then + OPS_TRIM)
        return;
    a->ops_then = ops;
    mem_give_back();
}

/* Arms the timer of the core if nothing else is due earlier. */
static void sleep_until_due(struct agent *a)
{
    int64_t next_ms = core_next_ms(a->base.core), now_ms = loop_now_ms(a->base.loop);
    int64_t in_ms = next_ms > now_ms ? next_ms - now_ms : 0;

    if (next_ms == INT64_MAX || (a->base.settle.place && a->base.settle.due_ms <= now_ms + in_ms))
        return;
    timer_set(a->base.loop, &a->base.settle, in_ms);
}

/* waitid() looks at every child, so this runs at intervals only. A child that is being started is
 * not watched yet, but is not a stray either. */
static void reap(struct agent *a, int64_t now_ms)
{
    if (!TAILQ_EMPTY(&a->effects.starting) || now_ms < a->reap_ms) {
        agent_retry(&a->base);
        return;
    }
    a->reap_ms = now_ms + AGENT_RETRY_MS;
    watch_reap(a->watches);
}

/* No command runs before its record is in the journal; probes need no record. */
static void on_settle(void *agent)
{
    struct agent *a = agent;
    int64_t now_ms;

    runs_watch(a->runs);
    now_ms = agent_now_ms(&a->base);
    watch_retry(a->watches);
    samples_settle(a->samples);
    local_settle(a->local);
    carry_out_all(a, &a->effects.waiting, ACTS_AT_ONCE, now_ms);
    run_all(a, now_ms);
    trims_on_turn(a->trims);
    agent_check_all(a, now_ms);
    probes_end_turn(a->probes);
    watch_bury(a->watches);
    if (watch_expects_dead(a->watches))
        reap(a, now_ms);
    runs_tell(a->runs, now_ms);
    upgrade_settle(a->upgrades);
    disk_settle(&a->disk);
    give_memory_back(a);
    sleep_until_due(a);
}

/* The wall clock may have been set while the agent was idle. */
static void look_at_clock(struct agent *a)
{
    int64_t next_ms = core_next_ms(a->base.core);

    agent_now_ms(&a->base);
    if (core_next_ms(a->base.core) != next_ms)
        agent_wake(&a->base);
}

static void agent_on_tick(void *agent)
{
    struct agent *a = agent;

    output_reader_on_tick(a->output_reader);
    trims_on_tick(a->trims);
    watch_on_tick(a->watches);
    /* Otherwise a child may be about to enter one. */
    if (TAILQ_EMPTY(&a->effects.starting) && TAILQ_EMPTY(&a->effects.stuck))
        cgroups_tidy(a->base.cgroups);
    look_at_clock(a);
    /* Orphans that were reparented to this subreaper: there is no event for that. */
    watch_expect_dead(a->watches);
    agent_retry(&a->base);
    timer_set(a->base.loop, &a->tick, TICK_MS);
}

/* Used without pidfds only. With them a signal per exit would only cost time. */
static void agent_on_child(void *agent, int number)
{
    struct agent *a = agent;

    (void)number;
    watch_expect_dead(a->watches);
    agent_wake(&a->base);
}

/* ---- the server */

static void on_send(void *agent, unsigned type, const struct shape *s, const void *message)
{
    struct agent *a = agent;

    if (!local_send(a->local, type, s, message))
        a->o->send(a->o->arg, type, s, message);
}

static void send_output(void *agent, const struct message_log *answer)
{
    struct agent *a = agent;

    a->o->send(a->o->arg, MESSAGE_LOG, &message_log_shape, answer);
}

void agent_fill_hello(struct agent *a, struct message_hello *hello)
{
    agent_hello_fill(&a->hello, &a->base, hello);
}

void agent_on_up(struct agent *a, const struct message_welcome *welcome)
{
    int64_t now_ms = agent_now_ms(&a->base);

    core_on_link(a->base.core, true, now_ms);
    core_on_message(a->base.core, MESSAGE_WELCOME, welcome, now_ms);
    agent_wake(&a->base);
}

void agent_on_message(struct agent *a, unsigned type, const void *message)
{
    if (type == MESSAGE_LOG_ASK) {
        output_reader_ask(a->output_reader, message, send_output, a);
        return;
    }
    core_on_message(a->base.core, type, message, agent_now_ms(&a->base));
    agent_wake(&a->base);
}

void agent_on_down(struct agent *a)
{
    core_on_link(a->base.core, false, agent_now_ms(&a->base));
}

/* ---- effects that the core requests */

static uint64_t on_journal(void *agent, unsigned type, const struct shape *s, const void *record,
                           bool durable)
{
    struct agent *a = agent;

    return disk_journal(&a->disk, type, s, record, durable);
}

static void on_run(void *agent, const struct core_run *run)
{
    struct agent *a = agent;

    runs_add(a->runs, run);
}

static void on_adopt(void *agent, const struct core_adopt *adopt)
{
    struct agent *a = agent;

    runs_adopt(a->runs, adopt);
}

static void on_end_run(void *agent, uint64_t id)
{
    struct agent *a = agent;

    runs_end(a->runs, id);
}

static enum core_begun on_find_run(void *agent, const struct core_run *run, struct core_ident *ret)
{
    struct agent *a = agent;

    return runs_find(a->runs, run, ret);
}

static void on_probe(void *agent, const struct core_look *look)
{
    struct agent *a = agent;

    probes_add(a->probes, look);
}

static void agent_on_watch(void *agent, struct core_ident ident)
{
    struct agent *a = agent;

    watch_process(a->watches, ident);
    trims_on_watch(a->trims);
}

static void agent_on_signal(void *agent, struct core_ident ident, int number, bool with_children)
{
    struct agent *a = agent;

    watch_signal(a->watches, ident, number, with_children);
}

static int agent_on_deliver(void *agent, struct core_ident ident, int number, struct err *err)
{
    struct agent *a = agent;

    return watch_deliver(a->watches, ident, number, err);
}

static bool on_is_alone(void *agent, const struct proc_spec *spec)
{
    const struct agent *a = agent;

    return families_is_alone(a->families, spec);
}

static bool on_has_family(void *agent, const struct core_family *family)
{
    const struct agent *a = agent;

    return families_has(a->families, family);
}

static void on_family(void *agent, const struct core_family *family)
{
    const struct agent *a = agent;

    families_add(a->families, family);
}

static void on_drop_family(void *agent, uint64_t id)
{
    const struct agent *a = agent;

    families_drop(a->families, id);
}

static void on_siblings(void *agent, const struct core_family *family)
{
    const struct agent *a = agent;

    families_add_siblings(a->families, family);
}

static bool on_is_alive(void *agent, struct core_ident ident)
{
    const struct agent *a = agent;

    return watch_lives(a->watches, ident);
}

static int on_allow(void *agent, const struct proc_spec *spec, const char *line, struct err *err)
{
    struct agent *a = agent;

    return agent_policy_allow(&a->policy, spec, line, err);
}

static void on_sample(void *agent, struct core_ident ident)
{
    struct agent *a = agent;

    samples_ask(a->samples, ident);
}

static void on_files(void *agent, const char *space, const char *name, const char *user,
                     const struct list *files)
{
    struct agent *a = agent;

    files_set(a->files, space, name, user, files);
}

static void on_at_rest(void *agent, const char *pid_path, int64_t pid)
{
    struct agent *a = agent;

    piddir_drop_later(&a->base, pid_path, pid);
}

static void on_files_again(void *agent, const char *space, const char *name)
{
    struct agent *a = agent;

    files_again(a->files, space, name);
}

static void agent_on_check(void *agent, const struct core_check *check)
{
    struct agent *a = agent;

    checker_add(a->checker, check);
}

/* The core is freed after the checker. */
static void agent_on_drop_check(void *agent, uint64_t id)
{
    struct agent *a = agent;

    if (a->checker)
        checker_drop(a->checker, id);
}

static void on_check_changed(void *agent, const char *space, const char *name,
                             const struct proc_check_view *check)
{
    const struct agent *a = agent;
    char reason[ERR_MSG_BYTES];

    if (check->state == CHECK_FAILING)
        LOG(a->base.log, LOG_WARN, "a check fails", log_str("namespace", space),
            log_str("process", name), log_str("check", check->name),
            log_str("reason", msg_english(reason, sizeof(reason), check->text)));
    else
        LOG(a->base.log, LOG_INFO, "a check passes again", log_str("namespace", space),
            log_str("process", name), log_str("check", check->name));
}

static void on_agent_stats(void *agent, struct message_agent_stats *to)
{
    struct agent *a = agent;
    struct self_use use;

    self_use(&use);
    to->rss_bytes = use.rss_bytes;
    to->cpu_ms = use.cpu_us / 1000;
    to->journal_bytes = disk_size_bytes(&a->disk);
}

static void on_unexpected(void *agent, const char *state, const char *event)
{
    const struct agent *a = agent;

    LOG(a->base.log, LOG_ERROR, "a fault of the agent: this can not happen",
        log_str("state", state), log_str("event", event));
}

static const struct core_effects core_effects = {
    .journal = on_journal,
    .send = on_send,
    .run = on_run,
    .adopt = on_adopt,
    .end_run = on_end_run,
    .find_run = on_find_run,
    .probe = on_probe,
    .watch = agent_on_watch,
    .signal = agent_on_signal,
    .deliver = agent_on_deliver,
    .allow = on_allow,
    .sample = on_sample,
    .has_family = on_has_family,
    .family = on_family,
    .drop_family = on_drop_family,
    .siblings = on_siblings,
    .is_alive = on_is_alive,
    .is_alone = on_is_alone,
    .files = on_files,
    .check = agent_on_check,
    .drop_check = agent_on_drop_check,
    .check_changed = on_check_changed,
    .files_again = on_files_again,
    .at_rest = on_at_rest,
    .agent_stats = on_agent_stats,
    .unexpected = on_unexpected,
};

/* ---- start and end */

static void set_limits(struct agent *a, const struct agent_options *o)
{
    if (o->limit_interval_ms)
        core_set_limits(a->base.core, o->limit_interval_ms, o->limit_grace_ms);
}

void agent_set(struct agent *a, const struct agent_options *o)
{
    trims_set_all(a->trims, o->output_max_bytes);
    if (o->at_once)
        core_set_at_once(a->base.core, o->at_once);
    a->o->local_socket = a->o->local_socket ? o->local_socket : NULL;
    local_set(a->local, a->o->local_socket, o->local_group);
    set_limits(a, o);
    proc_set_path(&a->proc, o->proc_file);
    agent_policy_set(&a->policy, o->policy);
    families_set(a->families, o->scope_by_name);
    time_zone_read();
    core_on_zone(a->base.core);
    agent_wake(&a->base);
}

void agent_upgrade(struct agent *a, const struct agent_program *program)
{
    upgrade_start(a->upgrades, program);
}

/* The folder must belong to the agent's user and must not be writable by others. */
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

/* Every process needs a descriptor, so the limit is raised to the maximum. Children get the
 * original limit. */
static void raise_fd_limit(struct agent *a)
{
    struct rlimit limit;
    struct err err;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    if (spawner_own_limit(a->spawner, RLIMIT_NOFILE, &limit, &err))
        LOG(a->base.log, LOG_WARN, "the number of open files stays as it is", log_err(&err));
}

/* Raises the limit first, so that the workers know the original one. */
static int open_workers(struct agent *a, struct err *err)
{
    raise_fd_limit(a);
    return workers_new(a->base.loop, a->spawner, &a->base.workers, err);
}

static void open_kernel(struct agent *a)
{
    const struct facilities *f = &a->base.facilities;

    facilities_probe(&a->base.facilities, a->o->without ? a->o->without : "");
    a->base.cgroups =
        cgroups_open(a->base.dir, (enum cgroup_use)a->o->cgroups, NULL, NULL, &a->base.facilities);
    for (int i = 0; i < FACILITIES; i++) {
        if (!f->has[i])
            LOG(a->base.log, LOG_INFO, "a facility of the kernel is not used",
                log_str("facility", facility_rows[i].name), log_str("reason", f->why[i]),
                log_str("instead", facility_rows[i].instead));
    }
}

static int open_watches(struct agent *a, struct err *err)
{
    a->output_reader = output_reader_new(&a->base, &a->effects);
    return watches_new(&a->base, &a->effects, &a->disk, a->output_reader, &a->watches, err);
}

static int open_effects(struct agent *a, struct err *err)
{
    char *output = xprintf("%s/output", a->base.dir);
    int result = 0;

    open_kernel(a);
    if (procfs_boot_id(a->base.boot_id, err) || spawner_new(a->base.boot_id, &a->spawner, err) ||
        outlog_open(output, &a->base.outlog, err) || job_thread_new(a->base.loop, &a->syncs, err) ||
        job_thread_new(a->base.loop, &a->lookups, err) || samples_new(&a->base, &a->samples, err) ||
        open_watches(a, err) ||
        (!a->base.facilities.has[HAS_PIDFD] &&
         loop_on_signal(a->base.loop, SIGCHLD, agent_on_child, a, err)))
        result = -1;
    else if (open_workers(a, err))
        result = -1;
    else if (sys_prctl(PR_SET_CHILD_SUBREAPER, 1))
        result = err_sys(err, "become child subreaper");
    free(output);
    return result;
}

static void open_runs(struct agent *a)
{
    const struct run_parts parts = { .agent = &a->base,
                                     .effects = &a->effects,
                                     .disk = &a->disk,
                                     .trims = a->trims,
                                     .notices = a->notices,
                                     .policy = &a->policy,
                                     .watches = a->watches };

    a->runs = runs_new(&parts);
}

static void open_families(struct agent *a)
{
    const struct family_parts parts = { .agent = &a->base,
                                        .effects = &a->effects,
                                        .disk = &a->disk,
                                        .probes = a->probes,
                                        .watches = a->watches };

    a->families = families_new(&parts);
    families_set(a->families, a->o->scope_by_name);
}

static void open_local(struct agent *a)
{
    const struct local_parts local = { .agent = &a->base,
                                       .lookups = a->lookups,
                                       .reader = a->output_reader,
                                       .samples = a->samples,
                                       .link = a->o->link,
                                       .arg = a->o->arg };
    struct upgrade_parts upgrade = { .agent = &a->base,
                                     .effects = &a->effects,
                                     .disk = &a->disk,
                                     .notices = a->notices,
                                     .watches = a->watches,
                                     .spawner = a->spawner };

    a->local = local_new(&local, a->o->local_socket, a->o->local_group);
    upgrade.local = a->local;
    a->upgrades = upgrades_new(&upgrade);
}

static void agent_begin(struct agent *a)
{
    const struct clock *clock = loop_clock(a->base.loop);
    bool same_boot;

    a->effects.lookups = a->lookups;
    a->disk.syncs = a->syncs;
    a->trims = trims_new(&a->base, a->o->output_max_bytes);
    a->files = files_new(&a->base);
    a->notices = notices_new(&a->base, &a->effects.users);
    a->probes = probes_new(&a->base, &a->effects, &a->policy, a->watches);
    open_runs(a);
    open_families(a);
    a->checker = checker_new(&a->base, a->families);
    same_boot = !strcmp(a->disk.boot_id, a->base.boot_id);

    proc_start(&a->proc, same_boot);
    specs_start(&a->base, a->o->specs ? a->o->specs : "");
    if (a->o->at_once)
        core_set_at_once(a->base.core, a->o->at_once);
    set_limits(a, a->o);
    core_start(a->base.core, same_boot, clock_mono_ms(clock), clock_wall_ms(clock));
    watches_start(a->watches);
    proc_started(&a->proc);
    disk_start(&a->disk, same_boot);
    open_local(a);
    timer_set(a->base.loop, &a->tick, TICK_MS);
    agent_wake(&a->base);
}

int agent_new(struct loop *loop, struct log *log, const struct agent_options *o, struct agent **ret,
              struct err *err)
{
    struct agent *a = xalloc(sizeof(*a));

    a->base.loop = loop;
    a->base.log = log;
    a->o = xalloc(sizeof(*a->o));
    *a->o = *o;
    a->base.dir = xstrdup(o->dir);
    a->base.pid_dir = piddir_path(o->pid_dir, o->dir);
    pthread_mutex_init(&a->base.pid_lock, NULL);
    a->hello.started_s = clock_wall_ms(loop_clock(loop)) / 1000;
    agent_policy_init(&a->policy, &a->base, o->policy);
    mem_share_heap(); /* the threads allocate little: a heap for each would waste memory */
    effects_init(&a->effects, &a->base);
    timer_init(&a->base.settle, on_settle, a);
    timer_init(&a->tick, agent_on_tick, a);
    proc_init(&a->proc, &a->base, o->proc_file, disk_journal, &a->disk);
    disk_init(&a->disk, &a->base, &a->effects, &a->proc);
    a->base.core = core_new(&core_effects, a, clock_mono_ms(loop_clock(loop)),
                            clock_wall_ms(loop_clock(loop)));
    if (make_folder(a->base.dir, err) || disk_open(&a->disk, err) || open_effects(a, err)) {
        agent_free(a);
        return -1;
    }
    piddir_make(&a->base);
    agent_begin(a);
    *ret = a;
    return 0;
}

/* Records the processes that workers have started. False: some workers hang. */
static bool end_workers(struct agent *a)
{
    if (workers_free(a->base.workers, QUICK_END_MS))
        return true;
    workers_begin_no_more(a->base.workers);
    runs_kill(a->runs);
    return workers_free(a->base.workers, END_MS);
}

static void free_effects(struct agent *a)
{
    struct effects *e = &a->effects;
    struct effect_list *const lists[] = { &e->waiting,  &e->runs,  &e->checks, &e->probing,
                                          &e->starting, &e->stuck, &e->lost };
    struct effect *effect;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        while ((effect = TAILQ_FIRST(lists[i]))) {
            if (effect->gone)
                watch_free_watched(effect->gone);
            effect_free(effect);
        }
    }
    effects_done(e);
}

bool agent_free(struct agent *a)
{
    bool is_left;

    if (!a)
        return true;
    a->base.is_closing = true;
    is_left = !end_workers(a);
    upgrades_free(a->upgrades);
    job_thread_free(a->syncs);
    disk_close(&a->disk);
    local_free(a->local);
    files_free(a->files);
    notices_free(a->notices);
    checker_free(a->checker);
    a->checker = NULL;
    a->local = NULL;
    job_thread_leave(a->lookups, END_MS);
    timer_stop(a->base.loop, &a->base.settle);
    timer_stop(a->base.loop, &a->tick);
    watches_stop(a->watches);
    if (is_left)
        return false;
    free_effects(a);
    runs_free(a->runs);
    families_free(a->families);
    probes_free(a->probes);
    watches_free(a->watches);
    proc_done(&a->proc);
    core_free(a->base.core);
    spawner_free(a->spawner);
    cgroups_close(a->base.cgroups);
    output_reader_free(a->output_reader);
    if (trims_free(a->trims, END_MS))
        outlog_close(a->base.outlog);
    samples_free(a->samples);
    agent_policy_done(&a->policy);
    agent_hello_done(&a->hello);
    free(a->base.dir);
    free(a->base.pid_dir);
    pthread_mutex_destroy(&a->base.pid_lock);
    free(a->o);
    free(a);
    return true;
}
