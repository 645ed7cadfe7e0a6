/* SPDX-License-Identifier: MIT */
/* agent_watch.c - processes held by a pidfd until they end: our commands, and those
 * that the core watches; a foreground process is both.  A child's end is told by the
 * kernel once, so there is one place for each process. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_in.h"
#include "agent/tree.h"
#include "base/mem.h"
#include "base/sys.h"

enum { LOOK_MS = 900 }; /* a little less than agent_retry() waits */

/* How long the parent of one that has ended may take to reap it.  Init does so at once; one
 * that never does must not keep us from what is to be done about the end. */
enum { UNREAPED_MS = 50 };

struct ident watch_ident(const struct agent *a, struct core_ident ident)
{
    struct ident id = { .pid = ident.pid, .start_ticks = ident.start_ticks };

    memcpy(id.boot_id, a->boot_id, sizeof(id.boot_id));
    return id;
}

static struct held *find_pid(const struct agent *a, int64_t pid)
{
    return map_find(&a->held, (const char *)&pid, sizeof(pid));
}

struct held *watch_find_run(const struct agent *a, uint64_t run)
{
    return map_find(&a->runs_held, (const char *)&run, sizeof(run));
}

void watch_set_run(struct held *h, uint64_t run, const char *output, uint64_t out_from)
{
    if (h->run)
        map_del(&h->agent->runs_held, (const char *)&h->run, sizeof(h->run));
    free(h->output);
    h->run = run;
    h->output = xstrdup(output);
    h->out_from = out_from;
    map_put(&h->agent->runs_held, (const char *)&h->run, sizeof(h->run), h);
}

void watch_free_held(struct held *h)
{
    free(h->output);
    free(h);
}

static void forget_run(struct held *h)
{
    if (h->run && watch_find_run(h->agent, h->run) == h)
        map_del(&h->agent->runs_held, (const char *)&h->run, sizeof(h->run));
}

static void forget(struct held *h)
{
    struct agent *a = h->agent;

    map_del(&a->held, (const char *)&h->pid, sizeof(h->pid));
    forget_run(h);
    if (!h->is_attached)
        TAILQ_REMOVE(&a->unwatched, h, link);
}

static void close_held(struct held *h)
{
    if (h->is_attached)
        crowd_del(h->agent->crowd, h->pidfd);
    sys_close(h->pidfd);
}

static void detach(struct held *h)
{
    forget(h);
    close_held(h);
}

static void let_go(struct held *h)
{
    detach(h);
    watch_free_held(h);
}

/* ---- the end */

static int status_of(const struct end *end)
{
    if (end->kind == END_EXIT)
        return end->code;
    if (end->kind == END_SIGNAL)
        return (end->has_core ? CORE_DUMPED : CORE_SIGNALED) + end->code;
    return CORE_STATUS_UNKNOWN;
}

static void log_end(const struct held *h)
{
    struct log_field how = log_str("ended", "as nobody can say");
    int status = h->status;

    if (status >= CORE_SIGNALED)
        how = log_int("signal", status % CORE_SIGNALED);
    else if (status >= 0)
        how = log_int("exit_code", status);
    LOG(h->agent->log, LOG_INFO, h->run ? "a command has ended" : "a process has ended",
        log_int("pid", h->id.pid), how, log_str("output", h->output));
}

/* Its cgroup may be empty now. */
static void leave_group(struct agent *a, const struct held *h, struct core_ident ident)
{
    char name[OUTLOG_NAME_SIZE];
    struct core_whose whose;

    if (!cgroups_are_used(a->cgroups))
        return;
    if (h->output && !strchr(h->output, '~')) {
        cgroup_ended(a->cgroups, h->output);
    } else if (h->is_watched && core_find_whose(a->core, ident, &whose)) {
        said_name(whose.space, whose.name, "start", name);
        cgroup_ended(a->cgroups, name);
    }
}

/* It is not among those that are held any more. */
static void report_end(struct held *h)
{
    struct agent *a = h->agent;
    struct core_ident ident = { h->id.pid, h->id.start_ticks };

    leave_group(a, h, ident);
    if (h->run)
        run_ended(a, h, h->status);
    if (h->is_watched) {
        said_on_exit(a, h, h->status);
        core_on_exit(a->core, ident, h->status, agent_now_ms(a));
    }
    agent_wake(a);
}

void watch_gone(struct held *h)
{
    forget_run(h); /* it may have been given to it when it was gone already: hand_adopt() */
    log_end(h);
    report_end(h);
}

bool watch_has_ended(const struct agent *a, int64_t pid)
{
    return map_find(&a->ended, (const char *)&pid, sizeof(pid)) != NULL;
}

void watch_bury(struct agent *a)
{
    struct held *h;
    struct end end;
    struct err err;

    while ((h = TAILQ_FIRST(&a->unburied))) {
        TAILQ_REMOVE(&a->unburied, h, link);
        map_del(&a->ended, (const char *)&h->pid, sizeof(h->pid));
        (void)ident_end(h->pidfd, &end, &err); /* what can not be reaped is a stray now */
        close_held(h);
        log_end(h);
        watch_free_held(h);
    }
}

/* Its descriptor would wake us all the time now. */
static void detach_ended(struct held *h, int64_t now_ms)
{
    h->ended_ms = now_ms;
    crowd_del(h->agent->crowd, h->pidfd);
    h->is_attached = false;
    TAILQ_INSERT_TAIL(&h->agent->unwatched, h, link);
}

/* Whether its parent may still reap it, so that the kernel tells how it ended: then that is
 * asked again by watch_retry(), soon at first. */
static bool is_to_be_asked(struct held *h)
{
    struct agent *a = h->agent;
    int64_t now_ms = loop_now_ms(a->loop), wait_ms;

    if (!a->facilities.has[HAS_PIDFD_INFO])
        return false;
    if (h->is_attached)
        detach_ended(h, now_ms);
    if (!h->ended_ms || now_ms - h->ended_ms >= UNREAPED_MS)
        return false;
    wait_ms = (now_ms - h->ended_ms) / 2 + 1;
    h->ask_ms = now_ms + wait_ms;
    if (h->ask_ms > h->ended_ms + UNREAPED_MS)
        h->ask_ms = h->ended_ms + UNREAPED_MS;
    agent_settle_in(a, h->ask_ms - now_ms);
    return true;
}

static void look_at(struct held *h)
{
    struct agent *a = h->agent;
    struct end end;
    struct err err;
    bool is_left = false;

    if (ident_look_at_end(h->pidfd, &end, &is_left, &err)) {
        LOG(a->log, LOG_WARN, "how a process ended can not be told", log_int("pid", h->pid),
            log_err(&err));
        end = (struct end){ .kind = END_UNKNOWN };
    }
    if (end.kind == END_NOT_YET || (end.is_unreaped && is_to_be_asked(h)))
        return;
    h->status = status_of(&end);
    a->has_dead = true; /* behind this one others may have waited */
    forget(h);
    if (is_left) {
        map_put(&a->ended, (const char *)&h->pid, sizeof(h->pid), h);
        TAILQ_INSERT_TAIL(&a->unburied, h, link);
        report_end(h);
        return;
    }
    close_held(h);
    log_end(h);
    report_end(h);
    watch_free_held(h);
}

/* One that waits to be buried is not among those that are held. */
static void on_pidfd(void *agent, uint64_t pid)
{
    struct held *h = find_pid(agent, (int64_t)pid);

    if (h && h->is_attached)
        look_at(h);
}

/* As long as its descriptor says that it lives, nobody else has its pid. */
const struct ident *watch_alive(const struct agent *a, int64_t pid)
{
    const struct held *h = find_pid(a, pid);
    bool ended = true;
    struct err why;

    if (!h || h->pidfd < 0 || ident_has_ended(h->pidfd, &ended, &why) || ended)
        return NULL;
    return &h->id;
}

static bool is_held(void *agent, pid_t pid)
{
    const struct agent *a = agent;
    int64_t key = pid;

    return find_pid(a, pid) || map_find(&a->unclaimed, (const char *)&key, sizeof(key)) ||
           upgrade_is_held(a, pid);
}

void watch_reap(struct agent *a)
{
    struct err err;

    a->has_dead = false;
    if (ident_reap_strays(is_held, a, &a->has_dead, &err))
        LOG(a->log, LOG_WARN, "children that ended can not be taken note of", log_err(&err));
    else if (a->has_dead)
        agent_retry(a); /* where some come from there may be more */
}

/* ---- the beginning */

static int attach(struct held *h, struct err *err)
{
    if (!h->agent->facilities.has[HAS_PIDFD]) {
        agent_retry(h->agent); /* watch_look() */
        return 0;
    }
    if (crowd_add(h->agent->crowd, h->pidfd, (uint64_t)h->pid, err))
        return -1;
    h->is_attached = true;
    TAILQ_REMOVE(&h->agent->unwatched, h, link);
    return 0;
}

static struct held *new_held(struct agent *a, const struct ident *id, int pidfd)
{
    struct held *h = xalloc(sizeof(*h));

    h->agent = a;
    h->pid = id->pid;
    h->id = *id;
    h->pidfd = pidfd;
    TAILQ_INSERT_TAIL(&a->unwatched, h, link);
    map_put(&a->held, (const char *)&h->pid, sizeof(h->pid), h);
    return h;
}

/* Its pid has been given to another, so it has ended, and its own news is on the way; how it
 * ended can be asked for the last time. */
static void push_out(struct agent *a, int64_t pid)
{
    struct held *old = find_pid(a, pid);
    struct end end = { .kind = END_UNKNOWN };
    struct err why;

    if (!old)
        return;
    if (old->pidfd >= 0)
        (void)ident_end(old->pidfd, &end, &why); /* it stays unknown */
    old->status = status_of(&end);
    detach(old);
    act_new(a, ACT_GONE)->gone = old;
}

struct held *watch_hold(struct agent *a, const struct ident *id, int pidfd)
{
    struct held *h;
    struct err err;

    push_out(a, id->pid);
    h = new_held(a, id, pidfd);
    if (attach(h, &err)) {
        LOG(a->log, LOG_WARN, "a process can not be watched for a moment", log_int("pid", id->pid),
            log_err(&err));
        agent_retry(a);
    }
    return h;
}

/* Not there any more is an answer; trouble of ours is not, and is tried again. */
static void open_held(struct held *h)
{
    struct agent *a = h->agent;
    struct err err;

    if (h->pidfd < 0 && ident_adopt(&h->id, a->boot_id, &h->pidfd, &err)) {
        if (err.code == ERR_NOT_FOUND || err.code == ERR_DENIED) {
            push_out(a, h->pid);
            agent_wake(a);
            return;
        }
    } else if (!attach(h, &err)) {
        return;
    }
    LOG(a->log, LOG_WARN, "a process can not be watched for a moment", log_int("pid", h->pid),
        log_err(&err));
    agent_retry(a);
}

/* A child keeps its pid until we take note of its end, so one call says whether it lives, where
 * a look at /proc takes ten.  Of others nobody tells us: those are looked at when it is time. */
static bool is_worth_a_look(const struct held *h, bool is_time)
{
    siginfo_t info = { .si_pid = 0 };

    if (!sys_waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT))
        return info.si_pid != 0;
    return is_time || errno != ECHILD;
}

static void ask_again(struct held *h)
{
    int64_t now_ms = loop_now_ms(h->agent->loop);

    if (h->ask_ms > now_ms)
        agent_settle_in(h->agent, h->ask_ms - now_ms);
    else
        look_at(h);
}

static void try_again(struct held *h, bool is_time)
{
    if (h->ended_ms)
        ask_again(h);
    else if (h->pidfd < 0 || h->agent->facilities.has[HAS_PIDFD])
        open_held(h);
    else if (is_worth_a_look(h, is_time))
        look_at(h);
}

/* By pid, for the end of one may change the list. */
static void try_all(struct agent *a, bool is_time)
{
    struct held *h;
    size_t n = 0, i = 0;
    int64_t *pids;

    TAILQ_FOREACH(h, &a->unwatched, link)
    n++;
    pids = xresize(NULL, (n + 1) * sizeof(*pids));
    TAILQ_FOREACH(h, &a->unwatched, link)
    pids[i++] = h->pid;
    for (i = 0; i < n; i++) {
        h = find_pid(a, pids[i]);
        if (h && !h->is_attached)
            try_again(h, is_time);
    }
    free(pids);
}

/* Where nothing wakes us: who has ended?  With every settle(), which may come often, but no
 * more than that. */
static void watch_look(struct agent *a)
{
    int64_t now_ms = loop_now_ms(a->loop);
    bool is_time = now_ms - a->looked_ms >= LOOK_MS;

    if (is_time)
        a->looked_ms = now_ms;
    if (is_time || a->has_dead)
        try_all(a, is_time);
    agent_retry(a);
}

void watch_retry(struct agent *a)
{
    if (TAILQ_EMPTY(&a->unwatched))
        return;
    if (a->facilities.has[HAS_PIDFD])
        try_all(a, true);
    else
        watch_look(a);
}

struct held *watch_adopt(struct agent *a, struct core_ident ident)
{
    struct ident id = watch_ident(a, ident);
    struct held *h = find_pid(a, ident.pid);

    free(map_del(&a->unclaimed, (const char *)&ident.pid, sizeof(ident.pid)));
    if (h && h->id.start_ticks == ident.start_ticks)
        return h;
    push_out(a, ident.pid);
    h = new_held(a, &id, -1);
    open_held(h);
    return h;
}

void hand_watch(void *agent, struct core_ident ident)
{
    watch_adopt(agent, ident)->is_watched = true;
}

/* It is adopted when its command is known to be durable; until then its exit code, if it
 * has ended, is not to be thrown away. */
static void leave_for_later(void *agent, struct core_ident ident)
{
    struct agent *a = agent;
    int64_t *pid = xalloc(sizeof(*pid));

    *pid = ident.pid;
    free(map_put(&a->unclaimed, (const char *)pid, sizeof(*pid), pid));
}

int watch_open(struct agent *a, struct err *err)
{
    return crowd_new(a->loop, on_pidfd, a, &a->crowd, err);
}

void watch_start(struct agent *a)
{
    core_each_unclaimed(a->core, leave_for_later, a);
    a->has_dead = true; /* since a program before us, in this process */
}

void watch_done(struct agent *a)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&a->held, &at));)
        let_go(e->value);
    watch_bury(a);
    map_free(&a->held);
    map_free(&a->runs_held);
    map_free(&a->ended);
    for (size_t at = 0; (e = map_next(&a->unclaimed, &at));)
        free(e->value);
    map_free(&a->unclaimed);
    crowd_free(a->crowd);
}

/* ---- signals */

static int send_signal(const struct ident *id, int number, struct err *err)
{
    int pidfd, result;

    if (ident_open(id, id->boot_id, &pidfd, err))
        return -1;
    result = ident_signal(pidfd, number, err);
    sys_close(pidfd);
    return result;
}

/* Its cgroup, if it is in that of its own; false: not so. */
static bool find_group(const struct agent *a, struct core_ident ident, char to[OUTLOG_NAME_SIZE])
{
    struct core_whose whose;

    if (!cgroups_are_used(a->cgroups) || !core_find_whose(a->core, ident, &whose))
        return false;
    said_name(whose.space, whose.name, "start", to);
    return cgroup_has(a->cgroups, to, ident.pid);
}

/* First the tree, then who has left it; the latter also if the former could not be. */
static int kill_all(const struct agent *a, struct core_ident ident, const struct ident *id,
                    struct err *err)
{
    char group[OUTLOG_NAME_SIZE];
    bool is_grouped = find_group(a, ident, group);
    size_t killed;
    int result = tree_kill(id, true, &killed, err);

    if (is_grouped && cgroup_kill(a->cgroups, group, a->boot_id, err))
        return -1;
    return result;
}

/* That one is to be sent is written down before; if that fails it is sent all the
 * same, for a second one after a crash does no more harm than the first. */
void hand_signal(void *agent, struct core_ident ident, int number, bool with_children)
{
    struct agent *a = agent;
    struct ident id = watch_ident(a, ident);
    struct held *h = find_pid(a, ident.pid);
    struct err err;
    int result;

    if (h && h->id.start_ticks == ident.start_ticks)
        h->is_killed = number == SIGKILL;
    (void)disk_flush(a);
    result = with_children && number == SIGKILL ? kill_all(a, ident, &id, &err)
                                                : send_signal(&id, number, &err);
    if (result && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_WARN, "a signal could not be sent", log_int("pid", ident.pid),
            log_int("signal", number), log_err(&err));
}
