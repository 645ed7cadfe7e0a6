/* SPDX-License-Identifier: MIT */
/* The documents' requests to Job, byte for byte, through the whole server side: HTTP, gate, scopes,
 * tasks, hub and store are real, the agent is simulated by the test.  Run from the root of the
 * project. */
#include "base/io/file.h"
#include "server/fleet/scopes.h"
#include "tests/unit/api/server_world.h"

/* With the secret of the documents. */
static void put_app(struct server_world *v)
{
    char hash[SECRET_HASH_SIZE];
    struct app_row row = {
        .code = "esb_test", .secret_1 = hash, .secret_2 = "", .created_ms = 1000
    };

    secret_hash("xxx", hash);
    store_rig_do(&v->w.store, &store_app_put, &row, NULL);
}

/* The host of the documents, in their business. */
static int setup(void **state)
{
    struct server_world *v = server_world_new();

    put_app(v);
    server_world_put_host(v, "a1", 0, "10.0.0.1", 1);
    server_world_connect(v, "a1");
    world_open(&v->w, v->fleet, v->tasks);
    *state = v;
    return 0;
}

#define JOB   "/api/c/compapi/v2/job/"
#define JOBV3 "/api/c/compapi/v2/jobv3/"

/* A request of the documents, unchanged: credentials in the body, no header. */
static void ask_seed(struct server_world *v, const char *path, const char *seed)
{
    struct buf body = { 0 };
    size_t before = v->n_sent;
    struct err err;
    char file[128];
    json_t *json, *data;

    snprintf(file, sizeof(file), "tests/contract/seeds/%s.json", seed);
    assert_int_equal(file_read(file, 1 << 16, &body, &err), 0);
    world_ask(&v->w, "POST", path, "", buf_text(&body));
    buf_free(&body);
    TURN_UNTIL(&v->w.rig, v->n_sent == before + 1);
    json = json_loads(v->w.body, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    data = json_object_get(json, "data");
    assert_int_equal(v->w.status, 200);
    assert_true(json_is_true(json_object_get(json, "result")));
    assert_true(json_is_integer(json_object_get(json, "code")));
    assert_int_equal(json_integer_value(json_object_get(json, "code")), 0);
    assert_string_equal(json_string_value(json_object_get(json, "message")), "");
    assert_non_null(json_object_get(json, "permission"));
    assert_int_equal(json_object_size(data), 1);
    assert_string_equal(json_string_value(json_object_get(data, "bk_gse_taskid")), v->last.task);
    json_decref(json);
}

#define AUTH "\"bk_app_code\":\"esb_test\",\"bk_app_secret\":\"xxx\",\"bk_username\":\"admin\","

/* The result of the task's only key by get_proc_result. */
static json_t *ask_result(struct server_world *v, const char *path, const char *key,
                          int64_t *ret_status)
{
    char body[256];
    json_t *json, *data, *entry;

    snprintf(body, sizeof(body), "{" AUTH "\"bk_biz_id\":1,\"bk_gse_taskid\":\"%s\"}",
             v->last.task);
    json = json_loads(world_ask(&v->w, "POST", path, "", body), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    data = json_object_get(json, "data");
    *ret_status = json_integer_value(json_object_get(data, "status"));
    assert_int_equal(json_object_size(json_object_get(data, "result")), 1);
    entry = json_incref(json_object_get(json_object_get(data, "result"), key));
    assert_non_null(entry);
    json_decref(json);
    return entry;
}

static bool is_done(struct server_world *v, const char *path, const char *key)
{
    int64_t status;

    json_decref(ask_result(v, path, key, &status));
    return status == 0;
}

/* The answer while it waits, and after the agent has finished. */
static void go_on(struct server_world *v, const char *path, const char *key, int64_t code)
{
    int64_t status;
    json_t *entry = ask_result(v, path, key, &status), *value;

    assert_int_equal(status, CODE_WAITING);
    assert_int_equal(json_integer_value(json_object_get(entry, "error_code")), CODE_WAITING);
    assert_string_equal(json_string_value(json_object_get(entry, "content")), "");
    json_decref(entry);
    server_world_play(v, code, code ? "not running" : "success",
                      (struct proc_view){ v->last.meta.space, v->last.meta.name, .hosted = !code });
    TURN_UNTIL(&v->w.rig, is_done(v, path, key));
    entry = ask_result(v, path, key, &status);
    assert_int_equal(json_integer_value(json_object_get(entry, "error_code")), code);
    assert_string_equal(json_string_value(json_object_get(entry, "error_msg")),
                        code ? "not running" : "success");
    assert_true(json_is_object(json_object_get(entry, "content")));
    value = json_array_get(json_object_get(json_object_get(entry, "content"), "value"), 0);
    assert_string_equal(json_string_value(json_object_get(value, "procName")),
                        v->last.spec.identity.proc_name);
    assert_string_equal(json_string_value(json_object_get(value, "result")),
                        code ? "not running" : "success");
    json_decref(entry);
}

static void check_nginx(const struct server_world *v)
{
    const struct proc_spec *s = &v->last.spec;
    const struct proc_policy p = proc_policy_of(s);

    assert_int_equal(v->last.op, PROC_OP_HOST);
    assert_string_equal(v->last.meta.space, "job.biz.1");
    assert_string_equal(v->last.meta.name, "key_test");
    assert_string_equal(s->identity.proc_name, "nginx");
    assert_string_equal(s->identity.setup_path, "/data/home/nginx/bin/");
    assert_string_equal(s->identity.pid_path, "/data/var/run/nginx/");
    assert_string_equal(s->identity.user, "root");
    assert_string_equal(s->control.start_cmd, "echo start");
    assert_string_equal(s->control.kill_cmd, "echo kill");
    assert_int_equal(p.kind, PROC_RUN_ONCE);
    assert_int_equal(p.op_timeout_s, 5);
    assert_int_equal(p.start_check_s, 5);
    assert_true(s->resource.cpu_percent == 20 && s->resource.mem_percent == 30);
    assert_int_equal(s->extra.instances, 2);
    assert_string_equal(s->extra.job.owner, "root");
    assert_int_equal(s->extra.job.check_end_s, 5);
}

static void manage_proc_by_scope_is_answered_as_documented(void **state)
{
    struct server_world *v = *state;

    ask_seed(v, JOBV3 "manage_proc/", "manage_proc_scope");
    check_nginx(v);
    go_on(v, JOBV3 "get_proc_result/", "key_test:0:10.0.0.1", CODE_OK);
}

static void manage_proc_by_business_is_answered_as_documented(void **state)
{
    struct server_world *v = *state;

    ask_seed(v, JOB "manage_proc/", "manage_proc_biz");
    check_nginx(v);
    go_on(v, JOB "get_proc_result/", "key_test:0:10.0.0.1", CODE_OK);
}

static void operate_process_is_answered_as_documented(void **state)
{
    struct server_world *v = *state;

    ask_seed(v, JOB "operate_process/", "operate_process");
    assert_int_equal(v->last.op, PROC_OP_STOP);
    assert_string_equal(v->last.meta.space, "job.biz.1");
    assert_string_equal(v->last.meta.name, "/usr/local/xxx/gseagent");
    assert_string_equal(v->last.spec.extra.job.owner, "root");
    assert_true(v->last.spec.resource.cpu_percent == 50);
    go_on(v, JOB "get_proc_result/", "/usr/local/xxx/gseagent:0:10.0.0.1", CODE_NOT_RUNNING);
}

/* ---- numbers of each API */

#define PROCESS(limits)                                                                            \
    "{" AUTH "\"bk_biz_id\":1,\"op_type\":1,\"process_infos\":[{\"setup_path\":\"/a\","            \
    "\"proc_name\":\"p\",\"pid_path\":\"/p\"," limits "\"ip_list\":[{\"ip\":\"10.0.0.1\","         \
    "\"bk_cloud_id\":0}]}]}"

/* clang-format off */
static const struct { const char *path, *body; double cpu, mem; const char *stop_cmd; } limits[] = {
    { JOB "manage_proc", PROCESS("\"cpu_lmt\":101,\"mem_lmt\":-1,"), 0, 0, "" },
    { JOB "manage_proc", PROCESS("\"cpu_lmt\":100,\"mem_lmt\":0,"), 100, 0, "" },
    { JOB "operate_process", PROCESS("\"cpu_lmt\":1000,\"mem_lmt\":50,"), 0, 50, "" },
    { JOB "operate_proc", PROCESS("\"cpu_lmt\":101,\"mem_lmt\":101,"), 50, 30, "cd /a && ./stop.sh p &" },
    { JOB "operate_proc", PROCESS("\"cpu_lmt\":7,\"mem_lmt\":8,\"stop_cmd\":\"x\","), 7, 8, "cd /a && ./stop.sh p &" },
    { JOB "operate_proc", PROCESS(""), 0, 0, "cd /a && ./stop.sh p &" },
};
/* clang-format on */

/* Commands that reach the agent are valid: a limit that it would refuse is never sent. */
static void limits_out_of_range_are_no_error(void **state)
{
    struct server_world *v = *state;

    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        size_t before = v->n_sent;

        world_ask(&v->w, "POST", limits[i].path, "", limits[i].body);
        if (!strstr(v->w.body, "\"result\":true"))
            fail_msg("%s", v->w.body);
        TURN_UNTIL(&v->w.rig, v->n_sent == before + 1);
        assert_true(v->last.spec.resource.cpu_percent == limits[i].cpu);
        assert_true(v->last.spec.resource.mem_percent == limits[i].mem);
        assert_string_equal(v->last.spec.control.stop_cmd, limits[i].stop_cmd);
        server_world_play(v, CODE_OK, "", (struct proc_view){ "job.biz.1", "/a/p" });
    }
}

/* Many checks take longer, and the deadline includes them. */
static void the_deadline_has_time_for_all_checks(void **state)
{
    struct server_world *v = *state;
    int64_t short_ms;

    world_ask(&v->w, "POST", JOB "operate_process", "", PROCESS(""));
    TURN_UNTIL(&v->w.rig, v->n_sent == 1);
    short_ms = v->last.deadline_ms;
    server_world_play(v, CODE_OK, "", (struct proc_view){ "job.biz.1", "/a/p" });
    world_ask(&v->w, "POST", JOB "operate_process", "", PROCESS("\"start_check_end_time\":1005,"));
    TURN_UNTIL(&v->w.rig, v->n_sent == 2);
    assert_true(v->last.deadline_ms - short_ms >= 1000 * 1000);
}

/* A task of GSE has GSE's keys here too. */
static void a_task_of_gse_is_shown_with_its_own_keys(void **state)
{
    struct server_world *v = *state;

    world_ask(&v->w, "POST", "/api/c/compapi/v2/gse/operate_proc_v2/", "",
              "{" AUTH "\"meta\":{\"namespace\":\"gse\",\"name\":\"p\"},\"op_type\":4,"
              "\"hosts\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}]}");
    TURN_UNTIL(&v->w.rig, v->n_sent == 1);
    server_world_play(v, CODE_OK, "success", (struct proc_view){ "gse", "p" });
    TURN_UNTIL(&v->w.rig, is_done(v, JOB "get_proc_result", "0:10.0.0.1:gse:p"));
}

/* ---- later */

static char *ask_again(struct server_world *v)
{
    int64_t status;
    json_t *entry = ask_result(v, JOB "get_proc_result", "/a/p:0:10.0.0.1", &status);
    char *text = json_dumps(entry, JSON_SORT_KEYS);

    json_decref(entry);
    return text;
}

/* Ten minutes later the same answer comes from the store. */
static void an_old_task_is_told_as_before(void **state)
{
    struct server_world *v = *state;
    char *first, *later;

    world_ask(&v->w, "POST", JOB "operate_process", "",
              PROCESS("\"func_id\":\"f\",\"instance_id\":\"i\","));
    TURN_UNTIL(&v->w.rig, v->n_sent == 1);
    server_world_play(v, CODE_OK, "success", (struct proc_view){ "job.biz.1", "/a/p" });
    TURN_UNTIL(&v->w.rig, is_done(v, JOB "get_proc_result", "/a/p:0:10.0.0.1"));
    first = ask_again(v);
    assert_non_null(strstr(first, "\"funcID\": \"f\""));
    assert_non_null(strstr(first, "\"instanceID\": \"i\""));
    rig_pass_ms(&v->w.rig, 11 * 60 * 1000);
    rig_turns(&v->w.rig, 5);
    later = ask_again(v);
    assert_string_equal(later, first);
    free(first);
    free(later);
}

#define JOB_TEST(f) cmocka_unit_test_setup_teardown(f, setup, server_world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOB_TEST(manage_proc_by_scope_is_answered_as_documented),
        JOB_TEST(manage_proc_by_business_is_answered_as_documented),
        JOB_TEST(operate_process_is_answered_as_documented),
        JOB_TEST(limits_out_of_range_are_no_error),
        JOB_TEST(the_deadline_has_time_for_all_checks),
        JOB_TEST(a_task_of_gse_is_shown_with_its_own_keys),
        JOB_TEST(an_old_task_is_told_as_before),
    };

    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
