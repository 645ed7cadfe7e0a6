/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/settings.h"
#include "wire/json/config.h"

static const struct config_spec spec = {
    .program = "prog",
    .about = "A program.",
    .env_prefix = "PROG",
    .default_file = "/nowhere/prog.yaml",
    .shape = &test_settings_shape,
};

/* argv and env are terminated by NULL. */
static int load(const char *const *argv, const char *const *env, struct arena *a,
                struct test_settings *s, struct config_loaded *loaded, struct err *err)
{
    static const char *const nothing[] = { NULL };
    int argc = 0;

    while (argv[argc])
        argc++;
    return config_load(&spec, argc, (char *const *)argv, (char *const *)(env ? env : nothing), a, s,
                       loaded, err);
}

#define WORDS(...) ((const char *[]){ "prog", __VA_ARGS__ __VA_OPT__(, ) NULL })
#define ENV(...)   ((const char *[]){ __VA_ARGS__, NULL })

static char *file_with(const char *text, char path[])
{
    int fd = mkstemp(path);

    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    return path;
}

static void later_places_win(void **state)
{
    char path[] = "/tmp/holdfast-config-XXXXXX", env_file[128];
    struct arena a = { 0 };
    struct err err = { 0 };
    struct config_loaded loaded;
    struct test_settings s;

    (void)state;
    file_with("name: file\nport: 1\nshare: 1\nlog: { keep_days: 1 }\n", path);
    snprintf(env_file, sizeof(env_file), "PROG_CONFIG=%s", path);
    assert_int_equal(load(WORDS("--log-keep-days=3", "--share", "3"),
                          ENV(env_file, "PROG_SHARE=2", "PROG_PORT=2", "PROGRAM=x", "PATH=/bin"),
                          &a, &s, &loaded, &err),
                     0);
    assert_string_equal(loaded.file, path);
    assert_null(loaded.show);
    assert_string_equal(s.name, "file");
    assert_int_equal(s.port, 2);
    assert_true(s.share == 3);
    assert_int_equal(s.log.keep_days, 3);
    assert_int_equal(s.level, 1);
    unlink(path);
    arena_free(&a);
}

static void a_flag_names_the_file_before_the_environment_does(void **state)
{
    char path[] = "/tmp/holdfast-config-XXXXXX";
    struct arena a = { 0 };
    struct err err = { 0 };
    struct config_loaded loaded;
    struct test_settings s;

    (void)state;
    file_with("name: file\n", path);
    assert_int_equal(
        load(WORDS("--config", path), ENV("PROG_CONFIG=/nowhere/x"), &a, &s, &loaded, &err), 0);
    assert_string_equal(loaded.file, path);
    unlink(path);
    arena_free(&a);
}

static void a_default_file_that_can_not_be_read_is_not_passed_over(void **state)
{
    const struct config_spec other = { "prog", "A program.", "PROG", "/proc/self/mem",
                                       &test_settings_shape };
    struct arena a = { 0 };
    struct err err = { 0 };
    struct config_loaded loaded;
    struct test_settings s;
    static const char *const words[] = { "prog", "--name=x", NULL }, *const env[] = { NULL };

    (void)state;
    assert_int_equal(
        config_load(&other, 2, (char *const *)words, (char *const *)env, &a, &s, &loaded, &err),
        -1);
    assert_non_null(strstr(err.text, "/proc/self/mem"));
    arena_free(&a);
}

static void every_kind_of_value_can_be_a_flag(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct config_loaded loaded;
    struct test_settings s;

    (void)state;
    assert_int_equal(load(WORDS("--name=x", "--fast", "--level", "low", "--words", "a,b",
                                "--labels", "{\"k\": 1}", "--share=0.5"),
                          NULL, &a, &s, &loaded, &err),
                     0);
    assert_true(s.fast);
    assert_int_equal(s.level, 0);
    assert_int_equal(s.words.n, 2);
    assert_string_equal(((struct word *)s.words.items)[1].text, "b");
    assert_int_equal(s.labels.n, 1);
    assert_int_equal(
        load(WORDS("--name=x", "--fast=no", "--words", ""), NULL, &a, &s, &loaded, &err), 0);
    assert_false(s.fast);
    assert_int_equal(s.words.n, 0);
    assert_null(loaded.file);
    arena_free(&a);
}

static void errors_name_the_source(void **state)
{
    static const struct {
        const char *words[4], *env[2];
        const char *want;
    } cases[] = {
        { { "prog", "--port", "0" },
          { 0 },
          "--port: port: must be an integer from 1 to 65535, not 0" },
        { { "prog", "--port" }, { 0 }, "--port: needs a value" },
        { { "prog", "--nope", "1" }, { 0 }, "--nope: no such option, see --help" },
        { { "prog", "--nope=1" }, { 0 }, "--nope: no such option, see --help" },
        { { "prog", "-x" }, { 0 }, "-x: not an option, see --help" },
        { { "prog", "word" }, { 0 }, "word: not an option, see --help" },
        { { "prog" },
          { "PROG_PORT=x" },
          "PROG_PORT: port: must be an integer from 1 to 65535, not x" },
        { { "prog" },
          { "PROG_NOPE=x" },
          "environment variable PROG_NOPE: no such setting, see --help" },
        { { "prog", "--config", "/nowhere/x" },
          { 0 },
          "--config: open /nowhere/x: No such file or directory" },
        { { "prog", "--config", "" }, { 0 }, "--config: is empty, and should name a file" },
        { { "prog", "--config", "/dev/null" }, { 0 }, "/dev/null: is not a regular file" },
        { { "prog", "--name", "a\xff" }, { 0 }, "--name: name: is not valid UTF-8" },
        { { "prog" }, { "PROG_CONFIG=" }, "PROG_CONFIG: is empty, and should name a file" },
        { { "prog", "--help=x" }, { 0 }, "--help: takes no value" },
        { { "prog" },
          { 0 },
          "name: required; set it in the configuration file, by --name or by PROG_NAME" },
        { { "prog", "--words", "[\"a\"" }, { 0 }, "--words: words: not valid JSON: byte" },
        { { "prog", "--log", "{}" }, { 0 }, "--log: no such option, see --help" },
    };
    struct arena a = { 0 };
    struct config_loaded loaded;
    struct test_settings s;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };

        assert_int_equal(load(cases[i].words, cases[i].env, &a, &s, &loaded, &err), -1);
        if (strncmp(err.text, cases[i].want, strlen(cases[i].want)) != 0)
            assert_string_equal(err.text, cases[i].want);
    }
    arena_free(&a);
}

static void a_setting_without_effect_is_accepted_and_named(void **state)
{
    char path[] = "/tmp/holdfast-config-XXXXXX";
    const struct {
        const char *words[4], *env[2];
        bool is_named;
    } cases[] = {
        { { "prog", "--name=x" }, { 0 }, false },
        { { "prog", "--name=x", "--log-lines=0" }, { 0 }, true },
        { { "prog", "--name=x" }, { "PROG_LOG_LINES=3" }, true },
        { { "prog", "--config", path }, { 0 }, true },
    };
    struct arena a = { 0 };
    struct config_loaded loaded;
    struct test_settings s;
    struct err err = { 0 };

    (void)state;
    file_with("name: file\nlog: { lines: 2 }\n", path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(load(cases[i].words, cases[i].env, &a, &s, &loaded, &err), 0);
        if (cases[i].is_named) {
            assert_non_null(loaded.no_effect[0]);
            assert_string_equal(loaded.no_effect[0], "log.lines");
        }
        assert_null(loaded.no_effect[cases[i].is_named]);
    }
    assert_int_equal(load(WORDS("--name=x", "--log-lines=10"), NULL, &a, &s, &loaded, &err), -1);
    assert_non_null(strstr(err.text, "must be an integer from 0 to 9"));
    unlink(path);
    arena_free(&a);
}

static void help_version_and_reference_come_from_the_rows(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct config_loaded loaded;
    struct test_settings s;
    struct buf doc = { 0 };

    (void)state;
    assert_int_equal(load(WORDS("--help"), NULL, &a, &s, &loaded, &err), 0);
    assert_non_null(strstr(loaded.show, "Usage: prog [options]"));
    assert_non_null(
        strstr(loaded.show, "--name TEXT                what it is called (required)\n"));
    assert_non_null(strstr(loaded.show, "--port N                   its port (default 7020)\n"));
    assert_non_null(
        strstr(loaded.show, "--level WORD               how much: low, high (default high)\n"));
    assert_non_null(strstr(
        loaded.show, "--log-lines N              without effect; accepted for compatibility\n"));
    assert_non_null(strstr(loaded.show, "(--log-"));
    assert_non_null(strstr(loaded.show, "environment (PROG_LOG_"));
    assert_int_equal(load(WORDS("--version"), NULL, &a, &s, &loaded, &err), 0);
    assert_string_equal(loaded.show, "prog " HOLDFAST_VERSION "\n");
    config_doc(&spec, &doc);
    assert_non_null(strstr(buf_text(&doc),
                           "| `log.keep_days` | `--log-keep-days` | `PROG_LOG_KEEP_DAYS` | "
                           "an integer from 1 to 365 | `7` | how long |"));
    assert_non_null(strstr(buf_text(&doc),
                           "| `log.lines` | `--log-lines` | `PROG_LOG_LINES` | an integer "
                           "from 0 to 9 | `0` | without effect; accepted for compatibility |"));
    buf_free(&doc);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_places_win),
        cmocka_unit_test(a_flag_names_the_file_before_the_environment_does),
        cmocka_unit_test(a_default_file_that_can_not_be_read_is_not_passed_over),
        cmocka_unit_test(every_kind_of_value_can_be_a_flag),
        cmocka_unit_test(errors_name_the_source),
        cmocka_unit_test(a_setting_without_effect_is_accepted_and_named),
        cmocka_unit_test(help_version_and_reference_come_from_the_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
