/* SPDX-License-Identifier: MIT */
/* own_pids.h - runs the tests of a program in a pid namespace of their own.  A test that makes the
 * kernel use a pid again moves the number that the next process gets; on the host, tests that run
 * beside it would get pids of processes that have just ended. */
#ifndef TESTS_LIB_OWN_PIDS_H
#define TESTS_LIB_OWN_PIDS_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exits like pid does; other children are reaped meanwhile.  Leaks are not looked for here: that
 * takes a new process, and the namespace gets none after its init.
 */
static inline _Noreturn void own_pids_exit_like(pid_t pid)
{
    pid_t ended = -1;
    int status;

    while (pid > 0 && ended != pid) {
        ended = waitpid(-1, &status, 0);
        if (ended < 0 && errno != EINTR)
            break;
    }
    if (ended != pid || pid < 0)
        _exit(99);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static inline int own_pids_init(int (*tests)(void))
{
    pid_t pid;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("proc", "/proc", "proc", 0, NULL)) {
        perror("own_pids");
        _exit(99);
    }
    pid = fork(); /* init ignores signals; the tests must not */
    if (pid)
        own_pids_exit_like(pid);
    return tests();
}

/* The value for main to return.  Where namespaces cannot be made, the tests run on the host. */
static inline int own_pids_run(int (*tests)(void))
{
    pid_t pid;

    if (unshare(CLONE_NEWPID | CLONE_NEWNS))
        return tests();
    pid = fork();
    if (pid)
        own_pids_exit_like(pid);
    return own_pids_init(tests);
}

#endif
