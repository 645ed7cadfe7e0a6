/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/gate.h and api/auth/apps.h: which requests are admitted, and how others
 * are refused. */
#include "api/pipeline/gate.h"

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"

#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct gate_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

static int setup(void **state)
{
    struct gate_world *g = xalloc(sizeof(*g));

    world_init(&g->w);
    g->tasks.info = (struct task_info){ .id = "T", .app = "demo", .user = "" };
    world_open(&g->w, &g->fleet, &g->tasks);
    *state = g;
    return 0;
}

static int teardown(void **state)
{
    struct gate_world *g = *state;

    world_close_doors(&g->w);
    assert_int_equal(g->w.api->strange_bodies.bytes, 0); /* however they ended */
    world_done(&g->w);
    buf_free(&g->tasks.asked);
    free(g);
    return 0;
}

#define ESB     "/api/c/compapi/v2/gse/get_proc_operate_result_v2/"
#define GATEWAY "/api/bk-gse/prod/api/v2/proc/get_proc_operate_result_v2"
#define AUTH(s) "X-Bkapi-Authorization: " s "\r\n"
#define CODE    "\"bk_app_code\":\"demo\""
#define SECRET  "\"bk_app_secret\":\"" WORLD_SECRET "\""
#define T       "\"task_id\":\"T\""
#define NO_BOTH                                                                                    \
    "Signature [bk_signature] and APP Secret [bk_app_secret] cannot be empty at the same time"
#define NO_CODE "APP Code [bk_app_code] cannot be empty"
#define WRONG                                                                                      \
    "APP Secret verification failed, pelase confirm if the APP Secret and APP Code "               \
    "[bk_app_code=demo] match"
#define SIGNED ESB "?bk_app_code=demo&bk_signature=x"
#define BAD_SIGN                                                                                   \
    "Signature [bk_signature] verification failed, please provide valid parameters and signature"
#define NOT_JSON                                                                                   \
    "Parameters error, request header X-Bkapi-Authorization is not a valid JSON format string"

struct gate_case {
    const char *method, *path, *headers, *body;
    int status, code;
    const char *message; /* NULL: admitted */
};

/* clang-format off */
static const struct gate_case esb[] = {
    /* admitted, with credentials in each possible place */
    { "POST", ESB, AUTH("{" CODE "," SECRET "}"), "{" T "}", 200, 0, NULL },
    { "POST", ESB, "", "{" T "," CODE "," SECRET "}", 200, 0, NULL },
    { "POST", ESB, "", "  \r\n{" T ",\"app_code\":\"demo\",\"app_secret\":\"the-second\",\"bk_token\":\"x\"}", 200, 0, NULL },
    { "POST", ESB, "Content-Type: text/plain\r\n", "{" T "," CODE "," SECRET ",\"unknown\":[1]}", 200, 0, NULL },
    { "POST", ESB, "", "task_id=T&bk_app_code=demo&bk_app_secret=" WORLD_SECRET, 200, 0, NULL },
    { "GET", ESB "?task_id=T&bk_app_code=demo&bk_app_secret=" WORLD_SECRET, "", NULL, 200, 0, NULL },
    { "POST", ESB, AUTH("{" CODE "," SECRET "}"), "{" T ",\"bk_app_secret\":\"wrong\"}", 200, 0, NULL },
    { "POST", ESB, "X-Bkapi-Authorization:\r\n", "{" T "," CODE "," SECRET "}", 200, 0, NULL },
    /* every row of the contract's table */
    { "POST", ESB, "", "{" T "}", 200, 1306000, NO_BOTH },
    { "POST", ESB, "", "", 200, 1306000, NO_BOTH },
    { "POST", ESB, "", "{" T "," CODE "}", 200, 1306000, NO_BOTH },
    { "POST", ESB, AUTH("{" CODE "}"), "{" T "," SECRET "}", 200, 1306000, NO_BOTH },
    { "POST", ESB, AUTH("{}"), "{" T "," CODE "," SECRET "}", 200, 1306000, NO_BOTH },
    { "POST", ESB, "", "{" T "," SECRET "}", 200, 1306000, NO_CODE },
    { "POST", ESB, "", "{" T "," SECRET ",\"bk_app_code\":\"\"}", 200, 1306000, NO_CODE },
    { "POST", ESB, "", "{" T "," CODE ",\"bk_app_secret\":\"\"}", 200, 1306000, NO_BOTH },
    { "POST", ESB, AUTH("{" CODE ",\"bk_app_secret\":\"\"}"), "{" T "}", 200, 1306000, NO_BOTH },
    { "GET", ESB "?task_id=T&bk_app_code=demo&bk_app_secret=", "", NULL, 200, 1306000, NO_BOTH },
    { "POST", ESB, "", "{" T "," CODE ",\"bk_app_secret\":\"\",\"app_secret\":\"the-second\"}", 200, 0, NULL },
    { "POST", ESB, "", "{" T ",\"bk_app_code\":\"nobody\"," SECRET "}", 200, 1306000,
      "Invalid APP Code [bk_app_code=nobody], please confirm if the APP Code has been registered" },
    { "POST", ESB, "", "{" T "," CODE ",\"bk_app_secret\":\"wrong\"}", 200, 1306000, WRONG },
    { "GET", ESB "?task_id=T&bk_app_code=demo&bk_app_secret=wrong", "", NULL, 200, 1306000, WRONG },
    { "GET", SIGNED "&bk_nonce=1&bk_timestamp=1700000000", "", NULL, 200, 1306000, BAD_SIGN }, /* it may not sign */
    { "GET", ESB "?bk_app_code=nobody&bk_signature=x", "", NULL, 200, 1306000,
      "Invalid APP Code [bk_app_code=nobody], please confirm if the APP Code has been registered" },
    { "POST", ESB, AUTH("{" CODE "," SECRET ",\"access_token\":\"x\"}"), "{" T "}", 200, 1306000,
      "access_token cannot be verified here, please provide bk_app_code and bk_app_secret" },
    { "POST", ESB, AUTH("{" CODE "," SECRET ",\"access_token\":\"\"}"), "{" T "}", 200, 0, NULL },
    { "POST", ESB, "", "{" T "," CODE "," SECRET ",\"access_token\":\"x\"}", 200, 0, NULL }, /* only in the header */
    { "GET", ESB "?app_code=demo&signature=x&bk_nonce=1&bk_timestamp=1699999700", "", NULL, 200, 1306000, BAD_SIGN },
    { "GET", ESB "?bk_signature=x&bk_nonce=1&bk_timestamp=1700000000", "", NULL, 200, 1306000, NO_CODE },
    { "GET", SIGNED, "", NULL, 200, 1306000, "Parameter bk_nonce does not exist" },
    { "POST", SIGNED "&bk_nonce=1&bk_timestamp=1700000000", AUTH("{" CODE "}"), "{" T "}", 200, 1306000, BAD_SIGN },
    { "GET", SIGNED "&bk_nonce=x", "", NULL, 200, 1306000, "Parameter bk_nonce is illegal" },
    { "GET", SIGNED "&bk_nonce=0", "", NULL, 200, 1306000, "Parameter bk_nonce is illegal, it must be a positive integer" },
    { "GET", SIGNED "&bk_nonce=1", "", NULL, 200, 1306000, "Parameter bk_timestamp does not exist" },
    { "GET", SIGNED "&bk_nonce=1&bk_timestamp=soon", "", NULL, 200, 1306000, "Parameter bk_timestamp is illegal, due to non-time format" },
    { "GET", SIGNED "&bk_nonce=1&bk_timestamp=1699999699", "", NULL, 200, 1306000, "Parameter bk_timestamp is illegal, because it has expired" },
    { "GET", SIGNED "&bk_nonce=1&bk_timestamp=1700000301", "", NULL, 200, 1306000, "Parameter bk_timestamp is illegal, because it has expired" },
    { "POST", ESB, AUTH("code=demo"), "{" T "," CODE "," SECRET "}", 200, 1306406, NOT_JSON },
    { "POST", ESB, AUTH("[1]"), "{" T "," CODE "," SECRET "}", 200, 1306406, NOT_JSON },
    { "POST", ESB, AUTH("{" CODE "," SECRET "}") AUTH("{" CODE "," SECRET "}"), "{" T "}", 200, 1306406, NOT_JSON },
    { "POST", ESB, "", "{\"task_id\":", 200, 1306000,
      "Request JSON string is wrong in format, which cannot be analyzed. byte 11: the text ends" },
    { "POST", ESB, "", "{" T "," CODE "," CODE "," SECRET "}", 200, 1306000, "Request JSON string is wrong in format, " },
    { "POST", ESB, "", "{" T ",\"bk_app_code\":{}," SECRET "}", 200, 1306000, "Request JSON string is wrong in format, " },
    { "GET", ESB "?bk_app_code=demo&bk_app_code=demo&bk_app_secret=x", "", NULL, 200, 1000811,
      "Parameters error, bk_app_code: stands twice" },
    { "GET", ESB "?bk_app_code=%ff", "", NULL, 200, 1000811, "Parameters error, pair 1: value: not UTF-8" },
    /* an app without the right to read, on calls that read */
    { "POST", ESB, AUTH("{\"bk_app_code\":\"meter\"," SECRET "}"), "{" T "}", 200, 1306403,
      "APP permission is insufficient, APP has no permission to access the component (get_proc_operate_result_v2) of the system (GSE)" },
};

#define REASON(s) "Parameters error [reason=\"" s "\"]"
static const struct gate_case gateway[] = {
    { "POST", GATEWAY, AUTH("{" CODE "," SECRET "}"), "{" T "}", 200, 0, NULL },
    { "POST", GATEWAY, "", "{" T "," CODE "," SECRET "}", 200, 0, NULL },
    { "POST", GATEWAY, "X-Bkapi-App-Code: x\r\nX-Bk-Tenant-Id: t\r\n" AUTH("{" CODE "," SECRET "}"), "{" T "}", 200, 0, NULL },
    { "POST", GATEWAY "?bk_app_code=demo&bk_app_secret=" WORLD_SECRET, "", "{" T "}", 200, 0, NULL },
    { "POST", GATEWAY "?bk_app_code=demo", "", "{" T "," CODE "," SECRET "}", 400, 1640001,
      REASON("please provide bk_app_secret or bk_signature to verify app") },
    { "POST", GATEWAY "?bk_app_code=nobody&bk_app_secret=x", AUTH("{" CODE "," SECRET "}"), "{" T "}", 200, 0, NULL },
    { "POST", GATEWAY, "", "{" T "}", 400, 1640001, REASON("app code cannot be empty") },
    { "POST", GATEWAY, AUTH("{" SECRET "}"), "{" T "}", 400, 1640001, REASON("app code cannot be empty") },
    { "POST", GATEWAY, AUTH("{" CODE "}"), "{" T "}", 400, 1640001, REASON("please provide bk_app_secret or bk_signature to verify app") },
    { "POST", GATEWAY, AUTH("{\"bk_app_code\":\"nobody\"," SECRET "}"), "{" T "}", 400, 1640001, REASON("bk_app_code or bk_app_secret is incorrect") },
    { "POST", GATEWAY, AUTH("{" CODE ",\"bk_app_secret\":\"wrong\"}"), "{" T "}", 400, 1640001, REASON("bk_app_code or bk_app_secret is incorrect") },
    { "POST", GATEWAY "?bk_signature=x&bk_nonce=1&bk_timestamp=1700000000", AUTH(""), "{" T "," CODE "}", 400, 1640001, REASON("bk_signature is incorrect") },
    { "POST", GATEWAY "?bk_signature=x", AUTH(""), "{" T "," CODE "}", 400, 1640001, REASON("Parameter bk_nonce does not exist") },
    { "POST", GATEWAY "?bk_signature=x&bk_nonce=1&bk_timestamp=1", "", "{" T "," CODE "}", 400, 1640001, REASON("Parameter bk_timestamp is illegal, because it has expired") },
    { "POST", GATEWAY, AUTH("{" CODE ",\"access_token\":\"x\"}"), "{" T "}", 400, 1640001,
      REASON("access_token cannot be verified here, please provide bk_app_code and bk_app_secret") },
    { "POST", GATEWAY, AUTH("nonsense"), "{" T "}", 400, 1640001, REASON("request header X-Bkapi-Authorization is not a valid JSON") },
    { "POST", GATEWAY, "", "{\"task_id\"", 400, 1640001, "Parameters error [reason=\"request body is not a valid JSON: byte 10" },
    { "POST", GATEWAY, AUTH("{\"bk_app_code\":\"meter\"," SECRET "}"), "{" T "}", 403, 1640301, "App has no permission to the resource" },
    { "POST", "/api/bk-gse/prod/x", AUTH("{" CODE "," SECRET "}"), "{}", 404, 1640401, "API not found [method=\"POST\" path=\"/api/bk-gse/prod/x\"]" },
    { "GET", GATEWAY, AUTH("{" CODE "," SECRET "}"), NULL, 405, 1640401,
      "API not found with this method [method=\"GET\" path=\"" GATEWAY "\" allowed=\"POST\"]" },
};
/* clang-format on */

static void check_case(struct world *w, const struct gate_case *c)
{
    struct buf said = { 0 };

    world_ask(w, c->method, c->path, c->headers, c->body);
    if (c->message) {
        buf_puts(&said, "\"message\":");
        buf_quote(&said, c->message, strlen(c->message));
        buf_truncate(&said, said.len - 1); /* more may follow */
    } else {
        buf_puts(&said, "\"result\":true");
    }
    if (w->status != c->status || !strstr(w->body, buf_text(&said)))
        fail_msg("%s %s %s: %d %s, not %s", c->path, c->headers, c->body ? c->body : "", w->status,
                 w->body, buf_text(&said));
    buf_truncate(&said, 0);
    buf_printf(&said, "\"code\":%d,", c->code);
    assert_non_null(strstr(w->body, buf_text(&said)));
    assert_non_null(strstr(buf_text(&w->got), "\r\nX-Bkapi-Request-Id: "));
    buf_free(&said);
}

static void esb_says_what_its_clients_know(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "meter", "{\"rights\":[\"metrics\"]}");
    for (size_t i = 0; i < ARRAY_LEN(esb); i++)
        check_case(&g->w, &esb[i]);
}

/* In front of Job is the same ESB; its own answers have no permission to show. */
static void job_is_behind_esb(void **state)
{
    static const char job[] = "/api/c/compapi/v2/jobv3/get_proc_result/";
    struct gate_world *g = *state;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(esb); i++) {
        struct gate_case c = esb[i];
        char path[512];

        if (c.code != 1306000 && c.code != 1306406)
            continue;
        snprintf(path, sizeof(path), "%s%s", job, c.path + strlen(ESB));
        c.path = path;
        check_case(&g->w, &c);
        n++;
    }
    assert_in_range(n, 20, ARRAY_LEN(esb));
}

static void the_gateway_says_it_with_a_status(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "meter", "{\"rights\":[\"metrics\"]}");
    for (size_t i = 0; i < ARRAY_LEN(gateway); i++)
        check_case(&g->w, &gateway[i]);
}

/* clang-format off */
static const struct {
    const char *headers;
    int status;
    const char *says;
} v1[] = {
    { "Authorization: Basic ZGVtbzphLXNlY3JldC1vZi1kZW1v\r\n", 200, "{\"version\":\"1.2.3\"" },
    { "authorization: basic   ZGVtbzp0aGUtc2Vjb25k\r\n", 200, "{\"version\":" }, /* the second secret */
    { AUTH("{" CODE "," SECRET "}"), 200, "{\"version\":" },
    { "", 401, "\"no credentials: send code and secret of an app by HTTP Basic or X-Bkapi-Authorization\"" },
    { "Authorization: Basic ZGVtbzp4\r\n", 401, "\"app code or secret is wrong\"" },
    { "Authorization: Basic bm9ib2R5Ong=\r\n", 401, "\"app code or secret is wrong\"" },
    { "Authorization: Basic OnNlY3JldA==\r\n", 401, "\"the app's code is missing\"" },
    { "Authorization: Basic ZGVtbzo=\r\n", 401, "\"the app's secret is missing\"" },
    { "Authorization: Basic ZGVtbw==\r\n", 401, "must be Basic" }, /* no colon */
    { "Authorization: Basic ????\r\n", 401, "must be Basic" },
    { "Authorization: Basic AAAA\r\n", 401, "must be Basic" },
    { "Authorization: Basic\r\n", 401, "must be Basic" },
    { "Authorization: Bearer x\r\n", 401, "must be Basic" },
    { "Authorization: Basic ZGVtbzp4\r\nAuthorization: Basic ZGVtbzp4\r\n", 401, "must be Basic" },
    { AUTH("x"), 401, "must be one JSON object" },
    { AUTH("{\"access_token\":\"x\"}"), 401, "\"access_token can not be checked here; send code and secret of an app\"" },
    { AUTH("{\"bk_app_code\":\"meter\"," SECRET "}"), 403, "{\"error\":{\"code\":\"FORBIDDEN\",\"number\":5," },
};
/* clang-format on */

static void v1_takes_basic_too(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "meter", "{\"rights\":[\"metrics\"]}");
    for (size_t i = 0; i < ARRAY_LEN(v1); i++) {
        world_ask(&g->w, "GET", "/v1/status", v1[i].headers, NULL);
        if (g->w.status != v1[i].status || !strstr(g->w.body, v1[i].says))
            fail_msg("%s: %d %s", v1[i].headers, g->w.status, g->w.body);
        assert_int_equal(strstr(buf_text(&g->w.got), "\r\nWWW-Authenticate: Basic ") != NULL,
                         g->w.status == 401);
    }
    world_ask(&g->w, "GET", "/v1/status?bk_app_code=demo&bk_app_secret=" WORLD_SECRET, "", NULL);
    assert_int_equal(g->w.status, 401); /* never from the query */
}

static void the_admin_door_needs_no_credentials(void **state)
{
    struct gate_world *g = *state;

    world_admin(&g->w, "GET", "/v1/apps", NULL);
    assert_int_equal(g->w.status, 200);
    world_admin(&g->w, "POST", ESB, "{" T "}");
    assert_non_null(strstr(g->w.body, "\"result\":true"));
}

/* ---- the cache */

static bool is_in(struct world *w)
{
    world_ask(w, "GET", "/v1/status", DEMO_AUTH, NULL);
    return w->status == 200;
}

static void count_found(void *arg, const struct app *app, const struct err *failure)
{
    (void)app;
    assert_null(failure);
    ++*(size_t *)arg;
}

static void an_app_is_remembered_for_300_s(void **state)
{
    struct gate_world *g = *state;
    struct app_row gone = { "demo", "", "", NULL, 1000 };
    int64_t until;

    assert_true(is_in(&g->w));
    until = g->w.rig.clock.mono + APPS_KNOWN_MS;
    store_rig_do(&g->w.store, &store_app_put, &gone, NULL);
    assert_true(is_in(&g->w)); /* not looked up again */
    g->w.rig.clock.mono = until - 100;
    assert_true(is_in(&g->w));
    g->w.rig.clock.mono = until;
    assert_false(is_in(&g->w));
    assert_int_equal(g->w.status, 401);
}

/* The last correct secret is recognized faster; a wrong one is still refused. */
static void a_secret_that_was_right_makes_no_other_one_right(void **state)
{
    static const struct {
        const char *secret;
        bool is_right;
    } turns[] = {
        { WORLD_SECRET, true }, { WORLD_SECRET, true }, { WORLD_SECRET "x", false },
        { "the-second", true }, { "the-second", true }, { "a-secret-of-dem", false },
        { "x", false },         { WORLD_SECRET, true },
    };
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        char headers[256];

        snprintf(headers, sizeof(headers), AUTH("{" CODE ",\"bk_app_secret\":\"%s\"}"),
                 turns[i].secret);
        world_ask(&g->w, "POST", ESB, headers, "{" T "}");
        if (!strstr(g->w.body, WRONG) != turns[i].is_right)
            fail_msg("%s: %s", turns[i].secret, g->w.body);
    }
}

static void that_there_is_none_is_remembered_for_5_s(void **state)
{
    struct gate_world *g = *state;
    int64_t until;

    world_ask(&g->w, "GET", "/v1/status", "Authorization: Basic bmV3OmEtc2VjcmV0LW9mLWRlbW8=\r\n",
              NULL);
    assert_int_equal(g->w.status, 401);
    until = g->w.rig.clock.mono + APPS_UNKNOWN_MS;
    world_put_app(&g->w, "new", NULL);
    world_ask(&g->w, "GET", "/v1/status", "Authorization: Basic bmV3OmEtc2VjcmV0LW9mLWRlbW8=\r\n",
              NULL);
    assert_int_equal(g->w.status, 401);
    g->w.rig.clock.mono = until;
    world_ask(&g->w, "GET", "/v1/status", "Authorization: Basic bmV3OmEtc2VjcmV0LW9mLWRlbW8=\r\n",
              NULL);
    assert_int_equal(g->w.status, 200);
}

static void broken_permissions_refuse_the_app(void **state)
{
    struct gate_world *g = *state;

    world_put_app(&g->w, "demo", "{\"rights\":[\"fly\"]}");
    assert_false(is_in(&g->w));
    assert_int_equal(g->w.status, 500);
    assert_null(strstr(g->w.body, "fly")); /* it is only logged */
}

/* ---- bodies of unauthenticated callers */

enum { MANY = GATE_STRANGE_BYTES_MAX / GATE_STRANGE_BODY_MAX };

#define OPERATE "/api/c/compapi/v2/gse/operate_proc_v2/"

/* MANY incomplete bodies, with `bytes` sent of each. */
static void hold_open(struct world *w, int fds[MANY], const char *length, size_t bytes)
{
    for (size_t i = 0; i < MANY; i++) {
        struct buf out = { 0 };

        fds[i] = world_connect(w, 0);
        world_head(&out, "POST", OPERATE, length);
        buf_puts(&out, "\r\n");
        if (strstr(length, "chunked"))
            buf_puts(&out, "800000\r\n");
        memset(buf_reserve(&out, bytes), ' ', bytes);
        out.len += bytes;
        world_send(w, fds[i], &out);
        buf_free(&out);
    }
    rig_turns(&w->rig, 50);
}

/* How many of them were answered with "too many". */
static size_t close_all(struct world *w, int fds[MANY])
{
    size_t refused = 0;

    for (size_t i = 0; i < MANY; i++) {
        char text[4096] = "";
        ssize_t n = recv(fds[i], text, sizeof(text) - 1, 0);

        refused += n > 0 && strstr(text, "\"code\":1306429,");
        close(fds[i]);
    }
    rig_turns(&w->rig, 50);
    return refused;
}

static bool is_served(struct world *w, const char *headers, const char *body)
{
    world_ask(w, "POST", ESB, headers, body);
    return strstr(w->body, "\"result\":true");
}

static void bodies_that_are_announced_take_no_room(void **state)
{
    static const char *const lengths[] = { "Content-Length: 8388608\r\n",
                                           "Transfer-Encoding: chunked\r\n" };
    struct gate_world *g = *state;
    int fds[MANY];

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        hold_open(&g->w, fds, lengths[i], 1);
        assert_int_equal(g->w.api->strange_bodies.bytes, MANY);
        assert_true(is_served(&g->w, "", "{" T "," CODE "," SECRET "}"));
        assert_true(is_served(&g->w, DEMO_AUTH, "{" T "}"));
        assert_int_equal(close_all(&g->w, fds), 0);
    }
}

/* Here all have the same address. */
static void a_small_body_takes_the_room_of_the_largest_one(void **state)
{
    struct gate_world *g = *state;
    int fds[MANY];

    hold_open(&g->w, fds, "Content-Length: 8388608\r\n", GATE_STRANGE_BODY_MAX - 1);
    assert_int_equal(g->w.api->strange_bodies.bytes, GATE_STRANGE_BYTES_MAX - MANY);
    assert_true(is_served(&g->w, "", "{" T "," CODE "," SECRET "}"));
    assert_int_equal(close_all(&g->w, fds), 1);
    assert_true(
        is_served(&g->w, "", "{" T "," CODE "," SECRET "}")); /* their bytes are free again */
}

static void all_bodies_of_strangers_have_so_much_room(void **state)
{
    struct gate_world *g = *state;
    struct buf body = { 0 };
    int fds[MANY];

    memset(buf_reserve(&body, GATE_STRANGE_BODY_MAX + 1), ' ', GATE_STRANGE_BODY_MAX);
    body.len = GATE_STRANGE_BODY_MAX;
    hold_open(&g->w, fds, "Content-Length: 8388608\r\n", GATE_STRANGE_BODY_MAX - 1);
    for (size_t i = 0; i < 2; i++) {
        world_ask(&g->w, "POST", OPERATE, "", buf_text(&body));
        assert_null(strstr(g->w.body, "1306429"));
        assert_true(g->w.api->strange_bodies.bytes <= GATE_STRANGE_BYTES_MAX);
    }
    assert_int_equal(close_all(&g->w, fds), 1); /* the second got the room of the first */
    buf_free(&body);
}

/* The app is not cached: it is looked up before the body is charged. */
static void an_app_in_the_header_is_looked_up_before_its_body_is_read(void **state)
{
    struct gate_world *g = *state;
    struct buf body = { 0 };
    int fds[MANY];

    buf_puts(&body, "{" T);
    memset(buf_reserve(&body, GATE_STRANGE_BODY_MAX + 2), ' ', GATE_STRANGE_BODY_MAX);
    body.len += GATE_STRANGE_BODY_MAX;
    buf_puts(&body, "}");
    hold_open(&g->w, fds, "Content-Length: 8388608\r\n", GATE_STRANGE_BODY_MAX - 1);
    assert_null(apps_peek(g->w.api->apps, "demo"));
    world_ask(&g->w, "POST", OPERATE, DEMO_AUTH, buf_text(&body));
    assert_null(strstr(g->w.body, "1306429")); /* it is refused for another reason */
    assert_non_null(strstr(g->w.body, "required"));
    assert_int_equal(close_all(&g->w, fds), 0);
    buf_free(&body);
}

static void a_disconnect_during_the_app_lookup_leaks_nothing(void **state)
{
    struct gate_world *g = *state;
    struct buf out = { 0 };
    int fd = world_connect(&g->w, 0);

    world_head(&out, "POST", ESB, DEMO_AUTH "Content-Length: 100\r\n\r\n");
    assert_int_equal(send(fd, buf_data(&out), out.len, MSG_NOSIGNAL), out.len);
    close(fd);
    TURN_UNTIL(&g->w.rig, apps_peek(g->w.api->apps, "demo"));
    rig_turns(&g->w.rig, 20);
    assert_int_equal(http_server_counters(g->w.servers[0])->open_requests, 0);
    buf_free(&out);
}

static void a_body_may_be_so_large(void **state)
{
    static const struct {
        const char *path, *headers;
        size_t max;
        const char *says;
    } cases[] = {
        { "/api/c/compapi/v2/gse/operate_proc_v2/", "", GATE_STRANGE_BODY_MAX,
          "bytes allowed without credentials in the header X-Bkapi-Authorization\"" },
        { "/api/c/compapi/v2/gse/operate_proc_v2/", DEMO_AUTH, HTTP_BODY_MAX,
          "\"code\":1306406,\"message\":\"Parameters error, body: larger than the 41943040 bytes "
          "allowed here\"" },
        { "/api/v2/proc/operate_proc_multi", DEMO_AUTH, HTTP_BODY_MAX, "\"code\":1641301," },
        { "/api/v2/proc/operate_proc_multi", AUTH(""), GATE_STRANGE_BODY_MAX, "\"code\":1641301," },
        { ESB, "", 65536, "\"code\":1306406," },
        { "/v1/tokens", "", 65536, "\"code\":\"LIMIT\"," },
    };
    struct gate_world *g = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char headers[512];

        snprintf(headers, sizeof(headers), "%sContent-Length: %zu\r\n", cases[i].headers,
                 cases[i].max + 1);
        world_ask(&g->w, "POST", cases[i].path, headers, NULL);
        assert_int_equal(g->w.status, 413);
        assert_non_null(strstr(g->w.body, cases[i].says));
    }
}

/* The HTTP server itself refuses a body of unknown size. */
static void a_chunked_body_that_is_too_large_leaves_nothing_behind(void **state)
{
    struct gate_world *g = *state;
    struct buf out = { 0 };
    int fd = world_connect(&g->w, 0);

    world_head(&out, "POST", ESB, "Transfer-Encoding: chunked\r\n");
    buf_puts(&out, "\r\n10001\r\n");
    for (int i = 0; i < 0x10001; i++)
        buf_addc(&out, ' ');
    buf_truncate(&g->w.got, 0);
    world_send(&g->w, fd, &out);
    TURN_UNTIL(&g->w.rig, world_take(&g->w, fd));
    assert_non_null(strstr(buf_text(&g->w.got), "HTTP/1.1 413 "));
    assert_int_equal(g->w.api->strange_bodies.bytes, 0);
    close(fd);
    buf_free(&out);
}

/* A JSON object has the same limit of keys. */
static void a_form_has_so_many_pairs(void **state)
{
    struct gate_world *g = *state;
    struct buf form = { 0 };

    buf_puts(&form, "task_id=T&bk_app_code=demo&bk_app_secret=" WORLD_SECRET);
    while (form.len < 60000)
        buf_puts(&form, "&a=");
    world_ask(&g->w, "POST", ESB, "", buf_text(&form));
    assert_non_null(strstr(g->w.body, "\"message\":\"Parameters error, more than 10000 pairs\""));
    buf_free(&form);
}

/* APPS_MAX is reached by guessed codes: the oldest is removed. */
static void guesses_do_not_fill_the_memory(void **state)
{
    struct gate_world *g = *state;
    struct apps *apps = g->w.api->apps;
    size_t n = 0;

    apps_find(apps, "demo", count_found, &n);
    TURN_UNTIL(&g->w.rig, n == 1);
    assert_non_null(apps_peek(apps, "demo"));
    for (size_t i = 0; i < APPS_MAX; i++) {
        char code[32];

        snprintf(code, sizeof(code), "guess-%zu", i);
        apps_find(apps, code, count_found, &n);
        if (i % 1000 == 999)
            TURN_UNTIL(&g->w.rig, n == i + 2);
        if (i == APPS_MAX - 2)
            assert_non_null(apps_peek(apps, "demo"));
    }
    assert_null(apps_peek(apps, "demo"));
    assert_true(is_in(&g->w)); /* it is looked up again */
}

#define GATE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GATE_TEST(esb_says_what_its_clients_know),
        GATE_TEST(job_is_behind_esb),
        GATE_TEST(a_secret_that_was_right_makes_no_other_one_right),
        GATE_TEST(the_gateway_says_it_with_a_status),
        GATE_TEST(v1_takes_basic_too),
        GATE_TEST(the_admin_door_needs_no_credentials),
        GATE_TEST(an_app_is_remembered_for_300_s),
        GATE_TEST(that_there_is_none_is_remembered_for_5_s),
        GATE_TEST(broken_permissions_refuse_the_app),
        GATE_TEST(bodies_that_are_announced_take_no_room),
        GATE_TEST(a_small_body_takes_the_room_of_the_largest_one),
        GATE_TEST(all_bodies_of_strangers_have_so_much_room),
        GATE_TEST(an_app_in_the_header_is_looked_up_before_its_body_is_read),
        GATE_TEST(a_disconnect_during_the_app_lookup_leaks_nothing),
        GATE_TEST(a_body_may_be_so_large),
        GATE_TEST(a_chunked_body_that_is_too_large_leaves_nothing_behind),
        GATE_TEST(a_form_has_so_many_pairs),
        GATE_TEST(guesses_do_not_fill_the_memory),
    };

    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
