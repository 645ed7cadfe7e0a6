/* SPDX-License-Identifier: MIT */
/* agent_probe.c - see agent_probe.h. */
#include "agent/shell/agent_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/confine/cgroup.h"
#include "agent/identify/exes.h"
#include "agent/identify/find.h"
#include "agent/identify/pidfile.h"
#include "agent/identify/program.h"
#include "agent/identify/view.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_piddir.h"
#include "agent/shell/agent_policy.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/agent_watch.h"
#include "agent/shell/others.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"
#include "model/code.h"

struct probes {
    struct agent_base *agent;
    struct effects *effects;
    const struct agent_policy *policy;
    struct watches *watches;
    struct others *others; /* snapshot of this turn; NULL until needed */
    struct exes *exes;
    struct pidfiles *pidfiles;
};

struct effect_probe {
    const char *pid_dir; /* agent_piddir.h */
    bool knows;          /* look.known is alive */
    bool is_view_only;   /* the result is look.known */
    const char *cgroup, *boot_id;
    int64_t now_ms; /* time when the worker got the job */
    struct pidfiles *pidfiles;
    struct exes *exes;

    struct find_result got;
    uint64_t program; /* family.h; of `got` */
    struct proc_view view;
    struct err file; /* why no pid file was written; code 0: written, or not wanted */
};

struct probes *probes_new(struct agent_base *a, struct effects *effects,
                          const struct agent_policy *policy, struct watches *watches)
{
    struct probes *p = xalloc(sizeof(*p));

    p->agent = a;
    p->effects = effects;
    p->policy = policy;
    p->watches = watches;
    p->exes = exes_new();
    p->pidfiles = pidfiles_new();
    return p;
}

void probes_free(struct probes *p)
{
    if (!p)
        return;
    others_unref(p->others);
    exes_free(p->exes);
    pidfiles_free(p->pidfiles);
    free(p);
}

void probes_end_turn(struct probes *p)
{
    others_unref(p->others);
    p->others = NULL;
}

void probes_forget(struct probes *p)
{
    exes_forget(p->exes);
}

void probes_add(struct probes *p, const struct core_look *look)
{
    struct effect *effect = effect_new(p->effects, EFFECT_PROBE);

    effect->probes = p;
    effect->look = *look;
    effect->look.space = arena_strdup(&effect->arena, look->space);
    effect->look.name = arena_strdup(&effect->arena, look->name);
    effect_identity(effect, look->identity);
    effect->look.identity = &effect->identity;
    if (look->unchecked)
        effect->check =
            policy_check_new(p->policy, look->unchecked, look->unchecked_lines, &effect->arena);
    effect->look.unchecked = NULL; /* everything needed of it has been copied */
    effect->look.unchecked_lines = NULL;
    if (look->self.pid)
        effect_move(effect, &p->effects->checks);
}

/* ---- a known process */

/* Fails if this can not be determined now. */
static int see_whether_lives(const struct probes *p, struct core_ident ident, bool *ret,
                             struct err *err)
{
    struct ident id = agent_ident(p->agent, ident);
    struct err why = { .code = ERR_NOT_FOUND };
    const struct ident *watched = watch_alive(p->watches, ident.pid);
    int pidfd = -1;

    if (watched && watched->start_ticks == ident.start_ticks) {
        *ret = true;
        return 0;
    }
    if (ident.pid && ident_open(&id, id.boot_id, &pidfd, &why) && why.code != ERR_NOT_FOUND &&
        why.code != ERR_DENIED) {
        *err = why;
        return -1;
    }
    *ret = pidfd >= 0;
    sys_close(pidfd);
    return 0;
}

/* ---- on a worker: a command of the agent */

/* The pid file is for other programs; the agent knows the process already, so a failed write is no
 * error. */
static void leave_pid_file(const struct effect *effect, int64_t pid, int64_t since_ticks)
{
    struct effect_probe *p = effect->probe;

    if (*effect->identity.pid_path)
        (void)piddir_write(effect->effects->agent, p->pidfiles, effect->identity.pid_path,
                           effect->user->uid, effect->user->gid, pid, since_ticks,
                           &p->file); /* logged by the loop */
}

/* ---- on a worker: search */

static bool is_others(void *arg, const struct ident *id)
{
    const struct effect *effect = arg;

    return others_have(effect->others, (struct core_ident){ id->pid, id->start_ticks },
                       effect->look.space, effect->look.name);
}

/* Several processes are expected: lists the matches. */
static int probe_list_all(struct effect *effect, const struct find_want *want, struct err *err)
{
    struct core_ident *all;
    struct ident *found;
    size_t n;

    if (find_all(want, effect->probe->boot_id, &found, &n, err))
        return -1;
    all = arena_alloc(&effect->arena, (n + 1) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = (struct core_ident){ found[i].pid, found[i].start_ticks };
    free(found);
    effect->all = all;
    effect->n_all = n;
    return 0;
}

/* No search: a process that the pid file does not name does not count. */
static int check_pid_file(const struct effect *effect, const struct find_want *want,
                          struct find_result *ret, struct err *err)
{
    return find_by_pid_file(want, effect->probe->boot_id, ret, err);
}

static struct ident ident_here(const struct effect_probe *p, struct core_ident ident)
{
    struct ident id = { .pid = ident.pid, .start_ticks = ident.start_ticks };

    memcpy(id.boot_id, p->boot_id, sizeof(id.boot_id));
    return id;
}

/* A process lives, and its pid file may name its successor: nginx that got SIGUSR2, say. */
static int check_replaced(const struct effect *effect, const struct find_want *want,
                          struct find_result *ret, struct err *err)
{
    const struct effect_probe *p = effect->probe;
    struct ident known = ident_here(p, effect->look.known);

    if (find_by_pid_file(want, p->boot_id, ret, err))
        return -1;
    if (ret->kind != FIND_FOUND ||
        (!ident_equal(&ret->id, &known) && find_follows(want, &known, &ret->id) &&
         !want->is_others(want->arg, &ret->id)))
        return 0;
    sys_close(ret->pidfd);
    *ret = (struct find_result){ .kind = FIND_NONE, .pidfd = -1 };
    return 0;
}

static bool may_be_replaced(const struct effect *effect)
{
    const struct core_look *look = &effect->look;

    return look->may_be_replaced && effect->probe->knows && !look->self.pid && !look->is_renewed &&
           look->instances < 2;
}

/* Its command has ended and was not the process, so nothing else may have written the file. */
static bool is_kept(const struct effect *effect)
{
    const struct core_look *look = &effect->look;

    return look->is_renewed && !look->is_peek && !look->is_untrusted && look->instances < 2 &&
           piddir_keeps(effect->probe->pid_dir, effect->identity.pid_path);
}

static int probe_find(struct effect *effect, struct find_result *ret, struct err *err)
{
    struct effect_probe *p = effect->probe;
    const struct find_want want = {
        .is_of_many = effect->look.instances > 1,
        .pid_path = effect->identity.pid_path,
        .proc_name = effect->identity.proc_name,
        .setup_path = effect->identity.setup_path,
        .user = effect->user,
        .start = { ident_here(p, effect->look.start), p->cgroup },
        .is_untrusted = effect->look.is_untrusted,
        .is_doubtful = effect->look.is_doubtful,
        .is_of_start = effect->look.is_of_start,
        .is_leader = effect->look.is_leader,
        .is_others = is_others,
        .arg = effect,
        .pidfiles = p->pidfiles,
        .exes = p->exes,
        .asked = { effect->look.since_ms, p->now_ms },
    };

    if (effect->look.instances > 1 && probe_list_all(effect, &want, err))
        return -1;
    if (may_be_replaced(effect))
        return check_replaced(effect, &want, ret, err);
    if (effect->look.by_pid_file)
        return check_pid_file(effect, &want, ret, err);
    if (!effect->look.self.pid) {
        if (find_process(&want, p->boot_id, ret, err))
            return -1;
        if (ret->kind == FIND_FOUND && is_kept(effect))
            leave_pid_file(effect, ret->id.pid, effect->look.start.start_ticks);
        return 0;
    }
    if (find_by_command(&want, effect->look.self.pid, p->boot_id, ret, err))
        return -1;
    if (ret->kind == FIND_FOUND && !effect->look.is_peek)
        leave_pid_file(effect, ret->id.pid, effect->look.self.start_ticks);
    return 0;
}

/* Whether the found process counts, rather than the known one. */
static bool counts(const struct effect *effect)
{
    const struct effect_probe *p = effect->probe;

    return p->got.kind == FIND_FOUND && (!p->knows || effect->look.self.pid != 0 ||
                                         effect->look.is_renewed || may_be_replaced(effect));
}

static void probe_work(struct worker_job *job, struct spawner *s)
{
    struct effect *effect = job->arg;
    struct effect_probe *p = effect->probe;

    (void)s;
    if (!p->is_view_only && effect->user && probe_find(effect, &p->got, &effect->failure)) {
        effect->has_failed = true;
        return;
    }
    if (p->got.kind == FIND_FOUND && !effect->look.is_peek)
        p->program = program_of(p->got.id.pid); /* its exe has just been read */
    if (!effect->look.wants_view)
        return;
    if (counts(effect))
        view_read(p->got.id.pid, &effect->arena, &p->view);
    else if (p->knows)
        view_read(effect->look.known.pid, &effect->arena, &p->view);
}

/* ---- result, on the loop */

static void answer(struct effect *effect, enum core_found found, struct core_ident ident,
                   const char *why)
{
    struct agent_base *a = effect->effects->agent;
    struct core_probe probe = { .question = effect->look.question,
                                .found = found,
                                .ident = ident,
                                .why = why,
                                .all = effect->all,
                                .n_all = effect->n_all };

    if (effect->probe) {
        probe.view = effect->probe->view;
        probe.program = effect->probe->got.program;
        probe.script = effect->probe->got.script;
    } else {
        shape_defaults(&proc_view_shape, &probe.view);
    }
    core_on_probe(a->core, effect->look.id, &probe, agent_now_ms(a));
}

/* The found process, or the known one if it is still alive. */
static void answer_found(struct effect *effect)
{
    static const enum core_found found[] = { [FIND_FOUND] = FOUND_IT,
                                             [FIND_NONE] = FOUND_NOTHING,
                                             [FIND_MISMATCH] = FOUND_ANOTHER,
                                             [FIND_UNSURE] = FOUND_UNSURE };
    const struct effect_probe *p = effect->probe;
    struct core_ident ident = { p->got.id.pid, p->got.id.start_ticks };

    if (counts(effect)) {
        answer(effect, FOUND_IT, ident, NULL);
        watch_set_program(effect->probes->watches, ident, p->program);
    } else if (p->knows && !effect->look.self.pid) {
        answer(effect, FOUND_IT, effect->look.known, NULL);
    } else {
        answer(effect, found[p->got.kind], (struct core_ident){ 0 }, p->got.text);
    }
    sys_close(p->got.pidfd);
}

/* A failed probe does not mean "not running": the process would be started twice. */
static enum probe_fate probe_ask_again(struct effect *effect, const struct err *err)
{
    struct agent_base *a = effect->effects->agent;

    LOG(a->log, LOG_WARN, "can not look for a process, trying again",
        log_str("process", effect->look.name), log_err(err));
    effect->has_failed = false;
    effect->look.since_ms = clock_mono_ms(loop_clock(a->loop));
    agent_retry(a);
    return PROBE_WAITS;
}

static void probe_put_back(struct effect *effect, int64_t again_ms)
{
    struct effects *e = effect->effects;

    others_unref(effect->others);
    effect->others = NULL;
    effect->probe = NULL; /* it is in the arena */
    effect->sent_ms = 0;
    effect->is_slow = false;
    effect->again_ms = again_ms;
    effect_move(effect, effect->look.self.pid ? &e->checks : &e->waiting);
}

static void log_pid_file(const struct agent_base *a, const struct effect *effect)
{
    const struct err *err = &effect->probe->file;

    if (err->code)
        LOG(a->log, err->code == ERR_CONFLICT ? LOG_DEBUG : LOG_INFO, "no pid file was written",
            log_str("process", effect->look.name), log_err(err));
}

/* Another process of the agent may have been started since the search began. */
static bool is_others_now(const struct agent_base *a, const struct effect *effect)
{
    const struct find_result *got = &effect->probe->got;

    return got->is_searched &&
           others_have_now(a->core, (struct core_ident){ got->id.pid, got->id.start_ticks },
                           effect->look.space, effect->look.name);
}

/* It can be told soon whose it is. */
static bool may_be_others(const struct agent_base *a, const struct effect *effect)
{
    const struct find_result *got = &effect->probe->got;

    return got->is_searched && !effect->look.is_renewed &&
           core_may_be_others(a->core, (struct core_ident){ got->id.pid, got->id.start_ticks },
                              effect->look.space, effect->look.name, &effect->identity);
}

static void on_probed(struct worker_job *job)
{
    struct effect *effect = job->arg;
    struct agent_base *a = effect->effects->agent;

    agent_wake(a);
    if (effect->has_failed) {
        probe_ask_again(effect, &effect->failure);
        probe_put_back(effect, clock_mono_ms(loop_clock(a->loop)) + AGENT_RETRY_MS);
        return;
    }
    if (is_others_now(a, effect)) {
        sys_close(effect->probe->got.pidfd);
        probe_put_back(effect, 0);
        return;
    }
    if (may_be_others(a, effect)) {
        sys_close(effect->probe->got.pidfd);
        probe_put_back(effect, clock_mono_ms(loop_clock(a->loop)) + AGENT_RETRY_MS);
        return;
    }
    log_pid_file(a, effect);
    answer_found(effect);
    effect_free(effect);
}

/* ---- policy check that could not be done at once */

static void check_work(struct worker_job *job, struct spawner *s)
{
    struct effect *effect = job->arg;

    (void)s;
    effect->has_failed = policy_check_run(effect->check, &effect->failure) != 0;
}

static void on_checked(struct worker_job *job)
{
    struct effect *effect = job->arg;
    struct agent_base *a = effect->effects->agent;

    agent_wake(a);
    effect->check = NULL;
    if (!effect->has_failed) {
        probe_put_back(effect, 0);
        return;
    }
    answer(effect, FOUND_DENIED, (struct core_ident){ 0 }, err_msg(&effect->failure));
    effect_free(effect);
}

static enum probe_fate check_first(struct effect *effect)
{
    if (!workers_have_room(effect->effects->agent->workers, effect->check->owner)) {
        effect_wait_for_room(effect, effect->look.id);
        return PROBE_HAS_NO_ROOM;
    }
    effect_send(effect, effect->check->owner, check_work, on_checked);
    return PROBE_IS_SENT;
}

/* ---- passing to a worker, or answering at once */

static const char *own_cgroup(const struct agent_base *a, struct effect *effect)
{
    char name[OUTLOG_NAME_SIZE];

    if (!cgroups_are_used(a->cgroups))
        return NULL;
    output_name(effect->look.space, effect->look.name, "start", name);
    return cgroup_path(a->cgroups, name, &effect->arena);
}

struct others *probes_take_others(struct probes *p)
{
    if (!p->others)
        p->others = others_new(p->agent->core);
    return others_ref(p->others);
}

static struct effect_probe *probe_prepare(struct effect *effect, bool knows)
{
    const struct probes *all = effect->probes;
    const struct agent_base *a = all->agent;
    struct effect_probe *p = arena_alloc(&effect->arena, sizeof(*p));

    *p = (struct effect_probe){ .knows = knows,
                                .cgroup = own_cgroup(a, effect),
                                .boot_id = a->boot_id,
                                .pid_dir = a->pid_dir,
                                .now_ms = clock_mono_ms(loop_clock(a->loop)),
                                .pidfiles = all->pidfiles,
                                .exes = all->exes,
                                .got = { .kind = FIND_NONE, .pidfd = -1 } };
    shape_defaults(&proc_view_shape, &p->view);
    effect->probe = p;
    return p;
}

static enum probe_fate give_to_worker(struct effect *effect, const struct user *user)
{
    effect->user = user ? user_copy(user, &effect->arena) : NULL;
    effect->others = probes_take_others(effect->probes);
    effect_send(effect, effect_owner(effect), probe_work, on_probed);
    return PROBE_IS_SENT;
}

/* A restart probes after every exit. If the pid file is unchanged and names the process that has
 * just ended, nothing else needs to be read. */
static bool is_known_to_have_ended(const struct effect *effect, int64_t *ret_pid)
{
    const struct probes *p = effect->probes;
    const struct core_look *look = &effect->look;

    return !look->self.pid && (look->by_pid_file || !look->is_doubtful) && look->instances < 2 &&
           !look->wants_view && *effect->identity.pid_path &&
           pidfile_is_known(p->pidfiles, effect->identity.pid_path, ret_pid) &&
           watch_has_ended(p->watches, *ret_pid);
}

static bool has_no_pid_file(const struct effect *effect)
{
    const struct core_look *look = &effect->look;

    return look->by_pid_file && !*effect->identity.pid_path && look->instances < 2 &&
           !look->wants_view;
}

static enum probe_fate answer_no_pid_file(struct effect *effect)
{
    answer(effect, FOUND_NOTHING, (struct core_ident){ 0 }, MSG("no pid file is named"));
    return PROBE_DONE;
}

static enum probe_fate answer_ended(struct effect *effect, int64_t pid)
{
    answer(effect, FOUND_NOTHING, (struct core_ident){ 0 },
           arena_msg(&effect->arena, "pid file %s names %lld, but that has ended",
                     effect->identity.pid_path, (long long)pid));
    return PROBE_DONE;
}

static enum probe_fate look_up(struct effect *effect, bool knows)
{
    const struct user *user = effect_user(effect, effect->identity.user);
    int64_t pid;

    if (!user && !effect->has_failed)
        return PROBE_WAITS;
    if (!user && effect->failure.code != CODE_USER)
        return probe_ask_again(effect, &effect->failure);
    if (user && !knows && has_no_pid_file(effect))
        return answer_no_pid_file(effect);
    if (user && !knows && is_known_to_have_ended(effect, &pid))
        return answer_ended(effect, pid);
    probe_prepare(effect, knows);
    if (user)
        return give_to_worker(effect, user);
    msg_copy(effect->probe->got.text, sizeof(effect->probe->got.text), err_msg(&effect->failure));
    answer_found(effect);
    return PROBE_DONE;
}

/* Whether the pid file may name another process than the known one. */
static bool has_news(const struct effect *effect)
{
    int64_t pid;

    if (!effect->look.may_be_replaced || !*effect->identity.pid_path ||
        !*effect->identity.proc_name)
        return false;
    return !pidfile_is_known(effect->probes->pidfiles, effect->identity.pid_path, &pid) ||
           pid != effect->look.known.pid;
}

enum probe_fate probe_carry_out(struct effect *effect)
{
    const struct probes *p = effect->probes;
    const struct agent_base *a = p->agent;
    const struct core_look *look = &effect->look;
    bool knows, lives = true;
    struct err err;

    if (!core_awaits_probe(a->core, look->id, look->question))
        return PROBE_DONE;
    if (effect->check)
        return check_first(effect);
    if (!workers_have_room(a->workers, effect_owner(effect))) {
        effect_wait_for_room(effect, look->id);
        return PROBE_HAS_NO_ROOM;
    }
    if (see_whether_lives(p, look->known, &knows, &err) ||
        (look->self.pid && see_whether_lives(p, look->self, &lives, &err)))
        return probe_ask_again(effect, &err);
    if (knows && !look->self.pid && !look->is_renewed && look->instances < 2 && !has_news(effect)) {
        if (look->wants_view) {
            probe_prepare(effect, true)->is_view_only = true;
            return give_to_worker(effect, NULL);
        }
        answer(effect, FOUND_IT, look->known, NULL);
        return PROBE_DONE;
    }
    if (!*effect->identity.proc_name) {
        answer(effect, FOUND_NOTHING, (struct core_ident){ 0 }, MSG("its proc_name is unknown"));
        return PROBE_DONE;
    }
    if (!lives) {
        answer(effect, FOUND_NOTHING, (struct core_ident){ 0 }, MSG("it has ended"));
        return PROBE_DONE;
    }
    return look_up(effect, knows);
}
