/* SPDX-License-Identifier: MIT */
/* agent_probe.c - who is it?  And what the kernel says of it.
 *
 * A process that was found before is the one as long as it lives.  A command of ours
 * that is still running is it only if its name fits, or its only child's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/find.h"
#include "agent/view.h"
#include "base/sys.h"
#include "model/code.h"

enum { ANCESTORS_MAX = 32 };

void hand_probe(void *agent, const struct core_look *look)
{
    struct agent *a = agent;
    struct act *act = act_new(a, ACT_PROBE);

    act->look = *look;
    act->look.space = arena_strdup(&act->arena, look->space);
    act->look.name = arena_strdup(&act->arena, look->name);
    act_identity(act, look->identity);
    act->look.identity = &act->identity;
    if (look->self.pid)
        act_move(act, &a->checks);
}

/* ---- one that is known */

/* Fails where nobody can say now. */
static int see_whether_lives(const struct agent *a, struct core_ident ident, bool *ret,
                             struct err *err)
{
    struct ident id = watch_ident(a, ident);
    struct err why = { .code = ERR_NOT_FOUND };
    const struct ident *held = watch_alive(a, ident.pid);
    int pidfd = -1;

    if (held && held->start_ticks == ident.start_ticks) {
        *ret = true;
        return 0;
    }
    if (ident.pid && ident_open(&id, a->boot_id, &pidfd, &why) && why.code != ERR_NOT_FOUND &&
        why.code != ERR_DENIED) {
        *err = why;
        return -1;
    }
    *ret = pidfd >= 0;
    sys_close(pidfd);
    return 0;
}

/* ---- a command of ours */

struct children {
    pid_t only;
    int n;
};

static bool on_child(void *arg, pid_t pid)
{
    struct children *c = arg;

    c->only = pid;
    return ++c->n < 2;
}

static int check_self(struct agent *a, const struct find_want *want, struct core_ident self,
                      struct find_result *ret, struct err *err)
{
    struct children children = { 0 };
    struct err why;
    bool lives;

    if (see_whether_lives(a, self, &lives, err))
        return -1;
    if (!lives) {
        *ret = (struct find_result){ .kind = FIND_NONE, .pidfd = -1, .text = "it has ended" };
        return 0;
    }
    if (find_check(want, "the command", self.pid, a->boot_id, ret, err))
        return -1;
    if (ret->kind == FIND_FOUND || procfs_each_child((pid_t)self.pid, on_child, &children, &why) ||
        children.n != 1)
        return 0;
    return find_check(want, "the command's only child", children.only, a->boot_id, ret, err);
}

/* For those who look at the file; we ourselves know the process by now, so a file that
 * can not be written is no failure. */
static void leave_pid_file(struct agent *a, const struct act *act, const struct user *user,
                           int64_t pid)
{
    struct err err;

    if (!*act->identity.pid_path ||
        !pidfile_write(a->pidfiles, act->identity.pid_path, user->uid, user->gid, pid,
                       act->look.self.start_ticks, &err))
        return;
    LOG(a->log, err.code == ERR_CONFLICT ? LOG_DEBUG : LOG_INFO, "no pid file was written",
        log_str("process", act->look.name), log_err(&err));
}

/* ---- a search */

struct asker {
    const struct agent *a;
    const struct core_look *look;
};

/* Of another process of ours, or a child of its. */
static bool is_others(void *arg, const struct ident *id)
{
    const struct asker *asker = arg;
    int64_t pid = id->pid;
    struct procfs_stat st;
    struct err why;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && !procfs_stat((pid_t)pid, &st, &why); i++) {
        if (core_is_others(asker->a->core, (struct core_ident){ pid, st.start_ticks },
                           asker->look->space, asker->look->name))
            return true;
        pid = st.ppid;
    }
    return false;
}

static bool has_ended(void *arg, int64_t pid)
{
    const struct asker *asker = arg;

    return watch_has_ended(asker->a, pid);
}

static const struct ident *find_held(void *arg, int64_t pid)
{
    const struct asker *asker = arg;

    return watch_alive(asker->a, pid);
}

/* ---- the answer */

/* Several are expected: who are they? */
static int list_all(struct agent *a, struct act *act, const struct find_want *want, struct err *err)
{
    struct core_ident *all;
    struct ident *found;
    size_t n;

    if (find_all(want, a->boot_id, &found, &n, err))
        return -1;
    all = arena_alloc(&act->arena, (n + 1) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        all[i] = (struct core_ident){ found[i].pid, found[i].start_ticks };
    free(found);
    act->all = all;
    act->n_all = n;
    return 0;
}

static const char *own_cgroup(const struct agent *a, struct act *act)
{
    char name[OUTLOG_NAME_SIZE];

    if (!cgroups_are_used(a->cgroups))
        return NULL;
    said_name(act->look.space, act->look.name, "start", name);
    return cgroup_path(a->cgroups, name, &act->arena);
}

/* No search: whoever it would find, the file does not name it. */
static int check_pid_file(struct agent *a, const struct find_want *want, struct find_result *ret,
                          struct err *err)
{
    char source[sizeof("pid file ") + PATH_MAX];
    struct err why;
    int64_t pid;

    *ret = (struct find_result){ .kind = FIND_NONE, .pidfd = -1 };
    if (pidfile_read(want->pidfiles, want->pid_path, want->user->uid, &pid, &why)) {
        snprintf(ret->text, sizeof(ret->text), "%s", why.text);
        return 0;
    }
    snprintf(source, sizeof(source), "pid file %s", want->pid_path);
    return find_check(want, source, pid, a->boot_id, ret, err);
}

static int find(struct agent *a, struct act *act, const struct user *user, struct find_result *ret,
                struct err *err)
{
    struct asker asker = { a, &act->look };
    const struct find_want want = {
        .is_of_many = act->look.instances > 1,
        .pid_path = act->identity.pid_path,
        .proc_name = act->identity.proc_name,
        .setup_path = act->identity.setup_path,
        .user = user,
        .start = { watch_ident(a, act->look.start), own_cgroup(a, act) },
        .is_doubtful = act->look.is_doubtful,
        .is_others = is_others,
        .has_ended = has_ended,
        .find_held = find_held,
        .arg = &asker,
        .pidfiles = a->pidfiles,
        .exes = a->exes,
        .asked = { act->look.since_ms, clock_mono_ms(loop_clock(a->loop)) },
    };

    if (act->look.instances > 1 && list_all(a, act, &want, err))
        return -1;
    if (act->look.by_pid_file)
        return check_pid_file(a, &want, ret, err);
    if (!act->look.self.pid)
        return find_process(&want, a->boot_id, ret, err);
    if (check_self(a, &want, act->look.self, ret, err))
        return -1;
    if (ret->kind == FIND_FOUND && !act->look.is_peek)
        leave_pid_file(a, act, user, ret->id.pid);
    return 0;
}

static void answer(struct agent *a, struct act *act, enum core_found found, struct core_ident ident,
                   const char *why)
{
    struct core_probe probe = { .question = act->look.question,
                                .found = found,
                                .ident = ident,
                                .why = why,
                                .all = act->all,
                                .n_all = act->n_all };

    shape_defaults(&proc_view_shape, &probe.view);
    if (found == FOUND_IT && act->look.wants_view)
        view_read(ident.pid, &act->arena, &probe.view);
    core_on_probe(a->core, act->look.id, &probe, agent_now_ms(a));
}

/* What was found, or the one that was known, if that lives still. */
static void answer_found(struct agent *a, struct act *act, const struct find_result *got,
                         bool knows)
{
    bool is_known = knows && !act->look.self.pid;

    if (got->kind == FIND_FOUND && !(is_known && !act->look.is_renewed))
        answer(a, act, FOUND_IT, (struct core_ident){ got->id.pid, got->id.start_ticks }, NULL);
    else if (is_known)
        answer(a, act, FOUND_IT, act->look.known, NULL);
    else
        answer(a, act, got->kind == FIND_NONE ? FOUND_NOTHING : FOUND_ANOTHER,
               (struct core_ident){ 0 }, got->text);
    sys_close(got->pidfd);
}

/* Nobody can say now is not "no": it would be started a second time. */
static bool ask_again(struct agent *a, struct act *act, const struct err *err)
{
    LOG(a->log, LOG_WARN, "can not look for a process, trying again",
        log_str("process", act->look.name), log_err(err));
    act->has_failed = false;
    act->look.since_ms = clock_mono_ms(loop_clock(a->loop));
    agent_retry(a);
    return false;
}

bool probe_carry_out(struct agent *a, struct act *act)
{
    const struct core_look *look = &act->look;
    struct find_result got = { .kind = FIND_NONE, .pidfd = -1 };
    const struct user *user;
    struct err err;
    bool knows;

    if (see_whether_lives(a, look->known, &knows, &err))
        return ask_again(a, act, &err);
    if (knows && !look->self.pid && !look->is_renewed && look->instances < 2) {
        answer(a, act, FOUND_IT, look->known, NULL);
        return true;
    }
    if (!*act->identity.proc_name) {
        answer(a, act, FOUND_NOTHING, (struct core_ident){ 0 }, "nobody said what it is");
        return true;
    }
    user = act_user(a, act, act->identity.user);
    if (!user && !act->has_failed)
        return false;
    if (!user && act->failure.code != CODE_USER)
        return ask_again(a, act, &act->failure);
    if (!user)
        memcpy(got.text, act->failure.text, sizeof(got.text));
    else if (find(a, act, user, &got, &err))
        return ask_again(a, act, &err);
    answer_found(a, act, &got, knows);
    return true;
}
