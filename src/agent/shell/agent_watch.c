/* SPDX-License-Identifier: MIT */
/* agent_watch.c - see agent_watch.h. The kernel reports the exit of a child only once, so there is
 * one `struct watched` per process. */
#include "agent/shell/agent_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine/cgroup.h"
#include "agent/exec/outlog_read.h"
#include "agent/identify/tree.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_output.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/late_exits.h"
#include "agent/shell/others.h"
#include "agent/shell/traces.h"
#include "agent/supervise/core.h"
#include "base/io/epoll_set.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum { LOOK_MS = 900 }; /* a little less than the delay of agent_retry() */

/* Time for the parent to reap an ended process. Init does so at once; a parent that never does must
 * not delay the reaction to the exit: late_exits.h asks on after that. */
enum { UNREAPED_MS = 50 };

struct watches {
    struct agent_base *agent;
    struct effects *effects;
    struct disk *disk;
    struct output_reader *reader;
    struct map watched;          /* struct watched, by the bytes of its pid */
    struct map ended;            /* children not reaped yet, by the bytes of the pid */
    struct map unclaimed;        /* unwatched commands of the previous agent, by pid */
    struct map runs_held;        /* those that are commands, by the bytes of the run id */
    struct epoll_set *epoll_set; /* pidfds of attached processes */
    TAILQ_HEAD(, watched) unwatched, unburied; /* unburied: those in `ended` */
    bool has_dead;                             /* unwatched children may have to be reaped */
    pid_t spared;                              /* but not this one; 0: none */
    struct traces *traces;
    struct late_exits *late;
    int64_t looked_ms; /* last poll of processes without a pidfd */
};

static struct watched *find_pid(const struct watches *w, int64_t pid)
{
    return map_find(&w->watched, (const char *)&pid, sizeof(pid));
}

struct watched *watch_find_run(const struct watches *w, uint64_t run)
{
    return map_find(&w->runs_held, (const char *)&run, sizeof(run));
}

void watch_set_run(struct watched *h, uint64_t run, const char *output, uint64_t out_from)
{
    if (h->run)
        map_del(&h->all->runs_held, (const char *)&h->run, sizeof(h->run));
    free(h->output);
    h->run = run;
    h->output = xstrdup(output);
    h->out_from = out_from;
    map_put(&h->all->runs_held, (const char *)&h->run, sizeof(h->run), h);
}

void watch_free_watched(struct watched *h)
{
    free(h->output);
    free(h->kin);
    free(h);
}

static void forget_run(struct watched *h)
{
    if (h->run && watch_find_run(h->all, h->run) == h)
        map_del(&h->all->runs_held, (const char *)&h->run, sizeof(h->run));
}

static void watch_forget(struct watched *h)
{
    struct watches *w = h->all;

    map_del(&w->watched, (const char *)&h->pid, sizeof(h->pid));
    forget_run(h);
    if (!h->is_attached)
        TAILQ_REMOVE(&w->unwatched, h, link);
}

static void close_watched(struct watched *h)
{
    if (h->is_attached)
        epoll_set_del(h->all->epoll_set, h->pidfd);
    sys_close(h->pidfd);
}

static void detach(struct watched *h)
{
    watch_forget(h);
    close_watched(h);
}

static void let_go(struct watched *h)
{
    detach(h);
    watch_free_watched(h);
}

/* ---- exit */

static void log_end(const struct watched *h)
{
    struct log_field how = log_str("ended", "unknown");
    int status = h->status;

    if (status >= CORE_SIGNALED)
        how = log_int("signal", status % CORE_SIGNALED);
    else if (status >= 0)
        how = log_int("exit_code", status);
    LOG(h->all->agent->log, LOG_INFO, h->run ? "a command has ended" : "a process has ended",
        log_int("pid", h->id.pid), how, log_str("output", h->output));
}

/* A process that led its session, and whose program is not known, leaves none: its pid says all. */
static void leave_trace(const struct watches *w, const struct watched *h, struct core_ident ident)
{
    const struct trace trace = { ident, h->session, h->group, h->program, h->kin };
    bool is_plain =
        h->session == h->pid && h->group == h->pid && !h->program && !h->is_host && !h->kin;
    struct core_whose whose;

    if (h->session && !is_plain && core_find_whose(w->agent->core, ident, &whose))
        traces_put(w->traces, &trace, whose.space, whose.name, loop_now_ms(w->agent->loop));
}

void watch_on_tick(struct watches *w)
{
    traces_drop_old(w->traces, loop_now_ms(w->agent->loop));
}

struct trace watch_find_trace(const struct watches *w, struct core_ident ident)
{
    const struct watched *h = find_pid(w, ident.pid);
    const struct trace *trace;

    if (h && h->id.start_ticks == ident.start_ticks)
        return (struct trace){ ident, h->session, h->group, h->program, h->kin };
    trace = traces_find(w->traces, ident);
    return trace ? *trace : (struct trace){ .ident = ident };
}

uint64_t watch_find_program(const struct watches *w, const char *space, const char *name)
{
    return traces_find_program(w->traces, space, name);
}

void watch_set_program(struct watches *w, struct core_ident ident, uint64_t program)
{
    struct watched *h = find_pid(w, ident.pid);

    if (h && h->id.start_ticks == ident.start_ticks)
        h->program = program;
}

void watch_set_kin(struct watches *w, struct core_ident ident, const char *kin)
{
    struct watched *h = find_pid(w, ident.pid);

    if (!h || h->id.start_ticks != ident.start_ticks)
        return;
    free(h->kin);
    h->kin = *kin ? xstrdup(kin) : NULL;
}

static bool is_of_another(const struct watches *w, const struct watched *h, const char *space,
                          const char *name)
{
    struct core_ident ident = { h->pid, h->id.start_ticks };
    struct core_whose whose;

    return h->is_watched && core_find_whose(w->agent->core, ident, &whose) &&
           (strcmp(whose.space, space) != 0 || strcmp(whose.name, name) != 0);
}

bool watch_is_shared(const struct watches *w, const pid_t *sessions, size_t n, const char *space,
                     const char *name)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&w->watched, &at));) {
        const struct watched *h = e->value;

        if (trace_is_among(h->session, sessions, n) && is_of_another(w, h, space, name))
            return true;
    }
    return traces_have(w->traces, sessions, n, space, name);
}

void watch_each_run(const struct watches *w, void (*fn)(void *arg, const struct watched *run),
                    void *arg)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&w->runs_held, &at));)
        fn(arg, e->value);
}

/* Its cgroup may be empty now. */
static void leave_group(struct agent_base *a, const struct watched *h, struct core_ident ident)
{
    char name[OUTLOG_NAME_SIZE];
    struct core_whose whose;

    if (!cgroups_are_used(a->cgroups))
        return;
    if (h->output && !strchr(h->output, '~')) {
        cgroup_ended(a->cgroups, h->output);
    } else if (h->is_watched && core_find_whose(a->core, ident, &whose)) {
        output_name(whose.space, whose.name, "start", name);
        cgroup_ended(a->cgroups, name);
    }
}

/* The output is sent if the operation wants it, or to explain a failure. */
static void report_run_end(struct agent_base *a, const struct watched *h)
{
    struct buf output = { 0 };
    struct err err;

    if ((h->status != 0 || h->wants_output) && core_has_run(a->core, h->run) &&
        outlog_newest(a->outlog, h->output, h->out_from, OUTLOG_TAIL_BYTES, &output, &err))
        LOG(a->log, LOG_WARN, "what a command said can not be read", log_err(&err));
    core_on_run_end(a->core, h->run, h->status, buf_text(&output), agent_now_ms(a));
    buf_free(&output);
}

/* The process has been removed from the watched ones. */
static void report_end(struct watched *h)
{
    struct watches *w = h->all;
    struct agent_base *a = w->agent;
    struct core_ident ident = { h->id.pid, h->id.start_ticks };

    leave_group(a, h, ident);
    if (h->is_watched)
        leave_trace(w, h, ident);
    if (h->run)
        report_run_end(a, h);
    if (h->is_watched) {
        const struct output_exit e = { .ident = ident,
                                       .output = h->output,
                                       .out_from = h->out_from,
                                       .status = h->status,
                                       .is_killed = h->is_killed };
        bool will_tell = output_reader_on_exit(w->reader, &e);

        core_on_exit(a->core, ident, h->status, agent_now_ms(a));
        if (!will_tell)
            core_on_output(a->core, ident, "", PROC_OOM_NO, agent_now_ms(a));
    }
    agent_wake(a);
}

void watch_gone(struct watched *h)
{
    forget_run(h); /* it may have got the run after its end: effects_adopt() */
    log_end(h);
    report_end(h);
    watch_free_watched(h);
}

bool watch_has_ended(const struct watches *w, int64_t pid)
{
    return map_find(&w->ended, (const char *)&pid, sizeof(pid)) != NULL;
}

/* A child that can not be reaped is a stray now. */
static void reap_ended(struct watched *h)
{
    struct end end;
    struct err err;

    if (h->is_reaped)
        return;
    h->is_reaped = true;
    (void)ident_end(h->pidfd, &end, &err);
}

void watch_reap_ended(struct watches *w, int64_t pid)
{
    struct watched *h = map_find(&w->ended, (const char *)&pid, sizeof(pid));

    if (h)
        reap_ended(h);
}

void watch_bury(struct watches *w)
{
    struct watched *h;

    while ((h = TAILQ_FIRST(&w->unburied))) {
        TAILQ_REMOVE(&w->unburied, h, link);
        map_del(&w->ended, (const char *)&h->pid, sizeof(h->pid));
        reap_ended(h);
        close_watched(h);
        log_end(h);
        watch_free_watched(h);
    }
}

/* Its readable pidfd would wake the loop all the time. */
static void detach_ended(struct watched *h, int64_t now_ms)
{
    h->ended_ms = now_ms;
    epoll_set_del(h->all->epoll_set, h->pidfd);
    h->is_attached = false;
    TAILQ_INSERT_TAIL(&h->all->unwatched, h, link);
}

/* True: its parent may still reap it, which makes the exit status available; watch_retry() asks
 * again, at short intervals first. */
static bool is_to_be_asked(struct watched *h)
{
    struct agent_base *a = h->all->agent;
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

/* What is reported now is corrected then. */
static void ask_on(struct watched *h, const struct end *end)
{
    struct core_ident ident = { h->id.pid, h->id.start_ticks };
    bool is_late =
        h->is_watched && end->is_unreaped && h->all->agent->facilities.has[HAS_PIDFD_INFO];

    if (is_late && late_exits_put(h->all->late, ident, h->pidfd))
        h->pidfd = -1;
}

static void look_at(struct watched *h)
{
    struct watches *w = h->all;
    struct end end;
    struct err err;
    bool is_left = false;

    if (ident_look_at_end(h->pidfd, &end, &is_left, &err)) {
        LOG(w->agent->log, LOG_WARN, "how a process ended can not be told", log_int("pid", h->pid),
            log_err(&err));
        end = (struct end){ .kind = END_UNKNOWN };
    }
    if (end.kind == END_NOT_YET || (end.is_unreaped && is_to_be_asked(h)))
        return;
    h->status = exit_status_of(&end);
    w->has_dead = true; /* reaping this child may have hidden others */
    watch_forget(h);
    if (is_left) {
        map_put(&w->ended, (const char *)&h->pid, sizeof(h->pid), h);
        TAILQ_INSERT_TAIL(&w->unburied, h, link);
        report_end(h);
        return;
    }
    ask_on(h, &end);
    close_watched(h);
    log_end(h);
    report_end(h);
    watch_free_watched(h);
}

/* A process that waits to be reaped is not in the map of watched ones. */
static void on_pidfd(void *watches, uint64_t pid)
{
    struct watched *h = find_pid(watches, (int64_t)pid);

    if (h && h->is_attached)
        look_at(h);
}

/* While its pidfd reports it as alive, its pid is not reused. */
const struct ident *watch_alive(const struct watches *w, int64_t pid)
{
    const struct watched *h = find_pid(w, pid);
    bool ended = true;
    struct err why;

    if (!h || h->pidfd < 0 || ident_check_ended(h->pidfd, &ended, &why) || ended)
        return NULL;
    return &h->id;
}

bool watch_lives(const struct watches *w, struct core_ident ident)
{
    const struct ident *watched = watch_alive(w, ident.pid);
    struct ident id = agent_ident(w->agent, ident);
    struct err why;
    int pidfd;

    if (!ident.pid || (watched && watched->start_ticks == ident.start_ticks))
        return ident.pid != 0;
    if (ident_open(&id, id.boot_id, &pidfd, &why))
        return why.code != ERR_NOT_FOUND && why.code != ERR_DENIED;
    sys_close(pidfd);
    return true;
}

/* Started, but not watched yet. */
static bool is_being_started(const struct effects *e, pid_t pid)
{
    const struct effect_list *const lists[] = { &e->starting, &e->stuck, &e->lost };
    const struct effect *effect;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        TAILQ_FOREACH(effect, lists[i], link) {
            if (spawn_progress_pid(&effect->progress) == pid)
                return true;
        }
    }
    return false;
}

static bool is_held(void *watches, pid_t pid)
{
    const struct watches *w = watches;
    int64_t key = pid;

    return find_pid(w, pid) || is_being_started(w->effects, pid) ||
           map_find(&w->unclaimed, (const char *)&key, sizeof(key)) || w->spared == pid;
}

void watch_spare(struct watches *w, pid_t pid)
{
    w->spared = pid;
}

void watch_expect_dead(struct watches *w)
{
    w->has_dead = true;
}

bool watch_expects_dead(const struct watches *w)
{
    return w->has_dead;
}

void watch_reap(struct watches *w)
{
    struct err err;

    w->has_dead = false;
    if (ident_reap_strays(is_held, w, &w->has_dead, &err))
        LOG(w->agent->log, LOG_WARN, "children that ended can not be taken note of", log_err(&err));
    else if (w->has_dead)
        agent_retry(w->agent); /* there may be more strays */
}

/* ---- start of watching */

static int attach(struct watched *h, struct err *err)
{
    if (!h->all->agent->facilities.has[HAS_PIDFD]) {
        agent_retry(h->all->agent); /* watch_look() */
        return 0;
    }
    if (epoll_set_add(h->all->epoll_set, h->pidfd, (uint64_t)h->pid, err))
        return -1;
    h->is_attached = true;
    TAILQ_REMOVE(&h->all->unwatched, h, link);
    return 0;
}

static struct watched *new_watched(struct watches *w, const struct ident *id, int pidfd)
{
    struct watched *h = xalloc(sizeof(*h));

    h->all = w;
    h->pid = id->pid;
    h->id = *id;
    h->pidfd = pidfd;
    TAILQ_INSERT_TAIL(&w->unwatched, h, link);
    map_put(&w->watched, (const char *)&h->pid, sizeof(h->pid), h);
    return h;
}

/* The pid has been reused, so the old process has ended and its event is pending. This is the last
 * chance to get its exit status. */
static void push_out(struct watches *w, int64_t pid)
{
    struct watched *old = find_pid(w, pid);
    struct end end = { .kind = END_UNKNOWN };
    struct err why;

    if (!old)
        return;
    if (old->pidfd >= 0)
        (void)ident_end(old->pidfd, &end, &why); /* on failure it stays unknown */
    old->status = exit_status_of(&end);
    detach(old);
    effect_new(w->effects, EFFECT_GONE)->gone = old;
}

struct watched *watch_hold(struct watches *w, const struct ident *id, int pidfd)
{
    struct agent_base *a = w->agent;
    struct watched *h;
    struct err err;

    push_out(w, id->pid);
    h = new_watched(w, id, pidfd);
    if (attach(h, &err)) {
        LOG(a->log, LOG_WARN, "a process can not be watched for a moment", log_int("pid", id->pid),
            log_err(&err));
        agent_retry(a);
    }
    return h;
}

/* A process that does not exist is a result; an error of the agent is not, and is retried. */
static void open_watched(struct watched *h)
{
    struct agent_base *a = h->all->agent;
    struct err err;

    if (h->pidfd < 0 && ident_adopt(&h->id, a->boot_id, &h->pidfd, &err)) {
        if (err.code == ERR_NOT_FOUND || err.code == ERR_DENIED) {
            push_out(h->all, h->pid);
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

/* A child keeps its pid until it is reaped, so one system call tells whether it lives; a look at
 * /proc takes ten. Processes that are not children cause no event and are polled at intervals. */
static bool is_worth_a_look(const struct watched *h, bool is_time)
{
    siginfo_t info = { .si_pid = 0 };

    if (!sys_waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT))
        return info.si_pid != 0;
    return is_time || errno != ECHILD;
}

static void watch_ask_again(struct watched *h)
{
    struct agent_base *a = h->all->agent;
    int64_t now_ms = loop_now_ms(a->loop);

    if (h->ask_ms > now_ms)
        agent_settle_in(a, h->ask_ms - now_ms);
    else
        look_at(h);
}

static void try_again(struct watched *h, bool is_time)
{
    if (h->ended_ms)
        watch_ask_again(h);
    else if (h->pidfd < 0 || h->all->agent->facilities.has[HAS_PIDFD])
        open_watched(h);
    else if (is_worth_a_look(h, is_time))
        look_at(h);
}

/* By pid, because the exit of one process may change the list. */
static void try_all(struct watches *w, bool is_time)
{
    struct watched *h;
    size_t n = 0, i = 0;
    int64_t *pids;

    TAILQ_FOREACH(h, &w->unwatched, link)
        n++;
    pids = xresize(NULL, (n + 1) * sizeof(*pids));
    TAILQ_FOREACH(h, &w->unwatched, link)
        pids[i++] = h->pid;
    for (i = 0; i < n; i++) {
        h = find_pid(w, pids[i]);
        if (h && !h->is_attached)
            try_again(h, is_time);
    }
    free(pids);
}

/* Polls processes without a pidfd. Called on every settle(), but limited by LOOK_MS. */
static void watch_look(struct watches *w)
{
    int64_t now_ms = loop_now_ms(w->agent->loop);
    bool is_time = now_ms - w->looked_ms >= LOOK_MS;

    if (is_time)
        w->looked_ms = now_ms;
    if (is_time || w->has_dead)
        try_all(w, is_time);
    agent_retry(w->agent);
}

void watch_retry(struct watches *w)
{
    if (TAILQ_EMPTY(&w->unwatched))
        return;
    if (w->agent->facilities.has[HAS_PIDFD])
        try_all(w, true);
    else
        watch_look(w);
}

struct watched *watch_adopt(struct watches *w, struct core_ident ident)
{
    struct ident id = agent_ident(w->agent, ident);
    struct watched *h = find_pid(w, ident.pid);

    free(map_del(&w->unclaimed, (const char *)&ident.pid, sizeof(ident.pid)));
    if (h && h->id.start_ticks == ident.start_ticks)
        return h;
    push_out(w, ident.pid);
    h = new_watched(w, &id, -1);
    open_watched(h);
    return h;
}

/* Two system calls; if it ends meanwhile, another process may answer for its pid. */
static void read_trace(struct watched *h)
{
    struct watched *leader;
    pid_t session = getsid((pid_t)h->pid), group = getpgid((pid_t)h->pid);

    if (session <= 1 || group <= 1 || !watch_alive(h->all, h->pid))
        return;
    h->session = session;
    h->group = group;
    leader = session == h->pid ? NULL : find_pid(h->all, session);
    if (leader)
        leader->is_host = true;
}

void watch_process(struct watches *w, struct core_ident ident)
{
    struct watched *h = watch_adopt(w, ident);

    h->is_watched = true;
    read_trace(h);
}

/* The command is adopted when its record is durable; until then its exit status must not be
 * discarded. */
static void leave_for_later(void *watches, struct core_ident ident)
{
    struct watches *w = watches;
    int64_t *pid = xalloc(sizeof(*pid));

    *pid = ident.pid;
    free(map_put(&w->unclaimed, (const char *)pid, sizeof(*pid), pid));
}

int watches_new(struct agent_base *a, struct effects *effects, struct disk *disk,
                struct output_reader *reader, struct watches **ret, struct err *err)
{
    struct watches *w = xalloc(sizeof(*w));

    *w = (struct watches){ .agent = a, .effects = effects, .disk = disk, .reader = reader };
    TAILQ_INIT(&w->unwatched);
    TAILQ_INIT(&w->unburied);
    if (epoll_set_new(a->loop, on_pidfd, w, &w->epoll_set, err)) {
        free(w);
        return -1;
    }
    w->traces = traces_new();
    w->late = late_exits_new(a);
    *ret = w;
    return 0;
}

void watches_start(struct watches *w)
{
    core_each_unclaimed(w->agent->core, leave_for_later, w);
    w->has_dead = true; /* since the previous program in this process */
}

void watches_stop(struct watches *w)
{
    struct map_entry *e;

    if (!w)
        return;
    for (size_t at = 0; (e = map_next(&w->watched, &at));)
        let_go(e->value);
    watch_bury(w);
    map_free(&w->watched);
    map_free(&w->runs_held);
    map_free(&w->ended);
    for (size_t at = 0; (e = map_next(&w->unclaimed, &at));)
        free(e->value);
    map_free(&w->unclaimed);
    epoll_set_free(w->epoll_set);
    late_exits_free(w->late);
    w->late = NULL;
}

void watches_free(struct watches *w)
{
    if (w)
        traces_free(w->traces);
    free(w);
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

struct spared {
    const struct core *core;
    struct core_ident ident; /* which is ended */
};

/* The main process of another spec may descend from it. */
static bool spares(void *arg, const struct ident *id)
{
    const struct spared *s = arg;
    struct core_whose whose;

    return core_find_whose(s->core, s->ident, &whose) &&
           others_have_now(s->core, (struct core_ident){ id->pid, id->start_ticks }, whose.space,
                           whose.name);
}

/* Its cgroup is not killed: siblings may be in it, and agent_family.h ends the rest of the family.
 * The signal is recorded in the journal first. If that fails it is sent anyway: a second signal
 * after a crash does no more harm than the first. */
void watch_signal(struct watches *w, struct core_ident ident, int number, bool with_children)
{
    struct agent_base *a = w->agent;
    struct ident id = agent_ident(a, ident);
    struct watched *h = find_pid(w, ident.pid);
    const struct tree_spared spared = { spares, &(struct spared){ a->core, ident } };
    struct err err;
    size_t killed;
    int result;

    if (h && h->id.start_ticks == ident.start_ticks)
        h->is_killed = number == SIGKILL;
    (void)disk_flush(w->disk);
    result = with_children && number == SIGKILL ? tree_kill(&id, true, &spared, &killed, &err)
                                                : send_signal(&id, number, &err);
    if (result && err.code != ERR_NOT_FOUND)
        LOG(a->log, LOG_WARN, "a signal could not be sent", log_int("pid", ident.pid),
            log_int("signal", number), log_err(&err));
}

int watch_deliver(struct watches *w, struct core_ident ident, int number, struct err *err)
{
    struct ident id = agent_ident(w->agent, ident);
    struct watched *h = find_pid(w, ident.pid);

    if (disk_flush(w->disk))
        return err_set(err, ERR_UNAVAILABLE, "the journal can not be written");
    if (h && h->id.start_ticks == ident.start_ticks && number == SIGKILL)
        h->is_killed = true;
    return send_signal(&id, number, err);
}
