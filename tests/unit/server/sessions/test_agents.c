/* SPDX-License-Identifier: MIT */
/* The server side of the link: start, stop, keys, and connections that only take up room. */
#include <netinet/in.h>
#include <sys/resource.h>

#include "tests/lib/agents_rig.h"

enum { CROWD_MAX = 550 };

static const int64_t day_ms = 24LL * 3600 * 1000;

static int quiet_setup(void **state)
{
    *state = world_new();
    return 0;
}

#define QUIET_TEST(f) cmocka_unit_test_setup_teardown(f, quiet_setup, world_teardown)

static void stop(struct world *w)
{
    agents_free(w->agents);
    w->agents = NULL;
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
}

static int64_t connections(const struct world *w)
{
    return agents_counters(w->agents)->connections;
}

/* ---- the start ---- */

static void sessions_of_an_earlier_run_are_ended_at_the_start(void **state)
{
    struct world *w = *state;

    store_rig_do(&w->db, &store_session_open, &(struct session_open_ask){ "a", "node-1", 1 }, NULL);
    store_rig_do(&w->db, &store_session_open, &(struct session_open_ask){ "b", "node-2", 1 }, NULL);
    world_start(w);
    assert_false(world_stored_session(w, "a")->is_open);
    assert_true(world_stored_session(w, "b")->is_open); /* another server's */
}

static void a_start_that_cannot_be_says_why(void **state)
{
    struct world *w = *state;
    char path[64];

    w->settings.listen = "nowhere";
    assert_int_equal(world_try_start(w, &w->err), -1);
    assert_non_null(strstr(w->err.text, "nowhere"));
    w->settings.listen = "127.0.0.1:0";
    snprintf(path, sizeof(path), "%s/ca.pem", w->folder.path);
    folder_put(path, 0600, "rubbish", 7);
    assert_int_equal(world_try_start(w, &w->err), -1);
    assert_non_null(strstr(w->err.text, path));
    assert_true(world_file_has(path, "rubbish")); /* never replaced */
    unlink(path);
    store_rig_do(&w->db, &store_session_open, &(struct session_open_ask){ "a", "node-1", 1 }, NULL);
    disk_fails = 1;
    assert_int_equal(world_try_start(w, &w->err), -1);
    assert_non_null(strstr(w->err.text, "look at the disk"));
    disk_fails = 0;
    world_start(w);
}

static void an_address_in_use_is_said(void **state)
{
    struct world *w = *state;
    struct agents *first = NULL;
    char text[ADDRESS_TEXT_SIZE];

    world_start(w);
    first = w->agents;
    address_print(&w->at, text);
    w->settings.listen = text;
    assert_int_equal(world_try_start(w, &w->err), -1);
    assert_non_null(strstr(w->err.text, text));
    agents_free(w->agents); /* the second, which was made and does not listen */
    w->agents = first;
}

static void every_call_of_the_start_may_fail(void **state)
{
    struct world *w = *state;
    bool hit = true;
    int n;

    for (n = 1; hit; n++) {
        int bad;

        sys_fault("any", n, EIO);
        bad = world_try_start(w, &w->err);
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        assert_true(!bad || (hit && w->err.text[0]));
        stop(w);
        assert_in_range(n, 1, 1000);
    }
    assert_in_range(n, 10, 1000);
}

/* ---- the end ---- */

static void at_the_end_the_store_knows_of_no_session(void **state)
{
    struct world *w = *state;
    struct tester *open = world_member(w, "10.0.0.1"), *opening = world_member(w, "10.0.0.2"),
                  *waiting = tester_twin(open), *joining = tester_new(w), *silent = tester_new(w);
    struct message_join m = tester_join_words(joining, "secret", "10.0.0.3");

    open->is_mute = true;
    tester_hello(open);
    tester_say_hello(waiting);
    TURN_UNTIL(&w->rig, open->heard[MESSAGE_PING]);
    tester_connect(silent);
    world_hold_store(w, true);
    tester_say_hello(opening);
    tester_say_join(joining, &m);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 2);
    agents_free(w->agents);
    w->agents = NULL;
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_false(world_stored_session(w, open->joined.agent_id)->is_open);
    assert_false(world_stored_session(w, opening->joined.agent_id)->is_open);
    TURN_UNTIL(&w->rig, open->is_over && opening->is_over && waiting->is_over && joining->is_over &&
                            silent->is_over);
}

static void members_come_back_after_a_restart(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    char ca[DIGEST_TEXT_SIZE];

    tester_hello(t);
    snprintf(ca, sizeof(ca), "%s", agents_ca_fingerprint(w->agents));
    stop(w);
    world_start(w);
    assert_string_equal(agents_ca_fingerprint(w->agents), ca);
    tester_hello(t);
    assert_int_equal(t->welcome.epoch, 2);
}

static void a_ca_that_is_lost_is_said(void **state)
{
    struct world *w = *state;
    char path[64];

    world_member(w, "10.0.0.1");
    stop(w);
    assert_false(world_file_has(w->log_path, "put its ca.pem back"));
    snprintf(path, sizeof(path), "%s/ca.pem", w->folder.path);
    assert_int_equal(unlink(path), 0);
    world_start(w);
    assert_true(world_file_has(w->log_path, "put its ca.pem back"));
}

/* ---- keys ---- */

static void keys_are_renewed_while_it_runs(void **state)
{
    struct world *w = *state;
    struct tester *t;
    struct cert_facts before, after;
    struct stat old, new;
    char path[64];
    int64_t now_ms = w->rig.clock.wall;

    w->rig.clock.wall = now_ms - 61 * day_ms;
    world_start(w);
    snprintf(path, sizeof(path), "%s/tickets", w->folder.path);
    assert_int_equal(stat(path, &old), 0);
    t = world_member(w, "10.0.0.1");
    tester_hello(t);
    assert_int_equal(conn_peer(t->conn, &before, &w->err), 0);
    w->rig.clock.wall = now_ms;
    rig_pass_ms(&w->rig, 3600 * 1000);
    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    tester_hello(t);
    assert_int_equal(conn_peer(t->conn, &after, &w->err), 0);
    assert_string_not_equal(before.serial, after.serial);
    assert_true(after.until_ms > now_ms + 80 * day_ms);
    assert_int_equal(stat(path, &new), 0);
    assert_true(new.st_size > old.st_size);

    folder_put(path, 0600, "rubbish", 7);
    rig_pass_ms(&w->rig, 3600 * 1000);
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "the keys in memory stay"));
    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    tester_hello(t); /* it goes on with those it has */
}

/* ---- a crowd ---- */

struct crowd {
    int fds[CROWD_MAX];
    size_t n;
};

/* A record that is whole, with the beginning of a ClientHello: its handshake waits for the rest. */
static const unsigned char half_hello[] = { 22, 3, 1, 0, 5, 1, 0, 16, 0, 3 };

/* They send so much of half_hello. */
static void crowd_say(struct world *w, struct crowd *c, size_t n, in_addr_t from, size_t bytes)
{
    const struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(from) };
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (c->n = 0; c->n < n; c->n++) {
        c->fds[c->n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(c->fds[c->n] >= 0);
        assert_int_equal(bind(c->fds[c->n], (const struct sockaddr *)&at, sizeof(at)), 0);
        assert_int_equal(connect(c->fds[c->n], &w->at.u.any, w->at.len), 0);
        assert_int_equal(send(c->fds[c->n], half_hello, bytes, 0), bytes);
    }
}

static void crowd_come_from(struct world *w, struct crowd *c, size_t n, in_addr_t from)
{
    crowd_say(w, c, n, from, sizeof(half_hello));
}

static void crowd_come(struct world *w, struct crowd *c, size_t n)
{
    crowd_come_from(w, c, n, INADDR_LOOPBACK);
}

static void crowd_go(struct crowd *c)
{
    while (c->n > 0)
        close(c->fds[--c->n]);
}

/* The clock stands: only the first ones are accepted, and none is refused. */
static void many_at_once_come_in_one_after_another(void **state)
{
    struct world *w = *state;
    struct crowd c;
    int64_t first;

    crowd_come(w, &c, 300);
    for (int i = 0; i < 50; i++)
        rig_turn_in(&w->rig, 0, 1);
    first = connections(w);
    assert_in_range(first, 100, 250);
    TURN_UNTIL(&w->rig, connections(w) == 300);
    assert_int_equal(agents_counters(w->agents)->refused, 0);
    crowd_go(&c);
    TURN_UNTIL(&w->rig, connections(w) == 0);
}

/* They are all from one address, as those behind a relay. */
static void those_of_one_network_stand_in_line(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *late = world_member(w, "10.0.0.2"),
                  *other = world_member(w, "10.0.0.3");
    struct message_hello m = tester_hello_words(late);
    struct crowd c;

    tester_drop(late);
    tester_drop(other);
    tester_hello(t); /* members are not counted */
    TURN_UNTIL(&w->rig, connections(w) == 1);
    crowd_come(w, &c, 450);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 50);
    assert_int_equal(connections(w), 401);
    tester_dial(late, "127.0.0.1");
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 51);
    other->from = "127.0.0.2"; /* another network does not wait for them */
    tester_hello(other);
    assert_false(late->is_ready || late->is_over);
    crowd_go(&c);
    TURN_UNTIL(&w->rig, late->is_ready);
    conn_send(late->conn, MESSAGE_HELLO, &message_hello_shape, &m);
    TURN_UNTIL(&w->rig, late->heard[MESSAGE_WELCOME] && connections(w) == 3);
    assert_int_equal(agents_counters(w->agents)->refused_by[AGENTS_CROWDED], 0);
}

/* The kernel drops connections when its queue is full, so none is left waiting there. */
static void those_of_several_networks_stand_in_line_too(void **state)
{
    struct world *w = *state;
    struct crowd one, other;

    crowd_come(w, &one, 300);
    crowd_come_from(w, &other, 300, INADDR_LOOPBACK + 1);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 100 && connections(w) == 500);
    crowd_go(&one);
    TURN_UNTIL(&w->rig, connections(w) == 300 && agents_counters(w->agents)->parked == 0);
    crowd_go(&other);
}

static void a_line_has_an_end(void **state)
{
    struct world *w = *state;
    struct crowd c;

    w->settings.links_max = 500;
    world_start(w);
    crowd_come(w, &c, CROWD_MAX);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->refused_by[AGENTS_CROWDED] == 50);
    assert_int_equal(agents_counters(w->agents)->parked, 100);
    rig_pass_ms(&w->rig, 41 * 1000); /* for handshakes, and for sockets that wait */
    rig_turns(&w->rig, 20);
    rig_pass_ms(&w->rig, 11 * 1000); /* and for those that replaced a stalled one */
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 0 && connections(w) == 0);
    assert_true(world_file_has(w->log_path, "no more agents can connect"));
    crowd_go(&c);
}

/* Neither those that say nothing, nor those that stop in the middle of their ClientHello. */
static void silent_ones_have_no_place_in_line(void **state)
{
    static const size_t said[] = { 0, 1, 4, 5, sizeof(half_hello) - 1 };
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct crowd c;

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        tester_drop(t);
        TURN_UNTIL(&w->rig, connections(w) == 0);
        crowd_say(w, &c, 450, INADDR_LOOPBACK, said[i]);
        TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 450);
        assert_int_equal(connections(w), 0);
        t->from = "127.0.0.1"; /* as all of them */
        tester_hello(t);
        assert_int_equal(agents_counters(w->agents)->parked, 450);
        crowd_go(&c);
        TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 0);
    }
}

static void silent_ones_are_closed_in_time(void **state)
{
    struct world *w = *state;
    struct crowd c;

    crowd_say(w, &c, 10, INADDR_LOOPBACK, 1);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 10);
    rig_pass_ms(&w->rig, 21 * 1000);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 0);
    assert_int_equal(agents_counters(w->agents)->refused_by[AGENTS_HANDSHAKE], 10);
    crowd_go(&c);
}

static void silent_ones_give_their_descriptors_to_others(void **state)
{
    struct world *w = *state;
    struct crowd one, other;
    struct tester *t;

    stop(w);
    w->settings.links_max = 300;
    world_start(w);
    t = world_member(w, "10.0.0.1");
    tester_drop(t);
    TURN_UNTIL(&w->rig, connections(w) == 0);
    crowd_say(w, &one, 200, INADDR_LOOPBACK + 1, 0);
    crowd_say(w, &other, 100, INADDR_LOOPBACK + 2, 0);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 300);
    rig_pass_ms(&w->rig, 100);
    tester_hello(t);
    assert_int_equal(agents_counters(w->agents)->refused_by[AGENTS_CROWDED], 1);
    assert_int_equal(agents_counters(w->agents)->parked, 299);
    assert_int_equal(recv(one.fds[0], &(char){ 0 }, 1, 0), 0); /* the oldest of the most */
    crowd_go(&one);
    crowd_go(&other);
}

static void a_handshake_that_stalls_makes_room_for_other_networks(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct crowd one, other;

    tester_drop(t);
    TURN_UNTIL(&w->rig, connections(w) == 0);
    crowd_come_from(w, &one, 400, INADDR_LOOPBACK + 1);
    crowd_come_from(w, &other, 400, INADDR_LOOPBACK + 2);
    TURN_UNTIL(&w->rig, connections(w) == 500 && agents_counters(w->agents)->parked == 300);
    tester_dial(t, "127.0.0.1");
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 301);
    rig_pass_ms(&w->rig, 1100);
    TURN_UNTIL(&w->rig, t->is_ready);
    assert_true(agents_counters(w->agents)->refused_by[AGENTS_CROWDED] > 0);
    crowd_go(&one);
    crowd_go(&other);
}

enum { NET_MAX = 400 }; /* strangers of one network, agents_nets.c */

/* All strangers that a network may have: they were refused, and take neither the answer nor
 * leave. */
struct refused {
    struct tls *tls;
    struct conn *conns[NET_MAX];
    size_t ready;
};

static void refused_on_ready(void *arg)
{
    ((struct refused *)arg)->ready++;
}

static void refused_on_message(void *arg, unsigned type, const void *message)
{
    (void)arg, (void)type, (void)message;
}

static void refused_on_end(void *arg, const struct err *why)
{
    (void)arg, (void)why;
}

static const struct conn_owner refused_owner = { refused_on_ready, refused_on_message,
                                                 refused_on_end, NULL };

static void refused_come(struct world *w, struct refused *r)
{
    const struct tls_config config = { .ca_pin = agents_ca_fingerprint(w->agents),
                                       .only_1_3 = true };

    *r = (struct refused){ 0 };
    assert_int_equal(tls_client_new(&config, &r->tls, &w->err), 0);
    for (size_t i = 0; i < NET_MAX; i++) {
        int fd = sys_socket(AF_INET, SOCK_STREAM, 0);

        assert_true(fd >= 0);
        (void)sys_connect(fd, &w->at.u.any, w->at.len); /* it is under way, or done */
        assert_int_equal(conn_new(w->rig.loop, fd, r->tls, CA_SERVER_NAME, &refused_owner, r,
                                  &r->conns[i], &w->err),
                         0);
    }
    TURN_UNTIL(&w->rig, r->ready == NET_MAX);
    for (size_t i = 0; i < NET_MAX; i++) {
        conn_send(r->conns[i], MESSAGE_PONG, &message_ping_shape, &(struct message_ping){ 1, 1 });
        conn_pause(r->conns[i]);
    }
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->refused_by[AGENTS_INVALID] == NET_MAX);
}

static void refused_go(struct refused *r)
{
    for (size_t i = 0; i < NET_MAX; i++)
        conn_free(r->conns[i]);
    tls_free(r->tls);
}

static void a_refused_peer_that_stays_is_closed_soon(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct refused r;
    int64_t begun_ms;

    tester_drop(t);
    TURN_UNTIL(&w->rig, connections(w) == 0);
    refused_come(w, &r);
    begun_ms = w->rig.clock.mono;
    tester_dial(t, "127.0.0.1");
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 1);
    TURN_UNTIL(&w->rig, t->is_ready);
    assert_in_range(w->rig.clock.mono - begun_ms, 100, 1000); /* they may stay for 2 s */
    assert_int_equal(agents_counters(w->agents)->refused_by[AGENTS_CROWDED], 0);
    refused_go(&r);
}

static void hands_are_not_shaken_for_ever(void **state)
{
    struct world *w = *state;
    struct crowd c;

    crowd_come(w, &c, 10);
    TURN_UNTIL(&w->rig, connections(w) == 10);
    rig_pass_ms(&w->rig, 11 * 1000);
    TURN_UNTIL(&w->rig, connections(w) == 0);
    assert_int_equal(agents_counters(w->agents)->refused, 10);
    rig_pass_ms(&w->rig, 10 * 1000);
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "connections of agents turned away"));
    crowd_go(&c);
}

static void without_descriptors_it_goes_on_when_there_are_some(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");
    struct crowd c;

    crowd_come(w, &c, 1);
    sys_fault("accept", 1, EMFILE);
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "cannot accept agents for a moment"));
    sys_fault("any", 0, 0);
    TURN_UNTIL(&w->rig, connections(w) == 1);
    crowd_go(&c);
    tester_hello(t);
}

/* The log is not for strangers to fill. */
static void strangers_have_few_lines_in_the_log(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "guess", "10.0.0.1");
    char *log;
    int lines = 0;

    for (int i = 0; i < 150; i++)
        tester_join(t, &m);
    log = folder_text(w->log_path);
    for (const char *p = log; (p = strstr(p, "an agent is refused")); p++)
        lines++;
    free(log);
    assert_in_range(lines, 50, 110);
    assert_int_equal(agents_counters(w->agents)->refused, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUIET_TEST(sessions_of_an_earlier_run_are_ended_at_the_start),
        QUIET_TEST(a_start_that_cannot_be_says_why),
        QUIET_TEST(an_address_in_use_is_said),
        QUIET_TEST(every_call_of_the_start_may_fail),
        AGENTS_TEST(at_the_end_the_store_knows_of_no_session),
        AGENTS_TEST(members_come_back_after_a_restart),
        AGENTS_TEST(a_ca_that_is_lost_is_said),
        QUIET_TEST(keys_are_renewed_while_it_runs),
        AGENTS_TEST(many_at_once_come_in_one_after_another),
        AGENTS_TEST(those_of_one_network_stand_in_line),
        AGENTS_TEST(those_of_several_networks_stand_in_line_too),
        QUIET_TEST(a_line_has_an_end),
        AGENTS_TEST(silent_ones_have_no_place_in_line),
        AGENTS_TEST(silent_ones_are_closed_in_time),
        QUIET_TEST(silent_ones_give_their_descriptors_to_others),
        AGENTS_TEST(a_handshake_that_stalls_makes_room_for_other_networks),
        AGENTS_TEST(a_refused_peer_that_stays_is_closed_soon),
        AGENTS_TEST(hands_are_not_shaken_for_ever),
        AGENTS_TEST(without_descriptors_it_goes_on_when_there_are_some),
        AGENTS_TEST(strangers_have_few_lines_in_the_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
