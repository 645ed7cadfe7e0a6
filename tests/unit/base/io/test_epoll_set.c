/* SPDX-License-Identifier: MIT */
#include "base/io/epoll_set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/sys.h"

enum { MEMBERS = 300 };

static struct {
    struct loop *loop;
    struct epoll_set *epoll_set;
    struct err err;
    int fds[MEMBERS];
    int heard[MEMBERS];
    int others_to_end; /* how many others the first callback removes */
} here;

static void end(int i)
{
    epoll_set_del(here.epoll_set, here.fds[i]);
    close(here.fds[i]);
    here.fds[i] = -1;
}

static void on_member(void *arg, uint64_t key)
{
    assert_ptr_equal(arg, &here);
    here.heard[key]++;
    for (int i = 0; i < here.others_to_end; i++) {
        if ((uint64_t)i != key && here.fds[i] >= 0)
            end(i);
    }
    here.others_to_end = 0;
    if (here.fds[key] >= 0)
        end((int)key);
}

static int set_up(void **state)
{
    (void)state;
    here.others_to_end = 0;
    assert_int_equal(loop_new(&clock_system, &here.loop, &here.err), 0);
    assert_int_equal(epoll_set_new(here.loop, on_member, &here, &here.epoll_set, &here.err), 0);
    for (int i = 0; i < MEMBERS; i++) {
        here.heard[i] = 0;
        here.fds[i] = eventfd(0, EFD_CLOEXEC);
        assert_int_equal(epoll_set_add(here.epoll_set, here.fds[i], (uint64_t)i, &here.err), 0);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    for (int i = 0; i < MEMBERS; i++) {
        if (here.fds[i] >= 0)
            close(here.fds[i]);
    }
    epoll_set_free(here.epoll_set);
    loop_free(here.loop);
    return 0;
}

static void ring(int i)
{
    assert_int_equal(eventfd_write(here.fds[i], 1), 0);
}

static int heard(void)
{
    int n = 0;

    for (int i = 0; i < MEMBERS; i++)
        n += here.heard[i];
    return n;
}

static void turn(void)
{
    assert_int_equal(loop_turn(here.loop, 0, &here.err), 0);
}

static void only_ready_descriptors_are_reported_once_each(void **state)
{
    (void)state;
    turn();
    assert_int_equal(heard(), 0);
    ring(7);
    turn();
    turn();
    assert_int_equal(heard(), 1);
    assert_int_equal(here.heard[7], 1);
}

static void all_at_once_are_all_heard(void **state)
{
    (void)state;
    for (int i = 0; i < MEMBERS; i++)
        ring(i);
    for (int i = 0; i < MEMBERS; i++)
        turn();
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(here.heard[i], 1);
}

/* A removed descriptor may still be reported by number, but it is never read. */
static void one_may_end_the_others(void **state)
{
    (void)state;
    here.others_to_end = MEMBERS;
    for (int i = 0; i < MEMBERS; i++)
        ring(i);
    turn();
    turn();
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(here.fds[i], -1);
}

static void what_fails_is_said(void **state)
{
    struct epoll_set *none = NULL;

    (void)state;
    sys_fault("epoll", 1, ENOSPC);
    assert_int_equal(epoll_set_add(here.epoll_set, here.fds[0], 0, &here.err), -1);
    assert_non_null(strstr(here.err.text, "epoll: watch descriptor"));
    assert_non_null(strstr(here.err.text, "No space left on device"));
    sys_fault("epoll", 1, EMFILE);
    assert_int_equal(epoll_set_new(here.loop, on_member, &here, &none, &here.err), -1);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_ready_descriptors_are_reported_once_each, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(all_at_once_are_all_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_may_end_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_fails_is_said, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
