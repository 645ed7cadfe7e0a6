/* SPDX-License-Identifier: MIT */
/* agent_upgrade.c - see agent_upgrade.h. */
#include "agent/agent_upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "base/mem.h"
#include "base/sys.h"

/* For its version; and for commands that are about to begin, which a directory that does
 * not answer may hold up. */
enum { CHECK_MS = 10 * 1000, QUIET_MS = 10 * 1000, SAID_MAX = 200 };

struct upgrade {
    struct agent *a;
    const struct agent_program *program;
    int out; /* what it says, in a file without a name */
    struct ident id;
    int pidfd;
    struct watch *watch;
    struct timer timer;
    bool is_checked;
    char version[SAID_MAX + 1];
};

/* ---- how we were started */

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
    sigprocmask(how, &set, NULL); /* of this thread; cannot fail */
}

void agent_program_ready(void)
{
    shift_signals(SIG_UNBLOCK);
}

/* ---- the end of an attempt */

static void drop(struct upgrade *u)
{
    struct agent *a = u->a;

    watch_free(u->watch);
    sys_close(u->pidfd);
    sys_close(u->out);
    timer_stop(a->loop, &u->timer);
    a->upgrade = NULL;
    free(u);
}

static void refuse(struct upgrade *u, const struct err *why)
{
    LOG(u->a->log, LOG_ERROR, "not upgraded; the agent goes on as it is",
        log_str("program", u->program->path), log_err(why));
    shift_signals(SIG_UNBLOCK);
    drop(u);
}

/* ---- what is it? */

/* The first line, which ends up in a log. */
static void read_said(struct upgrade *u)
{
    ssize_t n = sys_pread(u->out, u->version, SAID_MAX, 0);
    size_t len = n > 0 ? (size_t)n : 0;

    u->version[len] = '\0';
    u->version[strcspn(u->version, "\r\n")] = '\0';
}

static int judge(const struct upgrade *u, const struct end *end, struct err *err)
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

static void on_answer(void *upgrade, unsigned ready)
{
    struct upgrade *u = upgrade;
    struct end end;
    struct err err;

    (void)ready;
    if (ident_end(u->pidfd, &end, &err)) {
        refuse(u, &err);
        return;
    }
    if (end.kind == END_NOT_YET)
        return;
    u->a->has_dead = true; /* behind this one others may have waited */
    watch_free(u->watch);
    u->watch = NULL;
    read_said(u);
    if (judge(u, &end, &err)) {
        refuse(u, &err);
        return;
    }
    shift_signals(SIG_BLOCK);
    u->is_checked = true;
    timer_set(u->a->loop, &u->timer, QUIET_MS);
    agent_wake(u->a);
}

static void on_late(void *upgrade)
{
    struct upgrade *u = upgrade;
    struct err err, why;

    if (u->is_checked) {
        err_set(&err, ERR_UNAVAILABLE,
                "commands are about to begin, or the journal can not be written; try again");
        refuse(u, &err);
        return;
    }
    (void)ident_signal(u->pidfd, SIGKILL, &why); /* if it has ended, so much the better */
    err_set(&err, ERR_TIMEOUT, "with --version it did not end within %d s", CHECK_MS / 1000);
    refuse(u, &err);
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
    char *path = xprintf("%s/upgrade.said", u->a->o.dir);

    u->out = sys_open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_APPEND, 0600);
    if (u->out < 0)
        err_sys(err, "open %s", path);
    else
        (void)sys_unlink(path); /* a file too many, at worst, and an empty one next time */
    free(path);
    return u->out < 0 ? -1 : 0;
}

/* As ourselves, and with the environment that it is to have. */
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
    int result = spawn(u->a->spawner, &request, &got, err);

    arena_free(&arena);
    if (result)
        return -1;
    u->id = got.id;
    u->pidfd = got.pidfd;
    if (!u->a->facilities.has[HAS_PIDFD]) {
        agent_retry(u->a); /* upgrade_settle() */
        return 0;
    }
    if (!watch_new(u->a->loop, u->pidfd, on_answer, u, &u->watch, err) &&
        !watch_want(u->watch, WATCH_READ, err))
        return 0;
    (void)ident_signal(u->pidfd, SIGKILL, &(struct err){ 0 }); /* nobody waits for its answer */
    return -1;
}

void agent_upgrade(struct agent *a, const struct agent_program *program)
{
    struct upgrade *u;
    struct err err;

    if (a->upgrade) {
        LOG(a->log, LOG_INFO, "an upgrade is under way already");
        return;
    }
    u = xalloc(sizeof(*u));
    *u = (struct upgrade){ .a = a, .program = program, .out = -1, .pidfd = -1 };
    timer_init(&u->timer, on_late, u);
    a->upgrade = u;
    LOG(a->log, LOG_INFO, "to be upgraded: what is the program?",
        log_str("program", program->path));
    if (open_out(u, &err) || ask_version(u, &err)) {
        refuse(u, &err);
        return;
    }
    timer_set(a->loop, &u->timer, CHECK_MS);
}

/* ---- becoming it */

/* Of a command that is about to begin nobody would know whether it had. */
static bool is_quiet(const struct agent *a)
{
    return TAILQ_EMPTY(&a->runs) && TAILQ_EMPTY(&a->starting) && !a->disk.is_broken &&
           !a->disk.is_syncing;
}

/* Whatever is undone here for the program to find as it was is done again by it. */
static void become(struct upgrade *u)
{
    const struct agent_program *p = u->program;
    struct rlimit raised;
    bool is_raised = !sys_prlimit(RLIMIT_NOFILE, &p->files, &raised);
    struct err err;

    if (!p->is_pipe_ignored)
        signal(SIGPIPE, SIG_DFL);
    fflush(stdout);
    (void)sys_execve(p->path, p->argv, environ); /* only a failure comes back */
    err_sys(&err, "execve");
    signal(SIGPIPE, SIG_IGN);
    if (is_raised)
        (void)sys_prlimit(RLIMIT_NOFILE, &raised, NULL); /* it was ours a moment ago */
    refuse(u, &err);
}

void upgrade_settle(struct agent *a)
{
    struct upgrade *u = a->upgrade;
    struct err err;

    if (u && !u->is_checked && !a->facilities.has[HAS_PIDFD]) {
        agent_retry(a);
        on_answer(u, 0);
        u = a->upgrade; /* it may have been refused */
    }
    if (!u || !u->is_checked || !is_quiet(a))
        return;
    if (disk_flush(a) || journal_sync(a->disk.journal, INT64_MAX, &err))
        return; /* until it can be written, or for too long */
    LOG(a->log, LOG_INFO, "upgraded: the program takes our place; the processes live on",
        log_str("program", u->program->path), log_str("from", HOLDFAST_VERSION),
        log_str("to", u->version));
    become(u);
}

bool upgrade_is_held(const struct agent *a, pid_t pid)
{
    return a->upgrade && a->upgrade->id.pid == pid && !a->upgrade->is_checked;
}

void upgrade_done(struct agent *a)
{
    struct err why;

    if (!a->upgrade)
        return;
    if (!a->upgrade->is_checked && a->upgrade->pidfd >= 0)
        (void)ident_signal(a->upgrade->pidfd, SIGKILL, &why); /* it is asked nothing any more */
    drop(a->upgrade);
}
