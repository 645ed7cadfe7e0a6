/* SPDX-License-Identifier: MIT */
/* Joining: token and host change together or not at all. */
#include "store/store_join.h"

#include "tests/lib/store_rig.h"

static const struct token_row token = { "hash-1", 0, 2, 1000, 1, "" };

static struct host_row host(const char *id, const char *ip, const char *key)
{
    return (struct host_row){ id, 0, ip, 2, "box", "0.1", "serial", key, 5 };
}

static int64_t uses_left(struct store_rig *r)
{
    struct list rows;

    store_rig_do(r, &store_token_find, &(struct token_find_ask){ "hash-1" }, &rows);
    assert_int_equal(rows.n, 1);
    return ROW(token_row, rows, 0)->uses_left;
}

static const struct host_row *stored(struct store_rig *r, const char *id)
{
    struct list rows;

    store_rig_do(r, &store_host_find, &(struct host_ask){ id }, &rows);
    return rows.n ? rows.items : NULL;
}

static void a_use_is_taken_with_the_host(void **state)
{
    struct store_rig *r = *state;
    const struct join_ask ask = { "hash-1", 999, host("a", "10.0.0.1", "key-a") };

    store_rig_do(r, &store_token_put, &token, NULL);
    store_rig_do(r, &store_join, &ask, NULL);
    assert_int_equal(uses_left(r), 0);
    assert_string_equal(stored(r, "a")->cert_fingerprint, "key-a");
    assert_string_equal(stored(r, "a")->hostname, "box");
}

static void what_is_refused_changes_nothing(void **state)
{
    struct store_rig *r = *state;
    const struct {
        struct join_ask ask;
        int code;
    } cases[] = {
        { { "unknown", 1, host("b", "10.0.0.2", "key-b") }, ERR_DENIED },
        { { "hash-1", 1000, host("b", "10.0.0.2", "key-b") }, ERR_DENIED }, /* expired */
        { { "hash-0", 1, host("b", "10.0.0.2", "key-b") }, ERR_DENIED },    /* used up */
        { { "hash-1", 1, host("b", "10.0.0.1", "key-b") }, ERR_CONFLICT },  /* the address */
        { { "hash-1", 1, host("a", "10.0.0.2", "key-b") }, ERR_CONFLICT },  /* the id */
        { { "", 1, host("a", "10.0.0.1", "key-b") }, ERR_CONFLICT },        /* the key */
        { { "", 1, host("b", "10.0.0.2", "key-b") }, ERR_NOT_FOUND },
    };
    const struct token_row used_up = { "hash-0", 0, 2, 1000, 0, "" };
    const struct host_row a = host("a", "10.0.0.1", "key-a");

    store_rig_do(r, &store_token_put, &token, NULL);
    store_rig_do(r, &store_token_put, &used_up, NULL);
    store_rig_do(r, &store_host_put, &a, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        store_rig_refused(r, &store_join, &cases[i].ask, cases[i].code);
        assert_int_equal(uses_left(r), 1);
        assert_null(stored(r, "b"));
        assert_string_equal(stored(r, "a")->cert_fingerprint, "key-a");
        assert_string_equal(stored(r, "a")->ip, "10.0.0.1");
    }
}

static void what_is_expected_is_taken_by_a_token_that_is_for_it(void **state)
{
    struct store_rig *r = *state;
    const struct host_wish wish = {
        .agent_id = "", .ip = "10.0.0.1", .has_biz_id = true, .biz_id = 7, .note = ""
    };
    const struct host_wishes wishes = { { (void *)&wish, 1 } };
    struct token_row mine = { "hash-1", 0, 7, 1000, 1, "" };
    struct join_ask ask = { "hash-1", 1, host("a", "10.0.0.1", "key-a"), .is_elsewhere = true };
    struct host_wishes_done done;

    store_rig_do(r, &store_hosts_set, &wishes, &done);
    store_rig_do(r, &store_token_put, &token, NULL); /* of business 2 */
    store_rig_refused(r, &store_join, &ask, ERR_CONFLICT);
    assert_int_equal(uses_left(r), 1);
    store_rig_do(r, &store_token_put, &mine, NULL);
    store_rig_refused(r, &store_join, &ask, ERR_CONFLICT); /* from another address */
    assert_null(stored(r, "a"));
    mine.relay = true;
    store_rig_do(r, &store_token_put, &mine, NULL);
    store_rig_do(r, &store_join, &ask, NULL);
    assert_int_equal(stored(r, "a")->biz_id, 7);
}

static void a_host_that_is_known_needs_no_token(void **state)
{
    struct store_rig *r = *state;
    const struct host_row a = host("a", "10.0.0.1", "key-a");
    struct join_ask ask = { "", 1, a };

    store_rig_do(r, &store_host_put, &a, NULL);
    ask.host.hostname = "renamed";
    store_rig_do(r, &store_join, &ask, NULL);
    assert_string_equal(stored(r, "a")->hostname, "renamed");
    store_rig_do(r, &store_host_del, &(struct host_ask){ "a" }, NULL);
    store_rig_refused(r, &store_join, &ask, ERR_NOT_FOUND); /* it is not created again */
    assert_null(stored(r, "a"));
}

static void join_look_shows_conflicting_hosts(void **state)
{
    struct store_rig *r = *state;
    const struct host_row a = host("a", "10.0.0.1", "key-a");
    struct host_row elsewhere = host("b", "10.0.0.2", "key-b");
    struct join_look look;

    elsewhere.cloud_id = 1;
    store_rig_do(r, &store_token_put, &token, NULL);
    store_rig_do(r, &store_host_put, &a, NULL);
    store_rig_do(r, &store_host_put, &elsewhere, NULL);
    store_rig_do(r, &store_join_look, &(struct join_look_ask){ "hash-1", "10.0.0.1", "b" }, &look);
    assert_int_equal(ROW(token_row, look.token, 0)->biz_id, 2);
    assert_string_equal(ROW(host_row, look.at, 0)->agent_id, "a");
    assert_string_equal(ROW(host_row, look.named, 0)->agent_id, "b");
    store_rig_do(r, &store_join_look, &(struct join_look_ask){ "hash-1", "10.0.0.2", "" }, &look);
    assert_int_equal(look.at.n, 0); /* of another cloud area */
    assert_int_equal(look.named.n, 0);
    store_rig_do(r, &store_join_look, &(struct join_look_ask){ "no", "10.0.0.1", "a" }, &look);
    assert_int_equal(look.token.n, 0);
    assert_int_equal(look.at.n, 0); /* without a token the cloud area is unknown */
    assert_int_equal(uses_left(r), 1);
}

static void a_token_is_revoked_by_its_id(void **state)
{
    struct store_rig *r = *state;
    const struct token_row one = {
        "sha256:0123456789abcdef", 7, 2, 1000, 3, "rack 7", 5, "kit", "alice"
    };
    const struct token_row other = { "sha256:0123456789acabcd", 0, 2, 1000, 1, "" };
    struct list rows;

    store_rig_do(r, &store_token_put, &one, NULL);
    store_rig_do(r, &store_token_put, &other, NULL);
    store_rig_do(r, &store_token_revoke, &(struct token_revoke_ask){ "0123456789", 70 }, &rows);
    assert_int_equal(rows.n, 0); /* only by the whole hash */
    store_rig_do(r, &store_token_revoke, &(struct token_revoke_ask){ "0123456789ab", 70 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_string_equal(ROW(token_row, rows, 0)->hash, one.hash);
    assert_int_equal(ROW(token_row, rows, 0)->created_ms, 5);
    assert_string_equal(ROW(token_row, rows, 0)->app, "kit");
    assert_string_equal(ROW(token_row, rows, 0)->user_name, "alice");
    store_rig_do(r, &store_token_revoke, &(struct token_revoke_ask){ "0123456789ab", 90 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(ROW(token_row, rows, 0)->revoked_ms, 70); /* the first time counts */
    store_rig_do(r, &store_token_list, &(struct store_page){ "", 10 }, &rows);
    assert_int_equal(rows.n, 2);
    assert_int_equal(ROW(token_row, rows, 0)->uses_left, 0);
    assert_int_equal(ROW(token_row, rows, 1)->revoked_ms, 0);
    assert_int_equal(ROW(token_row, rows, 1)->uses_left, 1);
    store_rig_refused(r, &store_token_take, &(struct token_take_ask){ one.hash, 80 }, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_use_is_taken_with_the_host),
        STORE_TEST(what_is_refused_changes_nothing),
        STORE_TEST(what_is_expected_is_taken_by_a_token_that_is_for_it),
        STORE_TEST(a_host_that_is_known_needs_no_token),
        STORE_TEST(join_look_shows_conflicting_hosts),
        STORE_TEST(a_token_is_revoked_by_its_id),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
