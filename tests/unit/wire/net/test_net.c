/* SPDX-License-Identifier: MIT */
#include "wire/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static void an_address_is_in_a_network_or_not(void **state)
{
    static const struct {
        const char *net, *address;
        bool is_in;
    } cases[] = {
        { "10.0.0.0/8", "10.255.0.7:80", true },
        { "10.0.0.0/8", "11.0.0.0:80", false },
        { "10.1.2.3", "10.1.2.3:1", true },
        { "10.1.2.3", "10.1.2.4:1", false },
        { "10.1.2.3/32", "10.1.2.2:1", false },
        { "192.168.128.0/17", "192.168.128.1:1", true },
        { "192.168.128.0/17", "192.168.127.255:1", false },
        { "172.16.0.0/12", "172.31.255.255:1", true },
        { "172.16.0.0/12", "172.32.0.0:1", false },
        { "0.0.0.0/0", "1.2.3.4:1", true },
        { "0.0.0.0/0", "[::1]:1", false },
        { "::/0", "1.2.3.4:1", false },
        { "::1", "[::1]:9", true },
        { "fd00::/8", "[fdff::1]:9", true },
        { "fd00::/8", "[fe80::1]:9", false },
        { "2001:db8::/33", "[2001:db8:7fff::]:9", true },
        { "2001:db8::/33", "[2001:db8:8000::]:9", false },
        { "10.0.0.0/8", "[::ffff:10.9.8.7]:80", true }, /* through an IPv6 socket */
        { "::/0", "[::ffff:10.9.8.7]:80", false },
        { "0.0.0.0/0", "unix:/run/x", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct address a;
        struct net n;
        struct err err;

        assert_int_equal(net_parse(cases[i].net, &n, &err), 0);
        assert_int_equal(address_parse(cases[i].address, &a, &err), 0);
        if (net_has(&n, &a) != cases[i].is_in)
            fail_msg("%s in %s", cases[i].address, cases[i].net);
    }
}

static void what_is_no_network_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "10",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/8x",
        "10.0.0.1/8",
        "10.0.0.0/ 8",
        "10.0.0.0/+8",
        "::1/129",
        "fd00::1/8",
        "host",
        "10.0.0.0:1",
        "[::1]",
        "/8",
        "10.0.0.0/0000000000000000000000000000000008",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct net n;
        struct err err = { 0 };

        if (net_parse(cases[i], &n, &err) == 0)
            fail_msg("%s is taken", cases[i]);
        assert_int_equal(err.code, ERR_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_in_a_network_or_not),
        cmocka_unit_test(what_is_no_network_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
