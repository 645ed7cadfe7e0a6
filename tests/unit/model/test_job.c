/* SPDX-License-Identifier: MIT */
#include "model/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "model/rules.h"

static void read_as(const struct shape *s, const char *json, struct arena *a, void *out)
{
    struct err err = { 0 };

    if (shape_read(s, json, strlen(json), 0, a, out, &err))
        fail_msg("%s", err.text);
}

static void a_process_has_one_name(void **state)
{
    static const struct {
        const char *setup_path, *proc_name, *value_key, *name;
    } cases[] = {
        { "/usr/local/gse", "agent", "", "/usr/local/gse/agent" },
        { "/usr/local/gse/", "agent", "", "/usr/local/gse/agent" },
        { "/usr/local/gse//", "//agent", "", "/usr/local/gse/agent" },
        { "/", "agent", "", "/agent" },
        { "/usr", "bin/agent", "", "/usr/bin/agent" },
        { "/usr", "agent", "key", "key" },
        { "", "agent", "", "/agent" },
        { "", "/agent", "", "/agent" },
        { "", "", "key:1", "key:1" },
        { "/usr", "", "", "" },
        { "", "", "", "" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct job_process p = { .setup_path = cases[i].setup_path,
                                       .proc_name = cases[i].proc_name,
                                       .value_key = cases[i].value_key };

        assert_string_equal(job_process_name(&p, &a), cases[i].name);
    }
    arena_free(&a);
}

#define HEAD                                                                                       \
    "{\"op_type\":0,\"process_infos\":[{\"ip_list\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}]"
#define WHOLE "\"setup_path\":\"/a\",\"proc_name\":\"p\",\"pid_path\":\"/a/p.pid\""

static void a_job_process_becomes_a_spec(void **state)
{
    static const char json[] = HEAD
        "," WHOLE ",\"cfg_path\":\"/a/c\",\"log_path\":\"/a/l\",\"contact\":\"tom\","
        "\"account\":\"nobody\",\"start_cmd\":\"./s\",\"stop_cmd\":\"./t\",\"restart_cmd\":"
        "\"./r\",\"reload_cmd\":\"./l\",\"kill_cmd\":\"./k\",\"func_id\":\"f\",\"instance_id\":"
        "\"i\",\"type\":0,\"cpu_lmt\":20,\"mem_lmt\":30,\"cycle_time\":60,\"instance_num\":3,"
        "\"op_timeout\":7,\"start_check_begin_time\":2,\"start_check_end_time\":9}]}";
    struct arena a = { 0 };
    struct job_operate ask;
    struct proc_spec s, again;
    struct proc_policy p;
    struct buf text = { 0 };

    (void)state;
    read_as(&job_operate_shape, json, &a, &ask);
    job_process_spec(ask.processes.items, &s);
    assert_string_equal(s.identity.proc_name, "p");
    assert_string_equal(s.identity.setup_path, "/a");
    assert_string_equal(s.identity.pid_path, "/a/p.pid");
    assert_string_equal(s.identity.config_path, "/a/c");
    assert_string_equal(s.identity.log_path, "/a/l");
    assert_string_equal(s.identity.user, "nobody");
    assert_string_equal(s.control.start_cmd, "./s");
    assert_string_equal(s.control.stop_cmd, "./t");
    assert_string_equal(s.control.restart_cmd, "./r");
    assert_string_equal(s.control.reload_cmd, "./l");
    assert_string_equal(s.control.kill_cmd, "./k");
    assert_true(s.resource.cpu_percent == 20 && s.resource.mem_percent == 30);
    assert_int_equal(s.extra.instances, 3);
    assert_string_equal(s.extra.job.owner, "tom");
    assert_string_equal(s.extra.job.func_id, "f");
    assert_string_equal(s.extra.job.instance_id, "i");
    assert_int_equal(s.extra.job.check_end_s, 9);
    p = proc_policy_of(&s);
    assert_int_equal(p.kind, PROC_PERIODIC);
    assert_int_equal(p.cycle_s, 60);
    assert_int_equal(p.op_timeout_s, 7);
    assert_int_equal(p.start_check_s, 2);
    assert_int_equal(p.start_retries, 4);
    assert_int_equal(proc_check_end_s(&s), 9);
    shape_write(&proc_spec_shape, &s, &text); /* as it is stored and sent to the agent */
    read_as(&proc_spec_shape, buf_text(&text), &a, &again);
    assert_string_equal(again.extra.job.owner, "tom");
    assert_int_equal(again.extra.has_job, PRESENCE_GIVEN);
    assert_int_equal(proc_check_end_s(&again), 9);
    buf_free(&text);
    arena_free(&a);
}

/* Job's documents give 0 as a default without a reason. */
static void zero_and_nothing_are_the_defaults(void **state)
{
    static const char *const jsons[] = {
        HEAD "," WHOLE "}]}",
        HEAD "," WHOLE ",\"op_timeout\":0,\"start_check_begin_time\":0,\"start_check_end_time\":0,"
             "\"cycle_time\":0,\"type\":0,\"instance_num\":0,\"cpu_lmt\":0,\"account\":\"root\"}]}",
        HEAD "," WHOLE ",\"op_timeout\":null,\"start_check_begin_time\":null,\"type\":null,"
             "\"account\":null,\"contact\":null,\"cpu_lmt\":null}]}",
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(jsons); i++) {
        struct job_operate ask;
        struct proc_spec s;
        struct proc_policy p;

        read_as(&job_operate_shape, jsons[i], &a, &ask);
        job_process_spec(ask.processes.items, &s);
        p = proc_policy_of(&s);
        assert_int_equal(p.op_timeout_s, 60);
        assert_int_equal(p.start_check_s, 5);
        assert_int_equal(proc_check_end_s(&s), 5);
        assert_int_equal(p.kind, PROC_PERIODIC);
        assert_int_equal(p.cycle_s, 0); /* hosted without a schedule */
        assert_string_equal(p.cron_rule, "");
        assert_string_equal(s.identity.user, "root");
        assert_true(s.resource.cpu_percent == 0);
    }
    arena_free(&a);
}

static void scripts_are_commands(void **state)
{
    static const struct {
        const char *setup_path, *proc_name, *start;
    } cases[] = {
        { "/usr/local/gse", "agent", "cd /usr/local/gse && ./start.sh agent &" },
        { "/a b", "p", "cd '/a b' && ./start.sh p &" },
        { "/a", "p;reboot", "cd /a && ./start.sh 'p;reboot' &" },
        { "/a", "it's", "cd /a && ./start.sh 'it'\\''s' &" },
        { "/$(id)", "`id`", "cd '/$(id)' && ./start.sh '`id`' &" },
    };
    struct arena a = { 0 };
    struct job_process p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct job_script_process from = { .setup_path = cases[i].setup_path,
                                                 .proc_name = cases[i].proc_name,
                                                 .pid_path = "/p",
                                                 .user = "u",
                                                 .extension = "" };

        job_process_of_script(&from, &a, &p);
        assert_string_equal(p.control.start_cmd, cases[i].start);
        assert_string_equal(p.control.kill_cmd, "");
        assert_int_equal(p.kind, PROC_RESIDENT);
        assert_int_equal(p.instances, 1);
        assert_int_equal(p.op_timeout_s, 10);
        assert_int_equal(p.check_begin_s, 5);
        assert_int_equal(p.check_end_s, 1);
    }
    assert_string_equal(p.control.stop_cmd, "cd '/$(id)' && ./stop.sh '`id`' &");
    assert_non_null(strstr(p.control.restart_cmd, "./restart.sh"));
    assert_non_null(strstr(p.control.reload_cmd, "./reload.sh"));
    arena_free(&a);
}

static void limits_of_scripts_have_defaults_of_their_own(void **state)
{
    static const int64_t cases[][3] = {
        /* given, cpu, mem */
        { 0, 0, 0 },
        { 100, 100, 100 },
        { 101, 50, 30 },
        { -1, 50, 30 },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct job_script_process from = {
            .setup_path = "/a", .proc_name = "p", .cpu_limit = cases[i][0], .mem_limit = cases[i][0]
        };
        struct job_process p;

        job_process_of_script(&from, &a, &p);
        assert_int_equal(p.cpu_limit, cases[i][1]);
        assert_int_equal(p.mem_limit, cases[i][2]);
    }
    arena_free(&a);
}

/* clang-format off */
static const struct { const char *json, *says; } bad[] = {
    { "{\"op_type\":0,\"process_infos\":[]}", "process_infos: must be a list of 1 to 50000 items, has 0" },
    { "{\"op_type\":0,\"process_infos\":[{\"ip_list\":[]}]}", "process_infos[0].ip_list: " },
    { "{\"op_type\":0,\"process_infos\":[{}]}", "process_infos[0].ip_list: required" },
    { "{\"process_infos\":[{\"ip_list\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":0}]}]}", "op_type: required" },
    { "{\"op_type\":0,\"process_infos\":[{\"ip_list\":[{\"ip\":\"::1\",\"bk_cloud_id\":0}]}]}",
      "process_infos[0].ip_list[0].ip: must be an IPv4 address" },
    { "{\"op_type\":0,\"process_infos\":[{\"ip_list\":[{\"ip\":\"10.0.0.1\",\"bk_cloud_id\":-1}]}]}",
      "process_infos[0].ip_list[0].bk_cloud_id: must be an integer from 0 " },
    { HEAD ",\"setup_path\":\"a\"}]}", "process_infos[0].setup_path: must be an absolute path" },
    { HEAD ",\"type\":3}]}", "process_infos[0].type: " },
    { HEAD ",\"op_timeout\":-1}]}", "process_infos[0].op_timeout: must be an integer from 0 to 86400" },
    { HEAD ",\"start_check_end_time\":3601}]}", "process_infos[0].start_check_end_time: must be an integer from 0 to 3600" },
};
/* clang-format on */

static void invalid_fields_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena a = { 0 };
        struct job_operate out;
        struct err err = { 0 };

        assert_int_equal(
            shape_read(&job_operate_shape, bad[i].json, strlen(bad[i].json), 0, &a, &out, &err),
            -1);
        if (strncmp(err.text, bad[i].says, strlen(bad[i].says)) != 0)
            fail_msg("%s: %s", bad[i].json, err.text);
        arena_free(&a);
    }
}

static void an_extension_is_one_of_three(void **state)
{
    static const struct {
        const char *extension;
        int fails;
    } cases[] = { { "", 0 }, { "sh", 0 }, { "bat", 0 }, { "ps1", 0 }, { "py", -1 }, { "SH", -1 } };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *json =
            arena_printf(&a, HEAD ",\"cmd_shell_ext\":\"%s\"}]}", cases[i].extension);
        struct job_script_operate out;
        struct err err = { 0 };

        assert_int_equal(
            shape_read(&job_script_operate_shape, json, strlen(json), 0, &a, &out, &err),
            cases[i].fails);
        if (cases[i].fails)
            assert_string_equal(err.text, "process_infos[0].cmd_shell_ext: must be sh, bat or ps1");
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_has_one_name),
        cmocka_unit_test(a_job_process_becomes_a_spec),
        cmocka_unit_test(zero_and_nothing_are_the_defaults),
        cmocka_unit_test(scripts_are_commands),
        cmocka_unit_test(limits_of_scripts_have_defaults_of_their_own),
        cmocka_unit_test(invalid_fields_are_named),
        cmocka_unit_test(an_extension_is_one_of_three),
    };

    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
