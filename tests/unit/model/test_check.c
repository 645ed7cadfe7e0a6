/* SPDX-License-Identifier: MIT */
/* test_check.c - addresses and combinations of checks. */
#include "model/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "model/proc.h"
#include "model/translate.h"

static void an_address_is_numeric_or_localhost(void **state)
{
    static const struct {
        const char *text, *host;
        int64_t port; /* 0: refused */
    } cases[] = {
        { "8080", "", 8080 },
        { "localhost:80", "", 80 },
        { "127.0.0.1:1", "127.0.0.1", 1 },
        { "[::1]:65535", "::1", 65535 },
        { "[::ffff:10.0.0.1]:80", "10.0.0.1", 80 },
        { "0", "", 0 },
        { "65536", "", 0 },
        { "80 ", "", 0 },
        { "+80", "", 0 },
        { ":80", "", 0 },
        { "::1:80", "", 0 },
        { "[127.0.0.1]:80", "", 0 },
        { "[::1]", "", 0 },
        { "[::1]80", "", 0 },
        { "example.com:80", "", 0 },
        { "127.0.0.1:", "", 0 },
        { "127.0.0.1", "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct check_place place;
        const char *wrong = check_read_tcp(cases[i].text, &place);

        if (!wrong != (cases[i].port != 0))
            fail_msg("%s: %s", cases[i].text, wrong ? wrong : "taken");
        if (wrong)
            continue;
        assert_string_equal(place.host, cases[i].host);
        assert_int_equal(place.port, cases[i].port);
    }
}

static void a_url_has_such_an_address(void **state)
{
    static const struct {
        const char *text, *host, *path;
        int64_t port; /* 0: refused */
    } cases[] = {
        { "http://127.0.0.1/", "127.0.0.1", "/", 80 },
        { "http://localhost", "", "", 80 },
        { "http://localhost:8080/a/b?c=d", "", "/a/b?c=d", 8080 },
        { "http://[::1]:99?x", "::1", "?x", 99 },
        { "http://[::1]", "::1", "", 80 },
        { "https://127.0.0.1/", "", "", 0 },
        { "http://", "", "", 0 },
        { "http://:80/", "", "", 0 },
        { "http://user@127.0.0.1/", "", "", 0 },
        { "http://example.com/", "", "", 0 },
        { "http://127.0.0.1:0/", "", "", 0 },
        { "http://127.0.0.1/a b", "", "", 0 },
        { "http://127.0.0.1/\r\nX: y", "", "", 0 },
        { "http://127.0.0.1/#a", "", "", 0 },
        { "http://127.0.0.1/\xC3\xA9", "", "", 0 },
        { "127.0.0.1:80", "", "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct check_place place;
        const char *wrong = check_read_url(cases[i].text, &place);

        if (!wrong != (cases[i].port != 0))
            fail_msg("%s: %s", cases[i].text, wrong ? wrong : "taken");
        if (wrong)
            continue;
        assert_string_equal(place.host, cases[i].host);
        assert_string_equal(place.path, cases[i].path);
        assert_int_equal(place.port, cases[i].port);
    }
}

/* As they come in a spec; "" if nothing is wrong. */
static const char *read_checks(const char *json, struct arena *a)
{
    struct proc_spec spec;
    const char *fault;
    char *text = arena_printf(a, "{\"holdfast\":{\"checks\":%s}}", json);
    struct err err;

    if (shape_read(&proc_spec_shape, text, strlen(text), SHAPE_STRICT, a, &spec, &err))
        return arena_strdup(a, err.text);
    fault = proc_checks_fault(&spec.extra.checks, a);
    return fault ? translate(fault, LANG_EN, a) : "";
}

static void what_makes_no_sense_is_named_by_its_full_path(void **state)
{
#define AT(path) "spec.holdfast.checks" path
    static const struct {
        const char *json, *fault;
    } cases[] = {
        { "[]", "" },
        { "[{\"tcp\":\"80\"}]", "" },
        { "[{\"tcp\":\"80\"},{\"tcp\":\"80\"}]", "" },
        { "[{\"http\":\"http://127.0.0.1/"
          "\",\"status\":204,\"body\":\"x\",\"interval\":5,\"timeout\":5}]",
          "" },
        { "[{\"tcp\":\"80\"},{\"name\":\"a\"}]",
          AT("[1]: one of http, tcp and command is required") },
        { "[{\"tcp\":\"80\",\"http\":\"http://127.0.0.1/\"}]",
          AT("[0]: only one of http, tcp and command is possible") },
        { "[{\"tcp\":\"80\",\"status\":200}]", AT("[0].status: only possible with http") },
        { "[{\"http\":\"http://127.0.0.1/\",\"status\":42}]",
          AT("[0].status: must be from 100 to 599") },
        { "[{\"command\":\"true\",\"body\":\"x\"}]", AT("[0].body: only possible with http") },
        { "[{\"command\":\"true\",\"any_owner\":true}]",
          AT("[0].any_owner: only possible with tcp") },
        { "[{\"command\":\"true\",\"interval\":3,\"timeout\":4}]",
          AT("[0].timeout: must be at most the interval, 3 s") },
        { "[{\"name\":\"a\",\"tcp\":\"80\"},{\"name\":\"a\",\"tcp\":\"81\"}]",
          AT("[1].name: another check has it") },
        { "[{\"tcp\":\"x\"}]",
          "holdfast.checks[0].tcp: the port must be a number from 1 to 65535" },
        { "[{\"tcp\":\"80\",\"port\":1}]", "holdfast.checks[0].port: " },
    };
#undef AT

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        const char *fault = read_checks(cases[i].json, &a);

        if (strncmp(fault, cases[i].fault, strlen(cases[i].fault)) != 0 ||
            !*fault != !*cases[i].fault)
            fail_msg("%s: %s", cases[i].json, fault);
        arena_free(&a);
    }
}

static void a_check_may_take_two_seconds_or_its_interval(void **state)
{
    struct proc_check c;

    (void)state;
    shape_defaults(&proc_check_shape, &c);
    assert_int_equal(proc_check_timeout_ms(&c), 2000);
    c.interval_s = 1;
    assert_int_equal(proc_check_timeout_ms(&c), 1000);
    c.interval_s = 60;
    c.timeout_s = 30;
    assert_int_equal(proc_check_timeout_ms(&c), 30000);
    c.interval_s = c.timeout_s = 3600; /* long enough to hold up those of other processes */
    c.tcp = "80";
    assert_int_equal(proc_check_timeout_ms(&c), 60000);
    c.tcp = "";
    c.command = "true";
    assert_int_equal(proc_check_timeout_ms(&c), 3600000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_numeric_or_localhost),
        cmocka_unit_test(a_url_has_such_an_address),
        cmocka_unit_test(what_makes_no_sense_is_named_by_its_full_path),
        cmocka_unit_test(a_check_may_take_two_seconds_or_its_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
