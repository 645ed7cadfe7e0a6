/* SPDX-License-Identifier: MIT */
#include "cli/args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "cli/ask.h"
#include "cli/settings.h"
#include "cli/width.h"
#include "model/proc.h"
#include "model/translate.h"

enum { WORDS_MAX = 12 };

/* Splits a line into words at each blank. */
static int words(const char *line, struct arena *a, char **to)
{
    char *copy = arena_strdup(a, line);
    int n = 0;

    for (to[n++] = copy; *copy; copy++) {
        if (*copy != ' ')
            continue;
        *copy = '\0';
        to[n++] = copy + 1;
    }
    to[n] = NULL;
    return n;
}

static int read_line(const char *line, struct arena *a, struct args *args, struct err *err)
{
    char **argv = arena_alloc(a, (WORDS_MAX + 1) * sizeof(*argv));

    return args_read(words(line, a, argv), argv, LANG_EN, a, args, err);
}

/* The body of the request, as JSON. */
static int ask(const struct args *args, enum lang lang, struct arena *a, struct buf *to,
               struct err *err)
{
    struct operation_ask operation;
    struct process_ask processes;
    struct app_ask app;
    struct token_ask token;

    if (args->command->op >= 0) {
        if (ask_operation(args, lang, a, &operation, err))
            return -1;
        shape_write(&operation_ask_shape, &operation, to);
    } else if (!strcmp(args->command->name, "ps")) {
        if (ask_processes(args, lang, a, &processes, err))
            return -1;
        shape_write(&process_ask_shape, &processes, to);
    } else if (!strcmp(args->command->name, "app create")) {
        if (ask_app(args, lang, a, &app, err))
            return -1;
        shape_write(&app_ask_shape, &app, to);
    } else if (!strcmp(args->command->name, "token create")) {
        if (ask_token(args, lang, a, &token, err))
            return -1;
        shape_write(&token_ask_shape, &token, to);
    }
    return 0;
}

static void words_become_what_is_asked(void **state)
{
    static const struct {
        const char *line, *json;
    } cases[] = {
        { "holdfast start prod/web",
          "{\"operation\":\"start\",\"namespace\":\"prod\",\"name\":\"web\",\"hosts\":[]}" },
        { "holdfast --host 10.0.0.1 stop prod/a/b --host=5:1.1.1.1",
          "{\"operation\":\"stop\",\"namespace\":\"prod\",\"name\":\"a/b\","
          "\"hosts\":[\"10.0.0.1\",\"5:1.1.1.1\"]}" },
        { "holdfast manage 生产/网关",
          "{\"operation\":\"host\",\"namespace\":\"生产\",\"name\":\"网关\",\"hosts\":[]}" },
        { "holdfast unmanage a/b",
          "{\"operation\":\"unhost\",\"namespace\":\"a\",\"name\":\"b\",\"hosts\":[]}" },
        { "holdfast kill -- a/--b",
          "{\"operation\":\"kill\",\"namespace\":\"a\",\"name\":\"--b\",\"hosts\":[]}" },
        { "holdfast ps", "{\"namespace\":\"\",\"name\":\"\",\"host\":\"\",\"after\":\"\","
                         "\"limit\":1000}" },
        { "holdfast ps --hosted no prod",
          "{\"namespace\":\"prod\",\"name\":\"\",\"host\":\"\",\"hosted\":false,\"after\":\"\","
          "\"limit\":1000}" },
        { "holdfast ps --hosted prod",
          "{\"namespace\":\"prod\",\"name\":\"\",\"host\":\"\",\"hosted\":true,\"after\":\"\","
          "\"limit\":1000}" },
        { "holdfast ps prod/web --host a1",
          "{\"namespace\":\"prod\",\"name\":\"web\",\"host\":\"a1\",\"after\":\"\","
          "\"limit\":1000}" },
        { "holdfast app create ops --right admin --biz 2 --namespace n --right read",
          "{\"code\":\"ops\",\"permissions\":{\"rights\":[\"admin\",\"read\"],\"operations\":[],"
          "\"namespaces\":[\"n\"],\"businesses\":[2],\"business_sets\":[],\"rate_per_second\":0,"
          "\"signatures\":false}}" },
        { "holdfast token create", "{\"cloud_id\":0,\"biz_id\":0,\"ttl_s\":86400,\"uses\":1,"
                                   "\"note\":\"\"}" },
        { "holdfast token create --ttl 7d --uses 3 --cloud 5 --biz 2 --note x",
          "{\"cloud_id\":5,\"biz_id\":2,\"ttl_s\":604800,\"uses\":3,\"note\":\"x\"}" },
        { "holdfast host list", "" },
        { "holdfast task T1 --wait", "" },
        { "holdfast task show T1 --failed", "" },
        { "holdfast task list --open --by ops --since 1h --lines 5", "" },
        { "holdfast task cancel T1", "" },
        { "holdfast stop a/b --expect 3 --dry-run --idempotent",
          "{\"operation\":\"stop\",\"namespace\":\"a\",\"name\":\"b\",\"hosts\":[],\"expect\":3,"
          "\"dry_run\":true,\"idempotent\":true}" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct buf json = { 0 };
        struct args args;

        if (read_line(cases[i].line, &a, &args, &err) || ask(&args, LANG_EN, &a, &json, &err))
            fail_msg("%s: %s", cases[i].line, err.text);
        assert_string_equal(buf_text(&json), cases[i].json);
        buf_free(&json);
        arena_free(&a);
    }
}

static void wrong_words_are_refused_by_name(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        { "holdfast", "no command given" },
        { "holdfast resart a/b", "resart: no such command; did you mean holdfast restart?" },
        { "holdfast ps --biz abc", "--biz: must be " },
        { "holdfast ps --state up", "--state: must be " },
        { "holdfast token create --biz x", "--biz: must be " },
        { "holdfast stat", "stat: no such command; did you mean holdfast status?" },
        { "holdfast host lst", "host lst: no such command; did you mean holdfast host list?" },
        { "holdfast token", "token: needs one of: create" },
        { "holdfast start", "start: needs NAMESPACE/NAME" },
        { "holdfast task", "task: needs ID" },
        { "holdfast task cancel", "task cancel: needs ID" },
        { "holdfast task list T1", "unexpected argument T1" },
        { "holdfast task T1 T2", "unexpected argument T2" },
        { "holdfast task T1 --open", "task: has no --open" },
        { "holdfast start a/b --expect some", "--expect: must be an integer, not some" },
        { "holdfast start a/b --expect -1", "expect: must be an integer from 0" },
        { "holdfast start a/b c", "start: unexpected argument c" },
        { "holdfast status x", "status: unexpected argument x" },
        { "holdfast ps --nte x",
          "--nte: no such option; see holdfast --help" }, /* ps has no --note */
        { "holdfast host set a --nte x", "--nte: no such option; did you mean --note?" },
        { "holdfast --nte x host set a", "--nte: no such option; did you mean --note?" },
        { "holdfast token create --name x", "--name: no such option; see holdfast --help" },
        { "holdfast start a", "a: must be NAMESPACE/NAME" },
        { "holdfast start /b", "/b: must be NAMESPACE/NAME" },
        { "holdfast start a/", "a/: must be NAMESPACE/NAME" },
        { "holdfast ps a/", "a/: must be NAMESPACE/NAME" },
        { "holdfast ps --host a --host b", "--host: given twice" },
        { "holdfast start a:b/c", "namespace: must not have a colon" },
        { "holdfast start a/b --host=", "hosts[0]: must not be empty" },
        { "holdfast start a/b --wait", "start: has no --wait" },
        { "holdfast start a/b --no", "--no: no such option" },
        { "holdfast start a/b -x", "-x: no such option" },
        { "holdfast -=x", "-=x: no such option" },
        { "holdfast ps -json", "-json: no such option; did you mean --json?" },
        { "holdfast ps --=x", "--: no such option" },
        { "holdfast start a/b --no-wait=yes", "--no-wait: takes no value" },
        { "holdfast start a/b --timeout", "--timeout: needs a value" },
        { "holdfast start a/b --timeout 1y", "--timeout: must be a time" },
        { "holdfast start a/b --timeout 1 --timeout 2", "--timeout: given twice" },
        { "holdfast token create --uses 1x", "--uses: must be an integer, not 1x" },
        { "holdfast token create --uses 0", "--uses: must be an integer from 1" },
        { "holdfast token create --cloud -1", "--cloud: must be an integer from 0" },
        { "holdfast token create --cloud 99999999999999999999", "--cloud: must be an integer" },
        { "holdfast token create --ttl 900d", "--ttl, in seconds: must be an integer from 1 to" },
        { "holdfast token create --biz 1 --biz 2", "--biz: given twice" },
        { "holdfast app create a --right fly", "permissions.rights[0]: must be one of" },
        { "holdfast app create a --biz x", "permissions.businesses[0]: must be" },
        { "holdfast app create a --rotate --biz 2", "--rotate: creates a new secret" },
        { "holdfast app create a/b", "code: must be letters" },
        { "holdfast ps --secret x", "--secret: a command line can be seen by others" },
        { "holdfast help nothing", "nothing: no such command" },
        { "holdfast start a/b --spec /nowhere/x.yaml", "--spec: open /nowhere/x.yaml: No such" },
        { "holdfast start a/b --spec /nowhere/x.json", "--spec: open /nowhere/x.json: No such" },
        { "holdfast --local host list", "host list: not available with --local" },
        { "holdfast --local=/x app list", "app list: not available with --local" },
        { "holdfast facts", "facts: only available with --local" },
        { "holdfast --local ps --host a", "--host: cannot be combined with --local" },
        { "holdfast ps --local=/a --local=/b", "--local: given twice" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct buf json = { 0 };
        struct args args;

        if (!read_line(cases[i].line, &a, &args, &err) && !ask(&args, LANG_EN, &a, &json, &err))
            fail_msg("%s: not refused", cases[i].line);
        if (!strstr(err.text, cases[i].error))
            fail_msg("%s: %s", cases[i].line, err.text);
        buf_free(&json);
        arena_free(&a);
    }
}

static void a_refusal_in_chinese_names_the_option_too(void **state)
{
    static const struct {
        const char *line, *error;
    } cases[] = {
        { "holdfast ps --state up", "--state：必须是" },
        { "holdfast ps --biz abc", "--biz：必须是" },
        { "holdfast token create --uses 0", "--uses：必须是" },
        { "holdfast token create --ttl 900d", "--ttl（秒）：必须是" },
        { "holdfast app create a --right fly", "permissions.rights[0]：必须是" },
        { "holdfast start a/b --spec /nowhere/x.yaml", "--spec：打开 /nowhere/x.yaml：没有该文件" },
        { "holdfast start a/b --spec /nowhere/x.json", "--spec：打开 /nowhere/x.json：没有该文件" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct buf json = { 0 };
        struct args args;
        const char *text;

        assert_int_equal(read_line(cases[i].line, &a, &args, &err), 0);
        assert_int_equal(ask(&args, LANG_ZH, &a, &json, &err), -1);
        text = translate(err_msg(&err), LANG_ZH, &a);
        if (strncmp(text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s: %s", cases[i].line, text);
        buf_free(&json);
        arena_free(&a);
    }
}

/* As many as fit on a command line. */
static void very_many_hosts_take_little_memory(void **state)
{
    enum { N = 10000, KB_MAX = 64 * 1024 };
    struct arena a = { 0 };
    struct rusage before, after;
    struct err err = { 0 };
    struct args args;
    char **argv = arena_alloc(&a, (N + 4) * sizeof(*argv));
    int argc = 0;

    (void)state;
    argv[argc++] = arena_strdup(&a, "holdfast");
    argv[argc++] = arena_strdup(&a, "ps");
    for (int i = 0; i < N; i++)
        argv[argc++] = arena_printf(&a, "--host=%d", i);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(args_read(argc, argv, LANG_EN, &a, &args, &err), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_int_equal(args.hosts.n, N);
    for (int i = 0; i < N; i++)
        assert_string_equal(((const struct word *)args.hosts.items)[i].text, argv[i + 2] + 7);
    assert_true(after.ru_maxrss < before.ru_maxrss + KB_MAX);
    arena_free(&a);
}

static void the_agents_socket_may_be_named(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct args args;

    (void)state;
    assert_int_equal(read_line("holdfast --local stop a b c/d", &a, &args, &err), 0);
    assert_true(args_has(&args, OPTION_LOCAL));
    assert_string_equal(args.local, "");
    assert_int_equal(args.n_words, 3);
    assert_int_equal(read_line("holdfast facts --local=/x/y", &a, &args, &err), 0);
    assert_string_equal(args.local, "/x/y");
    assert_int_equal(args.n_words, 0);
    assert_int_equal(read_line("holdfast ps", &a, &args, &err), 0);
    assert_false(args_has(&args, OPTION_LOCAL));
    arena_free(&a);
}

static void settings_are_handed_on_as_they_are(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct args args;

    (void)state;
    assert_int_equal(read_line("holdfast --server http://x ps --json --lang=zh", &a, &args, &err),
                     0);
    assert_int_equal(args.n_settings, 4);
    assert_string_equal(args.settings[1], "--server=http://x");
    assert_string_equal(args.settings[2], "--json");
    assert_string_equal(args.settings[3], "--lang=zh");
    assert_true(args_has(&args, OPTION_SERVER) && !args_has(&args, OPTION_SOCKET));
    arena_free(&a);
}

/* Consistency of the tables: each global option except these four is a setting of the same name,
 * and each setting has its option. */
static void every_setting_has_its_option(void **state)
{
    (void)state;
    for (const struct field *f = cli_settings_shape.fields; f->name; f++) {
        bool found = false;

        for (size_t i = OPTIONS_GLOBAL; i < OPTIONS; i++) {
            const char *name = cli_options[i].name;

            found |= !strcmp(name, f->name) ||
                     (!strcmp(f->name, "secret_file") && !strcmp(name, "secret-file")) ||
                     (!strcmp(f->name, "local_socket") && !strcmp(name, "local"));
        }
        if (!found)
            fail_msg("%s has no option", f->name);
    }
    assert_int_equal(cli_options[OPTION_CONFIG].kind, OPTION_IS_SETTING);
    assert_null(cli_options[OPTION_JSON].value);
}

static void every_row_is_whole_and_every_name_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPTIONS; i++) {
        assert_non_null(cli_options[i].name);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(cli_options[i].name, cli_options[j].name);
    }
    for (const struct command *c = cli_commands; c->name; c++) {
        assert_ptr_equal(command_find(c->name), c);
        assert_non_null(c->run);
        assert_true(c->words_min <= c->words_max && c->words_max <= ARGS_WORDS_MAX);
        assert_int_equal(c->words_max > 0, *c->words != '\0');
        assert_int_equal(c->options >> OPTIONS_GLOBAL, 0);
    }
}

static void help_is_of_all_of_a_group_or_of_one(void **state)
{
    static const struct {
        const char *line, *about;
    } cases[] = {
        { "holdfast --help", "" },
        { "holdfast -h", "" },
        { "holdfast help", "" },
        { "holdfast app --help", "app" },
        { "holdfast help app create", "app create" },
        { "holdfast start --help", "start" },
        { "holdfast start a/b c d e f --help", "start" },
    };
    struct out o = { .lang = LANG_EN };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct err err = { 0 };
        struct args args;

        if (read_line(cases[i].line, &a, &args, &err))
            fail_msg("%s: %s", cases[i].line, err.text);
        assert_true(args.help && !args.command);
        assert_string_equal(args.about, cases[i].about);
        arena_free(&a);
    }
    command_help(&o, "");
    for (const struct command *c = cli_commands; c->name; c++)
        assert_non_null(strstr(buf_text(&o.b), c->name));
    out_done(&o);
    o = (struct out){ .lang = LANG_ZH };
    command_help(&o, "start");
    assert_non_null(strstr(buf_text(&o.b), "--no-wait"));
    assert_null(strstr(buf_text(&o.b), "--ttl"));
    out_done(&o);
}

static void help_of_a_command_has_its_own_options_and_no_others(void **state)
{
    (void)state;
    for (const struct command *c = cli_commands; c->name; c++) {
        for (enum lang lang = LANG_EN; lang <= LANG_ZH; lang++) {
            struct out o = { .lang = lang };

            command_help(&o, c->name);
            for (size_t i = 0; i < OPTIONS; i++) {
                struct buf row = { 0 };

                buf_printf(&row, "\n  --%s%s", cli_options[i].name,
                           cli_options[i].kind == OPTION_IS_FLAG_OR_TEXT ? "[" : " ");
                if (!strstr(buf_text(&o.b), buf_text(&row)) != !(c->options >> i & 1))
                    fail_msg("%s: --%s", c->name, cli_options[i].name);
                buf_free(&row);
            }
            out_done(&o);
        }
    }
}

/* The help of an option that several commands have is the one of the given command. */
static void help_of_an_option_is_of_that_command(void **state)
{
    static const struct {
        const char *command, *has, *has_not;
    } cases[] = {
        { "ps", "scheduled", "expected" },
        { "ps", "their namespace or name", "may be repeated" },
        { "host list", "expected", "scheduled" },
        { "host list", "only hosts of this cloud area", "token" },
        { "host set", "business of the host", "app" },
        { "business-set set", "a business of the set; may be repeated", "app" },
        { "app create", "'' means all, as in a new app", "default all" },
        { "app set", "'' means all, as in a new app", "default" },
        { "token create", "join with it (default 0)", "may be repeated" },
        { "start", "area 0; may be repeated", "of operations" },
        { "logs", "or an IP of cloud area 0", "may be repeated" },
        { "logs", "the last N lines (default 100); 0: as many", "1000" },
        { "events", "at most 10000 (default 100, with --follow 10", "0: as many" },
        { "task list", "at most 1000 (default 100)", "0: as many" },
        { "audit", "at most 1000 (default 100)", "0: as many" },
        { "task", "longest wait with --wait", "of operations" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct out o = { .lang = LANG_EN };
        const char *options, *end;

        command_help(&o, cases[i].command);
        options = strstr(buf_text(&o.b), "Options:");
        end = strstr(options, "\n\n");
        if (!memmem(options, (size_t)(end - options), cases[i].has, strlen(cases[i].has)))
            fail_msg("%s has not: %s", cases[i].command, cases[i].has);
        if (memmem(options, (size_t)(end - options), cases[i].has_not, strlen(cases[i].has_not)))
            fail_msg("%s has: %s", cases[i].command, cases[i].has_not);
        out_done(&o);
    }
}

/* In both languages and for every command: a new text must not break it. */
static void no_line_of_the_help_is_wider_than_a_terminal(void **state)
{
    (void)state;
    for (enum lang lang = LANG_EN; lang <= LANG_ZH; lang++) {
        struct out o = { .lang = lang, .terminal = true, .width = 80 };
        struct arena a = { 0 };

        command_help(&o, "");
        for (const struct command *c = cli_commands; c->name; c++)
            command_help(&o, c->name);
        for (const char *line = buf_text(&o.b), *end; (end = strchr(line, '\n')); line = end + 1) {
            const char *text = arena_memdup(&a, line, (size_t)(end - line));

            if (width_text(text) > 80)
                fail_msg("%s", text);
        }
        arena_free(&a);
        out_done(&o);
    }
}

static void the_language_is_found_before_the_settings(void **state)
{
    static const struct {
        const char *line, *env[4];
        enum lang lang;
    } cases[] = {
        { "holdfast ps", { NULL }, LANG_EN },
        { "holdfast ps", { "LANG=zh_CN.UTF-8" }, LANG_ZH },
        { "holdfast ps", { "LANG=zh_CN.UTF-8", "LC_ALL=C" }, LANG_EN },
        { "holdfast ps", { "LANG=zh_CN.UTF-8", "LC_ALL=", "LC_MESSAGES=en_US" }, LANG_EN },
        { "holdfast ps", { "LC_MESSAGES=zh_TW" }, LANG_ZH },
        { "holdfast ps --lang en", { "LANG=zh_CN.UTF-8" }, LANG_EN },
        { "holdfast ps --lang=zh", { NULL }, LANG_ZH },
        { "holdfast ps", { "HOLDFAST_LANG=zh", "LANG=C" }, LANG_ZH },
        { "holdfast ps --lang xx", { "LANG=zh" }, LANG_ZH },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        char *argv[WORDS_MAX + 1];
        int argc = words(cases[i].line, &a, argv);

        assert_int_equal(settings_lang(argc, argv, (char *const *)cases[i].env), cases[i].lang);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_what_is_asked),
        cmocka_unit_test(wrong_words_are_refused_by_name),
        cmocka_unit_test(a_refusal_in_chinese_names_the_option_too),
        cmocka_unit_test(very_many_hosts_take_little_memory),
        cmocka_unit_test(the_agents_socket_may_be_named),
        cmocka_unit_test(settings_are_handed_on_as_they_are),
        cmocka_unit_test(every_setting_has_its_option),
        cmocka_unit_test(every_row_is_whole_and_every_name_its_own),
        cmocka_unit_test(help_is_of_all_of_a_group_or_of_one),
        cmocka_unit_test(help_of_a_command_has_its_own_options_and_no_others),
        cmocka_unit_test(help_of_an_option_is_of_that_command),
        cmocka_unit_test(no_line_of_the_help_is_wider_than_a_terminal),
        cmocka_unit_test(the_language_is_found_before_the_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
