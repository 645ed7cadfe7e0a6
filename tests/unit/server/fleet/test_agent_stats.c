/* SPDX-License-Identifier: MIT */
/* Tests for server/fleet/agent_stats.c and server/fleet/versions.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/fleet/agent_stats.h"
#include "server/fleet/versions.h"

static void they_add_up_and_the_largest_is_known(void **state)
{
    const struct message_agent_stats small = { .rss_bytes = 10,
                                               .journal_bytes = 700,
                                               .processes = 1 },
                                     large = { .rss_bytes = 30, .journal_bytes = 5, .events = 9 };
    struct agent_stats_grown grown = { 0 };
    struct agent_stats a = { 0 }, b = { 0 }, silent = { 0 };
    struct agent_stats_now now = { 0 };

    (void)state;
    agent_stats_take(&a, &small, 1000, &grown);
    agent_stats_take(&b, &large, 1000, &grown);
    agent_stats_add(&a, &now);
    agent_stats_add(&b, &now);
    agent_stats_add(&silent, &now);
    assert_int_equal(now.agents, 2);
    assert_int_equal(now.sum.rss_bytes, 40);
    assert_int_equal(now.max.rss_bytes, 30);
    assert_int_equal(now.sum.journal_bytes, 705);
    assert_int_equal(now.max.journal_bytes, 700);
    assert_int_equal(now.sum.processes, 1);
    assert_int_equal(now.max.events, 9);
}

/* What an agent had used before its session began was not used in it. */
static void what_grows_counts_from_the_first_time_on(void **state)
{
    struct message_agent_stats m = { .rss_bytes = 1, .cpu_ms = 5000, .restarts = 7 };
    struct agent_stats_grown grown = { 0 };
    struct agent_stats f = { 0 };
    struct agent_stats_now now = { 0 };

    (void)state;
    agent_stats_take(&f, &m, 1000, &grown);
    assert_int_equal(grown.cpu_ms, 0);
    m.cpu_ms = 5250;
    m.restarts = 9;
    agent_stats_take(&f, &m, 2000, &grown);
    assert_int_equal(grown.cpu_ms, 250);
    assert_int_equal(grown.restarts, 2);
    agent_stats_add(&f, &now);
    assert_int_equal(now.cpu_max_thousandths, 250);
}

/* It may have been replaced in place, and count anew; a counter of ours never goes back. */
static void what_went_back_adds_nothing(void **state)
{
    struct message_agent_stats m = { .rss_bytes = 1, .cpu_ms = 5000, .restarts = 7 };
    struct agent_stats_grown grown = { 100, 100 };
    struct agent_stats f = { 0 };

    (void)state;
    agent_stats_take(&f, &m, 1000, &grown);
    m.cpu_ms = m.restarts = 1;
    agent_stats_take(&f, &m, 1000, &grown);
    assert_int_equal(grown.cpu_ms, 100);
    assert_int_equal(grown.restarts, 100);
    m.cpu_ms = 4;
    agent_stats_take(&f, &m, 1000, &grown);
    assert_int_equal(grown.cpu_ms, 103);
}

static void an_older_agent_tells_none(void **state)
{
    struct agent_stats_grown grown = { 0 };
    struct agent_stats f = { 0 };
    struct agent_stats_now now = { 0 };

    (void)state;
    agent_stats_take(&f, &(struct message_agent_stats){ 0 }, 1000, &grown);
    agent_stats_add(&f, &now);
    assert_int_equal(now.agents, 0);
}

static void versions_are_counted_and_given_back(void **state)
{
    struct versions v = { 0 };
    int a = versions_add(&v, "1.0"), b = versions_add(&v, "1.1");

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(versions_add(&v, "1.0"), a);
    assert_int_equal(v.all[a].n, 2);
    assert_string_equal(v.all[b].text, "1.1");
    versions_del(&v, b);
    assert_int_equal(versions_add(&v, "1.2"), b);
    assert_string_equal(v.all[b].text, "1.2");
}

/* An agent may call itself what it likes. */
static void what_there_is_no_room_for_is_other(void **state)
{
    struct versions v = { 0 };
    char text[VERSION_SIZE + 1];

    (void)state;
    for (int i = 1; i < VERSIONS_MAX; i++) {
        snprintf(text, sizeof(text), "1.%d", i);
        assert_int_not_equal(versions_add(&v, text), 0);
    }
    assert_int_equal(versions_add(&v, "2.0"), 0);
    assert_int_not_equal(versions_add(&v, "1.7"), 0);
    memset(text, 'x', sizeof(text));
    text[VERSION_SIZE] = '\0';
    assert_int_equal(versions_add(&v, text), 0);
    assert_int_equal(versions_add(&v, ""), 0);
    versions_del(&v, 1);
    assert_int_equal(versions_add(&v, "other"), 0); /* or there were two of that name */
    versions_del(&v, 0);
    assert_string_equal(v.all[0].text, "other");
    assert_int_equal(v.all[0].n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_add_up_and_the_largest_is_known),
        cmocka_unit_test(what_grows_counts_from_the_first_time_on),
        cmocka_unit_test(what_went_back_adds_nothing),
        cmocka_unit_test(an_older_agent_tells_none),
        cmocka_unit_test(versions_are_counted_and_given_back),
        cmocka_unit_test(what_there_is_no_room_for_is_other),
    };

    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
