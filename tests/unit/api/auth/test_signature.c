/* SPDX-License-Identifier: MIT */
/* Promises of api/auth/signature.h. */
#include "api/auth/signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"

static const int64_t now_s = 1700000000;

struct signed_case {
    const char *method, *target, *uri, *body, *secret;
};

static const struct signed_case cases[] = {
#include "tests/unit/api/signature_cases.inc"
};

/* A request as the HTTP server would have read it. */
static void request(struct http_req *req, const struct signed_case *c)
{
    struct buf head = { 0 };
    struct err err;
    size_t taken;

    memset(req, 0, sizeof(*req));
    buf_printf(&head, "%s %s HTTP/1.1\r\nHost: a\r\n%s%s%s\r\n", c->method, c->target,
               *c->uri ? "X-Request-Uri: " : "", c->uri, *c->uri ? "\r\n" : "");
    if (http_head_read(&req->head, buf_data(&head), head.len, &req->arena, &taken, &err))
        fail_msg("%s: %s", c->target, err.text);
    assert_int_equal(taken, head.len);
    buf_puts(&req->body, c->body);
    buf_free(&head);
}

static bool fits(const struct signed_case *c, const char *first, const char *second)
{
    const char *const secrets[] = { first, second };
    struct http_req req;
    struct signature s;
    struct err err;
    bool answer;

    request(&req, c);
    assert_int_equal(signature_read(req.head.query, &req.arena, &s, &err), 0);
    answer =
        signature_judge(&s, now_s) == REFUSALS && signature_fits(&s, &req, secrets, &req.arena);
    buf_free(&req.body);
    arena_free(&req.arena);
    return answer;
}

static void what_clients_sign_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct signed_case *c = &cases[i];

        if (!fits(c, c->secret, "") || !fits(c, "another", c->secret))
            fail_msg("case %zu: %s %s", i, c->method, c->target);
        assert_false(fits(c, "another", ""));
        assert_false(fits(c, "", ""));
    }
}

/* The request with one byte changed at the end of a part of it. */
static void what_was_changed_does_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct signed_case c = cases[i];
        struct arena a = { 0 };
        char *sign = strstr(c.target, "bk_signature=");

        c.method = strcmp(c.method, "GET") ? "GET" : "POST";
        assert_false(fits(&c, c.secret, ""));
        c = cases[i];
        c.target = arena_printf(&a, "%s&more=1", cases[i].target);
        assert_false(fits(&c, c.secret, ""));
        c.target = arena_printf(&a, "%.*sbk_signature=%%41%s", (int)(sign - cases[i].target),
                                cases[i].target, sign + strlen("bk_signature="));
        assert_false(fits(&c, c.secret, ""));
        c = cases[i];
        if (!strcmp(c.method, "POST")) {
            c.body = arena_printf(&a, "%s ", cases[i].body);
            assert_false(fits(&c, c.secret, ""));
        }
        arena_free(&a);
    }
}

#define SECRET "a-secret-of-demo"
#define PATH   "/api/c/compapi/v2/gse/get_proc_operate_result_v2/"
#define PARAMS "bk_app_code=demo&bk_nonce=3&bk_timestamp=1700000000&task_id=T"
/* From the oracle, for GET of PATH. */
#define SIGN "bk_signature=%2BOC1m3yjzcPyea6T6mgCCY7EWpQ%3D"

/* clang-format off */
static const struct {
    const char *what;
    struct signed_case request;
    bool fits;
} ways[] = {
    { "as it is", { "GET", PATH "?" PARAMS "&" SIGN, "", "", SECRET }, true },
    { "in another order", { "GET", PATH "?" SIGN "&task_id=T&bk_timestamp=1700000000&bk_app_code=demo&&bk_nonce=3&", "", "", SECRET }, true },
    { "by its older name", { "GET", PATH "?" PARAMS "&signature=%2BOC1m3yjzcPyea6T6mgCCY7EWpQ%3D", "", "", SECRET }, true },
    { "a plus that nobody escaped", { "GET", PATH "?" PARAMS "&bk_signature=+OC1m3yjzcPyea6T6mgCCY7EWpQ=", "", "", SECRET }, true },
    { "the path that somebody in front has seen", { "GET", "/c/compapi/v2/gse/get_proc_operate_result_v2/?" PARAMS "&" SIGN, PATH "?x", "", SECRET }, true },
    { "the path of another call", { "GET", "/api/c/compapi/v2/gse/get_proc_status/?" PARAMS "&" SIGN, PATH, "", SECRET }, false },
    { "the path of another system", { "GET", "/api/c/compapi/v2/job/get_proc_operate_result_v2/?" PARAMS "&" SIGN, PATH, "", SECRET }, false },
    { "a path that was not signed", { "GET", "/c/compapi/v2/gse/get_proc_operate_result_v2/?" PARAMS "&" SIGN, "", "", SECRET }, false },
    { "a parameter twice", { "GET", PATH "?" PARAMS "&task_id=T&" SIGN, "", "", SECRET }, false },
    { "a parameter without a value", { "GET", PATH "?" PARAMS "&x&" SIGN, "", "", SECRET }, false },
    { "two signatures", { "GET", PATH "?" PARAMS "&signature=x&" SIGN, "", "", SECRET }, false },
    { "more of it", { "GET", PATH "?" PARAMS "&bk_signature=%2BOC1m3yjzcPyea6T6mgCCY7EWpQ%3Dx", "", "", SECRET }, false },
    { "nothing", { "GET", PATH "?" PARAMS "&bk_signature=", "", "", SECRET }, false },
    { "a body of a GET, which nobody reads", { "GET", PATH "?" PARAMS "&" SIGN, "", "{}", SECRET }, true },
};
/* clang-format on */

static void it_may_be_written_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        if (fits(&ways[i].request, SECRET, "") != ways[i].fits)
            fail_msg("%s: %s", ways[i].what, ways[i].fits ? "does not fit" : "fits");
    }
}

static void time_and_nonce_are_looked_at(void **state)
{
    static const struct {
        const char *query;
        enum refusal why;
    } rows[] = {
        { "bk_nonce=1&bk_timestamp=1700000000", REFUSALS },
        { "bk_nonce=1&bk_timestamp=1699999700", REFUSALS },
        { "bk_nonce=1&bk_timestamp=1700000300", REFUSALS },
        { "", REFUSAL_NONCE_NONE },
        { "bk_nonce=&bk_timestamp=1700000000", REFUSAL_NONCE_NONE },
        { "bk_nonce=x", REFUSAL_NONCE_ILLEGAL },
        { "bk_nonce=1.5", REFUSAL_NONCE_ILLEGAL },
        { "bk_nonce=99999999999999999999", REFUSAL_NONCE_ILLEGAL },
        { "bk_nonce=0", REFUSAL_NONCE_NEGATIVE },
        { "bk_nonce=-1", REFUSAL_NONCE_NEGATIVE },
        { "bk_nonce=1", REFUSAL_TIME_NONE },
        { "bk_nonce=1&bk_timestamp=", REFUSAL_TIME_NONE },
        { "bk_nonce=1&bk_timestamp=soon", REFUSAL_TIME_ILLEGAL },
        { "bk_nonce=1&bk_timestamp=1699999699", REFUSAL_TIME_EXPIRED },
        { "bk_nonce=1&bk_timestamp=1700000301", REFUSAL_TIME_EXPIRED },
        { "bk_nonce=1&bk_timestamp=-9223372036854775808", REFUSAL_TIME_EXPIRED },
        { "bk_nonce=1&bk_timestamp=9223372036854775807", REFUSAL_TIME_EXPIRED },
        { "bk_nonce=1&bk_timestamp=1700000000&x=1&x=1", REFUSAL_SIGNATURE },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = { 0 };
        struct signature s;
        struct err err;

        assert_int_equal(signature_read(rows[i].query, &a, &s, &err), 0);
        assert_null(s.given);
        if (signature_judge(&s, now_s) != rows[i].why)
            fail_msg("%s: %d", rows[i].query, (int)signature_judge(&s, now_s));
        arena_free(&a);
    }
}

static void a_query_that_is_no_text_is_refused(void **state)
{
    struct arena a = { 0 };
    struct signature s;
    struct err err;

    (void)state;
    assert_int_equal(signature_read("bk_signature=x&a=%ff", &a, &s, &err), -1);
    assert_string_equal(err.text, "pair 2: value: not UTF-8");
    assert_int_equal(signature_read("bk_signature=x&%zz=1", &a, &s, &err), -1);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_clients_sign_fits),
        cmocka_unit_test(what_was_changed_does_not_fit),
        cmocka_unit_test(it_may_be_written_so),
        cmocka_unit_test(time_and_nonce_are_looked_at),
        cmocka_unit_test(a_query_that_is_no_text_is_refused),
    };

    return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
