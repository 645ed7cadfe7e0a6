/* SPDX-License-Identifier: MIT */
#include "base/io/queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/time.h"

struct message {
    struct queue_node node;
    int producer, number;
};

static struct queue *open_queue(size_t limit)
{
    struct queue *q = NULL;
    struct err err;

    assert_int_equal(queue_new(limit, &q, &err), 0);
    return q;
}

static bool is_readable(struct queue *q)
{
    struct pollfd p = { .fd = queue_fd(q), .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

static int64_t now_ms(void)
{
    return clock_mono_ms(&clock_system);
}

static void messages_come_out_in_order_and_at_once(void **state)
{
    struct queue *q = open_queue(10);
    struct message m[5] = { 0 };
    struct queue_node *list;

    (void)state;
    assert_null(queue_take(q));
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRAY_LEN(m); i++) {
            m[i].node.next = &m[0].node; /* the old value must not matter */
            assert_true(queue_put(q, &m[i].node));
            assert_int_equal(queue_len(q), i + 1);
        }
        list = queue_take(q);
        for (size_t i = 0; i < ARRAY_LEN(m); i++, list = list->next)
            assert_ptr_equal(list, &m[i].node);
        assert_null(list);
        assert_int_equal(queue_len(q), 0);
        assert_null(queue_take(q));
    }
    queue_free(q);
    queue_free(NULL);
}

static void a_full_queue_refuses(void **state)
{
    struct message m[4] = { 0 };

    (void)state;
    for (size_t limit = 0; limit < 4; limit++) {
        struct queue *q = open_queue(limit);

        for (size_t i = 0; i < ARRAY_LEN(m); i++)
            assert_int_equal(queue_put(q, &m[i].node), i < limit);
        assert_int_equal(queue_len(q), limit);
        queue_take(q);
        assert_int_equal(queue_put(q, &m[0].node), limit > 0);
        queue_take(q);
        queue_free(q);
    }
}

static void the_descriptor_is_readable_exactly_while_messages_wait(void **state)
{
    struct queue *q = open_queue(2);
    struct message m[3] = { 0 };

    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_false(is_readable(q));
        for (size_t i = 0; i < ARRAY_LEN(m); i++) {
            queue_put(q, &m[i].node); /* the last put is refused */
            assert_true(is_readable(q));
        }
        queue_take(q);
        assert_false(is_readable(q));
        queue_take(q);
    }
    queue_free(q);
}

static void a_quiet_put_wakes_no_owner_and_is_taken_later(void **state)
{
    struct queue *q = open_queue(3);
    struct message m[4] = { 0 };

    (void)state;
    for (int round = 0; round < 3; round++) {
        assert_true(queue_put_quietly(q, &m[0].node));
        assert_false(is_readable(q));
        assert_int_equal(queue_len(q), 1);
        if (round == 1) { /* the message is taken although the owner was not woken */
            assert_ptr_equal(queue_take(q), &m[0].node);
            assert_false(is_readable(q));
            continue;
        }
        assert_true(queue_put(q, &m[1].node));
        assert_true(is_readable(q));
        assert_true(queue_put_quietly(q, &m[2].node));
        assert_false(queue_put_quietly(q, &m[3].node)); /* the queue is full */
        assert_true(is_readable(q));
        assert_ptr_equal(queue_take(q), &m[0].node);
        assert_ptr_equal(m[0].node.next, &m[1].node);
        assert_ptr_equal(m[1].node.next, &m[2].node);
        assert_false(is_readable(q));
    }
    queue_put_quietly(q, &m[0].node);
    queue_close(q);
    assert_true(is_readable(q));
    assert_ptr_equal(queue_take(q), &m[0].node);
    assert_true(is_readable(q));
    queue_free(q);
}

static void a_closed_queue_gives_what_it_has_and_takes_no_more(void **state)
{
    (void)state;
    for (int waiting = 0; waiting < 2; waiting++) {
        struct queue *q = open_queue(5);
        struct message m[2] = { 0 };

        if (waiting)
            queue_put(q, &m[0].node);
        assert_false(queue_is_closed(q));
        queue_close(q);
        queue_close(q);
        assert_true(queue_is_closed(q));
        assert_false(queue_put(q, &m[1].node));
        for (int i = 0; i < 3; i++) {
            /* And stays readable, so that the owner notices the close. */
            assert_true(is_readable(q));
            assert_true(queue_wait(q, -1));
            assert_ptr_equal(queue_take(q), i == 0 && waiting ? &m[0].node : NULL);
        }
        queue_free(q);
    }
}

static void wait_ends_at_its_time(void **state)
{
    static const int times[] = { 0, 1, 30 };
    struct queue *q = open_queue(1);
    struct message m = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        int64_t before = now_ms();

        assert_false(queue_wait(q, times[i]));
        assert_true(now_ms() - before >= times[i]);
    }
    queue_put(q, &m.node);
    assert_true(queue_wait(q, 0));
    assert_true(queue_wait(q, -1));
    queue_take(q);
    queue_free(q);
}

/* A thread in queue_wait(), and the result of that call. */
struct waiter {
    struct queue *q;
    int timeout_ms;
    bool told;
    int64_t took_ms;
    atomic_int ready, done;
};

static void *wait_for_queue(void *arg)
{
    struct waiter *w = arg;
    int64_t before = now_ms();

    w->ready = 1;
    w->told = queue_wait(w->q, w->timeout_ms);
    w->took_ms = now_ms() - before;
    w->done = 1;
    return NULL;
}

static pthread_t start(struct waiter *w)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_queue, w), 0);
    while (!w->ready)
        sched_yield();
    return thread;
}

static void a_message_or_a_close_wakes_the_waiter(void **state)
{
    (void)state;
    for (int closing = 0; closing < 2; closing++) {
        struct waiter w = { .q = open_queue(1), .timeout_ms = -1 };
        struct message m = { 0 };
        pthread_t thread = start(&w);

        if (closing)
            queue_close(w.q);
        else
            queue_put(w.q, &m.node);
        pthread_join(thread, NULL);
        assert_true(w.told);
        assert_int_equal(queue_len(w.q), closing ? 0 : 1);
        queue_take(w.q);
        queue_free(w.q);
    }
}

static atomic_int interruptions;

static void on_signal(int number)
{
    (void)number;
    interruptions++;
}

/* Signals during the wait neither end it nor prolong it. */
static void a_signal_does_not_end_the_wait(void **state)
{
    struct sigaction act = { .sa_handler = on_signal }, old;

    (void)state;
    sigaction(SIGUSR1, &act, &old);
    for (int forever = 0; forever < 2; forever++) {
        struct waiter w = { .q = open_queue(1), .timeout_ms = forever ? -1 : 100 };
        struct message m = { 0 };
        pthread_t thread = start(&w);
        int64_t until = now_ms() + 5000;

        for (interruptions = 0; (!forever || interruptions < 100) && !w.done && now_ms() < until;) {
            pthread_kill(thread, SIGUSR1);
            sched_yield();
        }
        assert_true(forever || w.done);
        queue_put(w.q, &m.node);
        pthread_join(thread, NULL);
        assert_int_equal(w.told, forever);
        assert_true(interruptions > 0);
        assert_true(forever || w.took_ms >= 100);
        queue_take(w.q);
        queue_free(w.q);
    }
    sigaction(SIGUSR1, &old, NULL);
}

enum { PRODUCERS = 4, MESSAGES = 20000 };

struct producer {
    struct queue *q;
    int number;
    atomic_long *refused;
    pthread_t thread;
};

static void *produce(void *arg)
{
    struct producer *p = arg;

    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = xalloc(sizeof(*m));

        *m = (struct message){ .producer = p->number, .number = i };
        while (!queue_put(p->q, &m->node)) {
            atomic_fetch_add(p->refused, 1);
            sched_yield();
        }
    }
    return NULL;
}

/* Takes a batch and checks the order within each producer; returns its length. */
static size_t consume(struct queue *q, int next[PRODUCERS])
{
    struct queue_node *node = queue_take(q);
    size_t n = 0;

    for (; node; n++) {
        struct message *m = (struct message *)node;

        node = node->next;
        assert_int_equal(m->number, next[m->producer]++);
        free(m);
    }
    return n;
}

static void nothing_is_lost_between_threads(void **state)
{
    static const size_t limits[] = { 1, 7, 100000 };

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(limits); k++) {
        struct producer producers[PRODUCERS];
        struct queue *q = open_queue(limits[k]);
        int next[PRODUCERS] = { 0 };
        atomic_long refused = 0;
        size_t n = 0;

        for (int i = 0; i < PRODUCERS; i++) {
            producers[i] = (struct producer){ .q = q, .number = i, .refused = &refused };
            assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
        }
        while (n < PRODUCERS * MESSAGES) {
            size_t batch;

            assert_true(queue_wait(q, -1));
            batch = consume(q, next);
            /* A readable descriptor means that messages wait. */
            assert_in_range(batch, 1, limits[k]);
            n += batch;
        }
        for (int i = 0; i < PRODUCERS; i++)
            pthread_join(producers[i].thread, NULL);
        assert_false(is_readable(q));
        assert_true(limits[k] > 1 || refused > 0);
        queue_free(q);
    }
}

static void without_a_descriptor_there_is_no_queue(void **state)
{
    struct queue *q = NULL;
    struct err err = { 0 };

    (void)state;
    sys_fault("eventfd", 1, EMFILE);
    assert_int_equal(queue_new(1, &q, &err), -1);
    assert_true(sys_fault_hit());
    assert_null(q);
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_int_equal(err.sys, EMFILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_come_out_in_order_and_at_once),
        cmocka_unit_test(a_full_queue_refuses),
        cmocka_unit_test(the_descriptor_is_readable_exactly_while_messages_wait),
        cmocka_unit_test(a_quiet_put_wakes_no_owner_and_is_taken_later),
        cmocka_unit_test(a_closed_queue_gives_what_it_has_and_takes_no_more),
        cmocka_unit_test(wait_ends_at_its_time),
        cmocka_unit_test(a_message_or_a_close_wakes_the_waiter),
        cmocka_unit_test(a_signal_does_not_end_the_wait),
        cmocka_unit_test(nothing_is_lost_between_threads),
        cmocka_unit_test(without_a_descriptor_there_is_no_queue),
    };

    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
