/* SPDX-License-Identifier: MIT */
/* agent_upgrade.c - see agent_upgrade.h. */
#include "agent/shell/agent_upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/exec/outlog.h"
#include "agent/exec/spawn.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_calls.h"
#include "agent/shell/agent_disk.h"
#include "agent/shell/agent_effect.h"
#include "agent/shell/agent_local.h"
#include "agent/shell/agent_notify.h"
#include "agent/shell/agent_watch.h"
#include "agent/shell/workers.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

/* Time limits for --version, and for commands that are about to start, which a directory service
 * that does not answer may delay. */
enum { CHECK_MS = 10 * 1000, QUIET_MS = 10 * 1000, SAID_MAX = 200 };

/* Interval of checks for work in progress. */
enum { LOOK_MS = 20 };

struct upgrades {
    struct upgrade_parts parts;
    struct upgrade *now; /* NULL: none is under way */
};

struct upgrade {
    struct upgrades *all;
    struct agent_base *a;
    const struct agent_program *program;
    int out; /* its output, in an unnamed file */
    struct ident id;
    int pidfd;
    struct watch *watch;
    struct timer timer;
    bool is_checked;
    char version[SAID_MAX + 1];
};

/* ---- start parameters */

int agent_program_find(const char *name, char *const *argv, struct agent_program *ret,
                       struct err *err)
{
    const char *path = (const char *)getauxval(AT_EXECFN);
    struct agent_program p = { .name = name, .argv = argv };
    struct sigaction pipe;
    char *cwd = NULL;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &p.files))
        return err_sys(err, "limit of open files");
    if (path && *path && *path != '/') {
        cwd = getcwd(NULL, 0);
        if (!cwd)
            return err_sys(err, "where are we?");
    }
    p.path = cwd ? xprintf("%s/%s", cwd, path) : xstrdup(path ? path : "");
    free(cwd);
    p.is_pipe_ignored = !sigaction(SIGPIPE, NULL, &pipe) && pipe.sa_handler == SIG_IGN;
    *ret = p;
    return 0;
}

static void shift_signals(int how)
{
    static const int numbers[] = { SIGHUP, SIGUSR2, SIGTERM, SIGINT };
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(how, &set, NULL); /* of this thread; can not fail */
}

void agent_program_ready(void)
{
    shift_signals(SIG_UNBLOCK);
}

/* ---- end of an attempt */

static void upgrade_drop(struct upgrade *u)
{
    watch_spare(u->all->parts.watches, 0);
    watch_free(u->watch);
    sys_close(u->pidfd);
    sys_close(u->out);
    timer_stop(u->a->loop, &u->timer);
    u->all->now = NULL;
    free(u);
}

static void upgrade_refuse(struct upgrade *u, const struct err *why)
{
    LOG(u->a->log, LOG_ERROR, "not upgraded; the agent goes on as it is",
        log_str("program", u->program->path), log_err(why));
    shift_signals(SIG_UNBLOCK);
    upgrade_drop(u);
}

/* ---- version check */

/* The first line, for the log. */
static void upgrade_read_version(struct upgrade *u)
{
    ssize_t n = sys_pread(u->out, u->version, SAID_MAX, 0);
    size_t len = n > 0 ? (size_t)n : 0;

    u->version[len] = '\0';
    u->version[strcspn(u->version, "\r\n")] = '\0';
}

static int upgrade_judge(const struct upgrade *u, const struct end *end, struct err *err)
{
    size_t n = strlen(u->program->name);

    if (end->kind == END_SIGNAL)
        return err_set(err, ERR_INVALID, "with --version it was ended by signal %d; it said: %s",
                       end->code, u->version);
    if (end->kind != END_EXIT || end->code != 0)
        return err_set(err, ERR_INVALID, "with --version it ended with exit code %d; it said: %s",
                       end->kind == END_EXIT ? end->code : -1, u->version);
    if (strncmp(u->version, u->program->name, n) != 0 || u->version[n] != ' ')
        return err_set(err, ERR_INVALID, "with --version it does not say '%s VERSION' but: %s",
                       u->program->name, u->version);
    return 0;
}

static void upgrade_on_answer(void *upgrade, unsigned ready)
{
    struct upgrade *u = upgrade;
    struct end end;
    struct err err;

    (void)ready;
    if (ident_end(u->pidfd, &end, &err)) {
        upgrade_refuse(u, &err);
        return;
    }
    if (end.kind == END_NOT_YET)
        return;
    watch_expect_dead(u->all->parts.watches); /* reaping this child may have hidden others */
    watch_free(u->watch);
    u->watch = NULL;
    upgrade_read_version(u);
    if (upgrade_judge(u, &end, &err)) {
        upgrade_refuse(u, &err);
        return;
    }
    shift_signals(SIG_BLOCK);
    u->is_checked = true;
    watch_spare(u->all->parts.watches, 0);
    timer_set(u->a->loop, &u->timer, QUIET_MS);
    agent_wake(u->a);
}

/* ---- obstacles */

/* NULL: no obstacle. The new program could not tell whether a command that is about to start has
 * started. A thread that hangs in the kernel (FUSE) can not be killed and blocks execve(): a
 * worker, or a thread that checks leases. The threads of the trimmer open only output files, which
 * are on the agent's disk. */
static const char *upgrade_obstacle(const struct upgrade_parts *p)
{
    const struct effects *e = p->effects;

    if (!TAILQ_EMPTY(&e->runs) || !TAILQ_EMPTY(&e->starting))
        return MSG("commands are about to begin");
    if (!TAILQ_EMPTY(&e->stuck) || !TAILQ_EMPTY(&e->probing) || !TAILQ_EMPTY(&e->lost) ||
        workers_have_jobs(p->agent->workers) || outlog_is_searching(p->agent->outlog))
        return MSG("a path of a process does not answer");
    if (disk_is_waiting(p->disk))
        return MSG("the journal can not be written");
    return local_is_sending(p->local) ? MSG("answers to local calls are still to be sent") : NULL;
}

static void upgrade_on_late(void *upgrade)
{
    struct upgrade *u = upgrade;
    struct err err, why;
    const char *work;

    if (u->is_checked) {
        work = upgrade_obstacle(&u->all->parts);
        err_set(&err, ERR_UNAVAILABLE, "%s; try again, or restart the agent",
                work ? work : MSG("the journal can not be written"));
        upgrade_refuse(u, &err);
        return;
    }
    (void)ident_signal(u->pidfd, SIGKILL, &why); /* failure: it has ended already */
    err_set(&err, ERR_TIMEOUT, "with --version it did not end within %d s", CHECK_MS / 1000);
    upgrade_refuse(u, &err);
}

/* 'it'\''s' */
static char *quote(const char *path, struct arena *a)
{
    struct buf b = { 0 };
    char *quoted;

    for (const char *p = path; *p; p++) {
        if (*p == '\'')
            buf_puts(&b, "'\\''");
        else
            buf_addc(&b, *p);
    }
    quoted = arena_printf(a, "exec '%s' --version", buf_text(&b));
    buf_free(&b);
    return quoted;
}

static int open_out(struct upgrade *u, struct err *err)
{
    char *path = xprintf("%s/upgrade.said", u->a->dir);

    u->out = sys_open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND, 0600);
    if (u->out < 0)
        err_sys(err, "open %s", path);
    else
        (void)sys_unlink(path); /* on failure an empty file remains */
    free(path);
    return u->out < 0 ? -1 : 0;
}

/* Runs as the agent's user with the environment of the upgrade. */
static int ask_version(struct upgrade *u, struct err *err)
{
    gid_t groups[] = { getegid() };
    struct arena arena = { 0 };
    const struct user self = { .name = arena_strdup(&arena, ""),
                               .home = arena_strdup(&arena, "/"),
                               .shell = arena_strdup(&arena, "/bin/sh"),
                               .uid = geteuid(),
                               .gid = getegid(),
                               .groups = groups,
                               .groups_n = ARRAY_LEN(groups) };
    const struct spawn_request request = { .command = quote(u->program->path, &arena),
                                           .setup_path = "/",
                                           .user = &self,
                                           .env = (const char *const *)environ,
                                           .out_fd = u->out,
                                           .cgroup_fd = -1 };
    struct spawn_result got;
    int result = spawn(u->all->parts.spawner, &request, &got, err);

    arena_free(&arena);
    if (result)
        return -1;
    u->id = got.id;
    u->pidfd = got.pidfd;
    watch_spare(u->all->parts.watches, (pid_t)u->id.pid);
    if (!u->a->facilities.has[HAS_PIDFD]) {
        agent_retry(u->a); /* upgrade_settle() */
        return 0;
    }
    if (!watch_new(u->a->loop, u->pidfd, upgrade_on_answer, u, &u->watch, err) &&
        !watch_want(u->watch, WATCH_READ, err))
        return 0;
    (void)ident_signal(u->pidfd, SIGKILL, &(struct err){ 0 }); /* its answer is not needed */
    return -1;
}

void upgrade_start(struct upgrades *all, const struct agent_program *program)
{
    struct agent_base *a = all->parts.agent;
    struct upgrade *u;
    struct err err;

    if (all->now) {
        LOG(a->log, LOG_INFO, "an upgrade is under way already");
        return;
    }
    u = xalloc(sizeof(*u));
    *u = (struct upgrade){ .all = all, .a = a, .program = program, .out = -1, .pidfd = -1 };
    timer_init(&u->timer, upgrade_on_late, u);
    all->now = u;
    LOG(a->log, LOG_INFO, "to be upgraded: what is the program?",
        log_str("program", program->path));
    if (open_out(u, &err) || ask_version(u, &err)) {
        upgrade_refuse(u, &err);
        return;
    }
    timer_set(a->loop, &u->timer, CHECK_MS);
}

/* ---- execve() */

/* The new program repeats what is undone here to restore the original state. */
static void become(struct upgrade *u)
{
    const struct upgrade_parts *parts = &u->all->parts;
    const struct agent_program *p = u->program;
    struct rlimit raised;
    bool is_raised = !sys_prlimit(RLIMIT_NOFILE, &p->files, &raised);
    struct err err;

    if (!p->is_pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    fflush(stdout);
    local_hand_over(parts->local);
    if (notices_close(parts->notices)) {
        (void)sys_execve(p->path, p->argv, environ); /* returns only on failure */
        err_sys(&err, "execve");
    } else {
        /* execve() would wait for the thread that hangs. */
        err_set(&err, ERR_UNAVAILABLE,
                "a descriptor that was sent with a readiness message does not close; try again");
    }
    notices_open(parts->notices);
    calls_drop();
    signal(SIGPIPE, SIG_IGN);
    if (is_raised)
        (void)sys_prlimit(RLIMIT_NOFILE, &raised, NULL); /* it was in force a moment ago */
    upgrade_refuse(u, &err);
}

void upgrade_settle(struct upgrades *all)
{
    struct agent_base *a = all->parts.agent;
    struct upgrade *u = all->now;

    if (u && !u->is_checked && !a->facilities.has[HAS_PIDFD]) {
        agent_retry(a);
        upgrade_on_answer(u, 0);
        u = all->now; /* it may have been refused */
    }
    if (!u || !u->is_checked)
        return;
    if (upgrade_obstacle(&all->parts)) {
        agent_settle_in(a, LOOK_MS);
        return;
    }
    if (disk_sync(all->parts.disk))
        return; /* retried until the journal is written or time is up */
    LOG(a->log, LOG_INFO, "upgraded: the program takes our place; the processes live on",
        log_str("program", u->program->path), log_str("from", HOLDFAST_VERSION),
        log_str("to", u->version));
    become(u);
}

struct upgrades *upgrades_new(const struct upgrade_parts *parts)
{
    struct upgrades *all = xalloc(sizeof(*all));

    all->parts = *parts;
    return all;
}

void upgrades_free(struct upgrades *all)
{
    struct upgrade *u = all ? all->now : NULL;
    struct err why;

    if (u && !u->is_checked && u->pidfd >= 0)
        (void)ident_signal(u->pidfd, SIGKILL, &why); /* its answer is not needed */
    if (u)
        upgrade_drop(u);
    free(all);
}
