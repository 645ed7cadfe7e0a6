/* SPDX-License-Identifier: MIT */
/* Promises of api/auth/login.h. */
#include "api/auth/login.h"

#include <stdlib.h>

#include "tests/unit/api/login_service.h"

enum { TOLD_MAX = 8 };

struct world {
    struct rig rig;
    struct service service;
    struct login *login;
    size_t n_told, n_known;
    enum login_answer answer; /* the last */
    char user[64];
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    rig_init(&w->rig);
    service_init(&w->service, &w->rig);
    w->login = service_login(&w->service, &w->rig, "", "secret-token");
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    login_free(w->login);
    service_done(&w->service);
    rig_done(&w->rig);
    free(w);
    return 0;
}

static void on_told(void *arg, enum login_answer answer, const char *user)
{
    struct world *w = arg;

    w->n_told++;
    w->n_known += answer == LOGIN_KNOWN;
    w->answer = answer;
    snprintf(w->user, sizeof(w->user), "%s", user ? user : "-");
}

static const char *ask(struct world *w, const char *token)
{
    size_t before = w->n_told;

    login_ask(w->login, token, on_told, w);
    TURN_UNTIL(&w->rig, w->n_told > before);
    return w->user;
}

static void it_asks_as_esb_does(void **state)
{
    struct world *w = *state;

    assert_string_equal(ask(w, "a+b/=&?"), "tom");
    assert_string_equal(
        buf_text(&w->service.asked),
        "GET /login/accounts/is_login/?bk_token=a%2Bb%2F%3D%26%3F esb secret-token");
}

static void the_url_may_be_all_of_it(void **state)
{
    static const struct {
        const char *path, *asked;
    } cases[] = {
        { "/", "GET /login/accounts/is_login/?bk_token=t esb -" },
        { "/login/api/v2/is_login/", "GET /login/api/v2/is_login/?bk_token=t esb -" },
        { "/x?y=1", "GET /x?y=1&bk_token=t esb -" },
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        login_free(w->login);
        w->login = service_login(&w->service, &w->rig, cases[i].path, "");
        assert_string_equal(ask(w, "t"), "tom");
        assert_string_equal(buf_text(&w->service.asked), cases[i].asked);
    }
}

/* clang-format off */
static const struct {
    int status;
    const char *says;
    enum login_answer answer;
    const char *user;
} replies[] = {
    { 200, "{\"result\":true,\"code\":\"00\",\"message\":\"\",\"data\":{\"username\":\"admin\"}}", LOGIN_KNOWN, "admin" },
    { 200, "{\"result\":true,\"bk_error_code\":0,\"bk_error_msg\":\"\",\"data\":{\"bk_username\":\"张三\"}}", LOGIN_KNOWN, "张三" },
    { 200, "{\"result\":false,\"code\":\"1200\",\"message\":\"expired\",\"data\":{}}", LOGIN_REFUSED, "-" },
    { 200, "{\"result\":false,\"bk_error_code\":1302100,\"data\":null}", LOGIN_REFUSED, "-" },
    { 200, "{\"result\":false,\"data\":[]}", LOGIN_REFUSED, "-" },
    { 200, "{\"result\":true,\"data\":{}}", LOGIN_AWAY, "-" },
    { 200, "{\"result\":true,\"data\":null}", LOGIN_AWAY, "-" },
    { 200, "{\"result\":true,\"data\":{\"username\":\"\"}}", LOGIN_AWAY, "-" },
    { 200, "{\"result\":true,\"data\":{\"username\":\"a\\nb\"}}", LOGIN_AWAY, "-" },
    { 200, "{\"result\":true,\"data\":{\"username\":[1]}}", LOGIN_AWAY, "-" },
    { 200, "{\"code\":\"00\"}", LOGIN_AWAY, "-" },
    { 200, "<html>", LOGIN_AWAY, "-" },
    { 200, "", LOGIN_AWAY, "-" },
    { 500, "{\"result\":true,\"data\":{\"username\":\"admin\"}}", LOGIN_AWAY, "-" },
    { 404, "{\"result\":false}", LOGIN_AWAY, "-" },
};
/* clang-format on */

static void both_forms_of_an_answer_are_read(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        char token[16];

        snprintf(token, sizeof(token), "t%zu", i);
        w->service.status = replies[i].status;
        w->service.says = replies[i].says;
        ask(w, token);
        if (w->answer != replies[i].answer || strcmp(w->user, replies[i].user) != 0)
            fail_msg("%s: %d %s", replies[i].says, (int)w->answer, w->user);
    }
}

static void a_user_is_cached_for_60_s(void **state)
{
    struct world *w = *state;
    int64_t until;

    ask(w, "t");
    until = w->rig.clock.mono + LOGIN_KNOWN_MS;
    w->service.says = "{\"result\":false}";
    assert_string_equal(ask(w, "t"), "tom");
    w->rig.clock.mono = until - 100;
    rig_pass_ms(&w->rig, 0);
    assert_string_equal(ask(w, "t"), "tom");
    assert_int_equal(w->service.n_asked, 1);
    w->rig.clock.mono = until;
    rig_pass_ms(&w->rig, 0);
    ask(w, "t");
    assert_int_equal(w->answer, LOGIN_REFUSED);
    assert_int_equal(w->service.n_asked, 2);
}

static void an_invalid_token_is_cached_for_5_s(void **state)
{
    struct world *w = *state;

    w->service.says = "{\"result\":false}";
    ask(w, "t");
    ask(w, "t");
    assert_int_equal(w->service.n_asked, 1);
    rig_pass_ms(&w->rig, LOGIN_REFUSED_MS);
    w->service.says = "{\"result\":true,\"data\":{\"username\":\"tom\"}}";
    assert_string_equal(ask(w, "t"), "tom");
}

static void that_it_is_away_is_not_remembered(void **state)
{
    struct world *w = *state;

    w->service.status = 502;
    ask(w, "t");
    assert_int_equal(w->answer, LOGIN_AWAY);
    w->service.status = 200;
    assert_string_equal(ask(w, "t"), "tom");
}

static void one_request_is_enough_for_all(void **state)
{
    struct world *w = *state;
    struct buf body = { 0 };

    w->service.says = NULL;
    for (size_t i = 0; i < TOLD_MAX; i++)
        login_ask(w->login, "t", on_told, w);
    TURN_UNTIL(&w->rig, w->service.held);
    assert_int_equal(w->n_told, 0);
    buf_puts(&body, "{\"result\":true,\"data\":{\"username\":\"tom\"}}");
    http_answer(w->service.held, 200, NULL, NULL, &body);
    w->service.held = NULL;
    TURN_UNTIL(&w->rig, w->n_told == TOLD_MAX);
    assert_int_equal(w->n_known, TOLD_MAX);
    assert_int_equal(w->service.n_asked, 1);
}

static void waiting_callers_are_answered_at_the_end(void **state)
{
    struct world *w = *state;

    w->service.says = NULL;
    login_ask(w->login, "t", on_told, w);
    login_ask(w->login, "t", on_told, w);
    TURN_UNTIL(&w->rig, w->service.held);
    login_free(w->login);
    w->login = NULL;
    assert_int_equal(w->n_told, 2);
    assert_int_equal(w->answer, LOGIN_AWAY);
}

static void a_url_that_is_none_is_refused(void **state)
{
    struct world *w = *state;
    struct login *l;
    struct err err;

    assert_int_equal(login_new(w->rig.loop, NULL,
                               &(struct login_config){ "paas.example", "esb", "", "", 1000 }, &l,
                               &err),
                     -1);
    assert_string_equal(err.text, "login.url: must be a URL that begins with http:// or https:// "
                                  "and a host");
}

/* LOGIN_MAX is reached: the oldest is removed. */
static void tokens_do_not_fill_the_memory(void **state)
{
    struct world *w = *state;

    ask(w, "first");
    for (size_t i = 1; i < LOGIN_MAX; i++) {
        char token[16];

        snprintf(token, sizeof(token), "t%zu", i);
        login_ask(w->login, token, on_told, w);
        if (i % 500 == 499)
            TURN_UNTIL(&w->rig, w->n_told == i + 1);
    }
    TURN_UNTIL(&w->rig, w->n_known == LOGIN_MAX);
    ask(w, "first");
    assert_int_equal(w->service.n_asked, LOGIN_MAX);
    ask(w, "one more");
    ask(w, "first");
    assert_int_equal(w->service.n_asked, LOGIN_MAX + 2);
}

#define LOGIN_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGIN_TEST(it_asks_as_esb_does),
        LOGIN_TEST(the_url_may_be_all_of_it),
        LOGIN_TEST(both_forms_of_an_answer_are_read),
        LOGIN_TEST(a_user_is_cached_for_60_s),
        LOGIN_TEST(an_invalid_token_is_cached_for_5_s),
        LOGIN_TEST(that_it_is_away_is_not_remembered),
        LOGIN_TEST(one_request_is_enough_for_all),
        LOGIN_TEST(waiting_callers_are_answered_at_the_end),
        LOGIN_TEST(a_url_that_is_none_is_refused),
        LOGIN_TEST(tokens_do_not_fill_the_memory),
    };

    return cmocka_run_group_tests_name("login", tests, NULL, NULL);
}
