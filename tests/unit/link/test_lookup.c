/* SPDX-License-Identifier: MIT */
#include "link/lookup.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/rig.h"

struct seen {
    struct lookup *l;
    int calls;
    size_t n;
    struct address first;
    struct err why;
    bool free_inside;
};

static void on_found(void *arg, const struct address *found, size_t n, const struct err *why)
{
    struct seen *s = arg;

    s->calls++;
    s->n = n;
    assert_true((n == 0) == (why != NULL));
    if (s->free_inside) {
        lookup_free(s->l);
        s->l = NULL;
    }
    if (n) /* still valid after the lookup is freed */
        s->first = found[0];
    if (why)
        s->why = *why;
}

static void begin(struct rig *r, struct seen *s, const char *server)
{
    struct err err = { 0 };

    if (lookup_new(r->loop, server, on_found, s, &s->l, &err))
        fail_msg("%s", err.text);
    assert_int_equal(s->calls, 0); /* only from the loop */
}

static void expect(struct rig *r, const char *server, const char *text, bool free_inside)
{
    struct seen s = { .free_inside = free_inside };
    char printed[ADDRESS_TEXT_SIZE];

    begin(r, &s, server);
    TURN_UNTIL(r, s.calls);
    assert_int_equal(s.why.code, 0);
    address_print(&s.first, printed);
    assert_string_equal(printed, text);
    rig_turns(r, 3);
    assert_int_equal(s.calls, 1);
    lookup_free(s.l);
}

/* "127.1" is a name for lookup.c and an address for the C library, so no name server is asked. */
static void addresses_are_found(void **state)
{
    static const struct {
        const char *server, *text;
    } cases[] = {
        { "127.0.0.1:7021", "127.0.0.1:7021" }, { "[::1]:80", "[::1]:80" },
        { "localhost:1", "127.0.0.1:1" },       { "unix:/tmp/x", "unix:/tmp/x" },
        { "127.1:65535", "127.0.0.1:65535" },
    };
    struct rig r;

    (void)state;
    rig_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expect(&r, cases[i].server, cases[i].text, false);
        expect(&r, cases[i].server, cases[i].text, true);
    }
    rig_done(&r);
}

/* A label of more than 63 letters is invalid. */
static void a_name_that_is_not_found_says_so(void **state)
{
    static const char name[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid:7021";
    struct seen s = { 0 };
    struct rig r;

    (void)state;
    rig_init(&r);
    begin(&r, &s, name);
    TURN_UNTIL(&r, s.calls);
    assert_int_equal(s.why.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(s.why.text, "look up 'aaaaaaaaaa"));
    lookup_free(s.l);
    rig_done(&r);
}

static void a_freed_lookup_never_calls_back(void **state)
{
    static const char *const servers[] = { "127.0.0.1:7021", "127.1:7021" };
    struct rig r;

    (void)state;
    rig_init(&r);
    for (int i = 0; i < 100; i++) {
        struct seen s = { 0 };

        begin(&r, &s, servers[i % 2]);
        if (i % 3 == 0)
            sched_yield(); /* sometimes it is answered already */
        lookup_free(s.l);
        rig_turns(&r, 2);
        assert_int_equal(s.calls, 0);
    }
    lookup_free(NULL);
    rig_done(&r);
}

static void an_invalid_server_is_refused(void **state)
{
    static const char *const bad[] = {
        "",         "x",         ":7021",    "x:",     "x:0",  "x:65536", "x:7021x",  "x y:1",
        "::1:7021", "[::1:7021", "[x]:7021", "unix:x", "x:-1", "x/y:1",   "x:00001a", "unix:",
    };
    struct rig r;

    (void)state;
    rig_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct seen s = { 0 };
        struct err err = { 0 };

        if (!lookup_check(bad[i]))
            fail_msg("'%s' is accepted", bad[i]);
        assert_int_equal(lookup_new(r.loop, bad[i], on_found, &s, &s.l, &err), -1);
        assert_int_equal(err.code, ERR_INVALID);
        assert_null(s.l);
    }
    rig_done(&r);
}

static void without_descriptors_it_fails_cleanly(void **state)
{
    struct seen s = { 0 };
    struct err err = { 0 };
    struct rig r;

    (void)state;
    rig_init(&r);
    sys_fault("eventfd", 1, EMFILE);
    assert_int_equal(lookup_new(r.loop, "127.1:1", on_found, &s, &s.l, &err), -1);
    assert_true(sys_fault_hit());
    assert_int_equal(err.sys, EMFILE);
    assert_non_null(strstr(err.text, "look up '127.1:1'"));
    assert_null(s.l);
    rig_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_found),
        cmocka_unit_test(a_name_that_is_not_found_says_so),
        cmocka_unit_test(a_freed_lookup_never_calls_back),
        cmocka_unit_test(an_invalid_server_is_refused),
        cmocka_unit_test(without_descriptors_it_fails_cleanly),
    };

    return cmocka_run_group_tests_name("link/lookup", tests, NULL, NULL);
}
