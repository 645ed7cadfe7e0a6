/* SPDX-License-Identifier: MIT */
#include "fleetsim/fleet_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static struct fleet_settings settings(int64_t agents, int64_t seed)
{
    struct fleet_settings s;

    shape_defaults(fleet_config.shape, &s);
    s.agents = agents;
    s.seed = seed;
    return s;
}

static void make(struct fleet_plan *p, const struct fleet_settings *s)
{
    struct err err = { 0 };

    if (fleet_plan_init(p, s, &err))
        fail_msg("%s", err.text);
}

static void shares_are_percents_or_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t agents, n; /* -1: refused */
    } cases[] = {
        { "", 100, 0 },       { "0", 100, 0 },
        { "0%", 100, 0 },     { "7", 100, 7 },
        { "100", 100, 100 },  { "101", 100, -1 },
        { "2%", 10000, 200 }, { "0.1%", 19000, 19 },
        { "0.1%", 100, 1 },   { "100%", 3, 3 },
        { "100.1%", 3, -1 },  { "1.5", 100, -1 },
        { "two", 100, -1 },   { "2 %", 100, -1 },
        { "%", 100, -1 },     { "-1", 100, -1 },
        { "1e2", 1000, -1 },  { "2%%", 100, -1 },
        { "33.3%", 3, 1 },    { "99999999999999999999", 100, -1 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };
        int64_t n = -1;
        int bad = fleet_share(cases[i].text, cases[i].agents, &n, &err);

        if (bad != (cases[i].n < 0 ? -1 : 0) || n != cases[i].n)
            fail_msg("'%s' of %lld: %d, %lld", cases[i].text, (long long)cases[i].agents, bad,
                     (long long)n);
        if (bad)
            assert_non_null(strstr(err.text, "is no share"));
    }
}

static void every_kind_has_its_share(void **state)
{
    struct fleet_settings s = settings(10000, 42);
    int64_t seen[FLEET_KINDS] = { 0 };
    struct fleet_plan p;

    (void)state;
    s.shares[FLEET_OFFLINE] = "3%";
    s.shares[FLEET_BLACK_HOLE] = "2%";
    s.shares[FLEET_LYING] = "0.1%";
    s.shares[FLEET_SLOW] = "17";
    make(&p, &s);
    for (int64_t i = 0; i < p.agents; i++)
        seen[p.kinds[i]]++;
    for (int k = 0; k < FLEET_KINDS; k++)
        assert_int_equal(seen[k], p.count[k]);
    assert_int_equal(seen[FLEET_OFFLINE], 300);
    assert_int_equal(seen[FLEET_BLACK_HOLE], 200);
    assert_int_equal(seen[FLEET_LYING], 10);
    assert_int_equal(seen[FLEET_SLOW], 17);
    assert_int_equal(seen[FLEET_GOOD], 10000 - 527);
    fleet_plan_done(&p);
    fleet_plan_done(&p);
}

static void the_same_seed_is_the_same_fleet(void **state)
{
    struct fleet_settings s = settings(1000, 7), t = settings(1000, 8);
    struct fleet_plan a, b, c;

    (void)state;
    s.shares[FLEET_FLAPPING] = t.shares[FLEET_FLAPPING] = "10%";
    s.shares[FLEET_MUTE] = t.shares[FLEET_MUTE] = "10%";
    make(&a, &s);
    make(&b, &s);
    make(&c, &t);
    assert_memory_equal(a.kinds, b.kinds, 1000);
    assert_memory_not_equal(a.kinds, c.kinds, 1000);
    fleet_plan_done(&a);
    fleet_plan_done(&b);
    fleet_plan_done(&c);
}

static void misbehaving_agents_are_listed(void **state)
{
    struct fleet_settings s = settings(3, 1);
    struct buf text = { 0 };
    struct fleet_plan p;

    (void)state;
    s.shares[FLEET_SLOW] = "3";
    make(&p, &s);
    fleet_plan_json(&p, &text);
    assert_string_equal(buf_text(&text),
                        "{\"slow\":[0,1,2],\"failing\":[],\"flapping\":[],\"offline\":[],"
                        "\"black_hole\":[],\"mute\":[],\"lying\":[],\"reconnecting\":[]}\n");
    buf_free(&text);
    fleet_plan_done(&p);
}

static void all_may_be_of_one_kind_but_not_more(void **state)
{
    struct fleet_settings s = settings(5, 1);
    struct err err = { 0 };
    struct fleet_plan p;

    (void)state;
    s.shares[FLEET_FAILING] = "100%";
    make(&p, &s);
    for (int i = 0; i < 5; i++)
        assert_int_equal(p.kinds[i], FLEET_FAILING);
    fleet_plan_done(&p);
    s.shares[FLEET_MUTE] = "1";
    assert_int_equal(fleet_plan_init(&p, &s, &err), -1);
    assert_string_equal(err.text, "mute: with the shares before it more than all agents");
    fleet_plan_done(&p);
    s.shares[FLEET_MUTE] = "many";
    assert_int_equal(fleet_plan_init(&p, &s, &err), -1);
    assert_non_null(strstr(err.text, "mute: 'many' is no share"));
    fleet_plan_done(&p);
}

static void agents_have_names_and_addresses_of_their_own(void **state)
{
    struct fleet_settings s = settings(70000, 0);
    char name[FLEET_NAME_SIZE], ip[FLEET_IP_SIZE];
    struct err err = { 0 };

    (void)state;
    fleet_name(&s, 17, name);
    assert_string_equal(name, "sim-00017");
    assert_int_equal(fleet_ip(&s, 0, ip, &err), 0);
    assert_string_equal(ip, "10.0.0.1");
    assert_int_equal(fleet_ip(&s, 255, ip, &err), 0);
    assert_string_equal(ip, "10.0.1.0");
    assert_int_equal(fleet_ip(&s, 69999, ip, &err), 0);
    assert_string_equal(ip, "10.1.17.112");
    s.ip = "255.255.255.250";
    assert_int_equal(fleet_ip(&s, 5, ip, &err), 0);
    assert_int_equal(fleet_ip(&s, 6, ip, &err), -1);
    assert_non_null(strstr(err.text, "no room for 70000 agents"));
    s.ip = "ten";
    assert_int_equal(fleet_ip(&s, 0, ip, &err), -1);
    assert_string_equal(err.text, "ip: 'ten' is not an IPv4 address");
}

static void every_kind_but_good_has_a_setting(void **state)
{
    (void)state;
    for (int k = 0; k < FLEET_KINDS; k++) {
        const struct field *f = fleet_config.shape->fields;

        while (f->name && strcmp(f->name, fleet_kinds[k].name) != 0)
            f++;
        if (k == FLEET_GOOD)
            assert_null(f->name);
        else
            assert_int_equal(f->offset,
                             offsetof(struct fleet_settings, shares) + (size_t)k * sizeof(char *));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_percents_or_numbers),
        cmocka_unit_test(every_kind_has_its_share),
        cmocka_unit_test(the_same_seed_is_the_same_fleet),
        cmocka_unit_test(misbehaving_agents_are_listed),
        cmocka_unit_test(all_may_be_of_one_kind_but_not_more),
        cmocka_unit_test(agents_have_names_and_addresses_of_their_own),
        cmocka_unit_test(every_kind_but_good_has_a_setting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
