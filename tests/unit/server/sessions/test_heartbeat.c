/* SPDX-License-Identifier: MIT */
#include "server/sessions/heartbeat.h"

#include "model/translate.h"
#include "tests/lib/events_rig.h"

struct beats {
    struct world *w;
    struct heartbeat *h;
};

static int setup(void **state)
{
    struct beats *b = xalloc(sizeof(*b));

    world_setup((void **)&b->w);
    b->h = heartbeat_new(b->w->rig.loop, b->w->fleet, b->w->events, 30 * 1000);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct beats *b = *state;

    heartbeat_free(b->h);
    world_teardown((void **)&b->w);
    free(b);
    return 0;
}

/* As the link does it: both clocks go on. */
static void pass_s(struct beats *b, int64_t s)
{
    b->w->rig.clock.wall += s * 1000;
    rig_pass_ms(&b->w->rig, s * 1000);
}

static void come(struct beats *b, const char *id)
{
    heartbeat_on_session(b->h, id);
    fleet_set_session(b->w->fleet, id, 1, b->w->rig.clock.wall);
}

static void go(struct beats *b, const char *id)
{
    fleet_set_session(b->w->fleet, id, 0, b->w->rig.clock.wall);
    heartbeat_on_session_end(b->h, id);
}

static size_t count(struct beats *b, const char *text)
{
    size_t n = 0;

    TURN_UNTIL(&b->w->rig, world_is_idle(b->w));
    for (const char *p = buf_text(&b->w->told); (p = strstr(p, text)); p++)
        n++;
    return n;
}

static void an_agent_that_is_away_too_long_is_lost_and_then_back(void **state)
{
    struct beats *b = *state;
    struct event_page_got got;

    come(b, "a1");
    pass_s(b, 1000);
    go(b, "a1");
    pass_s(b, 29);
    assert_int_equal(count(b, "agent_lost"), 0);
    pass_s(b, 1);
    assert_int_equal(count(b, " a1 agent_lost"), 1);
    assert_int_equal(world_lines(b->w->path, "gse_basic_alarm_type"), 1);
    pass_s(b, 3600); /* said once */
    assert_int_equal(count(b, "agent_lost"), 1);
    come(b, "a1");
    assert_int_equal(count(b, " a1 agent_back"), 1);
    got = world_rows(b->w);
    assert_int_equal(got.rows.n, 2);
    assert_non_null(strstr(ROW(event_row, got.rows, 0)->message, "for 30s"));
    assert_non_null(strstr(ROW(event_row, got.rows, 1)->message, "after 1h"));
    assert_int_equal(world_lines(b->w->path, "\n"), 1); /* BlueKing has no word for back */
    got = world_stored_rows(b->w);
    assert_string_equal(translate(ROW(event_row, got.rows, 0)->message, LANG_ZH, &b->w->db.arena),
                        "Agent 已断开 30秒；主机上的进程状态未知，仍在继续运行");
    assert_string_equal(translate(ROW(event_row, got.rows, 1)->message, LANG_ZH, &b->w->db.arena),
                        "Agent 断开 1小时0分后已恢复连接");
}

static void one_that_comes_back_in_time_is_not_lost(void **state)
{
    struct beats *b = *state;

    for (int i = 0; i < 10; i++) {
        come(b, "a1");
        pass_s(b, 5);
        go(b, "a1");
        pass_s(b, 25);
    }
    come(b, "a1");
    pass_s(b, 1000);
    assert_int_equal(count(b, "agent_"), 0);
}

static void one_that_comes_and_goes_tells_little(void **state)
{
    struct beats *b = *state;

    for (int i = 0; i < 60; i++) { /* an hour */
        come(b, "a1");
        pass_s(b, 10);
        go(b, "a1");
        pass_s(b, 50);
    }
    assert_int_equal(count(b, "agent_lost"), 1);
    for (int i = 0; i < 60; i++) {
        come(b, "a1");
        pass_s(b, 10);
        go(b, "a1");
        pass_s(b, 20 * 60); /* offline for longer than the longest limit */
    }
    assert_int_equal(count(b, "agent_lost"), 61);
    come(b, "a1");
    pass_s(b, HEARTBEAT_STEADY_MS / 1000);
    go(b, "a1");
    pass_s(b, 30); /* it has been steady: it counts as any other again */
    assert_int_equal(count(b, "agent_lost"), 62);
}

static void after_a_start_the_fleet_has_time_to_come(void **state)
{
    struct beats *b = *state;

    heartbeat_start(b->h, &(struct list){ 0 });
    pass_s(b, 59);
    come(b, "a1");
    pass_s(b, 1);
    assert_int_equal(count(b, "agent_lost"), 1);
    assert_int_equal(count(b, " a2 agent_lost"), 1);
}

/* What was said before the server ended is not said again. */
static void a_lost_agent_is_not_reported_again_after_a_restart(void **state)
{
    struct beats *b = *state;
    struct world *w = b->w;

    come(b, "a1");
    go(b, "a1");
    pass_s(b, 30);
    assert_int_equal(count(b, "agent_lost"), 1);
    heartbeat_free(b->h);
    world_close(w);
    world_open(w);
    b->h = heartbeat_new(w->rig.loop, w->fleet, w->events, 30 * 1000);
    assert_int_equal(events_lost(w->events)->n, 1);
    heartbeat_start(b->h, events_lost(w->events));
    come(b, "a2");
    pass_s(b, 120);
    assert_int_equal(count(b, "agent_lost"), 1);
    come(b, "a1");
    assert_int_equal(count(b, " a1 agent_back"), 1);
    heartbeat_free(b->h);
    world_close(w);
    world_open(w);
    b->h = heartbeat_new(w->rig.loop, w->fleet, w->events, 30 * 1000);
    assert_int_equal(events_lost(w->events)->n, 0);
}

static void a_host_that_was_removed_is_not_lost(void **state)
{
    struct beats *b = *state;

    come(b, "a1");
    go(b, "a1");
    fleet_del_host(b->w->fleet, "a1");
    pass_s(b, 100);
    assert_int_equal(count(b, "agent_lost"), 0);
}

/* And is not back, should one of its name come. */
static void a_lost_host_that_was_removed_is_forgotten(void **state)
{
    struct beats *b = *state;

    come(b, "a1");
    go(b, "a1");
    pass_s(b, 30);
    assert_int_equal(count(b, "agent_lost"), 1);
    fleet_del_host(b->w->fleet, "a1");
    heartbeat_forget_gone(b->h);
    world_put_host(b->w, "a1", "10.0.0.1");
    come(b, "a1");
    assert_int_equal(count(b, "agent_back"), 0);
    go(b, "a1");
    pass_s(b, 30); /* with the patience that any has */
    assert_int_equal(count(b, "agent_lost"), 2);
}

static void one_that_joined_and_never_came_is_lost_too(void **state)
{
    struct beats *b = *state;
    struct event_page_got got;

    world_put_host(b->w, "a3", "10.0.0.3");
    heartbeat_on_joined(b->h, "a3");
    come(b, "a1");
    heartbeat_on_joined(b->h, "a1"); /* it is here already */
    pass_s(b, 29);
    assert_int_equal(count(b, "agent_lost"), 0);
    pass_s(b, 1);
    assert_int_equal(count(b, " a3 agent_lost"), 1);
    got = world_rows(b->w);
    assert_int_equal(got.rows.n, 1);
    assert_non_null(strstr(ROW(event_row, got.rows, 0)->message, "has not connected since"));
    pass_s(b, 3600);
    assert_int_equal(count(b, "agent_lost"), 1);
    come(b, "a3");
    assert_int_equal(count(b, " a3 agent_back"), 1);
}

/* All of it waits for the store, and is stored together. */
static void one_that_is_lost_again_meanwhile_stays_lost(void **state)
{
    struct beats *b = *state;
    struct event_load_got got;

    come(b, "a1");
    go(b, "a1");
    pass_s(b, 30);
    assert_int_equal(count(b, "agent_lost"), 1);
    atomic_store(&disk_fails, 1);
    world_say(b->w, "a2", 1, 0); /* this one is tried again, and the others wait behind it */
    come(b, "a1");
    go(b, "a1");
    pass_s(b, 60);
    atomic_store(&disk_fails, 0);
    PASS_UNTIL(&b->w->rig, b->w->n_told >= 4);
    assert_int_equal(count(b, "agent_lost"), 2);
    store_rig_do(&b->w->db, &store_event_load, &(struct event_load_ask){ "" }, &got);
    assert_int_equal(got.lost.n, 1);
}

int main(void)
{
#define BEAT_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        BEAT_TEST(an_agent_that_is_away_too_long_is_lost_and_then_back),
        BEAT_TEST(one_that_comes_back_in_time_is_not_lost),
        BEAT_TEST(one_that_comes_and_goes_tells_little),
        BEAT_TEST(after_a_start_the_fleet_has_time_to_come),
        BEAT_TEST(a_lost_agent_is_not_reported_again_after_a_restart),
        BEAT_TEST(a_host_that_was_removed_is_not_lost),
        BEAT_TEST(a_lost_host_that_was_removed_is_forgotten),
        BEAT_TEST(one_that_joined_and_never_came_is_lost_too),
        BEAT_TEST(one_that_is_lost_again_meanwhile_stays_lost),
    };

    return cmocka_run_group_tests_name("server/heartbeat", tests, NULL, NULL);
}
