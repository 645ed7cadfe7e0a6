/* SPDX-License-Identifier: MIT */
/* Promises of base/io/thread.h. */
#include "base/io/thread.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <semaphore.h>

struct seen {
    sigset_t mask;
    sem_t done;
};

static void *look(void *arg)
{
    struct seen *s = arg;

    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    sem_post(&s->done);
    return s;
}

/* Signals that the C library reserves for itself cannot be blocked. */
static void must_block_all(struct seen *s)
{
    for (int number = 1; number < 32; number++) {
        if (number != SIGKILL && number != SIGSTOP && !sigismember(&s->mask, number))
            fail_msg("signal %d is not blocked", number);
    }
}

static void a_thread_has_no_signals_and_the_starter_keeps_its_own(void **state)
{
    struct seen s;
    sigset_t mine, after;
    struct err err;
    pthread_t thread;
    void *result;

    (void)state;
    sem_init(&s.done, 0, 0);
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &mine, NULL);
    assert_int_equal(thread_start(look, &s, &thread, &err), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &s);
    must_block_all(&s);
    sem_wait(&s.done);
    sigemptyset(&s.mask);
    assert_int_equal(thread_start_detached(look, &s, &err), 0);
    sem_wait(&s.done);
    must_block_all(&s);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&after, number), number == SIGUSR1);
    sem_destroy(&s.done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_no_signals_and_the_starter_keeps_its_own),
    };

    return cmocka_run_group_tests_name("base/thread", tests, NULL, NULL);
}
