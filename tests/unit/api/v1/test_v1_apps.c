/* SPDX-License-Identifier: MIT */
/* Promises of /v1/apps: api/v1/v1_apps.c and v1_app_change.c. */
#include "api/pipeline/api_state.h"

#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

struct apps_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

static int setup(void **state)
{
    struct apps_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct apps_world *v = *state;

    world_close_doors(&v->w);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static void take_secret(struct world *w, char to[SECRET_TEXT_SIZE])
{
    const char *at = strstr(w->body, "\"secret\":\"");

    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"secret\":\"%43[^\"]", to), 1);
}

static int status_with(struct world *w, const char *secret)
{
    char headers[256];

    snprintf(headers, sizeof(headers),
             "X-Bkapi-Authorization: {\"bk_app_code\":\"kit\",\"bk_app_secret\":\"%s\"}\r\n",
             secret);
    world_ask(w, "GET", "/v1/status", headers, NULL);
    return w->status;
}

static const struct app_row *stored(struct world *w, const char *code)
{
    struct list rows;

    store_rig_do(&w->store, &store_app_find, &(struct app_find_ask){ code }, &rows);
    return rows.n ? rows.items : NULL;
}

static void the_right_admin_includes_read(void **state)
{
    struct apps_world *v = *state;
    char secret[SECRET_TEXT_SIZE];

    world_admin(&v->w, "POST", "/v1/apps",
                "{\"code\":\"kit\",\"permissions\":{\"rights\":[\"admin\"]}}");
    take_secret(&v->w, secret);
    assert_int_equal(status_with(&v->w, secret), 200);
    assert_true(app_rights(&(struct app_permissions){ .rights = { &(struct app_number){ APP_ADMIN },
                                                                  1 } }) == (APP_ADMIN | APP_READ));
}

static void expect(struct world *w, int status, const char *says)
{
    if (w->status != status || !strstr(w->body, says))
        fail_msg("%d %s, not %s", w->status, w->body, says);
}

static void what_it_may_do_changes_at_once(void **state)
{
    struct apps_world *v = *state;
    char secret[SECRET_TEXT_SIZE];

    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}");
    take_secret(&v->w, secret);
    assert_int_equal(status_with(&v->w, secret), 200); /* and is cached */
    world_admin(&v->w, "PUT", "/v1/apps/kit",
                "{\"permissions\":{\"rights\":[\"operate\"],\"operations\":[\"stop\",\"kill\"],"
                "\"business_sets\":[9],\"rate_per_second\":50}}");
    expect(&v->w, 200,
           "{\"code\":\"kit\",\"permissions\":{\"rights\":[\"operate\"],\"operations\":[\"stop\","
           "\"kill\"],\"namespaces\":[],\"businesses\":[],\"business_sets\":[9],"
           "\"rate_per_second\":50,\"signatures\":false},\"created_s\":1700000000}");
    assert_int_equal(status_with(&v->w, secret), 403); /* its secret is unchanged */
    world_admin(&v->w, "GET", "/v1/apps/kit/", NULL);
    expect(&v->w, 200, "\"operations\":[\"stop\",\"kill\"]");
    world_admin(&v->w, "PUT", "/v1/apps/kit", "{\"permissions\":{}}");
    assert_int_equal(status_with(&v->w, secret), 200);
}

static void an_app_that_is_removed_is_let_in_no_more(void **state)
{
    struct apps_world *v = *state;
    char secret[SECRET_TEXT_SIZE];

    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}");
    take_secret(&v->w, secret);
    assert_int_equal(status_with(&v->w, secret), 200);
    world_admin(&v->w, "DELETE", "/v1/apps/kit", NULL);
    expect(&v->w, 200, "{\"code\":\"kit\",");
    assert_null(strstr(v->w.body, "secret"));
    assert_null(stored(&v->w, "kit"));
    assert_int_equal(status_with(&v->w, secret), 401);
    world_admin(&v->w, "DELETE", "/v1/apps/kit", NULL);
    expect(&v->w, 404, "app kit: there is none");
    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}"); /* another of that name */
    take_secret(&v->w, secret);
    assert_int_equal(status_with(&v->w, secret), 200);
}

/* Only secrets of apps that sign are stored, and only sealed. */
static void secrets_of_apps_that_sign_are_stored_sealed(void **state)
{
    struct apps_world *v = *state;
    char first[SECRET_TEXT_SIZE], second[SECRET_TEXT_SIZE], *opened;
    const struct app_row *row;
    struct arena a = { 0 };
    struct err err;

    world_admin(&v->w, "POST", "/v1/apps",
                "{\"code\":\"kit\",\"permissions\":{\"signatures\":true}}");
    expect(&v->w, 200, "\"can_sign\":true");
    take_secret(&v->w, first);
    row = stored(&v->w, "kit");
    assert_int_equal(seal_read(v->w.seal, "kit", row->sealed_1, &a, &opened, &err), 0);
    assert_string_equal(opened, first);
    assert_string_equal(row->sealed_2, "");

    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    take_secret(&v->w, second);
    row = stored(&v->w, "kit");
    assert_int_equal(seal_read(v->w.seal, "kit", row->sealed_1, &a, &opened, &err), 0);
    assert_string_equal(opened, second);
    assert_int_equal(seal_read(v->w.seal, "kit", row->sealed_2, &a, &opened, &err), 0);
    assert_string_equal(opened, first);

    world_admin(&v->w, "PUT", "/v1/apps/kit", "{\"permissions\":{}}");
    assert_null(strstr(v->w.body, "can_sign"));
    row = stored(&v->w, "kit");
    assert_string_equal(row->sealed_1, ""); /* and removed */
    assert_string_equal(row->sealed_2, "");
    assert_int_equal(status_with(&v->w, second), 200);
    arena_free(&a);
}

static void an_app_allowed_to_sign_later_signs_with_its_next_secret(void **state)
{
    struct apps_world *v = *state;

    world_admin(&v->w, "POST", "/v1/apps", "{\"code\":\"kit\"}");
    assert_string_equal(stored(&v->w, "kit")->sealed_1, "");
    world_admin(&v->w, "PUT", "/v1/apps/kit", "{\"permissions\":{\"signatures\":true}}");
    expect(&v->w, 200, "\"signatures\":true},\"created_s\"");
    world_admin(&v->w, "POST", "/v1/apps?rotate=1", "{\"code\":\"kit\"}");
    expect(&v->w, 200, "\"can_sign\":true");
}

static void what_is_wrong_is_told_and_changes_nothing(void **state)
{
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *says;
    } cases[] = {
        { "GET", "/v1/apps/none", NULL, 404, "app none: there is none" },
        { "PUT", "/v1/apps/none", "{\"permissions\":{}}", 404, "app none: there is none" },
        { "PUT", "/v1/apps/admin", "{\"permissions\":{}}", 404, "app admin: there is none" },
        { "DELETE", "/v1/apps/none", NULL, 404, "app none: there is none" },
        { "PUT", "/v1/apps/demo", "{}", 400, "permissions: required" },
        { "PUT", "/v1/apps/demo", "{\"permissions\":{\"operations\":[\"fly\"]}}", 400,
          "permissions.operations[0]" },
        { "PUT", "/v1/apps/demo", "{\"permissions\":{\"rate_per_second\":-1}}", 400,
          "permissions.rate_per_second" },
        { "PUT", "/v1/apps/demo",
          "{\"permissions\":{\"rights\":[\"admin\"],\"business_sets\":[1]}}", 400,
          "permissions: the right admin cannot have limits" },
        { "PUT", "/v1/apps/demo", "{\"code\":\"x\",\"permissions\":{}}", 400, "code" },
        { "POST", "/v1/apps?rotate=1", "{\"code\":\"demo\",\"permissions\":{\"signatures\":true}}",
          400, "permissions: stay as they are with rotate=1" },
        { "PUT", "/v1/apps", "{}", 405, "not allowed here" },
    };
    struct apps_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        world_admin(&v->w, cases[i].method, cases[i].path, cases[i].body);
        expect(&v->w, cases[i].status, cases[i].says);
    }
    assert_null(stored(&v->w, "demo")->permissions);
    world_ask(&v->w, "DELETE", "/v1/apps/demo", DEMO_AUTH, NULL);
    expect(&v->w, 403, "FORBIDDEN");
    world_ask(&v->w, "PUT", "/v1/apps/demo", DEMO_AUTH, "{\"permissions\":{}}");
    expect(&v->w, 403, "FORBIDDEN");
    world_ask(&v->w, "GET", "/v1/apps/demo", DEMO_AUTH, NULL);
    expect(&v->w, 403, "FORBIDDEN");
}

#define APPS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        APPS_TEST(the_right_admin_includes_read),
        APPS_TEST(what_it_may_do_changes_at_once),
        APPS_TEST(an_app_that_is_removed_is_let_in_no_more),
        APPS_TEST(secrets_of_apps_that_sign_are_stored_sealed),
        APPS_TEST(an_app_allowed_to_sign_later_signs_with_its_next_secret),
        APPS_TEST(what_is_wrong_is_told_and_changes_nothing),
    };

    return cmocka_run_group_tests_name("v1_apps", tests, NULL, NULL);
}
