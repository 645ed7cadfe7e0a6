/* SPDX-License-Identifier: MIT */
/* Settings of hosts, before and after they join; businesses and business sets. */
#include "store/store_inventory.h"

#include "model/translate.h"
#include "tests/lib/store_rig.h"

#include "store/store_business.h"
#include "store/store_join.h"

static struct host_row host(const char *id, const char *ip, int64_t host_id)
{
    return (struct host_row){ .agent_id = id,
                              .ip = ip,
                              .biz_id = 2,
                              .hostname = "box",
                              .version = "0.1",
                              .cert_serial = "s",
                              .cert_fingerprint = id,
                              .joined_ms = 5,
                              .host_id = host_id,
                              .note = "",
                              .addresses = "10.0.0.1 fd00::1" };
}

static void put_host(struct store_rig *r, const char *id, const char *ip, int64_t host_id)
{
    const struct host_row row = host(id, ip, host_id);

    store_rig_do(r, &store_host_put, &row, NULL);
}

static const struct host_row *stored(struct store_rig *r, const char *id)
{
    struct list rows;

    store_rig_do(r, &store_host_find, &(struct host_ask){ id }, &rows);
    return rows.n ? rows.items : NULL;
}

static const struct expected_row *expected(struct store_rig *r, int64_t cloud_id, const char *ip)
{
    struct list rows;

    store_rig_do(r, &store_expected_find, &(struct host_find_at_ask){ cloud_id, ip }, &rows);
    return rows.n ? rows.items : NULL;
}

static struct host_wish by_id(const char *id)
{
    return (struct host_wish){ .agent_id = id, .ip = "", .note = "" };
}

static struct host_wish at(int64_t cloud_id, const char *ip)
{
    return (struct host_wish){ .agent_id = "", .cloud_id = cloud_id, .ip = ip, .note = "" };
}

static struct host_wish with_number(struct host_wish w, int64_t host_id)
{
    w.has_host_id = true;
    w.host_id = host_id;
    return w;
}

static struct host_wish with_biz(struct host_wish w, int64_t biz_id)
{
    w.has_biz_id = true;
    w.biz_id = biz_id;
    return w;
}

static struct host_wishes_done wish(struct store_rig *r, const struct store_verb *verb,
                                    struct host_wish *wishes, size_t n)
{
    const struct host_wishes ask = { { wishes, n } };
    struct host_wishes_done done;

    store_rig_do(r, verb, &ask, &done);
    assert_int_equal(done.hosts.n, n);
    for (size_t i = 0; i < n; i++) {
        struct host_wished *h = (struct host_wished *)done.hosts.items + i;

        h->error = arena_strdup(&r->arena, translate(h->error, LANG_EN, &r->arena));
    }
    return done;
}

static const struct host_wished *wished(const struct host_wishes_done *d, size_t i)
{
    return ROW(host_wished, d->hosts, i);
}

static void a_host_is_named_by_id_or_place(void **state)
{
    struct store_rig *r = *state;
    struct host_wish wishes[] = { with_biz(by_id("a"), 3), with_biz(at(0, "10.0.0.2"), 4) };
    struct host_wishes_done done;

    put_host(r, "a", "10.0.0.1", 0);
    put_host(r, "b", "10.0.0.2", 0);
    wishes[0].has_note = true;
    wishes[0].note = "rack 4";
    done = wish(r, &store_hosts_set, wishes, 2);
    assert_false(done.is_bad);
    assert_int_equal(wished(&done, 0)->change, HOST_CHANGED);
    assert_int_equal(wished(&done, 0)->before.biz_id, 2);
    assert_int_equal(wished(&done, 1)->change, HOST_CHANGED);
    assert_int_equal(stored(r, "a")->biz_id, 3);
    assert_string_equal(stored(r, "a")->note, "rack 4");
    assert_string_equal(stored(r, "a")->hostname, "box");
    assert_string_equal(stored(r, "a")->addresses, "10.0.0.1 fd00::1");
    assert_int_equal(stored(r, "b")->biz_id, 4);
    done = wish(r, &store_hosts_set, wishes, 2);
    assert_int_equal(wished(&done, 0)->change, HOST_UNCHANGED);
}

static void one_that_is_bad_spoils_all(void **state)
{
    struct store_rig *r = *state;
    const struct {
        struct host_wish bad;
        const char *error;
    } cases[] = {
        { with_biz(by_id("nobody"), 3), "agent_id: nobody has not joined" },
        { with_biz(by_id("a"), 4), "the same host as hosts[0]" },
        { with_biz(at(0, "10.0.0.1"), 4), "the same host as hosts[0]" },
        { with_number(by_id("b"), 17), "host_id: 17 is that of c" },
        { with_number(at(0, "10.0.0.9"), 18), "host_id: 18 is that of 1:10.0.0.8" },
        { with_number(at(0, "10.0.0.9"), 17), "host_id: 17 is that of c" },
        { with_number(at(0, "10.0.0.9"), 20), "host_id: 20 is that of hosts[0] too" },
        { { .agent_id = "b", .ip = "10.0.0.7", .note = "" }, "ip: host b is 0:10.0.0.2" },
        { { .agent_id = "", .ip = "", .note = "", .error = "said before" }, "said before" },
    };
    struct host_wish waiting[] = { with_number(at(1, "10.0.0.8"), 18) };

    put_host(r, "a", "10.0.0.1", 0);
    put_host(r, "b", "10.0.0.2", 0);
    put_host(r, "c", "10.0.0.3", 17);
    wish(r, &store_hosts_set, waiting, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct host_wish wishes[] = { with_number(with_biz(by_id("a"), 3), 20), cases[i].bad };
        struct host_wishes_done done = wish(r, &store_hosts_set, wishes, 2);

        assert_true(done.is_bad);
        assert_int_equal(wished(&done, 1)->change, HOST_BAD);
        if (!strstr(wished(&done, 1)->error, cases[i].error))
            fail_msg("%zu: %s", i, wished(&done, 1)->error);
        assert_int_equal(stored(r, "a")->biz_id, 2);
        assert_null(expected(r, 0, "10.0.0.9"));
    }
}

static void numbers_may_change_hands(void **state)
{
    struct store_rig *r = *state;
    struct host_wish swap[] = { with_number(by_id("a"), 2), with_number(by_id("b"), 1) };
    struct host_wish move[] = { with_number(at(0, "10.0.0.9"), 2), with_number(by_id("a"), 0) };

    put_host(r, "a", "10.0.0.1", 1);
    put_host(r, "b", "10.0.0.2", 2);
    assert_false(wish(r, &store_hosts_set, swap, 2).is_bad);
    assert_int_equal(stored(r, "a")->host_id, 2);
    assert_int_equal(stored(r, "b")->host_id, 1);
    assert_false(wish(r, &store_hosts_set, move, 2).is_bad);
    assert_int_equal(stored(r, "a")->host_id, 0);
    assert_int_equal(expected(r, 0, "10.0.0.9")->host_id, 2);
}

static void a_plan_changes_nothing(void **state)
{
    struct store_rig *r = *state;
    struct host_wish wishes[] = { with_biz(by_id("a"), 3), with_biz(at(0, "10.0.0.9"), 3) };
    struct host_wishes_done done;

    put_host(r, "a", "10.0.0.1", 0);
    done = wish(r, &store_hosts_plan, wishes, 2);
    assert_int_equal(wished(&done, 0)->change, HOST_CHANGED);
    assert_int_equal(wished(&done, 0)->after.biz_id, 3);
    assert_int_equal(wished(&done, 1)->change, HOST_EXPECTED);
    assert_int_equal(stored(r, "a")->biz_id, 2);
    assert_null(expected(r, 0, "10.0.0.9"));
}

static const struct host_row *join(struct store_rig *r, const char *hash, const char *id,
                                   const char *ip)
{
    struct join_ask ask = { hash, 1, host(id, ip, 0) };
    struct list rows;

    ask.host.biz_id = 7; /* from the token */
    ask.host.addresses = NULL;
    store_rig_do(r, &store_join, &ask, &rows);
    assert_int_equal(rows.n, 1);
    return rows.items;
}

/* Settings of an expected host apply when it joins, whatever the token has; later settings stay,
 * whatever its agent reports. */
static void what_is_expected_comes_true(void **state)
{
    struct store_rig *r = *state;
    struct token_row token = { "hash", 0, 0, 1000, 9, "" }; /* for all businesses */
    struct host_wish wishes[] = { with_number(with_biz(at(0, "10.0.0.9"), 3), 17) };
    struct host_wish later[] = { with_biz(by_id("new"), 4) };
    struct host_wishes_done done = wish(r, &store_hosts_set, wishes, 1);

    assert_int_equal(wished(&done, 0)->change, HOST_EXPECTED);
    assert_string_equal(wished(&done, 0)->after.agent_id, "");
    done = wish(r, &store_hosts_set, wishes, 1);
    assert_int_equal(wished(&done, 0)->change, HOST_UNCHANGED);
    store_rig_do(r, &store_token_put, &token, NULL);
    assert_int_equal(join(r, "hash", "new", "10.0.0.9")->biz_id, 3);
    assert_int_equal(stored(r, "new")->biz_id, 3);
    assert_int_equal(stored(r, "new")->host_id, 17);
    assert_null(expected(r, 0, "10.0.0.9"));
    wish(r, &store_hosts_set, later, 1);
    assert_int_equal(join(r, "", "new", "10.0.0.9")->biz_id, 4);
    assert_int_equal(stored(r, "new")->biz_id, 4);
    assert_int_equal(stored(r, "new")->host_id, 17);
    token.biz_id = 7;
    store_rig_do(r, &store_token_put, &token, NULL);
    assert_int_equal(join(r, "hash", "other", "10.0.0.10")->biz_id, 7);
}

static void expected_hosts_come_page_by_page(void **state)
{
    struct store_rig *r = *state;
    struct host_wish wishes[] = { at(1, "10.0.0.1"), at(0, "10.0.0.2"), at(0, "10.0.0.1") };
    struct list rows;

    wish(r, &store_hosts_set, wishes, 3);
    store_rig_do(r, &store_expected_list, &(struct expected_page){ -1, "", 2 }, &rows);
    assert_int_equal(rows.n, 2);
    assert_string_equal(ROW(expected_row, rows, 0)->ip, "10.0.0.1");
    assert_string_equal(ROW(expected_row, rows, 1)->ip, "10.0.0.2");
    store_rig_do(r, &store_expected_list, &(struct expected_page){ 0, "10.0.0.2", 2 }, &rows);
    assert_int_equal(rows.n, 1);
    assert_int_equal(ROW(expected_row, rows, 0)->cloud_id, 1);
    wishes[0] = with_biz(wishes[0], 5);
    wishes[1] = with_biz(wishes[1], 9);
    wishes[2] = with_biz(wishes[2], 5);
    wish(r, &store_hosts_set, wishes, 3);
    store_rig_do(r, &store_expected_businesses, &(struct expected_business_ask){ 0 }, &rows);
    assert_int_equal(rows.n, 2);
    assert_int_equal(ROW(expected_business_row, rows, 0)->biz_id, 5);
    assert_int_equal(ROW(expected_business_row, rows, 0)->n, 2);
    assert_int_equal(ROW(expected_business_row, rows, 1)->n, 1);
    store_rig_do(r, &store_expected_businesses, &(struct expected_business_ask){ 9 }, &rows);
    assert_int_equal(rows.n, 0);
    store_rig_do(r, &store_expected_del, &(struct host_find_at_ask){ 1, "10.0.0.1" }, &rows);
    assert_int_equal(rows.n, 1);
    store_rig_do(r, &store_expected_del, &(struct host_find_at_ask){ 1, "10.0.0.1" }, &rows);
    assert_int_equal(rows.n, 0);
}

static void businesses_are_put_and_forgotten(void **state)
{
    static const struct {
        const struct store_verb *put, *del, *list;
    } kinds[] = {
        { &store_business_put, &store_business_del, &store_business_list },
        { &store_business_set_put, &store_business_set_del, &store_business_set_list },
    };
    const struct business_row two = { 2, "two", "1 3" }, ten = { 10, "ten", "" },
                              renamed = { 2, "zwei", "" };
    struct store_rig *r = *state;
    struct list rows;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        store_rig_do(r, kinds[i].put, &ten, NULL);
        store_rig_do(r, kinds[i].put, &two, NULL);
        store_rig_do(r, kinds[i].list, &(struct business_page){ 0, 10 }, &rows);
        assert_int_equal(rows.n, 2);
        assert_int_equal(ROW(business_row, rows, 0)->id, 2);
        assert_string_equal(ROW(business_row, rows, 0)->businesses, "1 3");
        store_rig_do(r, kinds[i].put, &renamed, NULL);
        store_rig_do(r, kinds[i].del, &(struct business_ask){ 2 }, &rows);
        assert_string_equal(ROW(business_row, rows, 0)->name, "zwei");
        store_rig_do(r, kinds[i].list, &(struct business_page){ 0, 10 }, &rows);
        assert_int_equal(rows.n, 1);
        store_rig_do(r, kinds[i].list, &(struct business_page){ 10, 10 }, &rows);
        assert_int_equal(rows.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_host_is_named_by_id_or_place),   STORE_TEST(one_that_is_bad_spoils_all),
        STORE_TEST(numbers_may_change_hands),         STORE_TEST(a_plan_changes_nothing),
        STORE_TEST(what_is_expected_comes_true),      STORE_TEST(expected_hosts_come_page_by_page),
        STORE_TEST(businesses_are_put_and_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
