/* SPDX-License-Identifier: MIT */
/* agent_floor.c - the least a supervisor can do, for bench/agent: clone, exec, a pidfd
 * in epoll for each process, and the same again when it ends.
 *
 *     agent_floor fork|vfork|threads FOLDER BOARD N [PID_NAME]
 *
 * Process i is FOLDER/i/agent_work BOARD i; with PID_NAME it is a daemon, is given
 * FOLDER/i/PID_NAME to write its pid file to, and is found by that when the command has
 * ended.  A line on standard input starts them; when that ends, so do they.
 *
 *   fork     a copy of us for each, which execs
 *   vfork    our memory, and none of our descriptors; we wait until it has exec'ed
 *   threads  the same by two threads, so that only they wait */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/loopback.h"

enum { EVENTS_MAX = 256, STACK_SIZE = 64 * 1024, STARTERS = 2, TEXT_SIZE = 320 };

struct floor;

struct proc {
    char path[TEXT_SIZE], pid_path[TEXT_SIZE], slot[16];
    char *argv[5];
    int pidfd;
    bool is_command; /* daemon: the pidfd is the start command's */
};

struct starter {
    struct floor *floor;
    pthread_t thread;
    char stack[STACK_SIZE] __attribute__((aligned(16)));
};

struct floor {
    int epoll, flags;
    bool is_daemon, has_threads;
    size_t n;
    struct proc *procs;
    struct starter starters[STARTERS]; /* the first is the main thread's, without threads */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    size_t *queue, head, tail; /* of the threads; each process is in it once at most */
};

/* Our memory may be his too: he only makes system calls. */
static int run_child(void *arg)
{
    const struct proc *p = arg;
    static char *const env[] = { NULL };

    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_UNSHARE);
    execve(p->path, p->argv, env);
    _exit(127);
}

/* A process ends once; while a copy of us holds the pidfd, closing it would not do to
 * hear no more of it. */
static void watch(struct floor *f, int fd, uint64_t what)
{
    uint32_t events = EPOLLIN | (what < f->n ? EPOLLONESHOT : 0u);
    struct epoll_event event = { .events = events, .data.u64 = what };

    if (epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &event))
        loopback_die("epoll_ctl", strerror(errno));
}

static void start(struct floor *f, size_t i, struct starter *s)
{
    struct proc *p = &f->procs[i];

    p->is_command = f->is_daemon;
    if (clone(run_child, s->stack + STACK_SIZE, f->flags | CLONE_PIDFD | SIGCHLD, p, &p->pidfd) < 0)
        loopback_die("clone", strerror(errno));
    watch(f, p->pidfd, i);
}

static void *run_starter(void *arg)
{
    struct starter *s = arg;
    struct floor *f = s->floor;

    for (;;) {
        size_t i;

        pthread_mutex_lock(&f->mutex);
        while (f->head == f->tail)
            pthread_cond_wait(&f->cond, &f->mutex);
        i = f->queue[f->head++ % f->n];
        pthread_mutex_unlock(&f->mutex);
        start(f, i, s);
    }
    return NULL;
}

static void ask_for(struct floor *f, size_t i)
{
    if (!f->has_threads) {
        start(f, i, &f->starters[0]);
        return;
    }
    pthread_mutex_lock(&f->mutex);
    f->queue[f->tail++ % f->n] = i;
    pthread_cond_signal(&f->cond);
    pthread_mutex_unlock(&f->mutex);
}

/* The start command of a daemon has ended: its pid file names the process.  One that has
 * ended too by now is started again. */
static void follow(struct floor *f, size_t i)
{
    struct proc *p = &f->procs[i];
    char text[32] = "";
    int fd = open(p->pid_path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    close(fd);
    p->pidfd = n <= 0 ? -1 : (int)syscall(SYS_pidfd_open, strtol(text, NULL, 10), 0);
    if (n <= 0)
        loopback_die(p->pid_path, "holds no pid");
    if (p->pidfd < 0) {
        ask_for(f, i);
        return;
    }
    p->is_command = false;
    watch(f, p->pidfd, i);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* the one between the two forks */
        ;
}

static void on_end(struct floor *f, size_t i)
{
    struct proc *p = &f->procs[i];
    siginfo_t info;

    (void)waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED | WNOHANG); /* may have been taken */
    close(p->pidfd);
    if (p->is_command)
        follow(f, i);
    else
        ask_for(f, i);
}

/* Until standard input ends. */
static void serve(struct floor *f)
{
    struct epoll_event events[EVENTS_MAX];
    char line[64];

    for (;;) {
        int n = epoll_wait(f->epoll, events, EVENTS_MAX, -1);

        for (int e = 0; e < n; e++) {
            if (events[e].data.u64 < f->n) {
                on_end(f, events[e].data.u64);
                continue;
            }
            if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
                return;
            for (size_t i = 0; i < f->n; i++)
                ask_for(f, i);
        }
    }
}

static void fill(struct floor *f, const char *folder, char *board, const char *pid_name)
{
    f->procs = calloc(f->n, sizeof(*f->procs));
    f->queue = calloc(f->n, sizeof(*f->queue));
    for (size_t i = 0; i < f->n; i++) {
        struct proc *p = &f->procs[i];

        snprintf(p->path, sizeof(p->path), "%s/%zu/agent_work", folder, i);
        snprintf(p->pid_path, sizeof(p->pid_path), "%s/%zu/%s", folder, i, pid_name);
        snprintf(p->slot, sizeof(p->slot), "%zu", i);
        p->pidfd = -1;
        memcpy(p->argv,
               (char *[]){ p->path, board, p->slot, f->is_daemon ? p->pid_path : NULL, NULL },
               sizeof(p->argv));
    }
}

static void begin(struct floor *f)
{
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->cond, NULL);
    f->epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(f, STDIN_FILENO, f->n);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < STARTERS; i++) {
        f->starters[i].floor = f;
        if (f->has_threads &&
            pthread_create(&f->starters[i].thread, NULL, run_starter, &f->starters[i]))
            loopback_die("pthread_create", "failed");
    }
}

static void end_all(const struct floor *f)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->procs[i].pidfd >= 0)
            (void)syscall(SYS_pidfd_send_signal, f->procs[i].pidfd, SIGKILL, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    static struct floor f;

    loopback_begin();
    if (argc < 5)
        loopback_die("usage", "agent_floor fork|vfork|threads FOLDER BOARD N [PID_NAME]");
    f.flags = strcmp(argv[1], "fork") ? CLONE_VM | CLONE_VFORK | CLONE_FILES : 0;
    f.has_threads = !strcmp(argv[1], "threads");
    f.is_daemon = argc > 5;
    f.n = strtoul(argv[4], NULL, 10);
    fill(&f, argv[2], argv[3], f.is_daemon ? argv[5] : "");
    begin(&f);
    puts("ready");
    fflush(stdout);
    serve(&f);
    end_all(&f);
    return 0;
}
