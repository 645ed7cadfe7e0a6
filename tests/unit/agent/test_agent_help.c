/* SPDX-License-Identifier: MIT */
#include "agent/agent_help.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/agent_in.h"
#include "base/mem.h"

enum { JOBS = 3, TURN_MS = 20 };

static struct agent agent;
static struct help *help;
static sem_t may_begin, may_go_on, has_begun;
static int done;

static void on_done(struct agent *a, struct job *job)
{
    (void)a;
    done++;
    free(job);
}

static void wait_at_the_door(struct job *job)
{
    (void)job;
    sem_wait(&may_begin);
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

/* The first is held at the door: the others come behind it, and are taken together. */
static void put_jobs(void)
{
    static void (*const works[JOBS])(struct job *) = { wait_at_the_door, do_nothing, hang };

    for (int i = 0; i < JOBS; i++) {
        struct job *job = xalloc(sizeof(*job));

        job->work = works[i];
        assert_true(help_do(help, job));
    }
}

static void begin(bool is_starter)
{
    struct spawner *s = NULL;
    struct err err;

    agent = (struct agent){ 0 };
    done = 0;
    sem_init(&may_begin, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sem_init(&has_begun, 0, 0);
    assert_int_equal(loop_new(&clock_system, &agent.loop, &err), 0);
    if (is_starter)
        assert_int_equal(spawner_new("", &s, &err), 0);
    assert_int_equal(help_new(&agent, on_done, s, &help, &err), 0);
}

static void end(void)
{
    help_free(help);
    loop_free(agent.loop);
}

static void turn(void)
{
    struct err err;

    assert_int_equal(loop_turn(agent.loop, TURN_MS, &err), 0);
}

/* What was started before one that hangs is there for who looks, though nobody was told. */
static void what_is_done_does_not_wait_for_one_that_hangs(void **state)
{
    (void)state;
    begin(true);
    put_jobs();
    sem_post(&may_begin);
    sem_wait(&has_begun);
    help_collect(help);
    assert_int_equal(done, JOBS - 1);
    assert_int_equal(help_load(help), 1);
    help_collect(help);
    assert_int_equal(done, JOBS - 1);
    sem_post(&may_go_on);
    while (done < JOBS)
        turn();
    end();
}

/* Who else waits for a sync is told at once. */
static void of_what_is_no_start_the_loop_hears_at_once(void **state)
{
    (void)state;
    begin(false);
    put_jobs();
    sem_post(&may_begin);
    sem_wait(&has_begun);
    while (done < JOBS - 1)
        turn();
    sem_post(&may_go_on);
    while (done < JOBS)
        turn();
    end();
}

static void what_is_in_is_done_before_the_end(void **state)
{
    (void)state;
    for (int is_starter = 0; is_starter < 2; is_starter++) {
        begin(is_starter);
        put_jobs();
        sem_post(&may_begin);
        sem_post(&may_go_on);
        end();
        assert_int_equal(done, JOBS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_done_does_not_wait_for_one_that_hangs),
        cmocka_unit_test(of_what_is_no_start_the_loop_hears_at_once),
        cmocka_unit_test(what_is_in_is_done_before_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
