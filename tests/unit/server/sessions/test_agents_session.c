/* SPDX-License-Identifier: MIT */
/* Sessions of agents: admission, the clone rule, and every way in which one ends. */
#include "link/message.h"
#include "tests/lib/agents_rig.h"

static int64_t sessions(const struct world *w)
{
    return agents_counters(w->agents)->sessions;
}

static int64_t epoch_of(const struct tester *t)
{
    return fleet_find(t->w->fleet, t->joined.agent_id)->epoch;
}

static bool is_stored_open(struct tester *t)
{
    const struct session_row *row = world_stored_session(t->w, t->joined.agent_id);

    return row && row->is_open;
}

static void let_go(struct tester *t)
{
    int64_t before = sessions(t->w);

    tester_drop(t);
    TURN_UNTIL(&t->w->rig, sessions(t->w) == before - 1);
}

/* ---- hello ---- */

static void a_member_is_welcome(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    assert_int_equal(t->welcome.version, LINK_VERSION);
    assert_int_equal(t->welcome.epoch, 1);
    assert_int_equal(t->welcome.ping_ms, 1000);
    assert_int_equal(t->welcome.agent_ms, 77);
    assert_in_range(t->welcome.server_ms, 1000, loop_now_ms(w->rig.loop));
    assert_false(t->welcome.wants_processes);
    assert_int_equal(epoch_of(t), 1);
    assert_int_equal(sessions(w), 1);
    assert_int_equal(w->tasks.sessions, 1);
    assert_int_equal(w->tasks.epoch, 1);
    assert_string_equal(w->tasks.agent, t->joined.agent_id);
    assert_true(is_stored_open(t));
    assert_string_equal(world_stored_session(w, t->joined.agent_id)->node, "node-1");
}

/* The agent takes its offset from it: what the store took would be added to every
 * deadline. */
static void welcome_says_the_time_when_it_is_sent(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    int64_t let_go_ms;

    world_hold_store(w, true);
    tester_say_hello(t);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 1);
    rig_pass_ms(&w->rig, 3000);
    let_go_ms = loop_now_ms(w->rig.loop);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_WELCOME]);
    assert_in_range(t->welcome.server_ms, let_go_ms, loop_now_ms(w->rig.loop));
}

/* A stranger does not make us keep what a member may send. */
static void a_frame_may_be_large_only_in_a_session(void **state)
{
    enum { MANY = 1000 };
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *stranger = tester_new(w);
    struct proc_view *views = xalloc(MANY * sizeof(*views));
    const struct message_processes m = { true, true, { views, MANY }, "d" };

    for (int i = 0; i < MANY; i++) {
        shape_defaults(&proc_view_shape, &views[i]);
        views[i].space = "space";
        views[i].name = arena_printf(&t->arena, "name-%d", i);
    }
    tester_connect(stranger);
    conn_send(stranger->conn, MESSAGE_PROCESSES, &message_processes_shape, &m);
    TURN_UNTIL(&w->rig, stranger->is_over);
    assert_denied(stranger, ERR_LIMIT, "more than 65536 bytes");
    tester_hello(t);
    conn_send(t->conn, MESSAGE_PROCESSES, &message_processes_shape, &m);
    TURN_UNTIL(&w->rig, fleet_find(w->fleet, t->joined.agent_id)->n_procs == MANY);
    assert_false(t->is_over);
    free(views);
}

static void epochs_rise_and_an_end_is_known_everywhere(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    for (int64_t epoch = 1; epoch <= 3; epoch++) {
        tester_hello(t);
        assert_int_equal(t->welcome.epoch, epoch);
        assert_int_equal(epoch_of(t), epoch);
        let_go(t);
        assert_int_equal(epoch_of(t), 0);
        assert_int_equal(w->tasks.ends, epoch);
        assert_int_equal(w->tasks.end_epoch, epoch);
        assert_string_equal(w->tasks.end_agent, t->joined.agent_id);
        TURN_UNTIL(&w->rig, !is_stored_open(t));
    }
}

static void say(struct tester *t, const struct message_hello *m)
{
    tester_connect(t);
    conn_send(t->conn, MESSAGE_HELLO, &message_hello_shape, m);
    TURN_UNTIL(&t->w->rig, t->is_over);
}

static void a_hello_that_is_not_right_is_refused(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *other = world_member(w, "10.0.0.2"),
                  *stranger = tester_new(w);
    struct message_hello m = tester_hello_words(t);

    m.agent_id = other->joined.agent_id;
    say(t, &m);
    assert_denied(t, ERR_DENIED, "agent_id: not the one in the certificate");
    assert_int_equal(t->error.retry_ms, -1);
    m = tester_hello_words(t);
    m.version_min = m.version_max = 0;
    say(t, &m);
    assert_denied(t, ERR_INVALID, "upgrade the agent");
    m = tester_hello_words(t);
    say(stranger, &m);
    assert_denied(stranger, ERR_DENIED, "join first");
    assert_int_equal(sessions(w), 0);
    assert_null(world_stored_session(w, t->joined.agent_id));
}

/* An older agent says nothing of its host; one that says too much of it is not believed. */
static void what_a_host_is_comes_with_its_hello(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct message_hello m = tester_hello_words(t);
    const struct fleet_facts *facts;

    tester_hello(t);
    facts = &fleet_find(w->fleet, t->joined.agent_id)->facts;
    assert_string_equal(facts->os, "");
    assert_int_equal(facts->cpus, 0);
    let_go(t);
    m.os = "linux";
    m.arch = "an-architecture-with-a-very-long-name";
    m.cpus = 4;
    m.mem_bytes = INT64_C(1) << 33;
    m.started_s = 1700000000;
    tester_connect(t);
    conn_send(t->conn, MESSAGE_HELLO, &message_hello_shape, &m);
    TURN_UNTIL(&w->rig, epoch_of(t));
    facts = &fleet_find(w->fleet, t->joined.agent_id)->facts;
    assert_string_equal(facts->os, "linux");
    assert_string_equal(facts->arch, "");
    assert_int_equal(facts->cpus, 4);
    assert_int_equal(facts->mem_bytes, INT64_C(1) << 33);
    assert_int_equal(facts->start_s, 1700000000);
}

static void a_host_that_was_removed_is_refused(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *newer;
    struct message_hello m = tester_hello_words(t);
    struct message_join j;

    store_rig_do(&w->db, &store_host_del, &(struct host_ask){ t->joined.agent_id }, NULL);
    fleet_del_host(w->fleet, t->joined.agent_id);
    say(t, &m);
    assert_denied(t, ERR_DENIED, "it was removed");
    assert_true(t->error.retry_ms > 0);

    newer = tester_new(w); /* has its id by now, and another key */
    j = tester_join_words(newer, "member-token", "10.0.0.1");
    j.agent_id = t->joined.agent_id;
    world_put_token(w, "member-token", 1, 1000);
    tester_join(newer, &j);
    assert_string_equal(newer->joined.agent_id, t->joined.agent_id);
    say(t, &m);
    assert_denied(t, ERR_DENIED, "by another key");
    tester_hello(newer);
}

static void a_certificate_that_has_expired_meanwhile_is_refused(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct message_hello m = tester_hello_words(t);

    w->rig.clock.wall += 366LL * 24 * 3600 * 1000;
    say(t, &m);
    assert_denied(t, ERR_DENIED, "expired");
}

static void a_connection_without_a_message_is_dropped(void **state)
{
    struct world *w = *state;
    const struct agents_counters *n = agents_counters(w->agents);
    struct tester *t = world_member(w, "10.0.0.1"), *stranger = tester_new(w);

    tester_connect(t);
    tester_connect(stranger);
    TURN_UNTIL(&w->rig, n->connections == 2 && n->shaking == 0);
    rig_pass_ms(&w->rig, 9900);
    rig_turns(&w->rig, 5);
    assert_false(t->is_over || stranger->is_over);
    rig_pass_ms(&w->rig, 200);
    TURN_UNTIL(&w->rig, t->is_over && stranger->is_over);
    assert_int_equal(n->connections, 0);
}

static void the_first_word_is_hello_or_join(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct message_join j = tester_join_words(t, "member-token", "10.0.0.1");

    tester_connect(t);
    conn_send(t->conn, MESSAGE_PONG, &message_ping_shape, &(struct message_ping){ 0 });
    TURN_UNTIL(&w->rig, t->is_over);
    assert_denied(t, ERR_INVALID, "join or hello");
    tester_say_join(t, &j);
    TURN_UNTIL(&w->rig, t->is_over);
    assert_denied(t, ERR_INVALID, "says hello");
    world_hold_store(w, true);
    tester_say_hello(t);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 1);
    conn_send(t->conn, MESSAGE_PONG, &message_ping_shape, &(struct message_ping){ 0 });
    TURN_UNTIL(&w->rig, t->is_over);
    assert_denied(t, ERR_CONFLICT, "no answer yet");
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_false(is_stored_open(t));
}

static void what_a_host_says_of_itself_is_stored_when_it_changes(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct message_hello m = tester_hello_words(t);
    const struct store_counters *calls = store_counters(w->db.store);
    struct message_text addresses[] = { { "10.0.0.1" }, { "not one" }, { "FD00::0:1" } };
    uint64_t before;

    tester_connect(t);
    m.hostname = "renamed";
    m.addresses = (struct list){ addresses, ARRAY_LEN(addresses) };
    m.digest = "abc";
    conn_send(t->conn, MESSAGE_HELLO, &message_hello_shape, &m);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_WELCOME]);
    assert_true(t->welcome.wants_processes);
    TURN_UNTIL(&w->rig, !strcmp(fleet_find(w->fleet, m.agent_id)->hostname, "renamed"));
    assert_string_equal(world_stored_host(w, m.agent_id)->hostname, "renamed");
    assert_string_equal(world_stored_host(w, m.agent_id)->addresses, "10.0.0.1 fd00::1");
    assert_string_equal(fleet_find(w->fleet, m.agent_id)->addresses, "10.0.0.1 fd00::1");
    assert_int_equal(epoch_of(t), 1);
    let_go(t);
    rig_pass_ms(&w->rig, 1000); /* what is done soon after a start is done */
    TURN_UNTIL(&w->rig, calls->on_their_way == 0);

    before = calls->calls;
    tester_connect(t);
    conn_send(t->conn, MESSAGE_HELLO, &message_hello_shape, &m);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_WELCOME]);
    TURN_UNTIL(&w->rig, calls->on_their_way == 0);
    assert_int_equal(calls->calls, before + 1); /* the session, nothing else */
}

/* ---- what it says of itself ---- */

static void figures_of_agents_are_added_up_while_they_are_there(void **state)
{
    struct world *w = *state;
    const struct agents_counters *n = agents_counters(w->agents);
    struct tester *a = world_member(w, "10.0.0.1"), *b = world_member(w, "10.0.0.2");
    struct message_pong m = { .agent_stats = { .rss_bytes = 100, .restarts = 1 } };
    struct agent_stats_now now;

    tester_hello(a);
    tester_hello(b);
    conn_send(a->conn, MESSAGE_PONG, &message_pong_shape, &m);
    m.agent_stats.restarts = 4;
    conn_send(a->conn, MESSAGE_PONG, &message_pong_shape, &m);
    m.agent_stats.rss_bytes = 300;
    conn_send(b->conn, MESSAGE_PONG, &message_pong_shape, &m);
    TURN_UNTIL(&w->rig, n->frames.frames[CONN_IN][MESSAGE_PONG] >= 3);
    agents_stats(w->agents, &now);
    assert_int_equal(now.agents, 2);
    assert_int_equal(now.sum.rss_bytes, 400);
    assert_int_equal(now.max.rss_bytes, 300);
    assert_int_equal(n->grown.restarts, 3);
    assert_int_equal(n->frames.frames[CONN_OUT][MESSAGE_WELCOME], 2);
    assert_true(n->handshakes[0] + n->handshakes[1] >= 2);
    assert_int_equal(n->versions.all[1].n, 2);
    let_go(b);
    TURN_UNTIL(&w->rig, n->sessions == 1);
    agents_stats(w->agents, &now);
    assert_int_equal(now.agents, 1);
    assert_int_equal(now.max.rss_bytes, 100);
    assert_int_equal(n->grown.restarts, 3); /* what counts does not go back */
    assert_int_equal(n->versions.all[1].n, 1);
}

/* ---- two of one identity ---- */

static void of_two_the_older_stays_if_it_answers(void **state)
{
    struct world *w = *state;
    struct tester *older = world_member(w, "10.0.0.1"), *newer = tester_twin(older);

    tester_hello(older);
    tester_say_hello(newer);
    TURN_UNTIL(&w->rig, newer->is_over);
    assert_denied(newer, ERR_CONFLICT, "a clone");
    assert_true(newer->error.retry_ms > 0);
    assert_int_equal(older->heard[MESSAGE_PING], 1);
    assert_false(older->is_over);
    assert_int_equal(epoch_of(older), 1);
    assert_int_equal(sessions(w), 1);
    TURN_UNTIL(&w->rig, world_file_has(w->events_path, "\"agent_clone\""));
}

static void of_two_the_older_is_replaced_if_it_is_silent(void **state)
{
    struct world *w = *state;
    struct tester *older = world_member(w, "10.0.0.1"), *newer = tester_twin(older);

    tester_hello(older);
    older->is_mute = true;
    tester_say_hello(newer);
    TURN_UNTIL(&w->rig, older->heard[MESSAGE_PING]);
    /* Late answers to what was asked before are no sign of life. */
    conn_send(older->conn, MESSAGE_PONG, &message_ping_shape,
              &(struct message_ping){ older->ping_ms - 1, 7 });
    rig_turns(&w->rig, 5);
    rig_pass_ms(&w->rig, 1900);
    rig_turns(&w->rig, 5);
    assert_false(newer->is_over || newer->heard[MESSAGE_WELCOME]);
    rig_pass_ms(&w->rig, 100);
    TURN_UNTIL(&w->rig, newer->heard[MESSAGE_WELCOME]);
    TURN_UNTIL(&w->rig, older->is_over);
    assert_int_equal(newer->welcome.epoch, 2);
    assert_int_equal(epoch_of(newer), 2);
    assert_int_equal(w->tasks.end_epoch, 1);
    assert_int_equal(w->tasks.epoch, 2);
    assert_int_equal(sessions(w), 1);
    assert_true(is_stored_open(newer)); /* the end of the older did not end it */
    assert_false(world_file_has(w->events_path, "agent_clone"));
}

static void of_two_the_newer_moves_up_when_the_older_ends(void **state)
{
    struct world *w = *state;
    struct tester *older = world_member(w, "10.0.0.1"), *newer = tester_twin(older),
                  *third = tester_twin(older);

    tester_hello(older);
    older->is_mute = true;
    tester_say_hello(newer);
    TURN_UNTIL(&w->rig, older->heard[MESSAGE_PING]);
    tester_say_hello(third);
    TURN_UNTIL(&w->rig, third->is_over);
    assert_denied(third, ERR_CONFLICT, "two connections");
    world_hold_store(w, true);
    tester_drop(older);
    TURN_UNTIL(&w->rig, sessions(w) == 0);
    rig_pass_ms(&w->rig, 2500); /* the time for the older one's answer is over */
    rig_turns(&w->rig, 5);
    assert_int_equal(newer->heard[MESSAGE_PING], 0);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, newer->heard[MESSAGE_WELCOME]);
    assert_int_equal(newer->welcome.epoch, 2);
    assert_int_equal(epoch_of(newer), 2);
}

static void of_two_the_newer_may_give_up(void **state)
{
    struct world *w = *state;
    struct tester *older = world_member(w, "10.0.0.1"), *newer = tester_twin(older);

    tester_hello(older);
    older->is_mute = true;
    tester_say_hello(newer);
    TURN_UNTIL(&w->rig, older->heard[MESSAGE_PING]);
    tester_drop(newer);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->connections == 1);
    rig_pass_ms(&w->rig, 2500);
    rig_turns(&w->rig, 5);
    assert_false(older->is_over);
    assert_int_equal(epoch_of(older), 1);
}

/* Until the server has read it; how many turns a handshake takes depends on OpenSSL. */
static void say_hello_heard(struct tester *t)
{
    const uint64_t *hellos = &agents_counters(t->w->agents)->frames.frames[CONN_IN][MESSAGE_HELLO];
    uint64_t before = *hellos;

    tester_say_hello(t);
    TURN_UNTIL(&t->w->rig, *hellos > before);
}

/* Both wait: the one for the store, the other for the one. */
static void the_older_of_two_may_not_be_open_yet(void **state)
{
    for (int silent = 0; silent < 2; silent++) {
        struct world *w = *state;
        struct tester *older = world_member(w, silent ? "10.0.0.2" : "10.0.0.1"),
                      *newer = tester_twin(older);

        int64_t before;

        older->is_mute = silent;
        world_hold_store(w, true);
        before = store_counters(w->db.store)->on_their_way; /* of what was told of others */
        tester_say_hello(older);
        TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way > before);
        say_hello_heard(newer);
        world_hold_store(w, false);
        TURN_UNTIL(&w->rig, older->heard[MESSAGE_PING]);
        assert_int_equal(older->heard[MESSAGE_WELCOME], 1);
        if (silent)
            rig_pass_ms(&w->rig, 2000);
        TURN_UNTIL(&w->rig, newer->is_over || newer->heard[MESSAGE_WELCOME]);
        assert_int_equal(newer->is_over, !silent);
        assert_int_equal(epoch_of(newer), silent ? 2 : 1);
    }
}

/* The one that waits for the store goes; what is opened for it is closed again. */
static void an_older_that_is_gone_before_it_is_open_leaves_nothing(void **state)
{
    struct world *w = *state;
    struct tester *older = world_member(w, "10.0.0.1"), *newer = tester_twin(older);

    world_hold_store(w, true);
    tester_say_hello(older);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 1);
    say_hello_heard(newer);
    tester_drop(older);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 2);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, newer->heard[MESSAGE_WELCOME]);
    assert_int_equal(newer->welcome.epoch, 2);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_true(is_stored_open(newer));
    assert_int_equal(w->tasks.sessions, 1); /* the first was not reported */
    let_go(newer);
    TURN_UNTIL(&w->rig, !is_stored_open(newer));
}

/* ---- how it goes on ---- */

static void silence_ends_a_session_and_an_answer_keeps_it(void **state)
{
    struct world *w = *state;
    struct tester *good = world_member(w, "10.0.0.1"), *mute = world_member(w, "10.0.0.2");
    const uint64_t *pongs = &agents_counters(w->agents)->frames.frames[CONN_IN][MESSAGE_PONG];

    tester_hello(good);
    tester_hello(mute);
    mute->is_mute = true;
    for (int i = 0; i < 3; i++) {
        int pings = good->heard[MESSAGE_PING], unanswered = mute->heard[MESSAGE_PING];

        assert_false(mute->is_over);
        rig_pass_ms(&w->rig, 1000);
        TURN_UNTIL(&w->rig, good->heard[MESSAGE_PING] > pings);
        TURN_UNTIL(&w->rig, mute->is_over || mute->heard[MESSAGE_PING] > unanswered);
        TURN_UNTIL(&w->rig, *pongs >= (uint64_t)good->heard[MESSAGE_PING]);
    }
    TURN_UNTIL(&w->rig, mute->is_over);
    assert_int_equal(sessions(w), 1);
    assert_int_equal(epoch_of(mute), 0);
    assert_int_equal(epoch_of(good), 1);
    assert_true(good->ping_ms > 2000 && good->ping_ms <= loop_now_ms(w->rig.loop));
}

static void pass_ping(struct tester *t)
{
    const uint64_t *pongs = &agents_counters(t->w->agents)->frames.frames[CONN_IN][MESSAGE_PONG];
    uint64_t before = *pongs;
    int pings = t->heard[MESSAGE_PING];

    rig_pass_ms(&t->w->rig, 1000);
    TURN_UNTIL(&t->w->rig, t->heard[MESSAGE_PING] > pings && (t->is_mute || *pongs > before));
}

/* Until its session ends, or it says something, be it an answer or not. */
static void an_agent_that_misses_a_ping_is_shown_as_silent(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    const struct fleet_host *h;

    tester_hello(t);
    h = fleet_find(w->fleet, t->joined.agent_id);
    pass_ping(t);
    t->is_mute = true;
    pass_ping(t);
    assert_int_equal(h->silent_ms, 0);
    pass_ping(t);
    assert_int_not_equal(h->silent_ms, 0);
    assert_int_equal(fleet_totals(w->fleet)->silent, 1);
    conn_send(t->conn, MESSAGE_TAKEN, &message_ref_shape, &(struct message_ref){ "T1", 0 });
    TURN_UNTIL(&w->rig, w->tasks.messages == 1);
    assert_int_equal(h->silent_ms, 0);
    assert_int_equal(fleet_totals(w->fleet)->silent, 0);
    pass_ping(t);
    pass_ping(t);
    assert_int_equal(fleet_totals(w->fleet)->silent, 1);
    rig_pass_ms(&w->rig, 1000);
    rig_pass_ms(&w->rig, 1000);
    TURN_UNTIL(&w->rig, t->is_over);
    assert_int_equal(fleet_totals(w->fleet)->silent, 0);
}

static void say_event(struct tester *t, int64_t id, int64_t after)
{
    const struct message_event event = { .id = id,
                                         .after = after,
                                         .name = "process_restart_success",
                                         .text = "up again",
                                         .space = "sp",
                                         .proc = "p",
                                         .proc_name = "bin" };

    conn_send(t->conn, MESSAGE_EVENT, &message_event_shape, &event);
}

static int lines_of_events(struct world *w)
{
    char *all = folder_text(w->events_path);
    int n = 0;

    for (const char *p = all; (p = strstr(p, "up again")); p++)
        n++;
    free(all);
    return n;
}

/* What was said before it has been heard when this is; and the store has done its part. */
static void expect_events(struct tester *t, int written)
{
    struct world *w = t->w;
    int messages = w->tasks.messages;

    conn_send(t->conn, MESSAGE_TAKEN, &message_ref_shape, &(struct message_ref){ "T1", 0 });
    TURN_UNTIL(&w->rig, w->tasks.messages > messages);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_int_equal(lines_of_events(w), written);
}

static void an_event_is_written_once_and_acknowledged(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    int heard;

    tester_hello(t);
    say_event(t, 100, 0);
    TURN_UNTIL(&w->rig, t->event_stored == 100);
    say_event(t, 100, 0); /* the answer was lost */
    say_event(t, 102, 101);
    expect_events(t, 1);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_EVENT_STORED] == 2);
    assert_int_equal(t->event_stored, 100);
    say_event(t, 101, 100);
    say_event(t, 102, 101);
    TURN_UNTIL(&w->rig, t->event_stored == 102);
    t->event_stored = 0;
    heard = t->heard[MESSAGE_EVENT_STORED];
    say_event(t, 7, 0); /* its journal is gone: it hears where to go on */
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_EVENT_STORED] == heard + 1);
    assert_int_equal(t->event_stored, 102);
    expect_events(t, 3);
    say_event(t, 3, -1); /* one of before, which does not care */
    say_event(t, 3, -1);
    expect_events(t, 5);
    assert_int_equal(t->heard[MESSAGE_EVENT_STORED], heard + 1);
}

/* The server died before it could answer: what is stored is known. */
static void an_event_that_was_stored_is_known_after_a_restart(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    say_event(t, 100, 0);
    TURN_UNTIL(&w->rig, t->event_stored == 100);
    tester_drop(t);
    agents_free(w->agents);
    events_stop(w->events);
    events_free(w->events);
    world_open_events(w);
    world_start(w);
    t->event_stored = 0;
    tester_hello(t);
    say_event(t, 100, 0);
    TURN_UNTIL(&w->rig, t->event_stored == 100);
    say_event(t, 101, 0);
    TURN_UNTIL(&w->rig, t->event_stored == 101);
    expect_events(t, 2);
}

static void an_event_that_can_not_be_stored_is_not_acknowledged(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    expect_events(t, 0);
    atomic_store(&disk_fails, 1);
    say_event(t, 1, 0);
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "events can not be stored"));
    say_event(t, 2, 1);
    expect_events(t, 0);
    assert_int_equal(t->heard[MESSAGE_EVENT_STORED], 0);
    atomic_store(&disk_fails, 0);
    PASS_UNTIL(&w->rig, t->event_stored == 2); /* they need not be sent again */
    expect_events(t, 2);
}

static void an_event_that_can_not_be_written_waits_in_the_store(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    expect_events(t, 0);
    sys_fault("write", 1, ENOSPC);
    say_event(t, 1, 0);
    TURN_UNTIL(&w->rig, sys_fault_hit());
    sys_fault("any", 0, 0);
    TURN_UNTIL(&w->rig, t->event_stored == 1);
    assert_true(world_file_has(w->log_path, "they wait in the store"));
    say_event(t, 2, 1); /* not before the other */
    PASS_UNTIL(&w->rig, lines_of_events(w) == 2);
    expect_events(t, 2);
}

static void what_agents_say_goes_where_it_belongs(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct proc_view view;
    const struct message_event event = { 1,          -1,   "process_restart_success",
                                         "up again", "sp", "p",
                                         "bin",      0,    0 };

    tester_hello(t);
    shape_defaults(&proc_view_shape, &view);
    view.space = "sp";
    view.name = "p";
    conn_send(t->conn, MESSAGE_PROCESSES, &message_processes_shape,
              &(struct message_processes){ true, true, { &view, 1 }, "d1" });
    TURN_UNTIL(&w->rig, fleet_find(w->fleet, t->joined.agent_id)->n_procs == 1);
    conn_send(t->conn, MESSAGE_EVENT, &message_event_shape, &event);
    TURN_UNTIL(&w->rig, world_file_has(w->events_path, "up again"));
    assert_false(world_file_has(w->events_path, "\"timestamp\":0"));
    conn_send(t->conn, MESSAGE_TAKEN, &message_ref_shape, &(struct message_ref){ "T1", 0 });
    TURN_UNTIL(&w->rig, w->tasks.messages == 1);
    assert_string_equal(w->tasks.task, "T1");
    conn_send(t->conn, MESSAGE_RESULT, &message_result_shape,
              &(struct message_result){ "T2", 0, 0, "", view });
    TURN_UNTIL(&w->rig, w->tasks.messages == 2);
    assert_int_equal(w->tasks.type, MESSAGE_RESULT);
    assert_int_equal(w->tasks.message_epoch, 1);
    conn_send(t->conn, MESSAGE_ERROR, &message_error_shape,
              &(struct message_error){ MESSAGE_COMMAND, ERR_INVALID, "what is this", 0 });
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "what is this"));
    conn_send(t->conn, MESSAGE_STORED, &message_ref_shape, &(struct message_ref){ "T1", 0 });
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_ERROR]);
    assert_int_equal(t->error.type, MESSAGE_STORED);
    assert_false(t->is_over);
}

static void what_is_sent_reaches_that_session_only(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    const struct message_ref ref = { "T1", 0 };
    const char *id = t->joined.agent_id;

    tester_hello(t);
    agents_send(w->agents, id, 2, MESSAGE_STORED, &message_ref_shape, &ref);
    agents_send(w->agents, "unknown", 1, MESSAGE_STORED, &message_ref_shape, &ref);
    agents_send(w->agents, id, 1, MESSAGE_STORED, &message_ref_shape, &ref);
    TURN_UNTIL(&w->rig, t->heard[MESSAGE_STORED]);
    rig_turns(&w->rig, 5);
    assert_int_equal(t->heard[MESSAGE_STORED], 1);
    let_go(t);
    agents_send(w->agents, id, 1, MESSAGE_STORED, &message_ref_shape, &ref);
}

static void a_host_that_is_removed_loses_its_session(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *late = world_member(w, "10.0.0.2");

    tester_hello(t);
    fleet_del_host(w->fleet, t->joined.agent_id);
    rig_pass_ms(&w->rig, 1000);
    TURN_UNTIL(&w->rig, t->is_over);
    assert_denied(t, ERR_DENIED, "removed");
    assert_int_equal(w->tasks.ends, 1);

    world_hold_store(w, true); /* and one that was about to get one gets none */
    tester_say_hello(late);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 1);
    fleet_del_host(w->fleet, late->joined.agent_id);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, late->is_over);
    assert_denied(late, ERR_DENIED, "removed");
    TURN_UNTIL(&w->rig, !is_stored_open(late));
    assert_int_equal(w->tasks.sessions, 1);
}

/* ---- a store that fails ---- */

static void without_a_store_there_is_no_welcome(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    disk_fails = 1;
    tester_say_hello(t);
    TURN_UNTIL(&w->rig, t->is_over);
    disk_fails = 0;
    assert_denied(t, ERR_UNAVAILABLE, "tried again");
    assert_true(t->error.retry_ms > 0);
    assert_int_equal(epoch_of(t), 0);
    assert_int_equal(w->tasks.sessions, 0);
    tester_hello(t);
}

static void an_end_that_is_not_stored_is_stored_later(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    disk_fails = 1;
    let_go(t);
    assert_int_equal(epoch_of(t), 0); /* that is known at once */
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_true(world_file_has(w->log_path, "the end of a session is not stored"));
    disk_fails = 0;
    assert_true(is_stored_open(t));
    rig_pass_ms(&w->rig, 10 * 1000);
    TURN_UNTIL(&w->rig, !is_stored_open(t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AGENTS_TEST(a_member_is_welcome),
        AGENTS_TEST(welcome_says_the_time_when_it_is_sent),
        AGENTS_TEST(a_frame_may_be_large_only_in_a_session),
        AGENTS_TEST(epochs_rise_and_an_end_is_known_everywhere),
        AGENTS_TEST(a_hello_that_is_not_right_is_refused),
        AGENTS_TEST(what_a_host_is_comes_with_its_hello),
        AGENTS_TEST(a_host_that_was_removed_is_refused),
        AGENTS_TEST(a_certificate_that_has_expired_meanwhile_is_refused),
        AGENTS_TEST(a_connection_without_a_message_is_dropped),
        AGENTS_TEST(the_first_word_is_hello_or_join),
        AGENTS_TEST(what_a_host_says_of_itself_is_stored_when_it_changes),
        AGENTS_TEST(of_two_the_older_stays_if_it_answers),
        AGENTS_TEST(of_two_the_older_is_replaced_if_it_is_silent),
        AGENTS_TEST(of_two_the_newer_moves_up_when_the_older_ends),
        AGENTS_TEST(of_two_the_newer_may_give_up),
        AGENTS_TEST(the_older_of_two_may_not_be_open_yet),
        AGENTS_TEST(an_older_that_is_gone_before_it_is_open_leaves_nothing),
        AGENTS_TEST(silence_ends_a_session_and_an_answer_keeps_it),
        AGENTS_TEST(an_agent_that_misses_a_ping_is_shown_as_silent),
        AGENTS_TEST(an_event_is_written_once_and_acknowledged),
        AGENTS_TEST(an_event_that_was_stored_is_known_after_a_restart),
        AGENTS_TEST(an_event_that_can_not_be_stored_is_not_acknowledged),
        AGENTS_TEST(an_event_that_can_not_be_written_waits_in_the_store),
        AGENTS_TEST(what_agents_say_goes_where_it_belongs),
        AGENTS_TEST(what_is_sent_reaches_that_session_only),
        AGENTS_TEST(figures_of_agents_are_added_up_while_they_are_there),
        AGENTS_TEST(a_host_that_is_removed_loses_its_session),
        AGENTS_TEST(without_a_store_there_is_no_welcome),
        AGENTS_TEST(an_end_that_is_not_stored_is_stored_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
