/* SPDX-License-Identifier: MIT */
/* thread.c - see thread.h. */
#include "base/io/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

int thread_start(void *(*run)(void *arg), void *arg, pthread_t *ret, struct err *err)
{
    sigset_t all, old;
    int number;

    sigfillset(&all); /* a new thread inherits the signal mask of its creator */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    number = pthread_create(ret, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = number;
    return number ? err_sys(err, "start a thread") : 0;
}

static void on_interrupt(int number)
{
    (void)number;
}

void thread_allow_interrupts(void)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART };
    sigset_t allowed;

    sigemptyset(&action.sa_mask);
    sigemptyset(&allowed);
    sigaddset(&allowed, SIGURG);
    sigaction(SIGURG, &action, NULL); /* a signal without a handler would not interrupt */
    pthread_sigmask(SIG_UNBLOCK, &allowed, NULL);
}

void thread_interrupt(pthread_t thread)
{
    pthread_kill(thread, SIGURG);
}

int thread_start_detached(void *(*run)(void *arg), void *arg, struct err *err)
{
    pthread_t thread;

    if (thread_start(run, arg, &thread, err))
        return -1;
    pthread_detach(thread);
    return 0;
}
