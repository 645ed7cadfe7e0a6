/* SPDX-License-Identifier: MIT */
#include "agent/agent_help.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/agent_in.h"
#include "base/mem.h"

enum { TURN_MS = 20 };

static struct agent agent;
static struct help *help;
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

static void on_done(struct agent *a, struct job *job)
{
    (void)a;
    done++;
    free(job);
}

static void do_nothing(struct job *job)
{
    (void)job;
}

/* Longer than others are kept waiting for one that is begun. */
static void take_a_while(struct job *job)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + TURN_MS;

    (void)job;
    while (clock_mono_ms(&clock_system) < until_ms)
        continue;
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

    job->work = work;
    assert_true(help_do(help, job));
    put++;
}

static void turn(void)
{
    struct err err;

    assert_int_equal(loop_turn(agent.loop, TURN_MS, &err), 0);
}

static void begin_idle(bool is_starter)
{
    struct spawner *s = NULL;
    struct err err;

    agent = (struct agent){ 0 };
    put = done = 0;
    sem_init(&may_go_on, 0, 0);
    sem_init(&has_begun, 0, 0);
    assert_int_equal(loop_new(&clock_system, &agent.loop, &err), 0);
    if (is_starter)
        assert_int_equal(spawner_new("", &s, &err), 0);
    assert_int_equal(help_new(&agent, on_done, s, &help, &err), 0);
}

/* With one that hangs: what is put in behind it is taken together. */
static void begin(bool is_starter)
{
    begin_idle(is_starter);
    put_job(hang);
    sem_wait(&has_begun);
}

/* Whoever hangs goes on, until the next one does. */
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
    help_free(help);
    loop_free(agent.loop);
}

/* Of the first that hangs the loop has heard; the last one does so now. */
static void work_between_two_that_hang(bool is_starter, void (*work)(struct job *job))
{
    begin(is_starter);
    put_job(hang);
    put_job(work);
    put_job(hang);
    go_on();
    turn_until(1);
    go_on();
}

/* The loop is left alone, but what is done is there when it looks. */
static void what_is_done_does_not_wait_for_one_that_hangs(void **state)
{
    (void)state;
    work_between_two_that_hang(true, do_nothing);
    turn();
    assert_int_equal(done, 1);
    help_collect(help);
    assert_int_equal(done, 3);
    assert_int_equal(help_load(help), 1);
    help_collect(help);
    assert_int_equal(done, 3);
    end();
}

static void what_has_waited_is_told_of_before_the_next_is_begun(void **state)
{
    (void)state;
    work_between_two_that_hang(true, take_a_while);
    turn_until(3);
    end();
}

/* Others wait for a sync. */
static void of_what_is_no_start_the_loop_hears_at_once(void **state)
{
    (void)state;
    work_between_two_that_hang(false, do_nothing);
    turn_until(3);
    end();
}

static void what_is_in_is_done_before_the_end(void **state)
{
    (void)state;
    for (int is_starter = 0; is_starter < 2; is_starter++) {
        begin(is_starter);
        put_job(do_nothing);
        put_job(do_nothing);
        sem_post(&may_go_on);
        help_free(help);
        loop_free(agent.loop);
        assert_int_equal(done, put);
    }
}

/* It has just looked whether there is something for it, and there was nothing. */
static void what_is_put_in_just_before_the_end_is_done(void **state)
{
    (void)state;
    is_ours = is_held_up = true;
    begin_idle(false);
    sem_wait(&has_begun);
    put_job(do_nothing);
    is_ending = true;
    help_free(help);
    is_held_up = is_ending = false;
    loop_free(agent.loop);
    assert_int_equal(done, put);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_does_not_wait_for_one_that_hangs),
        cmocka_unit_test(what_has_waited_is_told_of_before_the_next_is_begun),
        cmocka_unit_test(of_what_is_no_start_the_loop_hears_at_once),
        cmocka_unit_test(what_is_in_is_done_before_the_end),
        cmocka_unit_test(what_is_put_in_just_before_the_end_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
