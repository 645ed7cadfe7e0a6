/* SPDX-License-Identifier: MIT */
/* Promises of api/pipeline/routes.h: every spelling of a path is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "api/pipeline/routes.h"
#include "base/mem/mem.h"

struct path_case {
    const char *path;
    unsigned method;
    enum dialect_kind dialect;
    const char *row;  /* NULL: none */
    unsigned methods; /* that the path has */
};

/* clang-format off */
#define ANY (METHOD_GET | METHOD_POST)
static const struct path_case cases[] = {
    /* ESB, in all its spellings */
    { "/api/c/compapi/v2/gse/operate_proc_v2/", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi/v2/gse/operate_proc_v2", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi/v2/gse/operate_proc_v2//", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi//v2/gse/operate_proc_v2/", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/c/compapi/v2/gse/operate_proc_v2/", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi/gse/operate_proc_v2/", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/c/compapi/gse/operate_proc_v2", METHOD_GET, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi/v2/gse/operate_proc_multi/", METHOD_POST, DIALECT_ESB, "operate_proc_multi", ANY },
    { "/api/c/compapi/v2/gse/get_proc_operate_result/", METHOD_GET, DIALECT_ESB, "get_proc_operate_result", ANY },
    { "/api/c/compapi/v2/gse/get_proc_operate_result_v2/", METHOD_POST, DIALECT_ESB, "get_proc_operate_result_v2", ANY },
    /* Job's two systems; one API has two names */
    { "/api/c/compapi/v2/job/manage_proc/", METHOD_POST, DIALECT_JOB, "manage_proc", ANY },
    { "/api/c/compapi/v2/jobv3/manage_proc/", METHOD_POST, DIALECT_JOB, "manage_proc", ANY },
    { "/c/compapi/v2/jobv3/manage_process", METHOD_POST, DIALECT_JOB, "manage_process", ANY },
    { "/api/c/compapi/v2/job/operate_process//", METHOD_POST, DIALECT_JOB, "operate_process", ANY },
    { "/api/c/compapi/v2/jobv3/operate_proc", METHOD_POST, DIALECT_JOB, "operate_proc", ANY },
    { "/api/c/compapi/v2/job/get_proc_result/", METHOD_GET, DIALECT_JOB, "get_proc_result", ANY },
    { "/api/c/compapi/jobv3/manage_proc/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    /* the mixed form: calls of the gateway, answered as ESB */
    { "/api/c/compapi/v2/gse/api/v2/proc/operate_proc_multi/", METHOD_POST, DIALECT_ESB, "operate_proc_multi", ANY },
    { "/api/c/compapi/v2/gse/api/v2/proc/get_proc_operate_result_v2/", METHOD_POST, DIALECT_ESB, "get_proc_operate_result_v2", ANY },
    { "/api/c/compapi/v2/gse/api/v2/proc/operate_proc_v2", METHOD_POST, DIALECT_ESB, "operate_proc_v2", ANY },
    { "/api/c/compapi/v2/gse/api/v2/proc/get_proc_operate_result/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    /* the gateway */
    { "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", METHOD_POST, DIALECT_GATEWAY, "operate_proc_v2", METHOD_POST },
    { "/api/bk-gse/prod/api/v2/proc/operate_proc_v2/", METHOD_POST, DIALECT_GATEWAY, "operate_proc_v2", METHOD_POST },
    { "/api/bk-gse/stage/api/v2/proc/operate_proc_multi", METHOD_POST, DIALECT_GATEWAY, "operate_proc_multi", METHOD_POST },
    { "/api/v2/proc/get_proc_operate_result_v2", METHOD_POST, DIALECT_GATEWAY, "get_proc_operate_result_v2", METHOD_POST },
    { "/api/bk-gse/prod/api/v2/proc/operate_proc_v2", METHOD_GET, DIALECT_GATEWAY, NULL, METHOD_POST },
    { "/api/bk-gse/prod/api/v2/proc/get_proc_operate_result", METHOD_POST, DIALECT_GATEWAY, NULL, 0 },
    { "/api/bk-gse/other/api/v2/proc/operate_proc_v2", METHOD_POST, DIALECT_GATEWAY, NULL, 0 },
    { "/api/bk-gse/prod/operate_proc_v2", METHOD_POST, DIALECT_GATEWAY, NULL, 0 },
    { "/api", METHOD_POST, DIALECT_GATEWAY, NULL, 0 },
    /* not ours */
    { "/api/c/compapi/v2/gse/operate_nothing/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    { "/api/c/compapi/v2/job/operate_proc_v2/", METHOD_POST, DIALECT_JOB, NULL, 0 },
    { "/api/c/compapi/job/get_proc_result/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    { "/api/c/compapi/v3/gse/operate_proc_v2/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    { "/api/c/compapi/v2/gse/operate_proc_v2x/", METHOD_POST, DIALECT_ESB, NULL, 0 },
    { "/api/c/compapi/v2/gse//v1/status", METHOD_GET, DIALECT_ESB, NULL, 0 },
    { "/c/compapi", METHOD_POST, DIALECT_ESB, NULL, 0 },
    { "/c/compapix", METHOD_POST, DIALECT_V1, NULL, 0 },
    { "/api/c/compapi/v2/gse/operate_proc_v2/", 0, DIALECT_ESB, NULL, ANY },
    /* the backend of an ESB */
    { "/procapi/v2/proc/operate", METHOD_POST, DIALECT_BACKEND, "/procapi/v2/proc/operate", ANY },
    { "/procapi/v2/proc/operate/", METHOD_GET, DIALECT_BACKEND, "/procapi/v2/proc/operate", ANY },
    { "/procapi/v2/proc/other", METHOD_GET, DIALECT_BACKEND, NULL, 0 },
    /* ours */
    { "/v1/status", METHOD_GET, DIALECT_V1, "/v1/status", METHOD_GET },
    { "/v1/status/", METHOD_GET, DIALECT_V1, "/v1/status", METHOD_GET },
    { "/v1/status", METHOD_POST, DIALECT_V1, NULL, METHOD_GET },
    { "/v1/apps", METHOD_POST, DIALECT_V1, "/v1/apps", ANY },
    { "/v1/apps", METHOD_GET, DIALECT_V1, "/v1/apps", ANY },
    { "/v1/tasks/GSETASK:S:1:1", METHOD_GET, DIALECT_V1, "/v1/tasks/*", METHOD_GET },
    { "/v1/tasks/", METHOD_GET, DIALECT_V1, "/v1/tasks", METHOD_GET },
    { "/v1/tasks/a/b", METHOD_GET, DIALECT_V1, NULL, 0 },
    { "/v1", METHOD_GET, DIALECT_V1, NULL, 0 },
    { "/v1x", METHOD_GET, DIALECT_V1, NULL, 0 },
    { "/", METHOD_GET, DIALECT_V1, NULL, 0 },
};
/* clang-format on */

static void every_path_finds_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct path_case *c = &cases[i];
        const char *row;
        struct route_found found;

        route_find(c->path, c->method, &found);
        row = found.route ? found.route->path : NULL;
        if (found.dialect != c->dialect || found.methods != c->methods || !row != !c->row ||
            (row && strcmp(row, c->row) != 0))
            fail_msg("%s: dialect %d, row %s, methods %u", c->path, (int)found.dialect,
                     row ? row : "none", found.methods);
    }
}

static void the_star_is_the_rest_of_the_path(void **state)
{
    struct route_found found;

    (void)state;
    route_find("/v1/tasks/abc", METHOD_GET, &found);
    assert_string_equal(found.rest, "abc");
    route_find("/v1/tasks/abc/", METHOD_GET, &found);
    assert_string_equal(found.rest, "abc/"); /* the caller cuts it at the slash */
}

static void two_methods_of_a_path_are_two_rows(void **state)
{
    struct route_found get, post;

    (void)state;
    route_find("/v1/apps", METHOD_GET, &get);
    route_find("/v1/apps", METHOD_POST, &post);
    assert_ptr_not_equal(get.route, post.route);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_finds_its_row),
        cmocka_unit_test(the_star_is_the_rest_of_the_path),
        cmocka_unit_test(two_methods_of_a_path_are_two_rows),
    };

    return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}
