/* SPDX-License-Identifier: MIT */
/* The server's end of the link as a whole: its start, its end, its keys, and those who
 * only take up room. */
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
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 2);
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
    TURN_UNTIL(&w->rig, world_file_has(w->log_path, "keys of the link are not renewed"));
    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    tester_hello(t); /* it goes on with those it has */
}

/* ---- a crowd ---- */

struct crowd {
    int fds[CROWD_MAX];
    size_t n;
};

static void crowd_come_from(struct world *w, struct crowd *c, size_t n, in_addr_t from)
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
    }
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

/* The clock stands: nobody is allowed in but the first, and nobody is refused. */
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

/* The kernel forgets who comes when its queue is full, so nobody is left to it. */
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
    rig_pass_ms(&w->rig, 41 * 1000); /* those who shake hands have their time, who wait too */
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->parked == 0 && connections(w) == 0);
    assert_true(world_file_has(w->log_path, "no more agents can connect"));
    crowd_go(&c);
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
        AGENTS_TEST(hands_are_not_shaken_for_ever),
        AGENTS_TEST(without_descriptors_it_goes_on_when_there_are_some),
        AGENTS_TEST(strangers_have_few_lines_in_the_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
