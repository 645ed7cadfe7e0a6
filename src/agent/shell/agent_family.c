/* SPDX-License-Identifier: MIT */
/* agent_family.c - see agent_family.h. */
#include "agent/shell/agent_family.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/confine/cgroup.h"
#include "agent/identify/family.h"
#include "agent/identify/listener.h"
#include "agent/identify/orphans.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_probe.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/agent_watch.h"
#include "agent/shell/others.h"
#include "agent/shell/workers.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

/* GROUP_KILL_MS: a job that takes longer does not use cgroup.kill, which ends whatever is in the
 * group by then; that is well before it is dropped. */
enum { FOLDER_SIZE = 4096, COMMANDS_MAX = 8, GROUP_KILL_MS = 3000 };

/* Their processes start programs for others, which do not end with them. */
static const char *const built_in[] = { "sshd",       "cron",    "crond",   "atd",
                                        "containerd", "dockerd", "libvirtd" };

struct families {
    struct family_parts parts;
    char **names; /* the setting */
    size_t n_names;
};

/* A question whose listener it is; in the arena of the effect. */
struct owner_ask {
    struct listener_want want;
    struct listener got;
    owner_fn *fn; /* NULL: forgotten */
    void *arg;
};

/* What the worker gets, and its result. */
struct effect_family {
    struct core_family family; /* texts are in the arena; without the spec */
    bool is_siblings;
    atomic_bool is_dropped; /* by the loop, while a worker has it */
    int64_t prepared_ms;
    struct family_want want;
    struct family_cgroup cgroup;
    const struct cgroups *cgroups;
    const char *group, *folder;               /* of the cgroup: its name, and its folder */
    struct core_ident commands[COMMANDS_MAX]; /* of the agent, for this process */
    size_t n_commands;
    struct family got;
    const char *siblings, *kin;  /* of family_siblings() */
    struct orphans_want orphans; /* program 0: none are wanted */
    struct owner_ask *owner;     /* NULL: it is no question whose listener it is */
};

struct families *families_new(const struct family_parts *parts)
{
    struct families *f = xalloc(sizeof(*f));

    f->parts = *parts;
    return f;
}

static void forget_names(struct families *f)
{
    for (size_t i = 0; i < f->n_names; i++)
        free(f->names[i]);
    free(f->names);
    f->names = NULL;
    f->n_names = 0;
}

void families_free(struct families *f)
{
    if (!f)
        return;
    forget_names(f);
    free(f);
}

void families_set(struct families *f, const struct list *names)
{
    const struct proc_word *words = names ? names->items : NULL;

    forget_names(f);
    if (!names || !names->n)
        return;
    f->names = xalloc(names->n * sizeof(*f->names));
    for (size_t i = 0; i < names->n; i++)
        f->names[f->n_names++] = xstrdup(words[i].text);
}

/* ---- scope */

static bool is_process_by_name(const struct families *f, const char *proc_name)
{
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++) {
        if (!strcmp(built_in[i], proc_name))
            return true;
    }
    for (size_t i = 0; i < f->n_names; i++) {
        if (!strcmp(f->names[i], proc_name))
            return true;
    }
    return false;
}

static enum proc_scope scope_of(const struct families *f, const struct proc_spec *spec)
{
    if (spec->extra.scope != SCOPE_DEFAULT)
        return (enum proc_scope)spec->extra.scope;
    return is_process_by_name(f, spec->identity.proc_name) ? SCOPE_PROCESS : SCOPE_FAMILY;
}

bool families_is_alone(const struct families *f, const struct proc_spec *spec)
{
    return scope_of(f, spec) == SCOPE_PROCESS;
}

/* ---- on the loop, at once */

static struct cgroup_state look_at_cgroup(const struct agent_base *a,
                                          const struct core_family *family,
                                          char name[OUTLOG_NAME_SIZE])
{
    if (!cgroups_are_used(a->cgroups))
        return (struct cgroup_state){ 0 };
    output_name(family->space, family->name, "start", name);
    return cgroup_look(a->cgroups, name);
}

/* The start command, the main process and its group are one in the usual case. */
static bool has_group(const struct families *f, const struct core_family *family)
{
    pid_t main = (pid_t)family->main.pid, start = (pid_t)family->start.pid, group;

    watch_reap_ended(f->parts.watches, main);
    if (sys_has_group(main) || (start != main && sys_has_group(start)))
        return true;
    group = start ? watch_find_trace(f->parts.watches, family->main).group : 0;
    return group && group != main && group != start && sys_has_group(group);
}

/* A process may have left the cgroup. */
bool families_has(struct families *f, const struct core_family *family)
{
    char name[OUTLOG_NAME_SIZE];

    if (families_is_alone(f, family->spec))
        return false;
    return look_at_cgroup(f->parts.agent, family, name).is_populated || has_group(f, family);
}

/* ---- the request */

static struct effect *new_effect(struct families *f, const struct core_family *from,
                                 const struct proc_identity *identity, enum proc_scope scope)
{
    struct effect *effect = effect_new(f->parts.effects, EFFECT_FAMILY);
    struct effect_family *e = arena_alloc(&effect->arena, sizeof(*e));

    effect->families = f;
    effect->family = e;
    effect->look.id = from->id; /* for runs_watch() */
    effect_identity(effect, identity);
    e->family = *from;
    e->family.space = arena_strdup(&effect->arena, from->space);
    e->family.name = arena_strdup(&effect->arena, from->name);
    e->family.siblings = arena_strdup(&effect->arena, from->siblings ? from->siblings : "");
    e->want.scope = scope;
    e->family.spec = NULL; /* everything needed of it has been copied */
    return effect;
}

void families_add(struct families *f, const struct core_family *family)
{
    new_effect(f, family, &family->spec->identity, scope_of(f, family->spec));
}

void families_add_siblings(struct families *f, const struct core_family *family)
{
    struct effect_family *e =
        new_effect(f, family, &family->spec->identity, scope_of(f, family->spec))->family;

    e->is_siblings = true;
    e->family.wants_orphans = false;
}

struct owner_ask *families_ask_owner(struct families *f, const struct core_family *family,
                                     const struct proc_identity *identity, const char *host,
                                     int64_t port, owner_fn *fn, void *arg)
{
    struct effect *effect = new_effect(f, family, identity, SCOPE_FAMILY);
    struct owner_ask *ask = arena_alloc(&effect->arena, sizeof(*ask));

    *ask = (struct owner_ask){
        .want = { .host = arena_strdup(&effect->arena, host), .port = port },
        .fn = fn,
        .arg = arg,
    };
    effect->family->owner = ask;
    return ask;
}

void owner_forget(struct owner_ask *ask)
{
    if (ask)
        ask->fn = NULL;
}

static bool is_of_operation(const struct effect *effect)
{
    return !effect->family->is_siblings && !effect->family->owner;
}

static void drop_from(struct effect_list *list, uint64_t op)
{
    struct effect *effect;

    TAILQ_FOREACH(effect, list, link) {
        if (effect->kind == EFFECT_FAMILY && effect->look.id == op && is_of_operation(effect))
            atomic_store(&effect->family->is_dropped, true);
    }
}

/* One that no worker has yet is dropped by its question. */
void families_drop(struct families *f, uint64_t op)
{
    struct effects *e = f->parts.effects;

    drop_from(&e->probing, op);
    drop_from(&e->stuck, op);
    drop_from(&e->lost, op);
}

/* ---- preparation, on the loop */

struct command_search {
    struct effect_family *e;
    char prefix[OUTLOG_NAME_SIZE]; /* output file of the process */
};

/* Commands of the process, other than its start: a reload command runs in its cgroup. */
static void add_command(void *arg, const struct watched *run)
{
    struct command_search *s = arg;
    size_t n = strlen(s->prefix);

    if (s->e->n_commands < COMMANDS_MAX && run->output && !strncmp(run->output, s->prefix, n) &&
        run->output[n] == '~')
        s->e->commands[s->e->n_commands++] = (struct core_ident){ run->pid, run->id.start_ticks };
}

/* family.h does not ask for the main process itself and its start.  So whatever else is known as a
 * process counts, of this name too: a later run of it, if the answer has become needless. */
static bool is_of_others(void *arg, const struct ident *id)
{
    const struct effect *effect = arg;
    const struct effect_family *e = effect->family;
    struct core_ident ident = { id->pid, id->start_ticks };

    for (size_t i = 0; i < e->n_commands; i++) {
        if (core_is_same(e->commands[i], ident))
            return true;
    }
    return others_know(effect->others, ident);
}

static int list_cgroup(void *arg, int64_t **ret, size_t *ret_n, struct err *err)
{
    const struct effect_family *e = arg;

    return cgroup_list(e->folder, ret, ret_n, err);
}

static bool is_family_dropped(void *arg)
{
    const struct effect *effect = arg;

    return atomic_load(&effect->family->is_dropped);
}

static int kill_cgroup(void *arg, struct err *err)
{
    const struct effect_family *e = arg;

    if (clock_mono_ms(&clock_system) - e->prepared_ms > GROUP_KILL_MS) {
        *err = (struct err){ .code = ERR_UNAVAILABLE }; /* they are killed one by one */
        return -1;
    }
    cgroup_note_killed(e->cgroups, e->group);
    return cgroup_end(e->folder, err);
}

static void use_cgroup(const struct agent_base *a, struct effect *effect, const char *name)
{
    struct effect_family *e = effect->family;
    char folder[FOLDER_SIZE];

    if (!cgroup_folder(a->cgroups, name, folder, sizeof(folder)))
        return;
    e->cgroups = a->cgroups;
    e->group = arena_strdup(&effect->arena, name);
    e->folder = arena_strdup(&effect->arena, folder);
    e->cgroup = (struct family_cgroup){ list_cgroup, NULL, e };
    if (cgroup_has_kill(a->cgroups))
        e->cgroup.kill = kill_cgroup;
    e->want.cgroup = &e->cgroup;
}

static bool is_shared(const struct families *f, const struct core_family *family,
                      struct trace trace)
{
    const pid_t sessions[] = { (pid_t)family->main.pid, (pid_t)family->start.pid,
                               family->start.pid ? trace.session : 0 };

    return watch_is_shared(f->parts.watches, sessions, ARRAY_LEN(sessions), family->space,
                           family->name);
}

/* The clock of the core stands still while the host is suspended, that of start_ticks does not. */
static int64_t ended_ticks(const struct agent_base *a, int64_t ended_ms)
{
    enum { MS_PER_TICK = 10 };
    struct timespec t;

    if (ended_ms <= 0 || ended_ms == INT64_MAX)
        return ended_ms > 0 ? ended_ms : 0;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (t.tv_sec * 1000 + t.tv_nsec / 1000000 - (loop_now_ms(a->loop) - ended_ms)) /
               MS_PER_TICK +
           1;
}

static void family_prepare(struct effect *effect)
{
    const struct families *f = effect->families;
    const struct agent_base *a = f->parts.agent;
    struct effect_family *e = effect->family;
    struct trace trace = watch_find_trace(f->parts.watches, e->family.main);
    struct command_search search = { .e = e };
    char name[OUTLOG_NAME_SIZE];
    struct cgroup_state cgroup = look_at_cgroup(a, &e->family, name);

    output_name(e->family.space, e->family.name, "start", search.prefix);
    e->n_commands = 0;
    e->prepared_ms = clock_mono_ms(&clock_system);
    watch_each_run(f->parts.watches, add_command, &search);
    effect->others = probes_take_others(f->parts.probes);
    e->want = (struct family_want){ .boot_id = a->boot_id,
                                    .main = agent_ident(a, e->family.main),
                                    .start = agent_ident(a, e->family.start),
                                    .siblings = e->family.siblings,
                                    .scope = e->want.scope,
                                    .proc_name = effect->identity.proc_name,
                                    .session = trace.session,
                                    .ended_ticks = ended_ticks(a, e->family.ended_ms),
                                    .group = trace.group,
                                    .program = trace.program,
                                    .kin = trace.kin ? arena_strdup(&effect->arena, trace.kin) : "",
                                    .is_session_shared = is_shared(f, &e->family, trace),
                                    .has_crashed = e->family.has_crashed,
                                    .is_others = is_of_others,
                                    .is_dropped = is_family_dropped,
                                    .arg = effect };
    if (cgroup.exists && (cgroup.is_populated || e->family.start.pid))
        use_cgroup(a, effect, name);
    if (effect->user && e->want.scope != SCOPE_PROCESS)
        e->orphans = (struct orphans_want){ .boot_id = a->boot_id,
                                            .program = watch_find_program(
                                                f->parts.watches, e->family.space, e->family.name),
                                            .uid = effect->user->uid,
                                            .is_others = is_of_others,
                                            .arg = effect };
}

/* ---- on a worker, and back */

/* Those that belong to the family are ended, and need not be named. */
static int find_members(struct effect *effect)
{
    struct effect_family *e = effect->family;

    if (family_find(&e->want, e->family.number, &effect->arena, &e->got, &effect->failure))
        return -1;
    if (e->got.n || *e->got.others)
        return 0;
    return orphans_name(&e->orphans, &effect->arena, &e->got.others, &effect->failure);
}

/* Mostly it is the main process's, which costs little to find out; the family costs a system call
 * for every process of the host. */
static bool is_of_main(const struct effect_family *e)
{
    struct listener_want want = e->owner->want;

    want.main = e->want.main.pid;
    want.family = &want.main;
    want.n = want.main ? 1 : 0;
    want.is_brief = true;
    listener_find(&want, &e->owner->got);
    return e->owner->got.owner == LISTENER_FAMILY;
}

static int find_owner(struct effect *effect)
{
    struct effect_family *e = effect->family;
    struct listener_want *want = &e->owner->want;
    int64_t *pids;

    if (is_of_main(e))
        return 0;
    if (family_list(&e->want, &effect->arena, &pids, &want->n, &effect->failure))
        return -1;
    want->family = pids;
    want->main = e->want.main.pid;
    listener_find(want, &e->owner->got);
    return 0;
}

static void family_work(struct worker_job *job, struct spawner *s)
{
    struct effect *effect = job->arg;
    struct effect_family *e = effect->family;

    (void)s;
    if (e->owner) {
        effect->has_failed = find_owner(effect) != 0;
        return;
    }
    effect->has_failed = e->is_siblings ? family_siblings(&e->want, &effect->arena, &e->siblings,
                                                          &e->kin, &effect->failure) != 0
                                        : find_members(effect) != 0;
}

static void family_again(struct effect *effect)
{
    struct agent_base *a = effect->effects->agent;

    LOG(a->log, LOG_WARN, "can not look for the family of a process, trying again",
        log_str("process", effect->family->family.name), log_err(&effect->failure));
    others_unref(effect->others);
    effect->others = NULL;
    effect->has_failed = false;
    effect->sent_ms = 0;
    effect->is_slow = false;
    effect->again_ms = clock_mono_ms(loop_clock(a->loop)) + AGENT_RETRY_MS;
    effect_move(effect, &effect->effects->waiting);
    agent_retry(a);
}

static void answer_family(const struct effect *effect)
{
    struct agent_base *a = effect->effects->agent;
    const struct effect_family *e = effect->family;
    const struct core_members members = { .question = e->family.question,
                                          .n = e->got.n,
                                          .may_be_main = e->got.may_be_main,
                                          .names = e->got.names,
                                          .others = e->got.others };

    if (e->got.n && e->family.number == SIGKILL)
        watch_expect_dead(effect->families->parts.watches); /* orphans are children of the agent */
    if (*e->got.kin)
        watch_set_kin(effect->families->parts.watches, e->family.main, e->got.kin);
    core_on_family(a->core, e->family.id, &members, agent_now_ms(a));
}

static void answer_siblings(const struct effect *effect)
{
    struct agent_base *a = effect->effects->agent;
    const struct effect_family *e = effect->family;

    watch_set_kin(effect->families->parts.watches, e->family.main, e->kin);
    core_on_siblings(a->core, e->family.space, e->family.name, e->family.main, e->siblings,
                     agent_now_ms(a));
}

/* Failed: the owner is not to be determined. */
static void answer_owner(const struct effect *effect)
{
    struct owner_ask *ask = effect->family->owner;

    if (effect->has_failed)
        ask->got = (struct listener){ 0 };
    if (ask->fn)
        ask->fn(ask->arg, &ask->got);
}

static void on_family_done(struct worker_job *job)
{
    struct effect *effect = job->arg;
    struct agent_base *a = effect->effects->agent;
    const struct effect_family *e = effect->family;

    agent_wake(a);
    if (e->owner) {
        answer_owner(effect);
        effect_free(effect);
        return;
    }
    if (effect->has_failed) {
        family_again(effect);
        return;
    }
    if (!e->is_siblings)
        answer_family(effect);
    else
        answer_siblings(effect);
    effect_free(effect);
}

/* Without a cgroup the siblings are in the process group of the start command, which may be empty
 * by now. */
static bool has_no_siblings(const struct effect *effect)
{
    const struct effect_family *e = effect->family;

    return e->is_siblings && (e->want.scope == SCOPE_PROCESS ||
                              (!e->want.cgroup && !sys_has_group((pid_t)e->family.start.pid)));
}

/* Needed for orphans alone; without it none are named. */
static bool knows_user(struct effect *effect)
{
    const struct user *user;

    if (!effect->family->family.wants_orphans || effect->user)
        return true;
    user = effect_user(effect, effect->identity.user);
    if (!user && !effect->has_failed)
        return false;
    effect->has_failed = false;
    effect->user = user ? user_copy(user, &effect->arena) : NULL;
    return true;
}

enum probe_fate family_carry_out(struct effect *effect)
{
    struct families *f = effect->families;
    const struct core_family *family = &effect->family->family;

    if (effect->family->owner && !effect->family->owner->fn)
        return PROBE_DONE;
    if (!effect->family->is_siblings && !effect->family->owner &&
        !core_awaits_probe(f->parts.agent->core, family->id, family->question))
        return PROBE_DONE;
    if (!workers_have_room(f->parts.agent->workers, effect_owner(effect))) {
        effect_wait_for_room(effect, effect->look.id);
        return PROBE_HAS_NO_ROOM;
    }
    if (!knows_user(effect))
        return PROBE_WAITS;
    family_prepare(effect);
    if (has_no_siblings(effect))
        return PROBE_DONE;
    if (family->number)
        (void)disk_flush(f->parts.disk); /* as for watch_signal() */
    effect_send(effect, effect_owner(effect), family_work, on_family_done);
    return PROBE_IS_SENT;
}
