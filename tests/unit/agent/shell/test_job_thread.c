/* SPDX-License-Identifier: MIT */
#include "agent/shell/job_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem/mem.h"

enum { TURN_MS = 20 };

static struct loop *loop;
static struct job_thread *thread;
static sem_t has_begun, may_go_on;
static int put, done;

/* ---- the thread is held up between its first look at a queue and its second */

static bool is_held_up, is_ending;
static _Thread_local bool is_ours;
static _Thread_local int looks;

static int (*libc(const char *name))(pthread_mutex_t *m)
{
    return (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (is_held_up && !is_ours && ++looks == 2) {
        sem_post(&has_begun);
        sem_wait(&may_go_on);
    }
    return libc("pthread_mutex_lock")(m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    int result = libc("pthread_mutex_unlock")(m);

    if (is_ending && is_ours)
        sem_post(&may_go_on);
    return result;
}

/* ---- jobs */

static void on_done(struct job *job)
{
    done++;
    free(job);
}

static void do_nothing(struct job *job)
{
    (void)job;
}

static void hang(struct job *job)
{
    (void)job;
    sem_post(&has_begun);
    sem_wait(&may_go_on);
}

static void put_job(void (*work)(struct job *job))
{
    struct job *job = xalloc(sizeof(*job));

    *job = (struct job){ .work = work, .done = on_done };
    assert_true(job_thread_do(thread, job));
    put++;
}

static void turn(void)
{
    struct err err;

    assert_int_equal(loop_turn(loop, TURN_MS, &err), 0);
}

static void begin_idle(void)
{
    struct err err;

    put = done = 0;
    sem_init(&may_go_on, 0, 0);
    sem_init(&has_begun, 0, 0);
    assert_int_equal(loop_new(&clock_system, &loop, &err), 0);
    assert_int_equal(job_thread_new(loop, &thread, &err), 0);
}

/* With one that hangs: what is put in behind it is taken together. */
static void begin(void)
{
    begin_idle();
    put_job(hang);
    sem_wait(&has_begun);
}

/* The job that hangs continues, until the next one hangs. */
static void go_on(void)
{
    sem_post(&may_go_on);
    sem_wait(&has_begun);
}

static void turn_until(int n)
{
    while (done < n)
        turn();
}

static void end(void)
{
    sem_post(&may_go_on);
    turn_until(put);
    job_thread_free(thread);
    loop_free(loop);
}

/* Others wait for a sync. */
static void the_loop_hears_at_once_of_what_is_done(void **state)
{
    (void)state;
    begin();
    put_job(hang);
    put_job(do_nothing);
    put_job(hang);
    go_on();
    turn_until(1);
    go_on();
    turn_until(3);
    end();
}

static void what_is_in_is_done_before_the_end(void **state)
{
    (void)state;
    begin();
    put_job(do_nothing);
    put_job(do_nothing);
    sem_post(&may_go_on);
    job_thread_free(thread);
    loop_free(loop);
    assert_int_equal(done, put);
}

/* It has just looked whether there is something for it, and there was nothing. */
static void what_is_put_in_just_before_the_end_is_done(void **state)
{
    (void)state;
    is_ours = is_held_up = true;
    begin_idle();
    sem_wait(&has_begun);
    put_job(do_nothing);
    is_ending = true;
    job_thread_free(thread);
    is_held_up = is_ending = false;
    loop_free(loop);
    assert_int_equal(done, put);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loop_hears_at_once_of_what_is_done),
        cmocka_unit_test(what_is_in_is_done_before_the_end),
        cmocka_unit_test(what_is_put_in_just_before_the_end_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
