/* SPDX-License-Identifier: MIT */
/* Promises of /v1/tokens: api/v1/v1_tokens.c. (Creation: test_v1.c.) */
#include "api/pipeline/api_state.h"

#include "link/token.h"
#include "model/app.h"
#include "store/store_audit.h"
#include "tests/unit/api/fake_server.h"
#include "tests/unit/api/world.h"

enum { ID_SIZE = 64 };

struct tokens_world {
    struct world w;
    struct fleet fleet;
    struct tasks tasks;
};

static int setup(void **state)
{
    struct tokens_world *v = xalloc(sizeof(*v));

    world_init(&v->w);
    world_open(&v->w, &v->fleet, &v->tasks);
    *state = v;
    return 0;
}

static int teardown(void **state)
{
    struct tokens_world *v = *state;

    world_close_doors(&v->w);
    world_done(&v->w);
    buf_free(&v->tasks.asked);
    free(v);
    return 0;
}

static void expect(struct world *w, int status, const char *says)
{
    if (w->status != status || !strstr(w->body, says))
        fail_msg("%d %s, not %s", w->status, w->body, says);
}

static void make(struct world *w, const char *body, char token[TOKEN_TEXT_SIZE], char id[ID_SIZE])
{
    world_admin(w, "POST", "/v1/tokens", body);
    assert_int_equal(w->status, 200);
    assert_int_equal(sscanf(w->body, "{\"token\":\"%80[^\"]\",\"id\":\"%63[^\"]\"", token, id), 2);
}

static void the_list_tells_all_but_the_token(void **state)
{
    struct tokens_world *v = *state;
    char token[TOKEN_TEXT_SIZE], id[ID_SIZE], line[256];

    world_admin(&v->w, "GET", "/v1/tokens", NULL);
    expect(&v->w, 200, "{\"tokens\":[],\"next\":\"\"}");
    make(&v->w, "{\"cloud_id\":1,\"biz_id\":2,\"ttl_s\":60,\"uses\":3,\"note\":\"rack 7\"}", token,
         id);
    world_admin(&v->w, "GET", "/v1/tokens", NULL);
    snprintf(
        line, sizeof(line),
        "{\"id\":\"%s\",\"cloud_id\":1,\"biz_id\":2,\"uses_left\":3,\"created_s\":1700000000,"
        "\"expires_s\":1700000060,\"app\":\"admin\",\"user\":\"root (uid 0)\",\"note\":\"rack 7\","
        "\"revoked_s\":0}",
        id);
    expect(&v->w, 200, line);
    assert_null(strstr(v->w.body, token));
    assert_null(strstr(v->w.body, "sha256"));
}

static void the_list_comes_in_pages(void **state)
{
    enum { TOKENS = 5 };
    struct tokens_world *v = *state;
    char token[TOKEN_TEXT_SIZE], ids[TOKENS][ID_SIZE], path[128] = "/v1/tokens?limit=2";
    bool seen[TOKENS] = { 0 };
    const char *next;

    for (size_t i = 0; i < TOKENS; i++)
        make(&v->w, "{}", token, ids[i]);
    for (size_t pages = 0; *path; pages++) {
        assert_in_range(pages, 0, 2);
        world_admin(&v->w, "GET", path, NULL);
        assert_int_equal(v->w.status, 200);
        next = strstr(v->w.body, "\"next\":\"");
        assert_non_null(next);
        for (size_t i = 0; i < TOKENS; i++) {
            const char *at = strstr(v->w.body, ids[i]);
            bool is_in = at && at < next;

            assert_false(is_in && seen[i]);
            seen[i] = seen[i] || is_in;
        }
        next += strlen("\"next\":\"");
        *path = '\0';
        if (*next != '"')
            snprintf(path, sizeof(path), "/v1/tokens?limit=2&after=%.*s", (int)strcspn(next, "\""),
                     next);
    }
    for (size_t i = 0; i < TOKENS; i++)
        assert_true(seen[i]);
}

static void one_that_is_revoked_says_so_and_that_is_written_down(void **state)
{
    struct tokens_world *v = *state;
    char token[TOKEN_TEXT_SIZE], id[ID_SIZE], other[ID_SIZE], path[128], says[128];
    const struct audit_page page = {
        .before_ms = INT64_MAX,
        .until_ms = INT64_MAX,
        .before_id = "",
        .app = "",
        .user = "",
        .route = "/v1/tokens/*",
        .limit = 10,
    };
    struct list rows;
    size_t n = 0;

    make(&v->w, "{}", token, id);
    make(&v->w, "{}", token, other);
    snprintf(path, sizeof(path), "/v1/tokens/%s", id);
    snprintf(says, sizeof(says), "{\"id\":\"%s\",", id);
    world_admin(&v->w, "DELETE", path, NULL);
    expect(&v->w, 200, says);
    world_admin(&v->w, "DELETE", path, NULL); /* can be repeated */
    expect(&v->w, 200, says);
    world_admin(&v->w, "GET", "/v1/tokens", NULL);
    expect(&v->w, 200, other);
    expect(&v->w, 200, says);
    expect(&v->w, 200, "\"uses_left\":1");
    expect(&v->w, 200, "\"uses_left\":0");
    expect(&v->w, 200, "\"revoked_s\":1700000000}");
    expect(&v->w, 200, "\"revoked_s\":0}");
    world_admin(&v->w, "DELETE", "/v1/tokens/0123456789ab", NULL);
    expect(&v->w, 404, ": there is none");
    store_rig_do(&v->w.store, &store_audit_list, &page, &rows);
    assert_int_equal(rows.n, 3); /* including the failed one */
    for (size_t i = 0; i < rows.n; i++)
        n += strstr(ROW(audit_row, rows, i)->what, id) != NULL;
    assert_int_equal(n, 2);
}

/* Even if the request is refused. */
static void a_token_in_place_of_its_id_is_written_down_nowhere(void **state)
{
    struct tokens_world *v = *state;
    char token[TOKEN_TEXT_SIZE], id[ID_SIZE], path[128];
    const struct audit_page page = { INT64_MAX, "", 0, INT64_MAX, "", "", "/v1/tokens/*", 10 };
    struct list rows;

    make(&v->w, "{}", token, id);
    snprintf(path, sizeof(path), "/v1/tokens/%s", token);
    world_admin(&v->w, "DELETE", path, NULL);
    expect(&v->w, 404, "id: must be the 12 digits by which the list shows a token");
    assert_null(strstr(v->w.body, token));
    world_ask(&v->w, "DELETE", path, DEMO_AUTH, NULL);
    expect(&v->w, 403, "admin");
    store_rig_do(&v->w.store, &store_audit_list, &page, &rows);
    assert_int_equal(rows.n, 2);
    for (size_t i = 0; i < rows.n; i++) {
        assert_null(strstr(ROW(audit_row, rows, i)->what, token));
        assert_null(strstr(ROW(audit_row, rows, i)->message, token));
    }
}

static void tokens_require_the_right_admin(void **state)
{
    struct tokens_world *v = *state;
    char token[TOKEN_TEXT_SIZE], id[ID_SIZE], path[128];

    make(&v->w, "{}", token, id);
    snprintf(path, sizeof(path), "/v1/tokens/%s", id);
    world_ask(&v->w, "GET", "/v1/tokens", DEMO_AUTH, NULL);
    expect(&v->w, 403, "admin");
    world_ask(&v->w, "DELETE", path, DEMO_AUTH, NULL);
    expect(&v->w, 403, "admin");
    world_admin(&v->w, "GET", "/v1/tokens", NULL);
    expect(&v->w, 200, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_list_tells_all_but_the_token, setup, teardown),
        cmocka_unit_test_setup_teardown(the_list_comes_in_pages, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_revoked_says_so_and_that_is_written_down, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_token_in_place_of_its_id_is_written_down_nowhere, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(tokens_require_the_right_admin, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
