/* SPDX-License-Identifier: MIT */
/* Promises of Idempotency-Key: api/pipeline/idempotency.c. */
#include "store/store_requests.h"
#include "tests/unit/api/server_world.h"

#define STOP      "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"]}"
#define START     "{\"operation\":\"start\",\"namespace\":\"gse\",\"name\":\"p\",\"hosts\":[\"a1\"]}"
#define KEY(text) DEMO_AUTH "Idempotency-Key: " text "\r\n"

static void operate(struct server_world *v, const char *headers, const char *body, int status,
                    char to[64])
{
    server_world_ask(v, "POST", "/v1/operations", headers, body, status);
    if (status == 200)
        snprintf(to, 64, "%s", server_world_text(v->answer, "task_id"));
}

/* Its task ends, so that no other rule gives the same answer. */
static void end_task(struct server_world *v)
{
    server_world_answer(v, v->n_sent - 1, CODE_OK);
}

static void the_same_again_is_answered_alike_and_done_once(void **state)
{
    struct server_world *v = *state;
    char first[64], second[64];

    operate(v, KEY("k1"), STOP, 200, first);
    assert_null(strstr(buf_text(&v->w.got), "Idempotent-Replayed"));
    end_task(v);
    operate(v, KEY("k1"), STOP, 200, second);
    assert_string_equal(first, second);
    assert_non_null(strstr(buf_text(&v->w.got), "Idempotent-Replayed: true"));
    assert_int_equal(v->n_sent, 1);
    operate(v, KEY("k2"), STOP, 200, second);
    assert_string_not_equal(first, second);
}

static void it_is_so_after_a_restart_too(void **state)
{
    struct server_world *v = *state;
    char first[64], second[64];

    operate(v, KEY("k1"), STOP, 200, first);
    end_task(v);
    server_world_restart(v);
    operate(v, KEY("k1"), STOP, 200, second);
    assert_string_equal(first, second);
    assert_int_equal(v->n_sent, 0);
}

static void another_request_with_the_key_is_refused(void **state)
{
    struct server_world *v = *state;
    char first[64], again[64];

    operate(v, KEY("k1"), STOP, 200, first);
    end_task(v);
    operate(v, KEY("k1"), START, 409, NULL);
    assert_non_null(strstr(v->w.body, "Idempotency-Key: it was used for another request"));
    server_world_ask(v, "POST", "/v1/tasks/cancel", KEY("k1"), "{\"task_id\":\"x\"}", 409);
    operate(v, KEY("k1"), STOP, 200, again); /* and the first is unchanged */
    assert_string_equal(first, again);
}

static void a_key_belongs_to_its_app(void **state)
{
    struct server_world *v = *state;
    char first[64], other[64];

    world_put_app(&v->w, "second", NULL);
    operate(v, KEY("k1"), STOP, 200, first);
    end_task(v);
    operate(v,
            "X-Bkapi-Authorization: {\"bk_app_code\":\"second\",\"bk_app_secret\":\"" WORLD_SECRET
            "\"}\r\nIdempotency-Key: k1\r\n",
            STOP, 200, other);
    assert_string_not_equal(first, other);
}

static void what_failed_may_be_tried_again(void **state)
{
    static const char none[] = "{\"operation\":\"stop\",\"namespace\":\"gse\",\"name\":\"new\"}";
    struct server_world *v = *state;
    char id[64];

    operate(v, KEY("k1"), none, 404, NULL);
    server_world_put_proc(v, "a1", "new");
    operate(v, KEY("k1"), none, 200, id);
    operate(v, KEY("k3"), "{", 400, NULL); /* its key was not used */
    operate(v, KEY("k3"), STOP, 200, id);
}

static void a_day_later_a_key_is_new(void **state)
{
    struct server_world *v = *state;
    char first[64], second[64];

    operate(v, KEY("k1"), STOP, 200, first);
    end_task(v);
    v->w.rig.clock.wall += 23 * 3600 * 1000;
    operate(v, KEY("k1"), STOP, 200, second);
    assert_string_equal(first, second);
    v->w.rig.clock.wall += 2 * 3600 * 1000;
    operate(v, KEY("k1"), STOP, 200, second);
    assert_string_not_equal(first, second);
}

static void a_bad_key_is_refused(void **state)
{
    struct server_world *v = *state;
    char headers[1024];

    snprintf(headers, sizeof(headers), DEMO_AUTH "Idempotency-Key: %0300d\r\n", 7);
    operate(v, headers, STOP, 400, NULL);
    operate(v, KEY("a b"), STOP, 400, NULL);
    operate(v, KEY(""), STOP, 400, NULL);
    assert_non_null(strstr(v->w.body, "Idempotency-Key: must be 1 to 255"));
    assert_int_equal(v->n_sent, 0);
}

/* Two at once: one is carried out, the other is refused. */
static void a_concurrent_request_with_the_same_key_is_refused(void **state)
{
    struct server_world *v = *state;
    struct buf out = { 0 };
    int fds[2], done = 0, refused = 0;

    world_head(&out, "POST", "/v1/operations", KEY("k1"));
    buf_printf(&out, "Content-Length: %zu\r\n\r\n%s", strlen(STOP), STOP);
    for (size_t i = 0; i < 2; i++) {
        fds[i] = world_connect(&v->w, 0);
        assert_int_equal(send(fds[i], buf_data(&out), out.len, 0), (ssize_t)out.len);
    }
    for (size_t i = 0; i < 2; i++) {
        buf_truncate(&v->w.got, 0);
        TURN_UNTIL(&v->w.rig, world_take(&v->w, fds[i]));
        done += strstr(buf_text(&v->w.got), "\"task_id\":\"GSETASK") != NULL;
        refused += strstr(buf_text(&v->w.got), "a request with this key is in work") != NULL;
        close(fds[i]);
    }
    assert_int_equal(done, 1);
    assert_int_equal(refused, 1);
    assert_int_equal(v->n_sent, 1);
    buf_free(&out);
}

/* ---- a server that ended during a request */

static void take_key(struct server_world *v, const char *path, const char *body)
{
    struct request_begin_ask ask = { .row = { .app = "demo", .key = "k1", .created_ms = 1 } };
    char text[512], digest[DIGEST_TEXT_SIZE];

    snprintf(text, sizeof(text), "POST %s?\n%s", path, body);
    digest_sha256_text(text, strlen(text), digest);
    ask.row.digest = digest;
    ask.row.created_ms = v->w.rig.clock.wall;
    store_rig_do(&v->w.store, &store_request_begin, &ask, NULL);
}

/* The task was created, but not answered: it is found. */
static void a_task_that_was_made_is_found_again(void **state)
{
    struct server_world *v = *state;
    char first[64], again[64];
    const struct request_row row = { .app = "demo", .key = "k1" };

    operate(v, KEY("k1"), STOP, 200, first);
    end_task(v);
    store_rig_do(&v->w.store, &store_request_drop, &row, NULL);
    v->w.rig.clock.wall -= 1000;
    take_key(v, "/v1/operations", STOP);
    v->w.rig.clock.wall += 1000;
    server_world_restart(v);
    operate(v, KEY("k1"), STOP, 200, again);
    assert_string_equal(first, again);
    assert_int_equal(server_world_number(v->answer, "items"), 1);
    operate(v, KEY("k1"), STOP, 200, again); /* and stored from now on */
    assert_string_equal(first, again);
}

static void one_that_was_not_made_is_made(void **state)
{
    struct server_world *v = *state;
    char id[64];

    take_key(v, "/v1/operations", STOP);
    operate(v, KEY("k1"), STOP, 200, id);
    assert_int_equal(v->n_sent, 1);
}

static void an_unknown_result_is_reported_as_unknown(void **state)
{
    static const char body[] = "{\"host\":\"a3\"}";
    struct server_world *v = *state;

    world_put_app(&v->w, "demo", "{\"rights\":[\"admin\"]}");
    apps_forget(v->w.api->apps, "demo");
    take_key(v, "/v1/hosts/remove", body);
    for (int i = 0; i < 2; i++) {
        server_world_ask(v, "POST", "/v1/hosts/remove", KEY("k1"), body, 409);
        assert_non_null(strstr(v->w.body, "whether it was done is not known"));
    }
    assert_non_null(fleet_find(v->fleet, "a3"));
}

/* ---- secrets */

static void a_secret_is_not_kept(void **state)
{
    struct server_world *v = *state;
    const struct request_begin_ask ask = { .row = { .app = "demo", .key = "k1", .digest = "x" } };
    struct request_begin_got got;
    const struct request_row *row;

    world_put_app(&v->w, "demo", "{\"rights\":[\"admin\"]}");
    apps_forget(v->w.api->apps, "demo");
    server_world_ask(v, "POST", "/v1/apps", KEY("k1"), "{\"code\":\"kit\"}", 200);
    assert_non_null(json_object_get(v->answer, "secret"));
    server_world_ask(v, "POST", "/v1/apps", KEY("k1"), "{\"code\":\"kit\"}", 409);
    assert_non_null(strstr(v->w.body, "this was done before; its answer had a secret"));
    store_rig_do(&v->w.store, &store_request_begin, &ask, &got);
    row = got.rows.items;
    assert_int_equal(row->status, 200);
    assert_string_equal(row->answer, "");
}

/* A GET ignores the key. */
static void a_key_of_a_get_is_passed_over(void **state)
{
    struct server_world *v = *state;

    server_world_ask(v, "GET", "/v1/status", KEY("k1"), NULL, 200);
    server_world_ask(v, "GET", "/v1/hosts", KEY("k1"), NULL, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(the_same_again_is_answered_alike_and_done_once),
        SERVER_TEST(it_is_so_after_a_restart_too),
        SERVER_TEST(another_request_with_the_key_is_refused),
        SERVER_TEST(a_key_belongs_to_its_app),
        SERVER_TEST(what_failed_may_be_tried_again),
        SERVER_TEST(a_day_later_a_key_is_new),
        SERVER_TEST(a_bad_key_is_refused),
        SERVER_TEST(a_concurrent_request_with_the_same_key_is_refused),
        SERVER_TEST(a_task_that_was_made_is_found_again),
        SERVER_TEST(one_that_was_not_made_is_made),
        SERVER_TEST(an_unknown_result_is_reported_as_unknown),
        SERVER_TEST(a_secret_is_not_kept),
        SERVER_TEST(a_key_of_a_get_is_passed_over),
    };

    return cmocka_run_group_tests_name("idempotency", tests, NULL, NULL);
}
