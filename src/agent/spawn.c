/* SPDX-License-Identifier: MIT */
/* spawn.c - see spawn.h.
 *
 * The parent prepares everything in memory; the child only makes system calls, one
 * row of `steps` after the other, and writes into the same memory how far it came.
 * The child's functions are not sanitized: they run on a stack that AddressSanitizer
 * does not know, in frames that never return. */
#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/command.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_old.h"
#include "base/sys_signal.h"
#include "model/code.h"

#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))
#define OOM_PATH "/proc/self/oom_score_adj"

enum { STACK_SIZE = 64 * 1024, FIRST_SLOT = STDERR_FILENO + 1, LIMITS = RLIMIT_NLIMITS };

/* Descriptors are copied up to the higher of the two slots: `null` is /dev/null, and
 * `out` a number kept for out_fd, which itself may be a high one. */
struct spawner {
    int null, out;
    int oom; /* our own oom_score_adj; -1: it can not be read */
    char *stack;
    struct rlimit found[LIMITS]; /* of those that were changed */
    bool is_changed[LIMITS];
    uid_t uid;
    unsigned ignored; /* signals, as sys_signal.h has them */
    char boot_id[BOOT_ID_SIZE];
    struct command_cache programs;
};

/* What the child needs, and what it leaves. */
struct launch {
    const struct spawner *s;
    const struct user *user;
    const char *setup_path;
    struct command command;
    char **env;
    bool has_oom; /* ours is not 0, or not known */
    const struct spawn_request *r;
    volatile size_t limit;    /* of those asked for, the one that is being set */
    volatile int step, error; /* the step that failed; 0: none did */
    int64_t ticks_before;
    volatile int64_t ticks;  /* 0: it did not come so far */
    volatile ssize_t stat_n; /* 0: the ticks are right */
    char stat[PROCFS_STAT_SIZE];
};

/* As the kernel counts them for start times: hundredths of a second since boot, those
 * asleep included.  For both sides: it is a read of memory. */
IN_CHILD static int64_t ticks_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 100 + t.tv_nsec / 10000000;
}

/* --- In the child ------------------------------------------------------- */

/* Before the files are closed; to write to them is all that may be done with what is the
 * parent's too. */
IN_CHILD static int join_groups(struct launch *l)
{
    for (int i = 0; i < l->r->n_join; i++) {
        if (sys_write(l->r->join[i], "0", 1) != 1)
            return -1;
    }
    return 0;
}

/* Until then the descriptors are the parent's too. */
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

/* The kernel keeps this value per process even while memory is shared, because the
 * parent waits in vfork.  Less than he was given is not an ordinary user's to take. */
IN_CHILD static int set_oom(struct launch *l)
{
    ssize_t n;
    int fd, error;

    if (!l->has_oom)
        return 0;
    fd = sys_open(OOM_PATH, O_WRONLY, 0);
    n = fd < 0 ? -1 : sys_write(fd, "0", 1);
    error = errno;
    sys_close(fd);
    errno = error;
    return n < 0 && error != EACCES && error != EPERM && error != EROFS;
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

/* For the start ticks.  The parent could read the same, but only when there is a
 * program running already, and then a failure would be one too late.  It is a look at
 * /proc that is seldom needed: the kernel takes the time between ticks_before and here,
 * and a tick is long. */
IN_CHILD static int read_stat(struct launch *l)
{
    int fd;

    l->ticks = ticks_now();
    if (l->ticks == l->ticks_before)
        return 0;
    fd = sys_open("/proc/self/stat", O_RDONLY, 0);
    if (fd < 0)
        return -1;
    l->stat_n = sys_read(fd, l->stat, sizeof(l->stat));
    sys_close(fd);
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
    umask(022);
    sys_default_signals(l->s->ignored);
    sys_unblock_signals();
    return sys_execve(l->command.path, l->command.argv, l->env);
}

/* In this order; the directory as the user, who may be let in where root is not. */
static const struct {
    const char *name;
    int (*take)(struct launch *l);
} steps[] = {
    { "none", NULL },
    { "cgroup", join_groups },
    { "close_range", own_descriptors },
    { "/proc/self/stat", read_stat },
    { "standard input and output", set_output },
    { "setsid", set_session },
    { "oom_score_adj", set_oom },
    { "resource limits", set_limits },
    { "resource limit", set_own_limits },
    { "nice", set_nice },
    { "groups of user", set_groups },
    { "group of user", set_gid },
    { "user", set_uid },
    { "chdir", set_directory },
    { "exec", become },
};

IN_CHILD static void run_child(void *arg)
{
    struct launch *l = arg;

    for (size_t i = 1; i < ARRAY_LEN(steps); i++) {
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

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* A pair that is there already is replaced. */
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
    size_t n = 0, extra_n = count(r->env);
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

/* What the step was about, where its name does not say it all. */
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
    return err_sys(err, "%s%s%s", steps[l->step].name, object[0] ? " " : "", object);
}

/* A child that failed has ended, or is about to, and is nobody's business. */
static int bury(const struct launch *l, pid_t pid, int pidfd, struct err *err)
{
    siginfo_t info;

    report(l, err);
    (void)sys_waitid(P_PID, (id_t)pid, &info, WEXITED); /* what is left is a stray */
    sys_close(pidfd);
    return -1;
}

/* A kernel without pidfd has given none. */
static int hold_child(int pidfd, struct spawn_result *ret, struct err *err)
{
    siginfo_t info;

    ret->pidfd = pidfd;
    if (pidfd >= 0 || !ident_adopt(&ret->id, ret->id.boot_id, &ret->pidfd, err))
        return 0;
    (void)sys_kill((pid_t)ret->id.pid, SIGKILL); /* a child of ours: the pid is its own */
    (void)sys_waitid(P_PID, (id_t)ret->id.pid, &info, WEXITED);
    return -1;
}

static int clone_child(struct launch *l, const struct spawn_request *r, struct spawn_result *ret,
                       struct err *err)
{
    struct sys_child child = { run_child, l, l->s->stack, STACK_SIZE, r->cgroup_fd };
    struct procfs_stat st = { 0 };
    struct err why;
    int pidfd;
    pid_t pid;

    if (sys_dup3(r->out_fd, l->s->out) < 0)
        return err_sys(err, "output of %s", r->command);
    l->ticks_before = ticks_now();
    pid = sys_clone3(&child, &pidfd);
    if (pid < 0)
        err_sys(err, "clone");
    (void)sys_dup3(l->s->null, l->s->out); /* else the file stays open till the next start */
    if (pid < 0)
        return -1;
    if (l->step || !l->ticks ||
        (l->stat_n > 0 && procfs_parse_stat(l->stat, (size_t)l->stat_n, &st, &why)))
        return bury(l, pid, pidfd, err);
    ret->id =
        (struct ident){ .pid = pid, .start_ticks = l->stat_n > 0 ? st.start_ticks : l->ticks };
    memcpy(ret->id.boot_id, l->s->boot_id, BOOT_ID_SIZE);
    ret->is_direct = l->command.is_direct;
    return hold_child(pidfd, ret, err);
}

/* Read here each time, which costs a tenth of a look at /proc by the child, for somebody may
 * change it at any time. */
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

int spawn(struct spawner *s, const struct spawn_request *r, struct spawn_result *ret,
          struct err *err)
{
    struct launch l = { .s = s, .user = r->user, .setup_path = r->setup_path, .r = r };
    struct arena a = { 0 };
    int result;

    if (check(s, r, err))
        return -1;
    l.has_oom = has_oom(s);
    l.env = build_env(r, &a);
    command_plan(r->command, r->setup_path, search_path(l.env), &s->programs, &a, &l.command);
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

/* For a thread of its own; the limits that were changed so far are known to it. */
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
    s->stack = xresize(NULL, STACK_SIZE); /* not touched where it is not used */
    *ret = s;
    return 0;
}

int spawner_new(const char *boot_id, struct spawner **ret, struct err *err)
{
    struct spawner s = { .null = -1, .out = -1, .oom = -1, .uid = geteuid() };

    memcpy(s.boot_id, boot_id, strnlen(boot_id, BOOT_ID_SIZE - 1));
    heed_realtime_signals();
    s.ignored = sys_ignored_signals() | 1U << SIGPIPE; /* which who begins may ignore later */
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
