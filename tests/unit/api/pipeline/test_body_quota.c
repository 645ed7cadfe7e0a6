/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/body_quota.h: no address can use up the memory of others. */
#include "api/pipeline/body_quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MAX = 1000, SMALL = 10, HOLDERS = 300 };

static struct body_quota quota;
static struct body_holder holders[HOLDERS];
static size_t evicted[HOLDERS], n_evicted;

static void evict(struct body_holder *h)
{
    evicted[n_evicted++] = (size_t)(h - holders);
    body_quota_leave(&quota, h);
}

static int setup(void **state)
{
    (void)state;
    quota = (struct body_quota){ .max = MAX, .small = SMALL, .evict = evict };
    for (size_t i = 0; i < HOLDERS; i++)
        holders[i] = (struct body_holder){ 0 };
    n_evicted = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOLDERS; i++)
        body_quota_leave(&quota, &holders[i]);
    assert_int_equal(quota.bytes, 0);
    body_quota_done(&quota);
    return 0;
}

static bool put(size_t i, const char *address, size_t bytes)
{
    if (!holders[i].address)
        body_quota_enter(&quota, &holders[i], address);
    return body_quota_add(&quota, &holders[i], bytes);
}

static void an_address_alone_has_all_of_it(void **state)
{
    (void)state;
    assert_true(put(0, "a", 500));
    assert_true(put(1, "a", 500));
    assert_false(put(1, "a", 1)); /* it would be the largest */
    assert_int_equal(n_evicted, 0);
    assert_int_equal(quota.bytes, MAX);
}

static void the_address_that_holds_most_makes_room(void **state)
{
    (void)state;
    assert_true(put(0, "a", 300));
    assert_true(put(1, "a", 400));
    assert_true(put(2, "b", 300));
    assert_true(put(3, "c", 200)); /* larger than small */
    assert_int_equal(n_evicted, 1);
    assert_int_equal(evicted[0], 1);
    assert_false(holders[1].address);
    assert_int_equal(quota.bytes, 800);
}

static void the_largest_body_is_itself_refused(void **state)
{
    (void)state;
    assert_true(put(0, "a", 400));
    assert_true(put(1, "b", 400));
    assert_true(put(2, "c", 200));
    assert_false(put(2, "c", 201));
    assert_int_equal(n_evicted, 0);
    assert_int_equal(holders[2].bytes, 200);
}

static void a_small_body_gets_in_at_the_cost_of_its_own_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAX / SMALL; i++)
        assert_true(put(i, "a", SMALL));
    for (size_t i = 0; i < MAX / SMALL; i++)
        assert_true(put(MAX / SMALL + i, "a", SMALL));
    assert_int_equal(n_evicted, MAX / SMALL);
    for (size_t i = 0; i < MAX / SMALL; i++)
        assert_int_equal(evicted[i], i); /* of equal ones the oldest */
}

static void a_body_that_is_complete_stays(void **state)
{
    (void)state;
    assert_true(put(0, "a", 900));
    assert_true(put(1, "a", 100));
    holders[0].is_read = true;
    assert_true(put(2, "b", SMALL));
    assert_int_equal(n_evicted, 1);
    assert_int_equal(evicted[0], 1);
    assert_false(put(2, "b", 200)); /* only itself could be evicted */
}

static void however_many_addresses_attack_a_small_body_gets_in(void **state)
{
    char address[16];

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        snprintf(address, sizeof(address), "10.0.0.%zu", i);
        assert_true(put(i, address, SMALL));
    }
    assert_true(put(100, "honest", SMALL));
    assert_int_equal(n_evicted, 1);
    assert_int_equal(evicted[0], 0);
}

/* Behind the same address as an attacker with large bodies. */
static void a_small_body_stays_while_a_larger_one_can_go(void **state)
{
    (void)state;
    assert_true(put(0, "nat", 600));
    holders[0].is_read = true;
    assert_true(put(1, "nat", SMALL));
    assert_true(put(2, "b", 390));
    assert_true(put(3, "c", 50));
    assert_int_equal(n_evicted, 1);
    assert_int_equal(evicted[0], 2);
    assert_false(put(3, "c", 400)); /* it is itself the larger one */
    assert_int_equal(n_evicted, 1);
    assert_true(put(4, "d", 340));
    holders[3].is_read = holders[4].is_read = true;
    assert_true(put(5, "e", 1)); /* only small ones are left */
    assert_int_equal(n_evicted, 2);
    assert_int_equal(evicted[1], 1);
}

static void a_crowd_of_small_bodies_makes_room_for_a_large_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < 90; i++)
        assert_true(put(i, "crowd", SMALL));
    assert_true(put(90, "b", 100));
    assert_true(put(91, "c", 2 * SMALL));
    assert_int_equal(n_evicted, 2);
    for (size_t i = 0; i < n_evicted; i++)
        assert_int_equal(evicted[i], i);
}

#define QUOTA_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUOTA_TEST(an_address_alone_has_all_of_it),
        QUOTA_TEST(the_address_that_holds_most_makes_room),
        QUOTA_TEST(the_largest_body_is_itself_refused),
        QUOTA_TEST(a_small_body_gets_in_at_the_cost_of_its_own_address),
        QUOTA_TEST(a_body_that_is_complete_stays),
        QUOTA_TEST(a_small_body_stays_while_a_larger_one_can_go),
        QUOTA_TEST(a_crowd_of_small_bodies_makes_room_for_a_large_one),
        QUOTA_TEST(however_many_addresses_attack_a_small_body_gets_in),
    };

    return cmocka_run_group_tests_name("body_quota", tests, NULL, NULL);
}
