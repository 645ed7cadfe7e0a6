/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/gate.h: signatures, users and rates. */
#include "api/pipeline/gate.h"

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"

#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/login_service.h"
#include "tests/unit/api/world.h"

struct gate_world {
    struct world w;
    struct service service;
    struct fleet fleet;
    struct tasks tasks;
};

/* Without a login service, or with one. */
static struct gate_world *world_new(bool has_login, int64_t rate)
{
    static struct setting_word skips[] = { { "skipped;other" } };
    const struct server_settings settings = { .skip_user_auth_apps = { skips, 1 },
                                              .rate_per_second = rate };
    struct gate_world *g = xalloc(sizeof(*g));
    struct err err;

    world_init(&g->w);
    service_init(&g->service, &g->w.rig);
    if (has_login)
        g->w.login = service_login(&g->service, &g->w.rig, "", "");
    assert_int_equal(access_new(&settings, &g->w.access, &err), 0);
    g->tasks.info = (struct task_info){ .id = "T", .app = "demo", .user = "" };
    g->fleet.n = 1;
    g->fleet.hosts[0] = (struct fleet_host){ .agent_id = "a1", .ip = "10.0.0.1", .biz_id = 2 };
    world_open(&g->w, &g->fleet, &g->tasks);
    world_put_app(&g->w, "skipped", NULL);
    world_put_app(&g->w, "signer", "{\"signatures\":true}");
    return g;
}

static int setup(void **state)
{
    *state = world_new(false, 0);
    return 0;
}

static int setup_rate(void **state)
{
    *state = world_new(false, 1);
    return 0;
}

static int setup_login(void **state)
{
    *state = world_new(true, 0);
    return 0;
}

static int teardown(void **state)
{
    struct gate_world *g = *state;

    world_close_doors(&g->w);
    api_stop(g->w.api);
    login_free(g->w.login);
    g->w.login = NULL;
    service_done(&g->service);
    world_done(&g->w);
    buf_free(&g->tasks.asked);
    free(g);
    return 0;
}

static void expect(struct world *w, const char *what, int status, const char *says)
{
    if (w->status != status || !strstr(w->body, says))
        fail_msg("%s: %d %s, not %s", what, w->status, w->body, says);
}

/* ---- signatures; by tests/lib/signature_oracle.py */

#define ESB     "/api/c/compapi/v2/gse/get_proc_operate_result_v2/"
#define JOB     "/api/c/compapi/v2/jobv3/get_proc_result/"
#define GATEWAY "/api/bk-gse/prod/api/v2/proc/get_proc_operate_result_v2"
#define WHEN    "?bk_nonce=3&bk_timestamp=1700000000"
#define BODY    "{\"bk_app_code\":\"signer\",\"task_id\":\"T\"}"
#define GOOD    "\"result\":true"
#define BAD                                                                                        \
    "\"code\":1306000,\"message\":\"Signature [bk_signature] verification failed, please provide " \
    "valid parameters and signature\""
#define NEITHER "Signature [bk_signature] and APP Secret [bk_app_secret] cannot be empty"

/* clang-format off */
static const struct {
    const char *method, *target, *headers, *body;
    int status;
    const char *says;
} signed_[] = {
    { "GET", ESB WHEN "&bk_app_code=signer&task_id=T&bk_signature=tru9S1eJXesHyMHLSZSBWFuXP%2Bw%3D", "", NULL, 200, GOOD },
    { "GET", ESB WHEN "&bk_app_code=signer&task_id=U&bk_signature=tru9S1eJXesHyMHLSZSBWFuXP%2Bw%3D", "", NULL, 200, BAD },
    { "GET", ESB WHEN "&bk_app_code=skipped&task_id=T&bk_signature=tru9S1eJXesHyMHLSZSBWFuXP%2Bw%3D", "", NULL, 200, BAD },
    /* the second secret, and the code in the body, the header or the query */
    { "POST", ESB WHEN "&bk_signature=zi0PDqlv5iSybBHDFhwa6oq%2F%2BzI%3D", "", BODY, 200, GOOD },
    { "POST", ESB WHEN "&bk_signature=zi0PDqlv5iSybBHDFhwa6oq%2F%2BzI%3D", "", BODY " ", 200, BAD },
    { "POST", ESB "?bk_nonce=4&bk_timestamp=1700000000&bk_signature=nDhSKPXPaA9ppuCD8s50ARleSj8%3D", "X-Bkapi-Authorization: {\"bk_app_code\":\"signer\"}\r\n", BODY, 200, GOOD },
    { "POST", ESB WHEN "&bk_app_code=signer&bk_signature=cv6%2F3RvIZH4flbyFuFX3wMHJvM0%3D", "", "{\"task_id\":\"T\"}", 200, GOOD },
    /* a signature is checked before a secret */
    { "POST", ESB WHEN "&bk_signature=x", "", "{\"bk_app_code\":\"signer\",\"bk_app_secret\":\"" WORLD_SECRET "\",\"task_id\":\"T\"}", 200, BAD },
    { "POST", GATEWAY WHEN "&bk_signature=CzVwl9FHN6I7cyC3dS8ivpS7%2F3c%3D", "", BODY, 200, GOOD },
    { "POST", GATEWAY WHEN "&bk_signature=CzVwl9FHN6I7cyC3dS8ivpS7%2F3c%3D", "", BODY " ", 400, "bk_signature is incorrect" },
    /* admitted; whether it succeeds depends on the request */
    { "POST", JOB WHEN "&bk_signature=5OdygCubUgp8G1889kV8hWEbpdU%3D", "", "{\"bk_app_code\":\"signer\"}", 200, "\"code\":1241002," },
    { "POST", JOB WHEN "&bk_signature=5OdygCubUgp8G1889kV8hWEbpdU%3D", "", "{\"bk_app_code\":\"signer\" }", 200, BAD },
    { "POST", JOB "?bk_nonce=1&bk_signature=x", "", "{\"bk_app_code\":\"signer\"}", 200, "\"Parameter bk_timestamp does not exist\"" },
    /* not in the backend dialect, where it would not cover the body of a GET, and not in /v1 */
    { "GET", "/procapi/v2/proc/operate" WHEN "&bk_app_code=signer&bk_signature=nsDAL1YoB7BOuUXET07pvFefrbU%3D", "", NULL, 200, NEITHER },
    { "GET", "/v1/status" WHEN "&bk_app_code=signer&bk_signature=x", "", NULL, 401, "no credentials: send code and secret" },
};
/* clang-format on */

static void a_signature_is_as_good_as_a_secret(void **state)
{
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(signed_); i++) {
        world_ask(&g->w, signed_[i].method, signed_[i].target, signed_[i].headers, signed_[i].body);
        expect(&g->w, signed_[i].target, signed_[i].status, signed_[i].says);
    }
}

static void a_signature_has_its_time(void **state)
{
    struct gate_world *g = *state;

    g->w.rig.clock.wall += 300 * 1000;
    world_ask(&g->w, "POST", signed_[3].target, "", BODY);
    expect(&g->w, "300 s later", 200, GOOD);
    g->w.rig.clock.wall += 1000;
    world_ask(&g->w, "POST", signed_[3].target, "", BODY);
    expect(&g->w, "301 s later", 200,
           "\"Parameter bk_timestamp is illegal, because it has expired\"");
    g->w.rig.clock.wall -= 602 * 1000;
    world_ask(&g->w, "POST", signed_[3].target, "", BODY);
    expect(&g->w, "301 s ahead", 200,
           "\"Parameter bk_timestamp is illegal, because it has expired\"");
}

#define OPERATE "/api/c/compapi/v2/gse/operate_proc_v2/"
#define OPERATE_BODY                                                                               \
    "{\"bk_app_code\":\"signer\",\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":2,"   \
    "\"agent_id_list\":[\"a1\"]}"
#define SIGNED_OPERATE                                                                             \
    OPERATE "?bk_nonce=3&bk_timestamp=1700000000&bk_signature=1lsoVfyAIwlq0lG8KA9Bog25xPw%3D"
#define SIGNED_BEFORE                                                                              \
    OPERATE "?bk_nonce=3&bk_timestamp=1699999990&bk_signature=K9ayVkStMpUw3IxwidNLz%2F50XII%3D"
#define SIGNED_AHEAD                                                                               \
    OPERATE "?bk_nonce=3&bk_timestamp=1700000120&bk_signature=voG9xBfi01iEEdwS3ykWWAYp5kc%3D"

static void a_signed_query_is_answered_once(void **state)
{
    struct gate_world *g = *state;

    world_ask(&g->w, "POST", signed_[3].target, "", BODY);
    expect(&g->w, "the first", 200, GOOD);
    for (int i = 0; i < 2; i++) {
        world_ask(&g->w, "POST", signed_[3].target, "", BODY);
        expect(&g->w, "the same again", 200, BAD);
        g->w.rig.clock.wall += 300 * 1000;
    }
}

/* While the first is unanswered, the client may repeat it after a time-out. */
static void a_signed_operation_joins_the_first_until_that_is_over(void **state)
{
    struct gate_world *g = *state;

    g->tasks.n_asks = 0;
    world_ask(&g->w, "POST", SIGNED_OPERATE, "", OPERATE_BODY);
    expect(&g->w, "the first", 200, "GSETASK:S:1:1");
    assert_null(strstr(buf_text(&g->tasks.asked), "joins only"));
    world_ask(&g->w, "POST", SIGNED_OPERATE, "", OPERATE_BODY);
    expect(&g->w, "its task is unfinished", 200, "GSETASK:S:1:1");
    assert_non_null(strstr(buf_text(&g->tasks.asked), "joins only"));
    err_set(&g->tasks.failure, ERR_CONFLICT, "there is no unfinished task to join");
    world_ask(&g->w, "POST", SIGNED_OPERATE, "", OPERATE_BODY);
    expect(&g->w, "its task is over", 200, BAD);
    g->tasks.failure.code = 0;
}

static int send_signed(struct gate_world *g, const char *target, const char *body)
{
    struct buf out = { 0 };
    int fd = world_connect(&g->w, 0);

    world_head(&out, "POST", target, "");
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    world_send(&g->w, fd, &out);
    buf_free(&out);
    return fd;
}

static void restart(struct gate_world *g)
{
    world_close_doors(&g->w);
    api_free(g->w.api);
    scopes_free(g->w.scopes);
    world_open(&g->w, &g->fleet, &g->tasks);
}

static bool joins_only(struct gate_world *g)
{
    return strstr(buf_text(&g->tasks.asked), "joins only") != NULL;
}

/* Signed after the second of the restart, in it, and before it. */
static const char *const signed_around_start[] = { SIGNED_AHEAD, SIGNED_OPERATE, SIGNED_BEFORE };

static void a_used_operation_may_only_join_after_a_restart(void **state)
{
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(signed_around_start); i++) {
        world_ask(&g->w, "POST", signed_around_start[i], "", OPERATE_BODY);
        expect(&g->w, "the first", 200, "GSETASK:S:");
        assert_false(joins_only(g));
        restart(g);
        world_ask(&g->w, "POST", signed_around_start[i], "", OPERATE_BODY);
        expect(&g->w, "its task is unfinished", 200, "GSETASK:S:");
        if (!joins_only(g))
            fail_msg("%s makes a second task", signed_around_start[i]);
        err_set(&g->tasks.failure, ERR_CONFLICT, "there is no unfinished task to join");
        world_ask(&g->w, "POST", signed_around_start[i], "", OPERATE_BODY);
        expect(&g->w, "its task is over", 200, BAD);
        g->tasks.failure.code = 0;
        buf_truncate(&g->tasks.asked, 0);
    }
}

/* The signature of the first is still being stored when the second arrives. */
static void a_repetition_looks_for_a_task_when_the_first_has_made_it(void **state)
{
    struct gate_world *g = *state;
    int fds[2];

    for (size_t i = 0; i < 2; i++)
        fds[i] = send_signed(g, SIGNED_OPERATE, OPERATE_BODY);
    for (size_t i = 0; i < 2; i++) {
        buf_truncate(&g->w.got, 0);
        TURN_UNTIL(&g->w.rig, world_take(&g->w, fds[i]));
        assert_non_null(strstr(buf_text(&g->w.got), "GSETASK:S:1:1"));
        close(fds[i]);
    }
    assert_int_equal(g->tasks.n_asks, 2);
    assert_true(joins_only(g)); /* the last one */
}

static void an_unused_signature_is_good_after_a_restart(void **state)
{
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(signed_around_start); i++) {
        restart(g);
        world_ask(&g->w, "POST", signed_around_start[i], "", OPERATE_BODY);
        expect(&g->w, "the first", 200, "GSETASK:S:");
        assert_false(joins_only(g));
    }
}

/* Its secrets are in the store, but can not be decrypted; sent in the request they are valid. */
static void without_the_key_there_is_no_signing(void **state)
{
    struct gate_world *g = *state;
    struct err err;
    char path[128];

    snprintf(path, sizeof(path), "%s/seal.key", g->w.store.dir);
    unlink(path);
    world_close_doors(&g->w);
    api_free(g->w.api);
    scopes_free(g->w.scopes);
    seal_free(g->w.seal);
    assert_int_equal(seal_open(g->w.store.dir, &g->w.seal, &err), 0);
    world_open(&g->w, &g->fleet, &g->tasks);
    world_ask(&g->w, "POST", signed_[3].target, "", BODY);
    expect(&g->w, "another key", 200, BAD);
    world_ask(&g->w, "POST", ESB, "",
              "{\"bk_app_code\":\"signer\",\"bk_app_secret\":\"" WORLD_SECRET
              "\",\"task_id\":\"T\"}");
    expect(&g->w, "its secret", 200, GOOD);
}

/* ---- users */

#define WHO(code)  "\"bk_app_code\":\"" code "\",\"bk_app_secret\":\"" WORLD_SECRET "\""
#define OPERATE    "/api/c/compapi/v2/gse/operate_proc_v2/"
#define OPERATE_GW "/api/v2/proc/operate_proc_v2"
#define OPERATE_V1 "/v1/operations"
#define ASK                                                                                        \
    ",\"meta\":{\"namespace\":\"gse\",\"name\":\"x\"},\"op_type\":2,\"agent_id_list\":[\"a1\"]}"
#define ASK_V1      "{\"operation\":\"query\",\"namespace\":\"gse\",\"name\":\"x\",\"hosts\":[\"a1\"]}"
#define V1_WHO(who) "X-Bkapi-Authorization: {" WHO("demo") who "}\r\n"
#define NO_USER                                                                                    \
    "\"code\":1306000,\"message\":\"User authentication failed, please provide a valid user "      \
    "identity, such as bk_token, bk_username\""
#define NO_TOKEN                                                                                   \
    "\"code\":1306000,\"message\":\"User authentication failed, please check if the bk_token is "  \
    "valid\""
#define NOBODY "{\"result\":false,\"code\":\"1200\"}"

struct user_case {
    const char *path, *headers, *body;
    const char *login; /* the service's answer; NULL: it is not asked */
    int status;
    const char *says, *user; /* NULL: refused */
};

/* clang-format off */
static const struct user_case users[] = {
    { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"good\"" ASK, "", 200, GOOD, "tom" },
    { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"good2\",\"bk_username\":\"eve\"" ASK, "", 200, GOOD, "tom" },
    { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"bad\",\"bk_username\":\"eve\"" ASK, NOBODY, 200, NO_TOKEN, NULL },
    { OPERATE, "", "{" WHO("skipped") ",\"bk_token\":\"bad2\",\"bk_username\":\"eve\"" ASK, NOBODY, 200, NO_TOKEN, NULL },
    { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"lost\"" ASK, "<html>", 200,
      "\"code\":1306201,\"message\":\"Component request third-party system [BK_LOGIN] interface [is_login] error: no answer", NULL },
    { OPERATE, "", "{" WHO("demo") ",\"bk_username\":\"eve\"" ASK, NULL, 200, NO_USER, NULL },
    { OPERATE, "", "{" WHO("demo") ASK, NULL, 200, NO_USER, NULL },
    { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"\"" ASK, NULL, 200, NO_USER, NULL },
    { OPERATE, "", "{" WHO("skipped") ",\"bk_username\":\"ann\"" ASK, NULL, 200, GOOD, "ann" },
    { OPERATE, "", "{" WHO("skipped") ",\"username\":\"ann\"" ASK, NULL, 200, GOOD, "ann" },
    { OPERATE, "", "{" WHO("skipped") ASK, NULL, 200, NO_USER, NULL },
    { OPERATE, "X-Bkapi-Authorization: {" WHO("demo") ",\"bk_token\":\"good3\"}\r\n", "{\"bk_username\":\"eve\"" ASK, "", 200, GOOD, "tom" },
    { JOB, "", "{" WHO("demo") "}", NULL, 200, NO_USER, NULL },
    { JOB, "", "{" WHO("demo") ",\"bk_token\":\"bad3\"}", NOBODY, 200, NO_TOKEN, NULL },
    /* the gateway and /v1 require no user */
    { OPERATE_GW, "", "{" WHO("demo") ",\"bk_username\":\"ann\"" ASK, NULL, 200, GOOD, "ann" },
    { OPERATE_GW, "", "{" WHO("demo") ASK, NULL, 200, GOOD, "-" },
    { OPERATE_GW, "", "{" WHO("demo") ",\"bk_token\":\"good4\",\"bk_username\":\"eve\"" ASK, "", 200, GOOD, "tom" },
    { OPERATE_GW, "", "{" WHO("demo") ",\"bk_token\":\"bad4\"" ASK, NOBODY, 400, "user authentication failed, the bk_token is not valid", NULL },
    { OPERATE_GW, "", "{" WHO("demo") ",\"bk_token\":\"lost\"" ASK, "{}", 502, "\"code\":1650201,", NULL },
    { OPERATE_V1, V1_WHO(",\"bk_username\":\"ann\""), ASK_V1, NULL, 200, "", "ann" },
    { OPERATE_V1, V1_WHO(",\"bk_token\":\"any\""), ASK_V1, NULL, 200, "", "-" },
};
/* clang-format on */

static void check_user(struct gate_world *g, const struct user_case *c)
{
    size_t asked = g->service.n_asked, tasks = g->tasks.n_asks;
    char user[64];

    if (c->login && *c->login)
        g->service.says = c->login;
    else
        g->service.says = "{\"result\":true,\"data\":{\"username\":\"tom\"}}";
    world_ask(&g->w, "POST", c->path, c->headers, c->body);
    expect(&g->w, c->body, c->status, c->says);
    assert_int_equal(g->service.n_asked - asked, c->login ? 1 : 0);
    assert_int_equal(g->tasks.n_asks - tasks, c->user ? 1 : 0);
    if (!c->user)
        return;
    snprintf(user, sizeof(user), " user %s form", c->user);
    if (!strstr(buf_text(&g->tasks.asked), user))
        fail_msg("%s: %s", c->body, buf_text(&g->tasks.asked));
}

static void a_user_is_proven_or_vouched_for(void **state)
{
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(users); i++)
        check_user(g, &users[i]);
}

/* Every app may name its user. */
static void without_a_login_service_user_names_are_accepted(void **state)
{
    static const struct user_case cases[] = {
        { OPERATE, "", "{" WHO("demo") ",\"bk_token\":\"x\"" ASK, NULL, 200, GOOD, "-" },
        { OPERATE, "", "{" WHO("demo") ",\"bk_username\":\"eve\"" ASK, NULL, 200, GOOD, "eve" },
        { OPERATE, "", "{" WHO("demo") ASK, NULL, 200, GOOD, "-" },
        { OPERATE_GW, "", "{" WHO("demo") ",\"bk_token\":\"x\"" ASK, NULL, 200, GOOD, "-" },
    };
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_user(g, &cases[i]);
}

static void calls_that_wait_for_the_login_service_are_answered_at_the_end(void **state)
{
    struct gate_world *g = *state;
    struct buf out = { 0 };
    int fd = world_connect(&g->w, 0);

    g->service.says = NULL;
    world_head(&out, "POST", OPERATE, "");
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(users[0].body), users[0].body);
    world_send(&g->w, fd, &out);
    TURN_UNTIL(&g->w.rig, g->service.held);
    close(fd); /* the client disconnects; teardown frees the rest, under the sanitizers */
    buf_free(&out);
}

/* The store returns the app after the login service is freed. */
static void after_the_stop_the_login_service_is_not_asked(void **state)
{
    struct gate_world *g = *state;
    struct buf out = { 0 };
    int fd = world_connect(&g->w, 0);

    world_head(&out, "POST", OPERATE, "");
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(users[0].body), users[0].body);
    world_send(&g->w, fd, &out);
    TURN_UNTIL(&g->w.rig, store_counters(g->w.store.store)->on_their_way > 0);
    close(fd);
    buf_free(&out);
}

#define REGISTER_BODY                                                                              \
    "{\"bk_app_code\":\"signer\",\"bk_token\":\"good\",\"meta\":{\"namespace\":\"gse\",\"name\":"  \
    "\"p\"},"                                                                                      \
    "\"agent_id_list\":[\"a1\"]}"
#define SIGNED_REGISTER                                                                            \
    "/api/c/compapi/v2/gse/register_proc_info/?bk_nonce=3&bk_timestamp=1700000000&bk_signature="   \
    "U%2FINMXE9XJGvYc381wlSzOOtJdw%3D"

/* There is no task to join, and another change may have been made since. */
static void a_change_without_a_task_is_not_repeated_while_the_first_is_open(void **state)
{
    struct gate_world *g = *state;
    int fd;

    g->service.says = NULL; /* so that the first stays unanswered */
    fd = send_signed(g, SIGNED_REGISTER, REGISTER_BODY);
    TURN_UNTIL(&g->w.rig, g->service.held);
    world_ask(&g->w, "POST", SIGNED_REGISTER, "", REGISTER_BODY);
    expect(&g->w, "the same again", 200, BAD);
    close(fd);
}

/* ---- rates */

static int let_in(struct world *w, int n)
{
    int in = 0;

    for (int i = 0; i < n; i++) {
        world_ask(w, "POST", ESB, "",
                  "{\"bk_app_code\":\"busy\",\"bk_app_secret\":\"" WORLD_SECRET
                  "\",\"task_id\":\"T\"}");
        in += strstr(w->body, GOOD) != NULL;
    }
    return in;
}

#define BUSY                                                                                       \
    "X-Bkapi-Authorization: {\"bk_app_code\":\"busy\",\"bk_app_secret\":\"" WORLD_SECRET "\"}\r\n"

/* Two requests at once, then one every half second; a request itself moves the clock by a few
 * milliseconds. */
static void an_app_asks_no_more_often_than_it_may(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "busy", "{\"rate_per_second\":2}");
    assert_int_equal(let_in(&g->w, 4), 2);
    expect(&g->w, "esb", 200,
           "\"code\":1306429,\"message\":\"Request frequency of APP [bk_app_code=busy] exceeds its "
           "limit, try again later\"");
    assert_null(strstr(buf_text(&g->w.got), "Retry-After"));
    world_ask(&g->w, "POST", GATEWAY, BUSY, "{\"task_id\":\"T\"}");
    expect(&g->w, "gateway", 429, "\"code\":1642902,\"code_name\":\"RATE_LIMIT_RESTRICTION\"");
    assert_non_null(strstr(buf_text(&g->w.got), "\r\nRetry-After: 1\r\n"));
    world_ask(&g->w, "GET", "/v1/status", BUSY, NULL);
    expect(&g->w, "v1", 429, "\"code\":\"RATE\"");
    assert_non_null(strstr(buf_text(&g->w.got), "\r\nRetry-After: 1\r\n"));
    world_ask(&g->w, "POST", ESB, "", "{" WHO("demo") ",\"task_id\":\"T\"}");
    expect(&g->w, "another app", 200, GOOD);
    rig_pass_ms(&g->w.rig, 1000);
    assert_int_equal(let_in(&g->w, 4), 2);
}

/* All of them look up the app before it is cached. */
static void many_at_once_are_as_many(void **state)
{
    enum { N = 8 };
    struct gate_world *g = *state;
    int fds[N], in = 0;

    world_put_app(&g->w, "busy", "{\"rate_per_second\":2}");
    for (size_t i = 0; i < N; i++) {
        struct buf out = { 0 };

        fds[i] = world_connect(&g->w, 0);
        world_head(&out, "POST", ESB, BUSY "Content-Length: 15\r\n\r\n{\"task_id\":\"T\"}");
        assert_int_equal(send(fds[i], buf_data(&out), out.len, MSG_NOSIGNAL), out.len);
        buf_free(&out);
    }
    for (size_t i = 0; i < N; i++) {
        buf_truncate(&g->w.got, 0);
        TURN_UNTIL(&g->w.rig, world_take(&g->w, fds[i]));
        in += strstr(buf_text(&g->w.got), GOOD) != NULL;
        close(fds[i]);
    }
    assert_int_equal(in, 2);
}

/* Apps without a limit of their own have the server's; the admin door has none. */
static void the_server_has_a_limit_for_the_others(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "busy", "{\"rate_per_second\":2}");
    assert_int_equal(let_in(&g->w, 4), 2);
    world_ask(&g->w, "POST", ESB, "", "{" WHO("demo") ",\"task_id\":\"T\"}");
    expect(&g->w, "the first", 200, GOOD);
    world_ask(&g->w, "POST", ESB, "", "{" WHO("demo") ",\"task_id\":\"T\"}");
    expect(&g->w, "the second", 200, "\"code\":1306429,");
    for (int i = 0; i < 3; i++) {
        world_admin(&g->w, "POST", ESB, "{\"task_id\":\"T\"}");
        expect(&g->w, "admin", 200, GOOD);
    }
}

/* A call that is refused for another reason does not count. */
static void only_authorized_calls_count_for_the_rate(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "busy", "{\"rate_per_second\":1,\"rights\":[\"operate\"]}");
    for (int i = 0; i < 3; i++) {
        world_ask(&g->w, "POST", ESB, BUSY, "{\"task_id\":\"T\"}");
        expect(&g->w, "no right", 200, "\"code\":1306403,");
    }
}

#define GATE_TEST(f)  cmocka_unit_test_setup_teardown(f, setup, teardown)
#define LOGIN_TEST(f) cmocka_unit_test_setup_teardown(f, setup_login, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GATE_TEST(a_signature_is_as_good_as_a_secret),
        GATE_TEST(a_signature_has_its_time),
        GATE_TEST(a_signed_query_is_answered_once),
        GATE_TEST(a_signed_operation_joins_the_first_until_that_is_over),
        GATE_TEST(a_used_operation_may_only_join_after_a_restart),
        GATE_TEST(a_repetition_looks_for_a_task_when_the_first_has_made_it),
        GATE_TEST(an_unused_signature_is_good_after_a_restart),
        GATE_TEST(without_the_key_there_is_no_signing),
        LOGIN_TEST(a_user_is_proven_or_vouched_for),
        GATE_TEST(without_a_login_service_user_names_are_accepted),
        LOGIN_TEST(calls_that_wait_for_the_login_service_are_answered_at_the_end),
        LOGIN_TEST(after_the_stop_the_login_service_is_not_asked),
        LOGIN_TEST(a_change_without_a_task_is_not_repeated_while_the_first_is_open),
        GATE_TEST(an_app_asks_no_more_often_than_it_may),
        GATE_TEST(many_at_once_are_as_many),
        cmocka_unit_test_setup_teardown(the_server_has_a_limit_for_the_others, setup_rate,
                                        teardown),
        GATE_TEST(only_authorized_calls_count_for_the_rate),
    };

    return cmocka_run_group_tests_name("gate_users", tests, NULL, NULL);
}
