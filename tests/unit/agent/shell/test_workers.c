/* SPDX-License-Identifier: MIT */
#include "agent/shell/workers.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/time.h"

enum { TURN_MS = 20, SOON_MS = 5000 };

static struct loop *loop;
static struct spawner *spawner;
static struct workers *workers;
static sem_t has_begun, may_go_on;
static int done;
static int64_t done_ms;

/* ---- jobs */

static void do_nothing(struct worker_job *job, struct spawner *s)
{
    (void)job;
    assert_non_null(s);
}

static void hang(struct worker_job *job, struct spawner *s)
{
    (void)job;
    (void)s;
    sem_post(&has_begun);
    sem_wait(&may_go_on);
}

static void on_done(struct worker_job *job)
{
    done++;
    done_ms = clock_mono_ms(&clock_system);
    free(job);
}

static struct worker_job *put(const char *owner,
                              void (*work)(struct worker_job *job, struct spawner *s))
{
    struct worker_job *job = xalloc(sizeof(*job));

    job->work = work;
    job->done = on_done;
    workers_put(workers, owner, job);
    return job;
}

static void hang_two(const char *owner)
{
    put(owner, hang);
    put(owner, hang);
    sem_wait(&has_begun);
    sem_wait(&has_begun);
}

static void let_go(int n)
{
    for (int i = 0; i < n; i++)
        sem_post(&may_go_on);
}

static void turn_until(int n)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + SOON_MS;
    struct err err;

    while (done < n && clock_mono_ms(&clock_system) < until_ms)
        assert_int_equal(loop_turn(loop, TURN_MS, &err), 0);
    assert_int_equal(done, n);
}

static int begin(void **state)
{
    struct err err;

    (void)state;
    done = 0;
    sem_init(&may_go_on, 0, 0);
    sem_init(&has_begun, 0, 0);
    assert_int_equal(loop_new(&clock_system, &loop, &err), 0);
    assert_int_equal(spawner_new("", &spawner, &err), 0);
    assert_int_equal(workers_new(loop, spawner, &workers, &err), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    let_go(100); /* a test that has failed leaves jobs that hang */
    assert_true(workers_free(workers, SOON_MS));
    spawner_free(spawner);
    loop_free(loop);
    return 0;
}

/* ---- what they promise */

static void every_job_comes_back_on_the_loop(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        put(i % 2 ? "alice" : "bob", do_nothing);
    turn_until(20);
}

/* The least of several delays: the machine may be busy with something else. */
static void a_user_whose_jobs_hang_delays_others_by_less_than_50_ms(void **state)
{
    int64_t least_ms = INT64_MAX;
    int n = 0;

    (void)state;
    hang_two("mallory");
    for (int i = 0; i < 10; i++)
        put("mallory", hang);
    while (least_ms >= 50 && n < 20) {
        int64_t put_ms = clock_mono_ms(&clock_system);

        put("alice", do_nothing);
        turn_until(++n);
        least_ms = done_ms - put_ms < least_ms ? done_ms - put_ms : least_ms;
    }
    assert_in_range(least_ms, 0, 49);
    let_go(12);
    turn_until(n + 12);
}

/* As many as there may be are in work; the others begin only when one of these is done. */
static void a_user_holds_two_threads_at_most(void **state)
{
    (void)state;
    hang_two("mallory");
    put("mallory", hang);
    for (int i = 0; i < 20; i++) {
        put("alice", do_nothing);
        turn_until(i + 1);
    }
    assert_int_equal(sem_trywait(&has_begun), -1);
    let_go(1);
    turn_until(21);
    sem_wait(&has_begun);
    let_go(2);
    turn_until(23);
}

static void many_users_whose_jobs_hang_do_not_stop_another(void **state)
{
    static const char *const users[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        put(users[i], hang);
        put(users[i], hang);
    }
    put("alice", do_nothing);
    turn_until(1);
    let_go(2 * (int)ARRAY_LEN(users));
    turn_until(1 + 2 * (int)ARRAY_LEN(users));
}

static void a_job_that_has_not_begun_can_be_taken_back(void **state)
{
    struct worker_job *waits;

    (void)state;
    hang_two("mallory");
    waits = put("mallory", hang);
    assert_int_equal(workers_began_ms(workers, waits), 0);
    assert_true(workers_take_back(workers, waits));
    free(waits);
    let_go(2);
    turn_until(2);
}

static void a_job_that_has_begun_is_not_taken_back(void **state)
{
    struct worker_job *job;

    (void)state;
    job = put("mallory", hang);
    sem_wait(&has_begun);
    assert_true(workers_began_ms(workers, job) > 0);
    assert_false(workers_take_back(workers, job));
    let_go(1);
    turn_until(1);
}

static void take_14_ms(struct worker_job *job, struct spawner *s)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + 14;

    (void)job;
    (void)s;
    while (clock_mono_ms(&clock_system) < until_ms)
        continue;
}

/* Jobs that are just not slow make no new thread: the other user has its turn all the same. */
static void a_user_with_many_jobs_delays_others_by_one_of_them(void **state)
{
    static const int many = 20;

    (void)state;
    for (int i = 0; i < many; i++)
        put("mallory", take_14_ms);
    put("alice", hang); /* begins before the rest */
    sem_wait(&has_begun);
    workers_collect(workers);
    assert_true(done < many / 2);
    let_go(1);
    turn_until(many + 1);
}

static bool put_and_wait(const char *owner, void (*work)(struct worker_job *job, struct spawner *s))
{
    struct worker_job *job = xalloc(sizeof(*job));

    *job = (struct worker_job){ .work = work, .done = on_done };
    return workers_put_and_wait(workers, owner, job);
}

static void what_hangs_is_waited_for_once_and_not_for_long(void **state)
{
    int64_t begin_ms = clock_mono_ms(&clock_system);

    (void)state;
    assert_false(put_and_wait("mallory", hang));
    assert_in_range(clock_mono_ms(&clock_system) - begin_ms, WORKERS_WAIT_MS, SOON_MS);
    assert_false(put_and_wait("mallory", hang));
    assert_int_equal(done, 1); /* the second was not even begun */
    let_go(1);
    turn_until(2);
}

static void take_20_ms(struct worker_job *job, struct spawner *s)
{
    const struct timespec ms = { .tv_nsec = 20 * 1000000 };

    (void)job;
    (void)s;
    nanosleep(&ms, NULL);
}

static void an_owner_that_was_slow_is_not_waited_for_again(void **state)
{
    (void)state;
    (void)put_and_wait("mallory", take_20_ms); /* in time, or not on a busy machine */
    turn_until(1);
    for (int i = 0; i < 5; i++) {
        assert_false(put_and_wait("mallory", hang));
        assert_int_equal(done, 2 + i); /* it was not even begun, though none is in work */
    }
}

/* However many owners there are, and though each answers before it is called slow.  One that is not
 * waited for is not even begun. */
static void all_owners_together_are_waited_for_a_part_of_each_second(void **state)
{
    enum { OWNERS = 200, IN_A_SECOND = WORKERS_WAIT_MS / 14 + 1 };
    int64_t begin_ms = clock_mono_ms(&clock_system), seconds;
    int n_begun = 0;

    (void)state;
    for (int i = 0; i < OWNERS; i++) {
        int before = done;
        char owner[16];

        snprintf(owner, sizeof(owner), "user-%d", i);
        (void)put_and_wait(owner, take_14_ms);
        n_begun += done == before;
    }
    seconds = 1 + (clock_mono_ms(&clock_system) - begin_ms) / WORKERS_WAIT_EACH_MS;
    assert_true(n_begun > 0);
    assert_true(n_begun <= seconds * IN_A_SECOND);
    turn_until(OWNERS);
}

/* A machine that is too busy for that makes its owner a slow one. */
static void what_is_quick_can_be_waited_for(void **state)
{
    int64_t until_ms = clock_mono_ms(&clock_system) + 4 * SOON_MS;
    int n = 0, before;
    char owner[16];
    bool is_done;
    struct err err;

    (void)state;
    do {
        assert_int_equal(loop_turn(loop, TURN_MS, &err), 0);
        before = done;
        snprintf(owner, sizeof(owner), "user-%d", n++);
        is_done = put_and_wait(owner, do_nothing);
    } while (!is_done && clock_mono_ms(&clock_system) < until_ms);
    assert_true(is_done);
    assert_int_equal(done, before);
    turn_until(n);
}

static void there_is_room_for_a_bounded_number_of_jobs_of_a_user(void **state)
{
    (void)state;
    for (int i = 0; i < WORKERS_ROOM; i++) {
        assert_true(workers_have_room(workers, "mallory"));
        put("mallory", hang);
    }
    assert_false(workers_have_room(workers, "mallory"));
    assert_true(workers_have_room(workers, "alice"));
    let_go(WORKERS_ROOM);
    turn_until(WORKERS_ROOM);
    assert_true(workers_have_room(workers, "mallory"));
}

static void what_is_in_is_done_before_the_end(void **state)
{
    begin(state);
    for (int i = 0; i < 10; i++)
        put("alice", do_nothing);
    end(state);
    assert_int_equal(done, 10);
}

static void the_end_does_not_wait_for_one_that_hangs(void **state)
{
    int64_t begin_ms;

    begin(state);
    hang_two("mallory");
    begin_ms = clock_mono_ms(&clock_system);
    assert_false(workers_free(workers, 100));
    assert_in_range(clock_mono_ms(&clock_system) - begin_ms, 100, SOON_MS);
    let_go(2);
    end(state);
    assert_int_equal(done, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_job_comes_back_on_the_loop, begin, end),
        cmocka_unit_test_setup_teardown(a_user_whose_jobs_hang_delays_others_by_less_than_50_ms,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_user_holds_two_threads_at_most, begin, end),
        cmocka_unit_test_setup_teardown(many_users_whose_jobs_hang_do_not_stop_another, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_has_not_begun_can_be_taken_back, begin, end),
        cmocka_unit_test_setup_teardown(a_job_that_has_begun_is_not_taken_back, begin, end),
        cmocka_unit_test_setup_teardown(a_user_with_many_jobs_delays_others_by_one_of_them, begin,
                                        end),
        cmocka_unit_test_setup_teardown(what_hangs_is_waited_for_once_and_not_for_long, begin, end),
        cmocka_unit_test_setup_teardown(an_owner_that_was_slow_is_not_waited_for_again, begin, end),
        cmocka_unit_test_setup_teardown(all_owners_together_are_waited_for_a_part_of_each_second,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_quick_can_be_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(there_is_room_for_a_bounded_number_of_jobs_of_a_user, begin,
                                        end),
        cmocka_unit_test(what_is_in_is_done_before_the_end),
        cmocka_unit_test(the_end_does_not_wait_for_one_that_hangs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
