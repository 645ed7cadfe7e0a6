/* SPDX-License-Identifier: MIT */
/* Events are told until the server has them, in order, over all lives of the agent. */
#include "agent/supervise/core_event.h"
#include "agent/supervise/core_local.h"

#include "tests/unit/agent/core_world.h"

static void happen(int n)
{
    struct proc *k = core_proc(world.core, "space", "p");

    for (int i = 0; i < n; i++)
        core_tell_event(k, "process_restart_failed", "event %d", i);
}

static void acknowledge(int64_t id)
{
    core_on_message(world.core, MESSAGE_EVENT_STORED, &(struct message_event_ref){ id },
                    world.now_ms);
}

/* A server that takes what it is sent, until nothing more comes. */
static void take_all(void)
{
    for (size_t i = 0; i < world.n_sent; i++)
        acknowledge(world.sent[i].id);
}

/* world_take_event() looks at the text. */
static void an_event_that_is_too_long_ends_with_a_whole_character(void **state)
{
    struct proc *k = core_proc(world.core, "space", "p");

    (void)state;
    world_welcome();
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        core_tell_event(k, "process_restart_failed", "%s", wide_text(i));
        assert_int_equal(world.n_sent, i + 1);
        acknowledge(world.sent[i].id);
    }
}

static void an_event_is_told_at_once_and_again_until_it_is_acknowledged(void **state)
{
    (void)state;
    world_welcome();
    happen(2);
    assert_int_equal(world.n_sent, 2);
    assert_int_equal(world.sent[0].after, 0);
    assert_int_equal(world.sent[1].after, world.sent[0].id);
    core_on_link(world.core, false, world.now_ms);
    happen(1);
    assert_int_equal(world.n_sent, 2);
    world_welcome();
    assert_int_equal(world.n_sent, 5);
    assert_int_equal(world.sent[2].id, world.sent[0].id);
    acknowledge(world.sent[0].id);
    core_on_link(world.core, false, world.now_ms);
    world_welcome();
    assert_int_equal(world.n_sent, 7);
    assert_int_equal(world.sent[5].id, world.sent[1].id);
    assert_int_equal(world.sent[5].after, 0); /* none is missing before it */
    take_all();
    core_on_link(world.core, false, world.now_ms);
    world_welcome();
    world_pass_ms(3600 * 1000);
    assert_int_equal(world.n_sent, 7);
}

/* It may not be able to write them: one is enough to find out. */
static void a_server_that_takes_none_is_asked_now_and_then_by_one(void **state)
{
    (void)state;
    world_welcome();
    happen(500);
    assert_in_range(world.n_sent, 1, 100); /* as many as may be on their way */
    world.n_sent = 0;
    for (int i = 0; i < 60; i++)
        world_pass_ms(10 * 1000);
    assert_in_range(world.n_sent, 5, 20);
    happen(1);
    for (size_t i = 1; i < world.n_sent; i++)
        assert_int_equal(world.sent[i].id, world.sent[0].id);
    take_all();
    for (size_t i = world.n_sent - 500; i + 1 < world.n_sent; i++)
        assert_int_equal(world.sent[i + 1].after, world.sent[i].id);
    assert_int_equal(world.sent[world.n_sent - 1].id, world.sent[0].id + 500);
}

static void the_newest_two_thousand_are_kept_and_the_others_counted(void **state)
{
    int64_t first;

    (void)state;
    happen(2003);
    world_welcome();
    take_all();
    assert_int_equal(world.n_sent, 2001);
    assert_int_equal(world.sent[0].lost, 3);
    first = world.sent[0].id;
    for (size_t i = 1; i < world.n_sent; i++) {
        assert_int_equal(world.sent[i].lost, 0);
        assert_int_equal(world.sent[i].id, first + (int64_t)i);
    }
    assert_string_equal(world.sent[1].text, "event 3");
    happen(1);
    assert_int_equal(world.sent[2001].lost, 0); /* it is told once */
}

/* Read again, as many are lost; written anew, they are not lost twice. */
static void what_waits_and_what_was_lost_outlive_the_agent(void **state)
{
    (void)state;
    world.events_max = 5;
    world_begin(true);
    happen(7);
    for (int life = 0; life < 4; life++) {
        if (life == 2)
            world_compact();
        world_begin(life != 3);
        happen(1);
    }
    world_welcome();
    take_all();
    assert_int_equal(world.n_sent, 6);
    assert_int_equal(world.sent[0].lost, 6);
    for (size_t i = 1; i < 6; i++)
        assert_true(world.sent[i].id > world.sent[i - 1].id);
    assert_string_equal(world.sent[1].text, "event 6");
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 0);
}

static void what_is_acknowledged_is_in_the_journal(void **state)
{
    (void)state;
    world_welcome();
    happen(3);
    acknowledge(world.sent[1].id);
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 1);
    assert_string_equal(world.sent[0].text, "event 2");
    world_compact();
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 1);
}

static void ids_rise_whatever_the_clock_does(void **state)
{
    int64_t last = 0;

    (void)state;
    for (int life = 0; life < 6; life++) {
        world.wall_ms = life == 1 ? 4000000000000 : 1000 * (6 - life);
        world_begin(life % 2);
        world_welcome();
        happen(2);
        assert_true(world.sent[0].id > last);
        last = world.sent[1].id;
        take_all();
        if (life == 3)
            world_compact(); /* none waits */
    }
}

/* Some had been sent before they were on the disk. */
static void an_id_is_not_given_again_after_the_power_was_lost(void **state)
{
    size_t durable;
    int64_t last;

    (void)state;
    world_welcome();
    happen(2);
    durable = world.n_records;
    happen(5);
    last = world.sent[6].id;
    world_drop_records(durable);
    world.wall_ms -= 1000;
    world_begin(false);
    happen(1);
    world_welcome();
    assert_int_equal(world.n_sent, 2);
    acknowledge(last);
    assert_int_equal(world.n_sent, 3);
    assert_true(world.sent[2].id > last);
}

static void an_id_is_not_given_again_though_nothing_of_a_life_was_synced(void **state)
{
    size_t durable;
    int64_t last = 0;

    (void)state;
    for (int life = 0; life < 4; life++) {
        world.wall_ms = life == 1 ? 3000 * 1000 : 0;
        world_begin(false);
        durable = world.n_records; /* a life begins with a sync */
        world_welcome();
        happen(3);
        assert_true(world.sent[0].id > last);
        last = world.sent[2].id;
        world_drop_records(durable);
    }
}

/* Not even where it begins could be written: the disk was full. */
static void an_id_is_not_given_again_though_nothing_of_a_life_was_written(void **state)
{
    size_t written;
    int64_t last = 0;

    (void)state;
    world.wall_ms = 3000 * 1000;
    world_begin(true);
    written = world.n_records;
    for (int life = 0; life < 4; life++) {
        world.wall_ms = 0;
        world.now_ms += 1000;
        world_begin(true);
        world_welcome();
        happen(3);
        assert_true(world.sent[0].id > last);
        last = world.sent[2].id;
        world_drop_records(written);
    }
}

static void an_agent_that_has_lost_its_journal_goes_on_where_the_server_is(void **state)
{
    (void)state;
    world.events_max = 4;
    world_begin(true);
    happen(6);
    world_welcome();
    assert_int_equal(world.n_sent, 5);
    acknowledge(world.sent[4].id + 1000);
    assert_int_equal(world.n_sent, 10);
    assert_int_equal(world.sent[5].lost, 2);
    for (size_t i = 5; i < 10; i++) {
        assert_true(world.sent[i].id > world.sent[4].id + 1000);
        assert_int_equal(world.sent[i].after, i == 5 ? 0 : world.sent[i - 1].id);
    }
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 5);
    assert_int_equal(world.sent[0].lost, 2);
    take_all();
    world.n_sent = 0;
    acknowledge(INT64_MAX); /* nonsense */
    happen(1);
    assert_int_equal(world.n_sent, 1);
    assert_true(world.sent[0].id > 0);
}

/* A life whose clock was ahead told of events that it could not write down; the next one, whose
 * clock was behind, of some that the server takes for old; and the one after it counts from
 * a time that is later than both. */
static void what_the_server_takes_for_old_is_not_taken_for_stored(void **state)
{
    size_t written;
    int64_t ahead;

    (void)state;
    world_begin(true);
    written = world.n_records;
    world.wall_ms = 3000 * 1000;
    world_begin(true);
    happen(1);
    world_welcome();
    ahead = world.sent[0].id;
    world_drop_records(written);
    world.wall_ms = 1000 * 1000;
    world_begin(true);
    happen(2);
    world.wall_ms = 5000 * 1000;
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 2);
    assert_true(world.sent[1].id < ahead);
    acknowledge(ahead);
    assert_int_equal(world.n_sent, 4);
    assert_true(world.sent[2].id > ahead);
    assert_int_equal(world.sent[2].after, 0);
    assert_string_equal(world.sent[3].text, "event 1");
    take_all();
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 0);
}

static void one_life_is_told_of_after_the_other(void **state)
{
    (void)state;
    world_begin(true);
    happen(2);
    world.wall_ms += 3000 * 1000;
    world_begin(true);
    happen(1);
    world_welcome();
    assert_int_equal(world.n_sent, 2);
    acknowledge(world.sent[0].id);
    assert_int_equal(world.n_sent, 2);
    acknowledge(world.sent[1].id);
    assert_int_equal(world.n_sent, 3);
    assert_int_equal(world.sent[2].after, 0);
    assert_true(world.sent[2].id - world.sent[1].id > 1000 * 1000);
}

/* The server had all before it, too, and its word for those was lost. */
static void
an_acknowledgement_of_the_first_event_of_a_later_life_stands_for_all_before_it(void **state)
{
    int64_t first;

    (void)state;
    world_begin(true);
    happen(2);
    world.wall_ms += 3000 * 1000;
    world_begin(true);
    happen(1);
    first = world.core->events.last_id;
    happen(1);
    world_welcome();
    assert_int_equal(world.n_sent, 2);
    acknowledge(first);
    assert_int_equal(world.n_sent, 3); /* none of them again, and the one behind it */
    assert_int_equal(world.sent[2].id, first + 1);
    acknowledge(first + 1);
    world_begin(true);
    world_welcome();
    assert_int_equal(world.n_sent, 0);
}

static void an_acknowledgement_that_comes_late_or_twice_does_no_harm(void **state)
{
    (void)state;
    world_welcome();
    happen(3);
    acknowledge(world.sent[2].id);
    acknowledge(world.sent[0].id);
    acknowledge(world.sent[2].id);
    acknowledge(0);
    acknowledge(INT64_MIN);
    core_on_link(world.core, false, world.now_ms);
    acknowledge(world.sent[2].id);
    happen(1);
    world_welcome();
    assert_int_equal(world.n_sent, 4);
}

/* The journal has lost what came before it. */
static void an_acknowledgement_of_what_is_not_in_the_journal_does_no_harm(void **state)
{
    static const char json[] = "{\"id\":4611686018427387000}";
    struct err err;

    (void)state;
    happen(2);
    world_replay();
    world.messages = 0;
    world_drop_records(0);
    assert_int_equal(core_replay(world.core, RECORD_EVENT_STORED, json, strlen(json), &err), 0);
    assert_int_equal(world.n_records, 0); /* nothing is written before core_start() */
    assert_int_equal(world.messages, 0);
    core_start(world.core, true, world.now_ms, world.wall_ms);
}

struct shown {
    size_t n;
    int64_t first, last;
};

static void on_shown(void *arg, const struct message_event *e)
{
    struct shown *s = arg;

    if (!s->n++)
        s->first = e->id;
    assert_true(e->id >= s->last);
    s->last = e->id;
}

static struct shown show_after(int64_t after)
{
    struct shown s = { 0 };

    core_each_event(world.core, after, on_shown, &s);
    return s;
}

/* Without a server, and after it has stored them. */
static void events_are_shown_on_the_host_whether_they_are_stored_or_not(void **state)
{
    int64_t last;

    (void)state;
    happen(5);
    assert_int_equal(show_after(0).n, 5);
    world_welcome();
    take_all();
    assert_int_equal(world.core->events.n, 0);
    assert_int_equal(show_after(0).n, 5);
    happen(2);
    assert_int_equal(show_after(0).n, 7);
    last = show_after(0).last;
    assert_int_equal(show_after(last).n, 0);
    happen(EVENTS_STORED_MAX);
    take_all();
    assert_int_equal(world.core->events.n, 0);
    assert_int_equal(show_after(0).n, EVENTS_STORED_MAX);
    assert_true(show_after(0).first > last);
}

static void at_least_one_event_may_wait(void **state)
{
    (void)state;
    world.events_max = 0;
    core_set_events_max(world.core, 0);
    happen(3);
    world_welcome();
    assert_int_equal(world.n_sent, 2);
    assert_int_equal(world.sent[0].lost, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(an_event_that_is_too_long_ends_with_a_whole_character),
        WORLD_TEST(an_event_is_told_at_once_and_again_until_it_is_acknowledged),
        WORLD_TEST(a_server_that_takes_none_is_asked_now_and_then_by_one),
        WORLD_TEST(the_newest_two_thousand_are_kept_and_the_others_counted),
        WORLD_TEST(what_waits_and_what_was_lost_outlive_the_agent),
        WORLD_TEST(what_is_acknowledged_is_in_the_journal),
        WORLD_TEST(ids_rise_whatever_the_clock_does),
        WORLD_TEST(an_id_is_not_given_again_after_the_power_was_lost),
        WORLD_TEST(an_id_is_not_given_again_though_nothing_of_a_life_was_synced),
        WORLD_TEST(an_id_is_not_given_again_though_nothing_of_a_life_was_written),
        WORLD_TEST(an_agent_that_has_lost_its_journal_goes_on_where_the_server_is),
        WORLD_TEST(what_the_server_takes_for_old_is_not_taken_for_stored),
        WORLD_TEST(one_life_is_told_of_after_the_other),
        WORLD_TEST(an_acknowledgement_of_the_first_event_of_a_later_life_stands_for_all_before_it),
        WORLD_TEST(an_acknowledgement_that_comes_late_or_twice_does_no_harm),
        WORLD_TEST(an_acknowledgement_of_what_is_not_in_the_journal_does_no_harm),
        WORLD_TEST(events_are_shown_on_the_host_whether_they_are_stored_or_not),
        WORLD_TEST(at_least_one_event_may_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
