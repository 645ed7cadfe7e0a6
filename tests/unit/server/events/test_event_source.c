/* SPDX-License-Identifier: MIT */
#include "server/events/event_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem/mem.h"

static const struct event_source_limits limits = { .burst = 100, .per_minute = 6 };

static void an_event_is_taken_once_and_in_its_turn(void **state)
{
    static const struct {
        int64_t last, id, after;
        enum event_source_place place;
    } cases[] = {
        { 0, 7, 0, EVENT_SOURCE_NEXT },  /* nothing is known of the agent, */
        { 0, 7, 6, EVENT_SOURCE_EARLY }, /* but it has more */
        { 7, 7, 0, EVENT_SOURCE_KNOWN }, /* our answer did not reach it */
        { 7, 6, 5, EVENT_SOURCE_KNOWN }, /* late */
        { 7, 8, 7, EVENT_SOURCE_NEXT },
        { 7, 9, 8, EVENT_SOURCE_EARLY }, /* 8 is lost, or could not be taken */
        { 7, 90, 0, EVENT_SOURCE_NEXT }, /* numbers may be left out */
        { 7, 90, 6, EVENT_SOURCE_NEXT }, /* those before it are all known */
        { 7, 3, -1, EVENT_SOURCE_NEXT }, /* an agent that waits for no answer says each once */
        { INT64_MAX, INT64_MAX, 0, EVENT_SOURCE_KNOWN },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct message_event e = { .id = cases[i].id, .after = cases[i].after };

        if (event_source_place(cases[i].last, &e) != cases[i].place)
            fail_msg("case %zu: %d", i, (int)event_source_place(cases[i].last, &e));
    }
}

static int64_t say(struct event_sources *s, struct event_source *source, int n, int64_t now_ms)
{
    int64_t taken = 0;

    for (int i = 0; i < n; i++)
        taken += event_source_may(s, source, now_ms);
    return taken;
}

static void a_flooding_source_is_limited_and_others_are_not(void **state)
{
    struct event_sources s;
    struct event_source *loud, *calm;
    int64_t n = 0;

    (void)state;
    event_sources_init(&s, &limits);
    loud = event_sources_get(&s, "loud");
    calm = event_sources_get(&s, "calm");
    assert_int_equal(say(&s, loud, 1000, 5000), 100);
    assert_int_equal(say(&s, calm, 100, 5000), 100);
    assert_null(event_sources_take_flooding(&s, 5000, false, &n));
    assert_int_equal(say(&s, loud, 10, 30000), 0); /* for a minute nothing */
    assert_null(event_sources_take_flooding(&s, 5000 + EVENT_SOURCE_FLOOD_MS - 1, false, &n));
    assert_ptr_equal(event_sources_take_flooding(&s, 5000 + EVENT_SOURCE_FLOOD_MS, false, &n),
                     loud);
    assert_int_equal(n, 910);
    assert_null(event_sources_take_flooding(&s, 5000 + EVENT_SOURCE_FLOOD_MS, false, &n));
    assert_int_equal(say(&s, loud, 10, 5000 + EVENT_SOURCE_FLOOD_MS), 6); /* what a minute gives */
    assert_ptr_equal(event_sources_take_flooding(&s, 5000 + EVENT_SOURCE_FLOOD_MS, true, &n), loud);
    assert_int_equal(n, 4);
    event_sources_done(&s);
}

static void what_was_spent_comes_back_with_time(void **state)
{
    struct event_sources s;
    struct event_source *source;

    (void)state;
    event_sources_init(&s, &limits);
    source = event_sources_get(&s, "a");
    assert_int_equal(say(&s, source, 90, 1000), 90);
    assert_int_equal(say(&s, source, 1, 1000 + 9999), 1);
    assert_int_equal(say(&s, source, 1, 1000 + INT64_C(1000000000000)), 1);
    assert_int_equal(say(&s, source, 99, 1000 + INT64_C(1000000000000)), 99); /* and not more */
    assert_int_equal(say(&s, source, 1, 1000 + INT64_C(1000000000000)), 0);
    event_sources_done(&s);
}

/* One event in ten seconds is what these limits allow for ever. */
static void a_steady_speaker_is_never_cut_short(void **state)
{
    struct event_sources s;
    struct event_source *source;

    (void)state;
    event_sources_init(&s, &limits);
    source = event_sources_get(&s, "a");
    say(&s, source, 99, 1000);
    for (int64_t i = 1; i < 5000; i++)
        assert_int_equal(say(&s, source, 1, 1000 + i * 10000), 1);
    event_sources_done(&s);
}

static void a_removed_source_is_no_longer_reported(void **state)
{
    struct event_sources s;
    int64_t n;

    (void)state;
    event_sources_init(&s, &limits);
    say(&s, event_sources_get(&s, "a"), 200, 1000);
    say(&s, event_sources_get(&s, "b"), 200, 1000);
    event_sources_del(&s, event_sources_find(&s, "a"));
    assert_null(event_sources_find(&s, "a"));
    assert_string_equal(event_sources_take_flooding(&s, 0, true, &n)->agent_id, "b");
    assert_null(event_sources_take_flooding(&s, 0, true, &n));
    event_sources_done(&s);
}

static void a_topic_is_told_now_and_then(void **state)
{
    struct event_sources s;
    struct event_source *source;
    int64_t more = -1;

    (void)state;
    event_sources_init(&s, &limits);
    source = event_sources_get(&s, "a");
    assert_true(event_source_topic(source, EVENT_SOURCE_CLONE, 1000, &more));
    assert_int_equal(more, 0);
    assert_false(event_source_topic(source, EVENT_SOURCE_CLONE, 2000, &more));
    assert_true(event_source_topic(source, EVENT_SOURCE_ADDRESS, 2000, &more)); /* is another one */
    assert_false(
        event_source_topic(source, EVENT_SOURCE_CLONE, 1000 + EVENT_SOURCE_AGAIN_MS - 1, &more));
    assert_true(
        event_source_topic(source, EVENT_SOURCE_CLONE, 1000 + EVENT_SOURCE_AGAIN_MS, &more));
    assert_int_equal(more, 2);
    event_sources_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_taken_once_and_in_its_turn),
        cmocka_unit_test(a_flooding_source_is_limited_and_others_are_not),
        cmocka_unit_test(what_was_spent_comes_back_with_time),
        cmocka_unit_test(a_steady_speaker_is_never_cut_short),
        cmocka_unit_test(a_removed_source_is_no_longer_reported),
        cmocka_unit_test(a_topic_is_told_now_and_then),
    };

    return cmocka_run_group_tests_name("server/event_speaker", tests, NULL, NULL);
}
