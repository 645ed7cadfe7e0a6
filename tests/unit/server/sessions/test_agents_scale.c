/* SPDX-License-Identifier: MIT */
/* The server's end of the link with peers that are slow, dead, or too eager, and the goodbye
 * that brings a whole fleet back in turn. */
#include "tests/lib/agents_rig.h"

#include <sys/socket.h>

static const struct agents_counters *counters(const struct world *w)
{
    return agents_counters(w->agents);
}

static void send_command(struct tester *t, const char *task, size_t size)
{
    char *text = xalloc(size + 1);
    struct message_command m;

    memset(text, 'x', size);
    shape_defaults(&message_command_shape, &m);
    m.task = task;
    m.meta.space = "sp";
    m.meta.name = "p";
    m.spec.control.start_cmd = text;
    m.spec.has_control = PRESENCE_GIVEN;
    agents_send(t->w->agents, t->joined.agent_id, t->welcome.epoch, MESSAGE_COMMAND,
                &message_command_shape, &m);
    free(text);
}

static void say_taken(struct tester *t, const char *task)
{
    conn_send(t->conn, MESSAGE_TAKEN, &message_ref_shape, &(struct message_ref){ task, 0 });
}

/* ---- dead ones ---- */

/* What an agent has said meanwhile is not lost, only unread. */
static void a_server_that_was_blocked_keeps_its_sessions(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    int pings;

    tester_hello(t);
    for (int i = 0; i < 5; i++) {
        pings = t->heard[MESSAGE_PING];
        rig_pass_ms(&w->rig, 60 * 1000);
        TURN_UNTIL(&w->rig, t->heard[MESSAGE_PING] > pings);
    }
    assert_int_equal(counters(w)->sessions, 1);
    assert_false(t->is_over);
}

/* At the default of 5 s between pings this is 20 s. */
static void silence_is_over_after_four_pings_at_most(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    const uint64_t *pongs = &counters(w)->frames.frames[CONN_IN][MESSAGE_PONG];
    int64_t since_ms;

    tester_hello(t);
    PASS_UNTIL(&w->rig, t->heard[MESSAGE_PING]);
    TURN_UNTIL(&w->rig, *pongs == (uint64_t)t->heard[MESSAGE_PING]);
    t->is_mute = true;
    since_ms = loop_now_ms(w->rig.loop);
    PASS_UNTIL(&w->rig, counters(w)->sessions == 0);
    assert_in_range(loop_now_ms(w->rig.loop) - since_ms, 3000, 4500);
    TURN_UNTIL(&w->rig, t->is_over);
}

/* The clock stands still, so that nothing but the reset ends the session. */
static void a_reset_is_known_at_once(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    const struct linger none = { 1, 0 };

    tester_hello(t);
    assert_int_equal(setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none)), 0);
    tester_drop(t);
    for (int i = 0; i < 5000 && counters(w)->sessions; i++)
        rig_turn_in(&w->rig, 0, 1);
    assert_int_equal(counters(w)->sessions, 0);
    assert_int_equal(w->tasks.ends, 1);
}

/* ---- slow ones ---- */

/* Its own words come all the time, so it is not silent. */
static void one_that_takes_nothing_is_ended(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *good = world_member(w, "10.0.0.2");

    tester_hello(good);
    tester_hello(t);
    conn_pause(t->conn);
    for (int i = 0; i < 2000; i++) { /* more than any socket keeps */
        send_command(t, "T1", 10 * 1000);
        rig_turn_in(&w->rig, 0, i % 50 ? 0 : 1);
    }
    assert_true(counters(w)->held_back > 0);
    TURN_UNTIL(&w->rig,
               (say_taken(t, "T1"), rig_pass_ms(&w->rig, 250), counters(w)->sessions == 1));
    assert_true(world_file_has(w->log_path, "does not take what is sent"));
    assert_false(good->is_over);
}

static bool is_full(const struct tester *t, int64_t epoch)
{
    return agents_is_full(t->w->agents, t->joined.agent_id, epoch);
}

/* What it does not take waits as things to do rather than as bytes, and comes when it is said
 * again. */
static void commands_are_held_back_while_much_waits(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    int heard;

    tester_hello(t);
    conn_pause(t->conn);
    for (int i = 0; i < 2000; i++)
        send_command(t, "T1", 10 * 1000); /* 20 MB in all, which would break it */
    assert_in_range(counters(w)->held_back, 1000, 1950);
    assert_true(is_full(t, t->welcome.epoch));
    assert_false(is_full(t, t->welcome.epoch + 1));
    assert_in_range(counters(w)->waiting, 100 * 1000, 3 << 20);
    assert_int_equal(counters(w)->sessions, 1);
    conn_resume(t->conn);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_COMMAND] == 2001 - (int)counters(w)->held_back);
    assert_false(is_full(t, t->welcome.epoch));
    heard = t->heard[MESSAGE_COMMAND];
    send_command(t, "T2", 10);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_COMMAND] == heard + 1);
    assert_int_equal(counters(w)->sessions, 1);
}

/* ---- eager ones ---- */

static void an_agent_that_sends_endlessly_does_not_starve_others(void **state)
{
    enum { MANY = 40 * 1000 };
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *other = world_member(w, "10.0.0.2");
    int before;

    tester_hello(t);
    tester_hello(other);
    snprintf(w->tasks.agent, sizeof(w->tasks.agent), "%s", t->joined.agent_id);
    for (int i = 0; i < MANY; i++)
        say_taken(t, "T1");
    TURN_UNTIL(&w->rig, w->tasks.messages > 0);
    before = other->heard[MESSAGE_PING];
    rig_pass_ms(&w->rig, 1000);
    TURN_UNTIL(&w->rig, other->heard[MESSAGE_PING] > before);
    assert_true(w->tasks.messages < MANY);
    TURN_UNTIL(&w->rig, w->tasks.messages == MANY);
}

/* ---- the goodbye ---- */

static void on_empty(void *arg)
{
    ++*(int *)arg;
}

static void each_is_told_when_to_come_back(void **state)
{
    enum { N = 20 };
    struct world *w = *state;
    struct tester *all[N];
    char ip[32];
    int empty = 0, late = 0;

    for (int i = 0; i < N; i++) {
        snprintf(ip, sizeof(ip), "10.0.1.%d", i + 1);
        all[i] = world_member(w, ip);
        tester_hello(all[i]);
    }
    agents_drain(w->agents, on_empty, &empty);
    assert_int_equal(empty, 0); /* from the loop */
    for (int i = 0; i < N; i++) {
        TURN_UNTIL(&w->rig, all[i]->is_over);
        assert_denied(all[i], ERR_UNAVAILABLE, "the server stops");
        assert_int_equal(all[i]->error.type, 0);
        assert_in_range(all[i]->error.retry_ms, 105, 112); /* 3,000 a second */
        late += all[i]->error.retry_ms >= 108;
        tester_drop(all[i]);
    }
    assert_in_range(late, 8, 12);
    TURN_UNTIL(&w->rig, empty);
    rig_pass_ms(&w->rig, 5000);
    assert_int_equal(empty, 1);
    assert_int_equal(counters(w)->connections, 0);
    agents_free(w->agents);
    w->agents = NULL;
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_false(world_stored_session(w, all[0]->joined.agent_id)->is_open);
}

/* A stranger, a clone, one whose session is being opened, one that is gone and does not know. */
static void draining_ends_after_a_second_at_most(void **state)
{
    struct world *w = *state;
    struct tester *open = world_member(w, "10.0.0.1"), *opening = world_member(w, "10.0.0.2"),
                  *clone = tester_twin(open), *stranger = tester_new(w);
    int empty = 0;

    open->is_mute = true;
    tester_hello(open);
    tester_say_hello(clone);
    tester_connect(stranger);
    conn_pause(open->conn);
    world_hold_store(w, true);
    tester_say_hello(opening);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 1);
    agents_drain(w->agents, on_empty, &empty);
    rig_turns(&w->rig, 10);
    assert_int_equal(empty, 0);
    rig_pass_ms(&w->rig, 1000);
    TURN_UNTIL(&w->rig, empty);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    agents_free(w->agents);
    w->agents = NULL;
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_false(world_stored_session(w, open->joined.agent_id)->is_open);
    assert_false(world_stored_session(w, opening->joined.agent_id)->is_open);
}

static void draining_without_connections_ends_at_once(void **state)
{
    struct world *w = *state;
    int empty = 0;

    agents_drain(w->agents, on_empty, &empty);
    TURN_UNTIL(&w->rig, empty == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AGENTS_TEST(a_server_that_was_blocked_keeps_its_sessions),
        AGENTS_TEST(silence_is_over_after_four_pings_at_most),
        AGENTS_TEST(a_reset_is_known_at_once),
        AGENTS_TEST(one_that_takes_nothing_is_ended),
        AGENTS_TEST(commands_are_held_back_while_much_waits),
        AGENTS_TEST(an_agent_that_sends_endlessly_does_not_starve_others),
        AGENTS_TEST(each_is_told_when_to_come_back),
        AGENTS_TEST(draining_ends_after_a_second_at_most),
        AGENTS_TEST(draining_without_connections_ends_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
