/* SPDX-License-Identifier: MIT */
/* How agents join, and renew their certificates, over real TLS. */
#include "model/event.h"
#include "store/store_events.h"
#include "store/store_inventory.h"
#include "tests/lib/agents_rig.h"
#include "tests/lib/wide_text.h"

static void a_good_token_makes_a_member(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "secret", "");
    const struct fleet_host *h;
    struct cert_facts facts;

    world_put_token(w, "secret", 3, 1000);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_int_equal(t->why.code, 0); /* it ended in order */
    assert_string_equal(t->joined.ip, "127.0.0.1");
    assert_int_equal(t->joined.biz_id, 2);
    assert_int_equal(strlen(t->joined.agent_id), strlen("hf-") + 32);
    assert_int_equal(world_uses_left(w, "secret"), 2);

    assert_int_equal(cert_read(t->joined.cert, &facts, &w->err), 0);
    assert_int_equal(facts.role, CERT_AGENT);
    assert_string_equal(facts.agent_id, t->joined.agent_id);
    h = fleet_find(w->fleet, t->joined.agent_id);
    assert_non_null(h);
    assert_ptr_equal(h, fleet_find_at(w->fleet, 0, "127.0.0.1"));
    assert_string_equal(h->hostname, "box");
    assert_string_equal(h->cert_fingerprint, facts.key_id);
    assert_int_equal(h->epoch, 0);
    assert_string_equal(world_stored_host(w, h->agent_id)->cert_serial, facts.serial);
    assert_int_equal(agents_counters(w->agents)->joined, 1);

    tester_hello(t);
    assert_int_equal(t->welcome.epoch, 1);
    assert_int_equal(agents_counters(w->agents)->joined, 1);
}

static void a_bad_token_is_denied(void **state)
{
    static const struct {
        const char *secret, *text;
    } cases[] = {
        { "s3-unknown", "not known" },
        { "s3-used-up", "is used up" },
        { "s3-expired", "has expired" },
        { "s3-revoked", "was revoked" },
    };
    struct world *w = *state;
    char hash[SECRET_HASH_SIZE], id[TOKEN_ID_CHARS + 1];
    struct list rows;

    world_put_token(w, "s3-used-up", 0, 1000);
    world_put_token(w, "s3-expired", 1, -1);
    world_put_token(w, "s3-revoked", 5, 1000);
    secret_hash("s3-revoked", hash);
    snprintf(id, sizeof(id), "%s", strchr(hash, ':') + 1);
    store_rig_do(&w->db, &store_token_revoke, &(struct token_revoke_ask){ id, 1 }, &rows);
    assert_int_equal(rows.n, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tester *t = tester_new(w);
        struct message_join m = tester_join_words(t, cases[i].secret, "10.0.0.1");

        tester_join(t, &m);
        assert_denied(t, ERR_DENIED, cases[i].text);
        assert_int_equal(t->error.retry_ms, -1);
        assert_int_equal(t->error.type, MESSAGE_JOIN);
        assert_false(world_file_has(w->log_path, cases[i].secret)); /* secrets are not logged */
    }
    assert_int_equal(fleet_totals(w->fleet)->hosts, 0);
    assert_int_equal(agents_counters(w->agents)->refused, 4);
}

static void words_that_make_no_sense_are_refused_by_name(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join good = tester_join_words(t, "secret", "10.0.0.1"), m = good;

    world_put_token(w, "secret", 3, 1000);
    m.ip = "box.example";
    tester_join(t, &m);
    assert_denied(t, ERR_INVALID, "ip: 'box.example' is not a numeric address");
    m = good;
    m.request = "-----BEGIN";
    tester_join(t, &m);
    assert_denied(t, ERR_INVALID, "request: ");
    m = good;
    m.version_min = m.version_max = LINK_VERSION + 1;
    tester_join(t, &m);
    assert_denied(t, ERR_INVALID, "upgrade the server");
    assert_int_equal(t->error.retry_ms, -1);
    assert_int_equal(world_uses_left(w, "secret"), 3);
}

/* ---- the address ---- */

static void an_address_that_another_has_is_refused_with_an_event(void **state)
{
    struct world *w = *state;
    struct tester *first = world_member(w, "10.0.0.1"), *t = tester_new(w);
    struct message_join m = tester_join_words(t, "secret", "10.0.0.1");

    world_put_token(w, "secret", 1, 1000);
    tester_join(t, &m);
    assert_denied(t, ERR_CONFLICT, first->joined.agent_id);
    assert_non_null(strstr(t->error.text, "remove that host first"));
    assert_true(t->error.retry_ms > 0); /* it may be freed */
    assert_int_equal(world_uses_left(w, "secret"), 1);
    TURN_UNTIL(&w->rig, world_file_has(w->events_path, "\"agent_address_taken\""));
    assert_int_equal(fleet_totals(w->fleet)->hosts, 1);
    m.ip = "::ffff:10.0.0.1"; /* the same, spelled otherwise */
    tester_join(t, &m);
    assert_denied(t, ERR_CONFLICT, first->joined.agent_id);
}

static void a_hostname_is_shown_with_whole_characters(void **state)
{
    struct world *w = *state;

    world_put_token(w, "secret", 2 * WIDE_TEXTS, 1000);
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        struct tester *first = tester_new(w), *second = tester_new(w);
        char ip[32], name[128];
        struct message_join m;

        snprintf(ip, sizeof(ip), "10.0.1.%zu", i + 1);
        utf8_printf(name, sizeof(name), "%s", wide_text(i));
        m = tester_join_words(first, "secret", ip);
        m.hostname = name;
        tester_join(first, &m);
        assert_int_equal(first->heard[MESSAGE_JOINED], 1);
        m = tester_join_words(second, "secret", ip);
        tester_join(second, &m);
        assert_denied(second, ERR_CONFLICT, "), whose key is another one");
        assert_whole_text(second->error.text);
        assert_null(strstr(second->error.text, "\xEF\xBF\xBD"));
    }
}

static void expect(struct world *w, const char *ip, int64_t biz_id)
{
    const struct host_wish wish = {
        .agent_id = "", .ip = ip, .has_biz_id = true, .biz_id = biz_id, .note = ""
    };
    const struct host_wishes wishes = { { (void *)&wish, 1 } };
    struct host_wishes_done done;

    store_rig_do(&w->db, &store_hosts_set, &wishes, &done);
    assert_false(done.is_bad);
}

static size_t kind_number(const char *name)
{
    return (size_t)(event_kind_find(name) - event_kinds);
}

static void put_relay_token(struct world *w, const char *secret, int64_t biz_id, bool relay)
{
    char hash[SECRET_HASH_SIZE];
    struct token_row row = { hash, 0, biz_id, w->rig.clock.wall + 60000, 9, "", .relay = relay };

    secret_hash(secret, hash);
    store_rig_do(&w->db, &store_token_put, &row, NULL);
}

/* An event tells operators this of the refusal. */
static bool is_told(struct world *w, const char *text)
{
    const struct event_page_ask ask = { .is_newest_first = true,
                                        .below = INT64_MAX,
                                        .agent_id = "",
                                        .space = "",
                                        .proc = "",
                                        .name = "agent_join_refused",
                                        .limit = 1 };
    struct event_page_got got;

    store_rig_do(&w->db, &store_event_page, &ask, &got);
    return got.rows.n && strstr(((const struct event_row *)got.rows.items)->message, text);
}

/* The address that is asked for is the only difference. */
static void must_sound_alike(struct tester *t, const struct message_join *m, char said[512])
{
    char text[512];
    const char *at;

    t->heard[MESSAGE_ERROR] = 0;
    tester_join(t, m);
    assert_int_equal(t->heard[MESSAGE_ERROR], 1);
    assert_int_equal(t->error.code, ERR_CONFLICT);
    at = strstr(t->error.text, m->ip);
    assert_non_null(at);
    snprintf(text, sizeof(text), "%.*s-%s", (int)(at - t->error.text), t->error.text,
             at + strlen(m->ip));
    if (!*said)
        snprintf(said, 512, "%s", text);
    assert_string_equal(text, said);
}

/* One that is expected, in its own business and in another, and one that is there already. */
static void a_refusal_does_not_tell_which_business_an_address_is_of(void **state)
{
    static const char *const addresses[] = { "10.0.0.7", "10.0.0.8", "127.0.0.1" };
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "of-eight", "127.0.0.1");
    char said[512] = "";

    put_relay_token(w, "of-seven", 7, false);
    put_relay_token(w, "of-eight", 8, false);
    expect(w, "10.0.0.7", 7);
    expect(w, "10.0.0.8", 8);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    t = tester_new(w);
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        m = tester_join_words(t, "of-seven", addresses[i]);
        must_sound_alike(t, &m, said);
    }
    assert_non_null(strstr(said, "is not for this join token, or not from this address"));
}

static void a_token_of_one_business_does_not_take_over_a_host_of_another(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "of-two", "127.0.0.1");

    expect(w, "127.0.0.1", 7);
    put_relay_token(w, "of-two", 2, true);
    put_relay_token(w, "of-seven", 7, false);
    put_relay_token(w, "of-none", 0, false);
    tester_join(t, &m);
    assert_denied(t, ERR_CONFLICT, "is not for this join token, or not from this address");
    assert_true(t->error.retry_ms > 0); /* it may be changed */
    assert_int_equal(world_uses_left(w, "of-two"), 9);
    assert_int_equal(fleet_totals(w->fleet)->hosts, 0);
    TURN_UNTIL(&w->rig, events_counters(w->events)->by_kind[kind_number("agent_join_refused")]);
    TURN_UNTIL(&w->rig, is_told(w, "is expected in another business than the join token is for"));
    m.secret = "of-seven";
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_int_equal(t->joined.biz_id, 7);

    expect(w, "127.0.0.2", 8);
    t = tester_new(w);
    put_relay_token(w, "of-none", 0, true);
    m = tester_join_words(t, "of-none", "127.0.0.2"); /* one for all businesses */
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_int_equal(t->joined.biz_id, 8);
}

static void an_expected_host_comes_from_its_own_address_or_through_a_relay(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "direct", "10.0.0.9");

    expect(w, "10.0.0.9", 2);
    put_relay_token(w, "direct", 2, false);
    put_relay_token(w, "relayed", 2, true);
    tester_join(t, &m); /* it connects from 127.0.0.1 */
    assert_denied(t, ERR_CONFLICT, "is not for this join token, or not from this address");
    assert_int_equal(world_uses_left(w, "direct"), 9);
    TURN_UNTIL(&w->rig, is_told(w, "the agent connects from another address"));
    m.secret = "relayed";
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_false(world_file_has(w->events_path, "\"agent_address_differs\""));
}

static void another_host_may_come_from_elsewhere_and_an_event_tells_so(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "direct", "127.0.0.1");

    put_relay_token(w, "direct", 2, false);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    t = tester_new(w);
    m = tester_join_words(t, "direct", "10.0.0.9");
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    TURN_UNTIL(&w->rig, world_file_has(w->events_path, "joined as 10.0.0.9, but from 127.0.0.1"));
    assert_false(world_file_has(w->events_path, "joined as 127.0.0.1"));
}

static void the_same_key_is_the_same_host(void **state)
{
    struct world *w = *state;
    struct tester *first = world_member(w, "10.0.0.1"), *t = tester_twin(first),
                  *late = tester_twin(first);
    struct message_join m = tester_join_words(t, "member-token", "10.0.0.1");

    buf_free(&t->own); /* it has lost its certificate, and the token is used up */
    assert_int_equal(world_uses_left(w, "member-token"), 0);
    m.hostname = "box-2";
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_string_equal(t->joined.agent_id, first->joined.agent_id);
    assert_int_equal(world_uses_left(w, "member-token"), 0);
    assert_int_equal(fleet_totals(w->fleet)->hosts, 1);
    assert_string_equal(fleet_find(w->fleet, t->joined.agent_id)->hostname, "box-2");
    buf_free(&late->own);
    world_put_token(w, "member-token", 1, -1);
    tester_join(late, &m);
    assert_denied(late, ERR_DENIED, "has expired");

    tester_hello(t);
    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    tester_hello(first); /* the certificate before is good too */
}

static void a_host_that_moves_keeps_its_id_if_it_asks_for_it(void **state)
{
    struct world *w = *state;
    struct tester *first = world_member(w, "10.0.0.1"), *t = tester_twin(first);
    struct message_join m = tester_join_words(t, "secret", "10.0.0.2");

    buf_free(&t->own);
    world_put_token(w, "secret", 1, 1000);
    m.agent_id = first->joined.agent_id;
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_string_equal(t->joined.agent_id, first->joined.agent_id);
    assert_int_equal(world_uses_left(w, "secret"), 0);
    assert_null(fleet_find_at(w->fleet, 0, "10.0.0.1"));
    assert_non_null(fleet_find_at(w->fleet, 0, "10.0.0.2"));
}

static void an_agent_gets_the_id_it_asks_for_only_if_allowed(void **state)
{
    static const struct {
        const char *asked, *ip;
        bool is_had;
    } cases[] = {
        { "web-1", "10.0.0.1", true },      { "web-1", "10.0.0.2", false }, /* another has it */
        { "0:10.0.0.3", "10.0.0.3", true }, { "0:10.0.0.1", "10.0.0.4", false },
        { "..", "10.0.0.5", false },        { "", "10.0.0.6", false },
    };
    struct world *w = *state;

    world_put_token(w, "secret", 100, 1000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tester *t = tester_new(w);
        struct message_join m = tester_join_words(t, "secret", cases[i].ip);

        m.agent_id = cases[i].asked;
        tester_join(t, &m);
        assert_int_equal(t->heard[MESSAGE_JOINED], 1);
        assert_int_equal(strcmp(t->joined.agent_id, cases[i].asked) == 0, cases[i].is_had);
        assert_int_equal(strncmp(t->joined.agent_id, "hf-", 3) == 0, !cases[i].is_had);
    }
    assert_int_equal(fleet_totals(w->fleet)->hosts, ARRAY_LEN(cases));
}

/* ---- too many attempts ---- */

static void a_network_that_guesses_must_wait(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join bad = tester_join_words(t, "guess", "10.0.0.1"),
                        good = tester_join_words(t, "secret", "10.0.0.1");

    world_put_token(w, "secret", 1, 1000 * 1000);
    for (int i = 0; i < 100 && t->error.code != ERR_LIMIT; i++)
        tester_join(t, &bad);
    assert_denied(t, ERR_LIMIT, "too many attempts");
    tester_join(t, &good);
    assert_denied(t, ERR_LIMIT, "too many attempts");
    rig_pass_ms(&w->rig, t->error.retry_ms);
    tester_join(t, &good);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
}

/* ---- when the store fails, or the agent is gone ---- */

static void a_store_that_fails_costs_no_use_of_the_token(void **state)
{
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "secret", "10.0.0.1");

    world_put_token(w, "secret", 1, 100 * 1000);
    disk_fails = 1;
    tester_join(t, &m);
    disk_fails = 0;
    assert_denied(t, ERR_UNAVAILABLE, "tried again");
    assert_true(t->error.retry_ms > 0);
    assert_null(strstr(t->error.text, "disk")); /* that is for the log */
    assert_true(world_file_has(w->log_path, "the store does not let agents in"));
    assert_int_equal(world_uses_left(w, "secret"), 1);
    assert_int_equal(fleet_totals(w->fleet)->hosts, 0);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
}

static void drop_call(void *arg, struct store_call *c)
{
    (void)arg;
    store_call_free(c);
}

static void a_store_that_is_full_of_calls_says_come_again(void **state)
{
    static const struct store_page page = { "", 1 };
    struct world *w = *state;
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "secret", "10.0.0.1");
    struct store_call *c;

    world_hold_store(w, true);
    do {
        c = store_call_new(&store_session_list, drop_call, NULL);
        c->in = &page;
    } while (store_submit(w->db.store, c, &w->err) == 0);
    store_call_free(c);
    tester_join(t, &m);
    assert_denied(t, ERR_UNAVAILABLE, "tried again");
    world_hold_store(w, false);
    world_put_token(w, "secret", 1, 100 * 1000);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
}

/* An agent that misses the answer asks again, and one use of the token is enough. */
static void an_agent_may_be_gone_when_the_store_answers(void **state)
{
    struct world *w = *state;
    const struct store_counters *calls = store_counters(w->db.store);
    struct tester *t = tester_new(w);
    struct message_join m = tester_join_words(t, "secret", "10.0.0.1");

    world_put_token(w, "secret", 1, 100 * 1000);
    for (int seen = 0; seen < 2; seen++) { /* gone before the first answer, before the second */
        uint64_t before = calls->calls;

        world_hold_store(w, true);
        tester_say_join(t, &m);
        TURN_UNTIL(&w->rig, calls->on_their_way >= 1);
        if (seen) {
            world_hold_store(w, false);
            TURN_UNTIL(&w->rig, calls->calls == before + 1); /* the second is on its way then */
            assert_int_equal(calls->on_their_way, 1);
            world_hold_store(w, true);
        }
        tester_drop(t);
        TURN_UNTIL(&w->rig, agents_counters(w->agents)->connections == 0);
        world_hold_store(w, false);
        TURN_UNTIL(&w->rig, calls->on_their_way == 0);
        assert_int_equal(fleet_totals(w->fleet)->hosts, seen);
    }
    assert_int_equal(world_uses_left(w, "secret"), 0);
    tester_join(t, &m);
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    tester_hello(t);
}

static void two_that_ask_for_one_id_at_once_are_two_hosts(void **state)
{
    struct world *w = *state;
    struct tester *t[2];

    world_put_token(w, "secret", 5, 100 * 1000);
    rig_pass_ms(&w->rig, 5000); /* what the start has left to do is asked of the store */
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    world_hold_store(w, true);
    for (int i = 0; i < 2; i++) {
        struct message_join m;

        t[i] = tester_new(w);
        m = tester_join_words(t[i], "secret", i ? "10.0.0.2" : "10.0.0.1");
        m.agent_id = "web-1";
        tester_say_join(t[i], &m);
    }
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way >= 2);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, t[0]->is_over && t[1]->is_over);
    assert_int_equal(t[0]->heard[MESSAGE_JOINED] + t[1]->heard[MESSAGE_JOINED], 1);
    assert_denied(t[0]->heard[MESSAGE_ERROR] ? t[0] : t[1], ERR_CONFLICT, "web-1");
    assert_int_equal(world_uses_left(w, "secret"), 4);
}

/* ---- renewal ---- */

static void renew(struct tester *t, const char *request)
{
    int answers = t->heard[MESSAGE_JOINED] + t->heard[MESSAGE_ERROR];

    conn_send(t->conn, MESSAGE_RENEW, &message_renew_shape, &(struct message_renew){ request });
    TURN_UNTIL(&t->w->rig, t->heard[MESSAGE_JOINED] + t->heard[MESSAGE_ERROR] > answers);
}

static void a_certificate_is_renewed_for_its_key(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1"), *other = tester_new(w), *newer = tester_twin(t);
    struct cert_facts facts;

    tester_hello(t);
    w->rig.clock.wall += 1000; /* so the two differ in more than the serial */
    renew(t, buf_text(&t->request));
    assert_int_equal(t->heard[MESSAGE_JOINED], 1);
    assert_string_not_equal(t->joined.cert, newer->joined.cert);
    assert_int_equal(cert_read(t->joined.cert, &facts, &w->err), 0);
    assert_string_equal(facts.agent_id, t->joined.agent_id);
    assert_string_equal(world_stored_host(w, facts.agent_id)->cert_serial, facts.serial);
    assert_string_equal(world_stored_host(w, facts.agent_id)->cert_fingerprint, facts.key_id);

    renew(t, buf_text(&other->request));
    assert_int_equal(t->error.code, ERR_DENIED);
    renew(t, "rubbish");
    assert_non_null(strstr(t->error.text, "request: "));
    disk_fails = 1;
    renew(t, buf_text(&t->request));
    disk_fails = 0;
    assert_int_equal(t->error.code, ERR_UNAVAILABLE);
    assert_false(t->is_over);

    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    buf_free(&newer->own);
    cert_key_write(newer->key, &newer->own);
    buf_puts(&newer->own, t->joined.cert);
    buf_puts(&newer->own, t->joined.ca);
    tester_hello(newer);
    tester_drop(newer);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->sessions == 0);
    tester_hello(t); /* the older one until its end */
}

static void one_may_go_while_its_renewal_is_stored(void **state)
{
    struct world *w = *state;
    struct tester *t = world_member(w, "10.0.0.1");

    tester_hello(t);
    world_hold_store(w, true);
    conn_send(t->conn, MESSAGE_RENEW, &message_renew_shape,
              &(struct message_renew){ buf_text(&t->request) });
    renew(t, buf_text(&t->request));
    assert_int_equal(t->error.code, ERR_CONFLICT); /* one at a time */
    tester_drop(t);
    TURN_UNTIL(&w->rig, agents_counters(w->agents)->connections == 0);
    world_hold_store(w, false);
    TURN_UNTIL(&w->rig, store_counters(w->db.store)->on_their_way == 0);
    assert_false(world_stored_session(w, t->joined.agent_id)->is_open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AGENTS_TEST(a_good_token_makes_a_member),
        AGENTS_TEST(a_bad_token_is_denied),
        AGENTS_TEST(words_that_make_no_sense_are_refused_by_name),
        AGENTS_TEST(an_address_that_another_has_is_refused_with_an_event),
        AGENTS_TEST(a_hostname_is_shown_with_whole_characters),
        AGENTS_TEST(a_refusal_does_not_tell_which_business_an_address_is_of),
        AGENTS_TEST(a_token_of_one_business_does_not_take_over_a_host_of_another),
        AGENTS_TEST(an_expected_host_comes_from_its_own_address_or_through_a_relay),
        AGENTS_TEST(another_host_may_come_from_elsewhere_and_an_event_tells_so),
        AGENTS_TEST(the_same_key_is_the_same_host),
        AGENTS_TEST(a_host_that_moves_keeps_its_id_if_it_asks_for_it),
        AGENTS_TEST(an_agent_gets_the_id_it_asks_for_only_if_allowed),
        AGENTS_TEST(a_network_that_guesses_must_wait),
        AGENTS_TEST(a_store_that_fails_costs_no_use_of_the_token),
        AGENTS_TEST(a_store_that_is_full_of_calls_says_come_again),
        AGENTS_TEST(an_agent_may_be_gone_when_the_store_answers),
        AGENTS_TEST(two_that_ask_for_one_id_at_once_are_two_hosts),
        AGENTS_TEST(a_certificate_is_renewed_for_its_key),
        AGENTS_TEST(one_may_go_while_its_renewal_is_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
