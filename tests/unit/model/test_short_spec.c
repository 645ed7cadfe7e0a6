/* SPDX-License-Identifier: MIT */
/* Promises of model/short_spec.h: what each short word becomes, and what is refused. */
#include "model/short_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "wire/json/yaml.h"

static const struct short_context host = { "", "", "deploy", "/run/holdfast" };

/* Reads and expands; *ret_json is the long form as JSON. */
static int expand(const char *yaml, const struct short_context *context, struct arena *a,
                  struct proc_meta *ret_meta, struct proc_spec *ret, struct err *err)
{
    struct short_spec s;

    memset(&s, 0xff, sizeof(s)); /* what its shape does not have is not read */
    shape_defaults(&short_spec_shape, &s);
    if (yaml_read(&short_spec_shape, "web.yaml", yaml, strlen(yaml), a, &s, err))
        return -1;
    return short_spec_expand(&s, context, a, ret_meta, ret, err);
}

static struct proc_spec expanded(const char *yaml, struct arena *a, struct proc_meta *ret_meta)
{
    struct proc_spec spec;
    struct err err = { 0 };

    if (expand(yaml, &host, a, ret_meta, &spec, &err))
        fail_msg("%s: %s", yaml, err.text);
    return spec;
}

static void a_name_and_a_command_are_enough(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_spec s =
        expanded("name: shop/web\ncommand: /opt/web/bin/web --port 8080\n", &a, &meta);

    (void)state;
    assert_string_equal(meta.space, "shop");
    assert_string_equal(meta.name, "web");
    assert_string_equal(s.control.start_cmd, "/opt/web/bin/web --port 8080");
    assert_string_equal(s.identity.proc_name, "web");
    assert_string_equal(s.identity.setup_path, "/opt/web/bin");
    assert_string_equal(s.identity.pid_path, "/run/holdfast/shop:web.pid");
    assert_string_equal(s.identity.user, "deploy");
    assert_int_equal(s.has_identity, PRESENCE_GIVEN);
    assert_int_equal(s.has_control, PRESENCE_GIVEN);
    assert_int_equal(s.has_policy, PRESENCE_ABSENT);
    assert_int_equal(s.has_alive_policy, PRESENCE_ABSENT);
    arena_free(&a);
}

static void a_command_says_the_program_and_its_folder(void **state)
{
    static const struct {
        const char *command, *program, *directory;
    } cases[] = {
        { "/usr/sbin/nginx -g 'daemon off;'", "nginx", "/usr/sbin" },
        { "/init", "init", "/" },
        { "java -jar app.jar", "java", "/" },
        { "exec /opt/x/run", "run", "/opt/x" },
        { "$HOME/run", "run", "/" },
        { "env A=b C=d /opt/x/run -v", "run", "/opt/x" },
        { "A=b python3 app.py > /tmp/out 2>&1", "python3", "/" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct proc_meta meta;
        char yaml[512];
        struct proc_spec s;

        snprintf(yaml, sizeof(yaml), "name: x\ncommand: \"%s\"\n", cases[i].command);
        s = expanded(yaml, &a, &meta);
        assert_string_equal(meta.space, "default");
        assert_string_equal(s.identity.proc_name, cases[i].program);
        assert_string_equal(s.identity.setup_path, cases[i].directory);
        arena_free(&a);
    }
}

static void only_a_plain_command_has_a_known_program(void **state)
{
    static const char *const cases[][2] = {
        { "/usr/sbin/nginx -g x", "/usr/sbin/nginx" },
        { "env A=b exec java -jar x > /dev/null", "java" },
        { "cd /srv && java -jar x", "" },
        { "java -jar x | tee log", "" },
        { "$HOME/run", "" },
        { "/bin/sh start.sh", "" },
        { "'/opt/a b/run'", "" },
        { "", "" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(short_spec_program(cases[i][0], &a), cases[i][1]);
    arena_free(&a);
}

static void no_two_names_have_the_same_pid_file(void **state)
{
    static const char *const names[][2] = {
        { "shop.api/v1", "/run/holdfast/shop.api:v1.pid" },
        { "shop/api.v1", "/run/holdfast/shop:api.v1.pid" },
        { "shop/a/b", "/run/holdfast/shop:a%2Fb.pid" },
        { "shop/a%2Fb", "/run/holdfast/shop:a%252Fb.pid" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct arena a = { 0 };
        struct proc_meta meta;
        char yaml[128];
        struct proc_spec s;

        snprintf(yaml, sizeof(yaml), "name: %s\ncommand: /bin/x\n", names[i][0]);
        s = expanded(yaml, &a, &meta);
        assert_string_equal(s.identity.pid_path, names[i][1]);
        arena_free(&a);
    }
}

static void processes_to_come_after_are_named_as_everywhere(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_spec s =
        expanded("name: x\ncommand: /bin/x\nafter: [shop/db, cache, shop:api/1]\n", &a, &meta);
    const struct proc_word *words = s.extra.after.items;

    (void)state;
    assert_int_equal(s.extra.after.n, 3);
    assert_string_equal(words[0].text, "shop:db");
    assert_string_equal(words[1].text, "cache");
    assert_string_equal(words[2].text, "shop:api/1");
    arena_free(&a);
}

static void what_is_said_is_not_guessed(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_spec s =
        expanded("name: x\ncommand: cd sub && ./go\nprogram: java\ndirectory: /srv\n"
                 "pid_file: /srv/x.pid\nuser: root\nstop_command: ./stop\n",
                 &a, &meta);

    (void)state;
    assert_string_equal(s.identity.proc_name, "java");
    assert_string_equal(s.identity.setup_path, "/srv");
    assert_string_equal(s.identity.pid_path, "/srv/x.pid");
    assert_string_equal(s.identity.user, "root");
    assert_string_equal(s.control.stop_cmd, "./stop");
    arena_free(&a);
}

static void restart_has_three_words(void **state)
{
    static const struct {
        const char *word;
        bool keep_trying;
        int64_t retries;
        bool good_0, good_3;
    } cases[] = { { "always", true, 4, false, false },
                  { "on-failure", true, 4, true, false },
                  { "on-failure\nexit_codes: [3]", true, 4, true, true },
                  { "never", false, 0, false, false } };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct proc_meta meta;
        char yaml[256];
        struct proc_spec s;

        snprintf(yaml, sizeof(yaml), "name: x\ncommand: /bin/x\nrestart: %s\n", cases[i].word);
        s = expanded(yaml, &a, &meta);
        assert_int_equal(s.extra.keep_trying, cases[i].keep_trying);
        assert_int_equal(proc_policy_of(&s).start_retries, cases[i].retries);
        assert_int_equal(proc_policy_of(&s).kind, PROC_RESIDENT);
        assert_int_equal(proc_exit_is_expected(&s.extra, 0), cases[i].good_0);
        assert_int_equal(proc_exit_is_expected(&s.extra, 3), cases[i].good_3);
        arena_free(&a);
    }
}

static void a_schedule_is_a_rule_of_cron_or_a_cycle(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_policy p;
    struct proc_spec s =
        expanded("name: x\ncommand: /bin/x\nschedule: 0 2 * * *\nop_timeout: 1h\n", &a, &meta);

    (void)state;
    p = proc_policy_of(&s);
    assert_int_equal(p.kind, PROC_PERIODIC);
    assert_string_equal(p.cron_rule, "0 2 * * *");
    assert_int_equal(p.op_timeout_s, 3600);
    s = expanded("name: x\ncommand: /bin/x\nschedule: every 1m30s\n", &a, &meta);
    p = proc_policy_of(&s);
    assert_int_equal(p.kind, PROC_PERIODIC);
    assert_int_equal(p.cycle_s, 90);
    assert_string_equal(p.cron_rule, "");
    arena_free(&a);
}

static void numbers_may_have_units(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_spec s = expanded(
        "name: x\ncommand: /bin/x\nstart_check_secs: 2m\nstop_wait: 1h30m\n"
        "log_max_bytes: 64M\ncaps: { mem_bytes: 2GiB }\nlimits: { cpu: 50%, memory: 25% }\n"
        "ready: { when: port, port: 80, timeout: 5m }\n",
        &a, &meta);

    (void)state;
    assert_int_equal(proc_policy_of(&s).start_check_s, 120);
    assert_int_equal(s.extra.stop_wait_s, 5400);
    assert_int_equal(s.extra.log_max_bytes, 64 << 20);
    assert_int_equal(s.extra.caps.mem_bytes, INT64_C(2) << 30);
    assert_int_equal(s.extra.ready.timeout_s, 300);
    assert_true(s.resource.cpu_percent == 50 && s.resource.mem_percent == 25);
    assert_int_equal(s.extra.limit_memory, 0);
    s = expanded("name: x\ncommand: /bin/x\nlimits: { memory: 512M }\n", &a, &meta);
    assert_int_equal(s.extra.limit_memory, 512 << 20);
    assert_int_equal(s.has_resource, PRESENCE_ABSENT);
    arena_free(&a);
}

static void a_long_form_stays_as_it_is(void **state)
{
    struct arena a = { 0 };
    struct proc_meta meta;
    const struct short_context context = { "shop", "web", "", "/run/holdfast" };
    struct proc_spec s;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(
        expand("identity: { proc_name: web, setup_path: /opt/web }\ncontrol: { start_cmd: ./go }\n"
               "holdfast: { stop_wait: 3 }\n",
               &context, &a, &meta, &s, &err),
        0);
    assert_string_equal(meta.name, "web");
    assert_string_equal(s.identity.proc_name, "web");
    assert_string_equal(s.identity.pid_path, "");
    assert_string_equal(s.identity.user, "");
    assert_int_equal(s.extra.stop_wait_s, 3);
    arena_free(&a);
}

static void what_is_wrong_is_named(void **state)
{
#define WEB "name: x\ncommand: /bin/x\n"
    static const struct {
        const char *yaml, *text;
    } cases[] = {
        { "command: /bin/x\n", "name: required" },
        { "name: shop/\ncommand: /bin/x\n", "name: required" },
        { "name: a/b\nnamespace: c\ncommand: /bin/x\n",
          "namespace: the name has one, too: write name: b" },
        { "name: x\nuser: a\n", "command: required" },
        { "name: x\ncommand: ./x\n",
          "directory: required, because the command begins with the relative path ./x" },
        { "name: x\ncommand: cd /opt && ./x\n",
          "program: required, because the command does not begin with the program: its file name, "
          "as ps -e shows it" },
        { "name: x\ncommand: '\"/opt/my dir/x\" y'\n",
          "program: required, because the command does not begin "
          "with the program: its file name, as ps -e shows it" },
        { WEB "restart: always\nkeep_trying: true\n",
          "restart: stands for keep_trying and start_retries: leave those out" },
        { WEB "restart: never\nstart_retries: 3\n",
          "restart: stands for keep_trying and start_retries: leave those out" },
        { WEB "restart: always\nschedule: \"@daily\"\n",
          "restart: what runs by a schedule is not restarted: leave one of them out" },
        { WEB "restart: sometimes\n",
          "web.yaml:3: restart: must be one of always, on-failure, never, not sometimes" },
        { WEB "schedule: every now\n", "web.yaml:3: schedule: must be \"every\" and a duration, "
                                       "such as \"every 30s\", or a rule of cron" },
        { WEB "schedule: \"@daily\"\nauto_type: 1\n",
          "schedule: is for auto_type 0 (periodic): leave auto_type out" },
        { WEB "schedule: \"@daily\"\ncycle_time: 3\n",
          "schedule: stands for crontab_rule and cycle_time: leave those out" },
        { WEB "identity: { user: a }\nuser: b\n",
          "identity: short words for the same stand beside this block: use one of them" },
        { WEB "control: { stop_cmd: a }\n",
          "control: short words for the same stand beside this block: use one of them" },
        { WEB "monitor_policy: { op_timeout: 3 }\nop_timeout: 4\n",
          "monitor_policy: short words for the same stand beside this block: use one of them" },
        { WEB "holdfast: { nice: 3 }\nstop_wait: 4\n",
          "holdfast: short words for the same stand beside this block: use one of them" },
        { WEB "resource: { cpu: 3 }\nlimits: { cpu: 4 }\n",
          "resource: short words for the same stand beside this block: use one of them" },
        { WEB "limits: { cpu: 101% }\n",
          "web.yaml:3: limits.cpu: must be percent of all cores together, such as 50%" },
        { WEB "limits: { memory: 50 }\n", "web.yaml:3: limits.memory: must be a size, such as "
                                          "512M, or percent of the host's memory, such as 50%" },
        { WEB "limits: { memory: lots }\n", "web.yaml:3: limits.memory: must be a size, such as "
                                            "512M, or percent of the host's memory, such as 50%" },
        { WEB "stop_wait: 30x\n", "web.yaml:3: stop_wait: must be a duration such as 30s, 5m or "
                                  "1h30m, of 0 to 86400 seconds, not 30x" },
        { WEB "stop_wait: 99999999\n",
          "web.yaml:3: stop_wait: must be an integer from 0 to 86400, not 99999999" },
        { WEB "stop_wait: 9d\n", "web.yaml:3: stop_wait: must be a duration such as 30s, 5m or "
                                 "1h30m, of 0 to 86400 seconds, not 9d" },
        { WEB "log_max_bytes: 3X\n", "web.yaml:3: log_max_bytes: must be a size such as 512K, 64M "
                                     "or 2G, of 0 to 268435456 bytes, not 3X" },
        { WEB "comand: /bin/y\n", "web.yaml:3: comand: no such setting; did you mean command?" },
        { WEB "name: y\n", "web.yaml:3: name: given twice" },
        { WEB "program: a\nproc_name: b\n",
          "web.yaml:4: proc_name: given twice, it is another name of program" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct proc_meta meta;
        struct proc_spec s;
        struct err err = { 0 };

        if (!expand(cases[i].yaml, &host, &a, &meta, &s, &err))
            fail_msg("%s: nothing is wrong with it", cases[i].yaml);
        assert_int_equal(err.code, ERR_INVALID);
        assert_string_equal(err.text, cases[i].text);
        arena_free(&a);
    }
}

static void the_caller_may_ask_for_another(void **state)
{
    const struct short_context context = { "shop", "api", "", "/run/holdfast" };
    struct arena a = { 0 };
    struct proc_meta meta;
    struct proc_spec s;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(expand("name: web\ncommand: /bin/x\nuser: a\n", &context, &a, &meta, &s, &err),
                     -1);
    assert_string_equal(err.text, "name: is web, but api was asked for");
    assert_int_equal(
        expand("namespace: x\ncommand: /bin/x\nuser: a\n", &context, &a, &meta, &s, &err), -1);
    assert_string_equal(err.text, "namespace: is x, but shop was asked for");
    assert_int_equal(expand("command: /bin/x\n", &context, &a, &meta, &s, &err), -1);
    assert_string_equal(err.text, "user: required: the account that it runs as");
    assert_int_equal(
        expand("name: shop/api\ncommand: /bin/x\nuser: a\n", &context, &a, &meta, &s, &err), 0);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_and_a_command_are_enough),
        cmocka_unit_test(a_command_says_the_program_and_its_folder),
        cmocka_unit_test(only_a_plain_command_has_a_known_program),
        cmocka_unit_test(no_two_names_have_the_same_pid_file),
        cmocka_unit_test(processes_to_come_after_are_named_as_everywhere),
        cmocka_unit_test(what_is_said_is_not_guessed),
        cmocka_unit_test(restart_has_three_words),
        cmocka_unit_test(a_schedule_is_a_rule_of_cron_or_a_cycle),
        cmocka_unit_test(numbers_may_have_units),
        cmocka_unit_test(a_long_form_stays_as_it_is),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(the_caller_may_ask_for_another),
    };

    return cmocka_run_group_tests_name("short_spec", tests, NULL, NULL);
}
