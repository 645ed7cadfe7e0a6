/* SPDX-License-Identifier: MIT */
/* spawn.c - see spawn.h. The parent prepares everything in memory. The child only makes system
 * calls, one row of `steps` after the other, and writes its progress into the shared memory. The
 * child's functions are not sanitized: they run on a stack unknown to AddressSanitizer, in frames
 * that never return. */
#include "agent/exec/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/exec/command.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "base/os/in_child.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "base/os/sys_signal.h"
#include "model/code.h"

#define OOM_PATH "/proc/self/oom_score_adj"

enum { STACK_SIZE = 64 * 1024, FIRST_SLOT = STDERR_FILENO + 1, LIMITS = RLIMIT_NLIMITS };

/* Descriptors are copied up to the higher of the two slots: `null` is /dev/null, and `out` is a
 * reserved number for out_fd, which itself may be high. */
struct spawner {
    int null, out;
    int oom; /* oom_score_adj of the agent; -1: not readable */
    char *stack;
    struct rlimit found[LIMITS]; /* original values of changed limits */
    bool is_changed[LIMITS];
    uid_t uid;
    unsigned ignored; /* signals, as a mask of sys_signal.h */
    char boot_id[BOOT_ID_SIZE];
    struct command_cache programs;
};

/* Input and results of the child. */
struct launch {
    const struct spawner *s;
    const struct user *user;
    const char *setup_path;
    struct command command;
    char **env;
    bool has_oom; /* the agent's value is not 0, or unknown */
    const struct spawn_request *r;
    struct spawn_progress *progress; /* the caller's, or a local one */
    volatile size_t limit;           /* index of the requested limit being set */
    volatile int step, error;        /* the failed step; 0: none */
    int64_t ticks_before;
    volatile int64_t ticks;  /* 0: not reached */
    volatile ssize_t stat_n; /* 0: the ticks are exact */
    char stat[PROCFS_STAT_SIZE];
};

/* Time in the unit of start times: 1/100 s since boot, suspend included. Used by parent and child:
 * it is only a memory read (vDSO). */
IN_CHILD static int64_t ticks_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 100 + t.tv_nsec / 10000000;
}

/* --- In the child ------------------------------------------------------- */

/* Before the descriptors are unshared: only writes are allowed on descriptors shared with the
 * parent. */
IN_CHILD static int join_groups(struct launch *l)
{
    for (int i = 0; i < l->r->n_join; i++) {
        if (sys_write(l->r->join[i], "0", 1) != 1)
            return -1;
    }
    return 0;
}

/* Until this step the descriptors are shared with the parent. */
IN_CHILD static int own_descriptors(struct launch *l)
{
    const struct spawner *s = l->s;

    return sys_close_range((unsigned)(s->null > s->out ? s->null : s->out) + 1);
}

IN_CHILD static int set_output(struct launch *l)
{
    const struct spawner *s = l->s;

    return sys_dup2(s->null, STDIN_FILENO) < 0 || sys_dup2(s->out, STDOUT_FILENO) < 0 ||
           sys_dup2(s->out, STDERR_FILENO) < 0 || sys_close_range(FIRST_SLOT);
}

IN_CHILD static int set_session(struct launch *l)
{
    (void)l;
    return sys_setsid() < 0;
}

/* The kernel keeps this value per process even while memory is shared, because the parent waits in
 * vfork. An ordinary user may not lower it below the inherited value. */
IN_CHILD static int set_oom(struct launch *l)
{
    if (!l->has_oom || sys_child_write_file(OOM_PATH, "0") >= 0)
        return 0;
    return errno != EACCES && errno != EPERM && errno != EROFS;
}

IN_CHILD static int set_limits(struct launch *l)
{
    for (int i = 0; i < LIMITS; i++) {
        if (l->s->is_changed[i] && sys_prlimit(i, &l->s->found[i], NULL))
            return -1;
    }
    return 0;
}

IN_CHILD static int set_own_limits(struct launch *l)
{
    for (l->limit = 0; l->limit < l->r->n_limits; l->limit++) {
        const struct spawn_limit *limit = &l->r->limits[l->limit];

        if (sys_prlimit(limit->resource, &limit->limit, NULL))
            return -1;
    }
    return 0;
}

IN_CHILD static int set_nice(struct launch *l)
{
    return l->r->nice ? sys_setpriority(l->r->nice) : 0;
}

/* Reads the start ticks. The parent could read them only when the program is running already, too
 * late for a failure. This read of /proc is rarely needed: the start time is between ticks_before
 * and now, and a tick is long. */
IN_CHILD static int read_stat(struct launch *l)
{
    l->ticks = ticks_now();
    if (l->ticks == l->ticks_before)
        return 0;
    l->stat_n = sys_child_read_file("/proc/self/stat", l->stat, sizeof(l->stat));
    return l->stat_n <= 0;
}

IN_CHILD static int set_groups(struct launch *l)
{
    return l->s->uid ? 0 : sys_setgroups(l->user->groups_n, l->user->groups);
}

IN_CHILD static int set_gid(struct launch *l)
{
    return l->s->uid ? 0 : sys_setresgid(l->user->gid);
}

IN_CHILD static int set_uid(struct launch *l)
{
    return l->s->uid ? 0 : sys_setresuid(l->user->uid);
}

IN_CHILD static int set_directory(struct launch *l)
{
    return sys_chdir(l->setup_path);
}

IN_CHILD static int become(struct launch *l)
{
    if (l->progress->is_cancelled) {
        errno = ECANCELED;
        return -1;
    }
    umask(022);
    sys_default_signals(l->s->ignored);
    sys_unblock_signals();
    return sys_execve(l->command.path, l->command.argv, l->env);
}

/* In this order; chdir as the user, because root may have no access to the folder. */
static const struct {
    const char *name;
    int (*take)(struct launch *l);
} steps[] = {
    { "none", NULL },
    { "cgroup", join_groups },
    { "close_range", own_descriptors },
    { "/proc/self/stat", read_stat },
    { MSG("standard input and output"), set_output },
    { "setsid", set_session },
    { "oom_score_adj", set_oom },
    { MSG("resource limits"), set_limits },
    { MSG("resource limit"), set_own_limits },
    { "nice", set_nice },
    { MSG("groups of user"), set_groups },
    { MSG("group of user"), set_gid },
    { MSG("user"), set_uid },
    { MSG("chdir"), set_directory },
    { MSG("exec"), become },
};

IN_CHILD static void run_child(void *arg)
{
    struct launch *l = arg;

    for (size_t i = 1; i < ARRAY_LEN(steps); i++) {
        l->progress->step = (int)i;
        if (steps[i].take(l)) {
            l->error = errno;
            l->step = (int)i;
            break;
        }
    }
    sys_end(127);
}

/* --- In the parent ------------------------------------------------------ */

static bool has_name(const char *pair, const char *name)
{
    size_t n = strcspn(name, "=");

    return !strncmp(pair, name, n) && pair[n] == '=';
}

static size_t spawn_count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* Replaces an existing pair of the same name. */
static void put_pair(char **env, size_t *n, char *pair)
{
    size_t at = 0;

    while (at < *n && !has_name(env[at], pair))
        at++;
    env[at] = pair;
    *n += at == *n;
}

static char **build_env(const struct spawn_request *r, struct arena *a)
{
    char *own[] = {
        arena_printf(a, "HOME=%s", r->user->home),    arena_printf(a, "USER=%s", r->user->name),
        arena_printf(a, "LOGNAME=%s", r->user->name), arena_printf(a, "SHELL=%s", r->user->shell),
        arena_strdup(a, "PATH=" SPAWN_PATH),          arena_strdup(a, "LANG=C.UTF-8"),
    };
    size_t n = 0, extra_n = spawn_count(r->env);
    char **env = arena_alloc(a, (ARRAY_LEN(own) + extra_n + 1) * sizeof(*env));

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        put_pair(env, &n, own[i]);
    for (size_t i = 0; i < extra_n; i++)
        put_pair(env, &n, arena_strdup(a, r->env[i]));
    return env;
}

static const char *search_path(char **env)
{
    while (!has_name(*env, "PATH"))
        env++;
    return *env + sizeof("PATH");
}

/* Object of the failed step, if its name alone does not say it. */
static const char *object_of(const struct launch *l)
{
    int (*take)(struct launch *) = steps[l->step].take;

    if (take == set_directory)
        return l->setup_path;
    if (take == become)
        return l->command.path;
    if (take == set_own_limits)
        return l->r->limits[l->limit].name;
    if (take == set_groups || take == set_gid || take == set_uid)
        return l->user->name;
    return "";
}

static int report(const struct launch *l, struct err *err)
{
    const char *object = object_of(l);

    if (!l->step)
        return err_set(err, ERR_SYSTEM, "the command was killed before it ran");
    errno = l->error;
    if (!object[0])
        return err_sys(err, "%s", steps[l->step].name);
    return err_sys(err, "%s %s", steps[l->step].name, object);
}

/* Reaps a failed child, which has ended or is about to. */
static int spawn_bury(const struct launch *l, pid_t pid, int pidfd, struct err *err)
{
    siginfo_t info;

    report(l, err);
    (void)sys_waitid(P_PID, (id_t)pid, &info, WEXITED); /* on failure it is a stray */
    sys_close(pidfd);
    return -1;
}

/* A kernel without pidfd returned none. */
static int hold_child(int pidfd, struct spawn_result *ret, struct err *err)
{
    siginfo_t info;

    ret->pidfd = pidfd;
    if (pidfd >= 0 || !ident_adopt(&ret->id, ret->id.boot_id, &ret->pidfd, err))
        return 0;
    (void)sys_kill((pid_t)ret->id.pid, SIGKILL); /* an unreaped child: its pid is not reused */
    (void)sys_waitid(P_PID, (id_t)ret->id.pid, &info, WEXITED);
    return -1;
}

/* After this spawn_kill() can not reach the child. */
static int take_pidfd(struct spawn_progress *p)
{
    int pidfd;

    pthread_mutex_lock(&p->lock);
    pidfd = p->pidfd;
    p->pidfd = -1;
    p->step = 0;
    pthread_mutex_unlock(&p->lock);
    return pidfd;
}

static int clone_child(struct launch *l, const struct spawn_request *r, struct spawn_result *ret,
                       struct err *err)
{
    struct spawn_progress *p = l->progress;
    struct sys_child child = { run_child, l, l->s->stack, STACK_SIZE, r->cgroup_fd, &p->pid };
    struct procfs_stat st = { 0 };
    struct err why;
    int pidfd;
    pid_t pid;

    if (p->is_cancelled)
        return err_set(err, ERR_TIMEOUT, "cancelled before it was begun");
    if (sys_dup3(r->out_fd, l->s->out) < 0)
        return err_sys(err, "output of %s", r->command);
    l->ticks_before = ticks_now();
    pid = sys_clone3(&child, &p->pidfd);
    if (pid < 0)
        err_sys(err, "clone");
    pidfd = take_pidfd(p);
    (void)sys_dup3(l->s->null, l->s->out); /* on failure the file stays open until the next start */
    if (pid < 0)
        return -1;
    if (l->step || !l->ticks ||
        (l->stat_n > 0 && procfs_parse_stat(l->stat, (size_t)l->stat_n, &st, &why)))
        return spawn_bury(l, pid, pidfd, err);
    ret->id =
        (struct ident){ .pid = pid, .start_ticks = l->stat_n > 0 ? st.start_ticks : l->ticks };
    memcpy(ret->id.boot_id, l->s->boot_id, BOOT_ID_SIZE);
    ret->is_direct = l->command.is_direct;
    return hold_child(pidfd, ret, err);
}

/* Read at each start, because it may be changed at any time; that costs a tenth of a read of /proc
 * by the child. */
static bool has_oom(const struct spawner *s)
{
    char text[2];

    return sys_pread(s->oom, text, sizeof(text), 0) != sizeof(text) || memcmp(text, "0\n", 2) != 0;
}

static int check(const struct spawner *s, const struct spawn_request *r, struct err *err)
{
    if (!r->command[strspn(r->command, " \t\r\n")])
        return err_set(err, ERR_INVALID, "the command is empty");
    if (s->uid && s->uid != r->user->uid)
        return err_set(err, CODE_DENIED,
                       "user %s: the agent runs as uid %u, not as root, and can start processes of "
                       "that user alone",
                       r->user->name, (unsigned)s->uid);
    return 0;
}

void spawn_progress_init(struct spawn_progress *p)
{
    *p = (struct spawn_progress){ .pidfd = -1 };
    pthread_mutex_init(&p->lock, NULL);
}

/* Without a pidfd it uses the pid, which is not reused: spawn() reaps a child only after `step` is
 * 0 again. */
void spawn_kill(struct spawn_progress *p)
{
    pthread_mutex_lock(&p->lock);
    p->is_cancelled = true;
    if (p->pidfd >= 0)
        (void)sys_pidfd_send_signal(p->pidfd, SIGKILL); /* it may just have ended */
    else if (p->step && p->pid > 0)
        (void)sys_kill(p->pid, SIGKILL);
    pthread_mutex_unlock(&p->lock);
}

pid_t spawn_progress_pid(const struct spawn_progress *p)
{
    return *(const volatile pid_t *)&p->pid;
}

const char *spawn_progress_text(const struct spawn_progress *p)
{
    return p->step ? steps[p->step].name : "clone";
}

int spawn(struct spawner *s, const struct spawn_request *r, struct spawn_result *ret,
          struct err *err)
{
    const char *folder = *r->setup_path ? r->setup_path : "/";
    struct spawn_progress own;
    struct launch l = { .s = s, .user = r->user, .setup_path = folder, .r = r };
    struct arena a = { 0 };
    int result;

    l.progress = r->progress ? r->progress : &own;
    if (!r->progress)
        spawn_progress_init(&own);
    if (check(s, r, err))
        return -1;
    l.has_oom = has_oom(s);
    l.env = build_env(r, &a);
    command_plan(r->command, folder, search_path(l.env), &s->programs, &a, &l.command);
    result = clone_child(&l, r, ret, err);
    arena_free(&a);
    return result;
}

int spawner_own_limit(struct spawner *s, int resource, const struct rlimit *limit, struct err *err)
{
    struct rlimit old;

    if (sys_prlimit(resource, limit, &old))
        return err_sys(err, "resource limit %d", resource);
    if (!s->is_changed[resource])
        s->found[resource] = old;
    s->is_changed[resource] = true;
    return 0;
}

static void heed_realtime_signals(void)
{
    struct sigaction act;

    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        if (!sigaction(number, NULL, &act) && act.sa_handler == SIG_IGN)
            signal(number, SIG_DFL);
    }
}

static int open_slots(struct spawner *s, struct err *err)
{
    int fd = sys_open("/dev/null", O_RDWR, 0);

    if (fd < 0)
        return err_sys(err, "/dev/null");
    s->null = sys_dupfd(fd, FIRST_SLOT);
    s->out = s->null < 0 ? -1 : sys_dupfd(fd, FIRST_SLOT);
    if (s->out < 0)
        err_sys(err, "descriptors for starting processes");
    sys_close(fd);
    return s->out < 0 ? -1 : 0;
}

/* For another thread; includes the limits changed so far. */
int spawner_copy(const struct spawner *from, struct spawner **ret, struct err *err)
{
    struct spawner *s = xalloc(sizeof(*s));

    *s = *from;
    s->null = s->out = s->oom = -1;
    s->stack = NULL;
    if (open_slots(s, err)) {
        spawner_free(s);
        return -1;
    }
    s->oom = sys_open(OOM_PATH, O_RDONLY, 0);
    s->stack = xresize(NULL, STACK_SIZE); /* not touched while unused */
    *ret = s;
    return 0;
}

int spawner_new(const char *boot_id, struct spawner **ret, struct err *err)
{
    struct spawner s = { .null = -1, .out = -1, .oom = -1, .uid = geteuid() };

    memcpy(s.boot_id, boot_id, strnlen(boot_id, BOOT_ID_SIZE - 1));
    heed_realtime_signals();
    s.ignored = sys_ignored_signals() | 1U << SIGPIPE; /* the agent may ignore SIGPIPE later */
    return spawner_copy(&s, ret, err);
}

void spawner_free(struct spawner *s)
{
    if (!s)
        return;
    sys_close(s->null);
    sys_close(s->out);
    sys_close(s->oom);
    free(s->stack);
    free(s);
}
