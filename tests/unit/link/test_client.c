/* SPDX-License-Identifier: MIT */
#include "link/client.h"

#include <limits.h>
#include <netinet/tcp.h>

#include "link_world.h"

/* ---- joining ---- */

static void it_joins_and_then_says_hello(void **state)
{
    struct link_world *w = *state;
    char path[64];

    world_start(w);
    assert_string_equal(client_agent_id(w->client), "");
    TURN_UNTIL(&w->rig, w->ups == 1);
    assert_int_equal(w->joins, 1);
    assert_string_equal(w->secret, w->plain.secret);
    assert_string_equal(w->join_ip, "127.0.0.1"); /* of its end of the connection */
    assert_string_equal(w->join_id, "");
    assert_string_equal(w->hostname, "host-7");
    assert_int_equal(w->joined, 1);
    assert_string_equal(w->joined_id, "made-1");
    assert_string_equal(client_agent_id(w->client), "made-1");
    assert_int_equal(w->hellos, 1);
    assert_string_equal(w->hello_id, "made-1");
    assert_string_equal(w->shown.agent_id, "made-1");
    assert_int_equal(w->downs, 0);
    snprintf(path, sizeof(path), "%s/agent.key", w->dir.path);
    assert_int_equal(folder_mode(path), 0600);
}

/* A server with a full accept queue has completed the TCP handshake; a server that does not even do
 * that is given up sooner. */
static void a_dead_server_is_given_up_sooner(void **state)
{
    enum { FDS = 256, AGAIN = 3 }; /* retries after 1, 3 and 7 s, and 8 s more for an answer */
    struct link_world *w = *state;
    int least = INT_MAX;

    world_up(w);
    for (int fd = 0; fd < FDS; fd++) {
        int again = INT_MAX;
        socklen_t n = sizeof(again);

        (void)getsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &again, &n); /* fails for most descriptors */
        least = again < least ? again : least;
    }
    assert_int_equal(least, AGAIN);
}

static void it_asks_for_the_configured_id(void **state)
{
    struct link_world *w = *state;

    w->settings.ip = "10.1.2.3";
    w->settings.agent_id = "wanted-1";
    world_up(w);
    assert_string_equal(w->join_ip, "10.1.2.3");
    assert_string_equal(w->join_id, "wanted-1");
    assert_string_equal(client_agent_id(w->client), "wanted-1");
}

static void it_joins_once(void **state)
{
    struct link_world *w = *state;

    world_up(w);
    world_stop(w);
    w->settings.token = "rubbish"; /* not even read */
    world_start(w);
    assert_string_equal(client_agent_id(w->client), "made-1");
    TURN_UNTIL(&w->rig, w->ups == 2);
    assert_int_equal(w->joins, 1);
}

static void a_server_of_another_ca_does_not_get_the_secret(void **state)
{
    struct link_world *w = *state;
    struct folder dir;
    struct ca *other;
    struct err err = { 0 };
    bool made;

    folder_init(&dir);
    assert_int_equal(ca_open(dir.path, w->rig.clock.wall, &made, &other, &err), 0);
    world_deaf(w);
    world_listen(w, other);
    world_start(w);
    TURN_UNTIL(&w->rig, w->downs == 3);
    assert_true(w->accepts >= 3);
    assert_int_equal(w->readies, 0);
    assert_int_equal(w->joins, 0);
    assert_non_null(strstr(w->why.text, w->at));
    ca_free(other);
    folder_done(&dir);
}

static void after_joining_too_only_its_own_ca_will_do(void **state)
{
    struct link_world *w = *state;
    struct folder dir;
    struct ca *other;
    struct err err = { 0 };
    bool made;

    world_up(w);
    folder_init(&dir);
    assert_int_equal(ca_open(dir.path, w->rig.clock.wall, &made, &other, &err), 0);
    world_deaf(w);
    world_listen(w, other);
    w->hellos = 0;
    TURN_UNTIL(&w->rig, w->downs == 3);
    assert_int_equal(w->hellos, 0);
    assert_int_equal(w->ups, 1);
    ca_free(other);
    folder_done(&dir);
}

static void an_unexpected_answer_to_a_join_is_retried(void **state)
{
    static const struct {
        enum answer how;
        int code;
        const char *text;
    } cases[] = {
        { ANSWER_ERROR, ERR_DENIED, "refused: this token is not good" },
        { ANSWER_ODDLY, ERR_CONFLICT, "it said ping, which is no answer here" },
        { ANSWER_WRONG, ERR_INVALID, "not for the key in" },
        { ANSWER_HANG_UP, ERR_UNAVAILABLE, "it has ended the connection" },
    };
    struct link_world *w = *state;
    char path[64];

    snprintf(path, sizeof(path), "%s/agent.pem", w->dir.path);
    w->on_join = cases[0].how;
    world_start(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        w->on_join = cases[i].how;
        w->downs = 0;
        TURN_UNTIL(&w->rig, w->downs == 1);
        if (w->why.code != cases[i].code || !strstr(w->why.text, cases[i].text))
            fail_msg("case %zu: %d %s", i, w->why.code, w->why.text);
        assert_true(w->again_ms >= 0);
        assert_int_equal(access(path, F_OK), -1);
    }
    assert_int_equal(w->joined, 0);
    w->on_join = ANSWER_WELL;
    TURN_UNTIL(&w->rig, w->ups == 1);
}

static void a_certificate_that_is_over_is_joined_for_again(void **state)
{
    struct link_world *w = *state;

    w->settings.agent_id = "wanted-1";
    world_up(w);
    world_stop(w);
    w->rig.clock.wall += (int64_t)31 * 24 * 3600 * 1000;
    w->settings.agent_id = "";
    world_start(w);
    TURN_UNTIL(&w->rig, w->joins == 2);
    assert_string_equal(w->join_id, "wanted-1"); /* its earlier id */
}

static void without_certificate_and_token_it_does_not_start(void **state)
{
    static const struct {
        const char *token, *text;
    } cases[] = {
        { "", "no certificate yet and no join token" },
        { "rubbish", "join token: " },
    };
    struct link_world *w = *state;

    w->servers[0] = w->at;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };

        w->settings.token = cases[i].token;
        assert_int_equal(client_new(w->rig.loop, &w->settings, &world_client, w, &w->client, &err),
                         -1);
        assert_int_equal(err.code, ERR_INVALID);
        assert_non_null(strstr(err.text, cases[i].text));
        assert_null(w->client);
    }
}

static void damaged_files_are_an_error_at_the_start(void **state)
{
    static const char *const names[] = { "agent.key", "agent.pem" };
    struct link_world *w = *state;

    world_up(w);
    world_stop(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[64], *before, *after;
        struct err err = { 0 };

        snprintf(path, sizeof(path), "%s/%s", w->dir.path, names[i]);
        before = folder_text(path);
        folder_put(path, 0600, before, strlen(before) / 2);
        assert_int_equal(client_new(w->rig.loop, &w->settings, &world_client, w, &w->client, &err),
                         -1);
        assert_non_null(strstr(err.text, path));
        after = folder_text(path);
        assert_int_equal(strlen(after), strlen(before) / 2);
        folder_put(path, 0600, before, strlen(before));
        free(before);
        free(after);
    }
}

/* ---- sessions ---- */

static void messages_go_both_ways(void **state)
{
    struct link_world *w = *state;

    world_up(w);
    world_ping(w);
    TURN_UNTIL(&w->rig, w->pongs == 1);
    assert_int_equal(w->messages, 1);
    assert_int_equal(w->last_type, MESSAGE_PING);
    assert_true(w->last_ping_ms > 0);
    conn_refuse(w->peers->c, MESSAGE_RESULT, ERR_INVALID, -1, "about one message");
    TURN_UNTIL(&w->rig, w->messages == 2);
    assert_int_equal(w->last_type, MESSAGE_ERROR);
    assert_true(client_is_up(w->client));
}

static void messages_while_it_is_down_are_dropped(void **state)
{
    struct link_world *w = *state;
    const struct message_ping p = { 0 };

    world_start(w);
    client_send(w->client, MESSAGE_PONG, &message_ping_shape, &p);
    TURN_UNTIL(&w->rig, w->ups == 1);
    client_send(w->client, MESSAGE_PONG, &message_ping_shape, &p);
    TURN_UNTIL(&w->rig, w->pongs == 1);
    rig_turns(&w->rig, 5);
    assert_int_equal(w->pongs, 1);
}

static void a_session_that_is_lost_comes_again(void **state)
{
    struct link_world *w = *state;

    world_up(w);
    for (int i = 1; i <= 5; i++) {
        world_ping(w);
        TURN_UNTIL(&w->rig, w->pongs == i);
        conn_end(w->peers->c);
        w->peers->c = NULL;
        TURN_UNTIL(&w->rig, w->downs == i);
        assert_in_range(w->again_ms, 0, 100); /* the ping has reset the failures */
        assert_int_equal(w->why.code, ERR_UNAVAILABLE);
        TURN_UNTIL(&w->rig, w->ups == i + 1);
    }
    assert_int_equal(w->joins, 1);
}

static void an_error_before_the_end_is_reported_as_its_reason(void **state)
{
    struct link_world *w = *state;

    world_up(w);
    conn_refuse(w->peers->c, MESSAGE_EVENT, ERR_LIMIT, 0, "too many events");
    conn_end(w->peers->c);
    w->peers->c = NULL;
    TURN_UNTIL(&w->rig, w->downs == 1);
    assert_int_equal(w->why.code, ERR_LIMIT);
    assert_non_null(strstr(w->why.text, "refused: too many events"));
}

static void a_server_that_is_silent_is_gone(void **state)
{
    struct link_world *w = *state;

    world_up(w);
    for (int i = 0; i < 10; i++) { /* pings keep the session up */
        rig_pass_ms(&w->rig, 2500);
        world_ping(w);
        TURN_UNTIL(&w->rig, w->pongs == i + 1);
    }
    assert_int_equal(w->downs, 0);
    rig_pass_ms(&w->rig, 2900);
    assert_int_equal(w->downs, 0);
    rig_pass_ms(&w->rig, 101);
    assert_int_equal(w->downs, 1);
    assert_int_equal(w->why.code, ERR_TIMEOUT);
    assert_non_null(strstr(w->why.text, "silent for 3000 ms"));
    TURN_UNTIL(&w->rig, w->ups == 2);
}

/* Any value of the server is limited to a usable one. */
static void the_time_between_pings_has_limits(void **state)
{
    static const struct {
        int64_t ping_ms, quiet_ms, gone_ms;
    } cases[] = {
        { 0, 290, 12 },
        { -5, 290, 12 },
        { INT64_MAX, 1799900, 101 },
    };
    struct link_world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        w->ping_ms = cases[i].ping_ms;
        w->ups = w->downs = 0;
        world_up(w);
        rig_pass_ms(&w->rig, cases[i].quiet_ms);
        assert_int_equal(w->downs, 0);
        rig_pass_ms(&w->rig, cases[i].gone_ms);
        assert_int_equal(w->downs, 1);
        world_stop(w);
    }
}

static void a_hello_or_join_without_an_answer_is_given_up(void **state)
{
    struct link_world *w = *state;

    w->on_join = ANSWER_NOT;
    world_start(w);
    TURN_UNTIL(&w->rig, w->joins == 1);
    rig_pass_ms(&w->rig, 9900);
    assert_int_equal(w->downs, 0);
    rig_pass_ms(&w->rig, 101);
    assert_int_equal(w->downs, 1);
    assert_int_equal(w->why.code, ERR_TIMEOUT);
    assert_non_null(strstr(w->why.text, "the join was not answered within 10 s"));
    w->on_join = ANSWER_WELL;
    w->on_hello = ANSWER_NOT;
    TURN_UNTIL(&w->rig, w->hellos == 1);
    rig_pass_ms(&w->rig, 9900);
    assert_int_equal(w->downs, 1);
    rig_pass_ms(&w->rig, 101);
    assert_int_equal(w->downs, 2);
    assert_non_null(strstr(w->why.text, "the hello was not answered within 10 s"));
    assert_int_equal(w->ups, 0);
}

static void an_unexpected_answer_to_a_hello_is_retried(void **state)
{
    static const struct {
        enum answer how;
        int code;
        const char *text;
    } cases[] = {
        { ANSWER_ERROR, ERR_CONFLICT, "refused: come later" },
        { ANSWER_ODDLY, ERR_CONFLICT, "it said ping, which is no answer here" },
        { ANSWER_WRONG, ERR_CONFLICT, "a version of the protocol that was not offered" },
        { ANSWER_HANG_UP, ERR_UNAVAILABLE, "it has ended the connection" },
    };
    struct link_world *w = *state;

    w->on_hello = cases[0].how;
    world_start(w);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        w->on_hello = cases[i].how;
        w->downs = 0;
        TURN_UNTIL(&w->rig, w->downs == 1);
        if (w->why.code != cases[i].code || !strstr(w->why.text, cases[i].text))
            fail_msg("case %zu: %d %s", i, w->why.code, w->why.text);
    }
    assert_int_equal(w->ups, 0);
    w->on_hello = ANSWER_WELL;
    TURN_UNTIL(&w->rig, w->ups == 1);
}

/* ---- when to connect again ---- */

static void a_refused_agent_waits_as_long_as_it_was_told(void **state)
{
    struct link_world *w = *state;
    int accepts;

    w->on_hello = ANSWER_ERROR;
    w->retry_ms = 60000;
    world_start(w);
    TURN_UNTIL(&w->rig, w->downs == 1);
    assert_in_range(w->again_ms, 60000, 75000);
    accepts = w->accepts;
    rig_pass_ms(&w->rig, 59000);
    rig_turns(&w->rig, 3);
    assert_int_equal(w->accepts, accepts);
    w->on_hello = ANSWER_WELL;
    rig_pass_ms(&w->rig, 16000);
    TURN_UNTIL(&w->rig, w->ups == 1);
    conn_refuse(w->peers->c, MESSAGE_HELLO, ERR_UNAVAILABLE, 4000, "this server goes away");
    TURN_UNTIL(&w->rig, w->downs == 2); /* also in an open session */
    assert_in_range(w->again_ms, 4000, 5000);
    assert_non_null(strstr(w->why.text, "this server goes away"));
}

static void an_agent_leaves_a_stopping_server_for_another(void **state)
{
    struct link_world *w = *state;
    char other[64];

    snprintf(other, sizeof(other), "127.0.0.2:%s", strrchr(w->at, ':') + 1); /* no server */
    w->servers[0] = w->at;
    world_up(w);
    w->servers[1] = other;
    assert_int_equal(client_set_servers(w->client, w->servers, &w->why), 0);
    conn_refuse(w->peers->c, 0, ERR_UNAVAILABLE, 1000, "the server stops");
    TURN_UNTIL(&w->rig, w->downs == 1);
    assert_in_range(w->again_ms, 1000, 1250);
    PASS_UNTIL(&w->rig, w->downs == 2);
    assert_non_null(strstr(w->why.text, other));
    PASS_UNTIL(&w->rig, w->ups == 2); /* and then the first again */
}

static void a_permanently_refused_agent_retries_rarely(void **state)
{
    static const bool at_join[] = { true, false };
    struct link_world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(at_join); i++) {
        int64_t told_ms = at_join[i] ? CLIENT_UNJOINED_MS : CLIENT_UNWANTED_MS;
        int accepts;

        w->on_join = at_join[i] ? ANSWER_ERROR : ANSWER_WELL;
        w->on_hello = ANSWER_ERROR;
        w->retry_ms = -1;
        w->downs = 0;
        world_start(w);
        TURN_UNTIL(&w->rig, w->downs == 1);
        assert_in_range(w->again_ms, told_ms, told_ms / 4 * 5);
        assert_true(client_is_unwanted(w->client));
        accepts = w->accepts;
        rig_pass_ms(&w->rig, told_ms - 10);
        rig_turns(&w->rig, 5); /* each turn takes a millisecond */
        assert_int_equal(w->accepts, accepts);
        rig_pass_ms(&w->rig, told_ms / 4 + 1);
        TURN_UNTIL(&w->rig, w->downs == 2); /* tried again, refused again */
        world_stop(w);
    }
    w->on_hello = ANSWER_WELL;
    world_up(w); /* a new client starts without a wait */
}

static void a_join_that_is_refused_is_tried_again_within_a_minute(void **state)
{
    struct link_world *w = *state;

    (void)state;
    w->on_join = ANSWER_ERROR;
    w->retry_ms = -1;
    world_start(w);
    TURN_UNTIL(&w->rig, w->downs == 1);
    assert_in_range(w->again_ms, 1, 60 * 1000);
    w->on_join = ANSWER_WELL;
    rig_pass_ms(&w->rig, 60 * 1000);
    TURN_UNTIL(&w->rig, w->ups == 1);
    assert_false(client_is_unwanted(w->client));
}

static void an_agent_refused_by_one_server_tries_the_others_at_once(void **state)
{
    static const int64_t told[] = { -1, 60 * 1000 };
    struct link_world *w = *state;
    char other[64];

    snprintf(other, sizeof(other), "127.0.0.2:%s", strrchr(w->at, ':') + 1); /* no server */
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        w->servers[0] = w->at;
        w->servers[1] = NULL;
        world_up(w);
        w->on_hello = ANSWER_ERROR;
        w->retry_ms = told[i];
        w->servers[1] = other;
        assert_int_equal(client_set_servers(w->client, w->servers, &w->why), 0);
        client_drop(w->client);
        PASS_UNTIL(&w->rig, strstr(w->why.text, "refused: "));
        assert_int_equal(w->again_ms, 0);
        TURN_UNTIL(&w->rig, strstr(w->why.text, other));
        world_stop(w);
        w->on_hello = ANSWER_WELL;
    }
}

static void it_backs_off_and_comes_back_by_itself(void **state)
{
    struct link_world *w = *state;
    int64_t most = 100, longest = 0;

    world_deaf(w);
    world_start(w);
    for (int i = 1; i <= 60; i++) {
        TURN_UNTIL(&w->rig, w->downs == i);
        assert_in_range(w->again_ms, 0, most);
        assert_int_equal(w->why.sys, ECONNREFUSED);
        longest = w->again_ms > longest ? w->again_ms : longest;
        most = most * 2 < 8000 ? most * 2 : 8000;
        if (i == 60)
            world_listen(w, w->ca);
        rig_pass_ms(&w->rig, w->again_ms);
    }
    assert_true(longest > 6000);
    TURN_UNTIL(&w->rig, w->ups == 1);
}

static void sessions_that_die_young_are_failures(void **state)
{
    struct link_world *w = *state;
    int64_t longest = 0;

    world_start(w);
    for (int i = 1; i <= 20; i++) {
        TURN_UNTIL(&w->rig, w->ups == i);
        conn_end(w->peers->c);
        w->peers->c = NULL;
        TURN_UNTIL(&w->rig, w->downs == i);
        longest = w->again_ms > longest ? w->again_ms : longest;
        rig_pass_ms(&w->rig, w->again_ms);
    }
    assert_true(longest > 2000);
}

static void servers_are_tried_in_turn_and_names_looked_up(void **state)
{
    struct link_world *w = *state;
    char named[64];

    snprintf(named, sizeof(named), "127.1:%s", strrchr(w->at, ':') + 1);
    w->servers[0] = "unix:/nonexistent/socket";
    w->servers[1] = "127.0.0.1:1";
    w->servers[2] = named;
    world_up(w);
    for (int i = 0; i < 3; i++) { /* the server of the last session is tried first */
        w->downs = 0;
        world_ping(w);
        TURN_UNTIL(&w->rig, w->pongs == i + 1);
        conn_end(w->peers->c);
        w->peers->c = NULL;
        TURN_UNTIL(&w->rig, w->ups == i + 2);
        assert_int_equal(w->downs, 1);
    }
}

static void an_invalid_server_is_refused(void **state)
{
    struct link_world *w = *state;
    struct err err = { 0 };

    w->servers[0] = "10.0.0.1";
    assert_int_equal(client_new(w->rig.loop, &w->settings, &world_client, w, &w->client, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.text, "servers[0]: '10.0.0.1' must be"));
}

static void a_session_stays_while_its_server_is_in_the_list(void **state)
{
    struct link_world *w = *state;
    char named[64];
    const char *both[] = { "127.0.0.1:1", w->at, NULL }, *other[] = { named, NULL };
    static const char *const bad[] = { "nonsense", NULL };
    struct err err = { 0 };

    snprintf(named, sizeof(named), "127.1:%s", strrchr(w->at, ':') + 1);
    world_up(w);
    assert_int_equal(client_set_servers(w->client, both, &err), 0);
    assert_int_equal(client_set_servers(w->client, bad, &err), -1);
    assert_non_null(strstr(err.text, "servers[0]: 'nonsense'"));
    world_ping(w);
    TURN_UNTIL(&w->rig, w->pongs == 1);
    assert_int_equal(w->downs, 0);
    assert_int_equal(client_set_servers(w->client, other, &err), 0);
    assert_int_equal(w->downs, 1);
    assert_non_null(strstr(w->why.text, "is no longer in the settings"));
    assert_false(client_is_up(w->client));
    TURN_UNTIL(&w->rig, w->ups == 2);
    assert_int_equal(w->downs, 1);
}

/* ---- renewal ---- */

/* TLS uses the real clock, so the first certificate is issued in the past. */
static void a_certificate_is_renewed_and_used_the_next_time(void **state)
{
    struct link_world *w = *state;
    char serial[CERT_SERIAL_SIZE], key_id[DIGEST_TEXT_SIZE];

    w->days = 1;
    w->rig.clock.wall -= 20 * 3600 * 1000; /* issued long ago, so it is due soon */
    world_up(w);
    snprintf(serial, sizeof(serial), "%s", w->shown.serial);
    snprintf(key_id, sizeof(key_id), "%s", w->shown.key_id);
    w->rig.clock.wall += 20 * 3600 * 1000;
    w->days = 30;
    world_ping(w);
    TURN_UNTIL(&w->rig, w->renews == 1 && w->pongs == 1);
    world_ping(w);
    TURN_UNTIL(&w->rig, w->pongs == 2);
    assert_int_equal(w->renews, 1);
    assert_int_equal(w->errors, 0);
    conn_end(w->peers->c);
    w->peers->c = NULL;
    TURN_UNTIL(&w->rig, w->ups == 2);
    assert_string_not_equal(w->shown.serial, serial);
    assert_string_equal(w->shown.key_id, key_id);
    assert_string_equal(w->shown.agent_id, "made-1");
}

static void a_renewal_that_fails_ends_nothing(void **state)
{
    static const enum answer how[] = { ANSWER_NOT, ANSWER_ERROR, ANSWER_WRONG };
    struct link_world *w = *state;

    w->ping_ms = 600000;
    world_up(w);
    w->rig.clock.wall += (int64_t)21 * 24 * 3600 * 1000;
    for (int i = 0; i < 3; i++) {
        w->on_renew = how[i];
        w->pongs = 0;
        for (int k = 1; k <= 3; k++) { /* at once, then not for an hour */
            world_ping(w);
            TURN_UNTIL(&w->rig, w->pongs == k && w->renews == i + 1);
            rig_pass_ms(&w->rig, 1200 * 1000 + (k == 3 ? 3000 : -1000));
        }
    }
    assert_int_equal(w->errors, 1); /* the wrong one was refused */
    assert_int_equal(w->downs, 0);
    assert_true(client_is_up(w->client));
}

/* ---- freeing and failing calls ---- */

static void it_may_be_freed_in_any_callback(void **state)
{
    static const enum deed_at places[] = { FREE_IN_JOINED, FREE_IN_UP, FREE_IN_MESSAGE,
                                           FREE_IN_DOWN };
    struct link_world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        w->ups = 0;
        w->free_at = places[i];
        world_start(w);
        for (int k = 0; k < 5000 && w->client; k++) {
            rig_turn(&w->rig);
            if (w->ups && w->client && w->free_at == FREE_IN_MESSAGE)
                world_ping(w);
            if (w->ups && w->client && w->free_at == FREE_IN_DOWN)
                world_drop_peers(w);
        }
        assert_null(w->client);
        rig_turns(&w->rig, 3);
    }
    client_free(NULL);
}

static void it_may_be_freed_at_any_time(void **state)
{
    struct link_world *w = *state;

    for (int turns = 0; turns < 40; turns++) {
        world_start(w);
        for (int i = 0; i < turns; i++)
            rig_turn(&w->rig);
        world_stop(w);
        world_drop_peers(w);
        folder_sweep(&w->dir);
    }
    assert_true(w->ups > 0);
}

/* If any call fails once, on either side, the client does not start and reports it, or it comes up
 * in the end; and its files are complete. */
static void any_call_may_fail_once(void **state)
{
    struct link_world *w = *state;
    bool hit = true;
    long nth = 0;

    w->servers[0] = w->at;
    while (hit) {
        struct err err = { 0 };
        int bad;

        w->ups = 0;
        sys_fault("any", ++nth, EIO);
        bad = client_new(w->rig.loop, &w->settings, &world_client, w, &w->client, &err);
        if (bad) {
            assert_true(sys_fault_hit());
            assert_true(err.text[0]);
            world_start(w);
        }
        for (int k = 0; k < 2000 && !w->ups; k++)
            rig_turn_in(&w->rig, 50, 1);
        if (!w->ups)
            fail_msg("not up after call %ld has failed: %s", nth, w->why.text);
        hit = sys_fault_hit();
        sys_fault("any", 0, 0);
        world_stop(w);
        world_drop_peers(w);
        folder_sweep(&w->dir);
    }
    assert_true(nth > 20);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_joins_and_then_says_hello),
        TEST(a_dead_server_is_given_up_sooner),
        TEST(it_asks_for_the_configured_id),
        TEST(it_joins_once),
        TEST(a_server_of_another_ca_does_not_get_the_secret),
        TEST(after_joining_too_only_its_own_ca_will_do),
        TEST(an_unexpected_answer_to_a_join_is_retried),
        TEST(a_certificate_that_is_over_is_joined_for_again),
        TEST(without_certificate_and_token_it_does_not_start),
        TEST(damaged_files_are_an_error_at_the_start),
        TEST(messages_go_both_ways),
        TEST(messages_while_it_is_down_are_dropped),
        TEST(a_session_that_is_lost_comes_again),
        TEST(an_error_before_the_end_is_reported_as_its_reason),
        TEST(a_server_that_is_silent_is_gone),
        TEST(the_time_between_pings_has_limits),
        TEST(a_hello_or_join_without_an_answer_is_given_up),
        TEST(an_unexpected_answer_to_a_hello_is_retried),
        TEST(a_refused_agent_waits_as_long_as_it_was_told),
        TEST(an_agent_leaves_a_stopping_server_for_another),
        TEST(a_permanently_refused_agent_retries_rarely),
        TEST(a_join_that_is_refused_is_tried_again_within_a_minute),
        TEST(an_agent_refused_by_one_server_tries_the_others_at_once),
        TEST(it_backs_off_and_comes_back_by_itself),
        TEST(sessions_that_die_young_are_failures),
        TEST(servers_are_tried_in_turn_and_names_looked_up),
        TEST(an_invalid_server_is_refused),
        TEST(a_session_stays_while_its_server_is_in_the_list),
        TEST(a_certificate_is_renewed_and_used_the_next_time),
        TEST(a_renewal_that_fails_ends_nothing),
        TEST(it_may_be_freed_in_any_callback),
        TEST(it_may_be_freed_at_any_time),
        TEST(any_call_may_fail_once),
    };

    return cmocka_run_group_tests_name("link/client", tests, NULL, NULL);
}
