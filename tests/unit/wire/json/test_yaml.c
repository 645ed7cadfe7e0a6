/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/sys.h"
#include "tests/lib/settings.h"
#include "wire/json/yaml.h"

static int load(const char *text, struct arena *a, struct test_settings *out, struct err *err)
{
    shape_defaults(&test_settings_shape, out);
    return yaml_read(&test_settings_shape, "f.yaml", text, strlen(text), a, out, err);
}

static void settings_are_read_as_the_rows_say(void **state)
{
    static const char text[] = "# a comment\n"
                               "name: \"web: one\"\n"
                               "port: 80\n"
                               "share: 12.5\n"
                               "fast: yes\n"
                               "level: low\n"
                               "words: [a, 'b c', 3]\n"
                               "labels: { x: 1, y: \"1\" }\n"
                               "log:\n"
                               "  file: /var/log/x\n"
                               "  keep_days: \"30\"\n";
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;
    const struct word *words;

    (void)state;
    assert_int_equal(load(text, &a, &s, &err), 0);
    assert_string_equal(s.name, "web: one");
    assert_int_equal(s.port, 80);
    assert_true(s.share == 12.5);
    assert_true(s.fast);
    assert_int_equal(s.level, 0);
    assert_int_equal(s.words.n, 3);
    words = s.words.items;
    assert_string_equal(words[1].text, "b c");
    assert_string_equal(words[2].text, "3");
    assert_int_equal(s.labels.n, 2);
    assert_string_equal(s.log.file, "/var/log/x");
    assert_int_equal(s.log.keep_days, 30);
    arena_free(&a);
}

static void json_reads_as_yaml(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;

    (void)state;
    assert_int_equal(
        load("{\"name\": \"x\", \"port\": 81, \"fast\": true,\n \"words\": [\"a\"]}", &a, &s, &err),
        0);
    assert_int_equal(s.port, 81);
    assert_true(s.fast);
    arena_free(&a);
}

static void what_is_not_mentioned_stays(void **state)
{
    static const char *const texts[] = { "",        "# nothing\n", "---\n",
                                         "port:\n", "port: ~\n",   "log: {}\n" };
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (load(texts[i], &a, &s, &err))
            assert_string_equal(texts[i], err.text);
        assert_int_equal(s.port, 7020);
        assert_int_equal(s.log.keep_days, 7);
    }
    arena_free(&a);
}

static void errors_name_line_and_field(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "name: x\nport: 70000\n",
          "f.yaml:2: port: must be an integer from 1 to 65535, not 70000" },
        { "name: x\nport: abc\n", "f.yaml:2: port: must be an integer from 1 to 65535, not abc" },
        { "port: 80x\n", "f.yaml:1: port: must be an integer from 1 to 65535, not 80x" },
        { "port: [1]\n", "f.yaml:1: port: must be an integer from 1 to 65535, not a list" },
        { "fast: maybe\n", "f.yaml:1: fast: must be true or false, not maybe" },
        { "level: middle\n", "f.yaml:1: level: must be one of 0 (low), 1 (high), not middle" },
        { "\n\nlog:\n  file: x\n  keep_days: 0\n",
          "f.yaml:5: log.keep_days: must be an integer from 1 to 365, not 0" },
        { "log:\n  nope: 1\n", "f.yaml:2: log.nope: no such setting" },
        { "nope: 1\n", "f.yaml:1: nope: no such setting" },
        { "port: 1\nname: x\nport: 2\n", "f.yaml:3: port: given twice" },
        { "words:\n - a\n - b\n - 0123456789abcdefg\n",
          "f.yaml:4: words[2]: must be a string of at most 16 bytes, has 17" },
        { "words: [a,b,c,d,e]\n",
          "f.yaml:1: words: must be a list of at most 4 items, has at least 5" },
        { "labels: { a: 1, a: 2 }\n", "f.yaml:1: labels.a: given twice" },
        { "labels: { a: [] }\n", "f.yaml:1: labels.a: must be a string, number or boolean" },
        { "- a\n", "f.yaml:1: must be a list of settings" },
        { "just text\n", "f.yaml:1: must be a list of settings" },
        { "a: &x 1\nb: *x\n", "f.yaml:1: anchors and tags are not understood" },
        { "a: *x\n", "f.yaml:1: aliases are not understood" },
        { "name: !!str x\n", "f.yaml:1: anchors and tags are not understood" },
        { "name: x\n---\nname: y\n", "f.yaml:2: a second document begins here" },
        { "? [a]\n: 1\n", "f.yaml:1: a key must be a plain word" },
        { "name: \"x\n", "f.yaml:2: " },
        { "name: x\n\tport: 1\n", "f.yaml:2: " },
        { "name: [x\n", "f.yaml:2: " },
        { "name: \"a\\0b\"\n", "f.yaml:1: not valid UTF-8 text" },
        { "name: \xff\n", "f.yaml:1: " },
    };
    struct arena a = { 0 };
    struct test_settings s;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = { 0 };

        if (load(cases[i].text, &a, &s, &err) == 0)
            fail_msg("accepted: %s", cases[i].text);
        if (strncmp(err.text, cases[i].want, strlen(cases[i].want)) != 0)
            assert_string_equal(err.text, cases[i].want);
    }
    arena_free(&a);
}

static void deep_and_large_files_are_refused(void **state)
{
    struct buf b = { 0 };
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;

    (void)state;
    buf_puts(&b, "labels: ");
    for (int i = 0; i < 10000; i++)
        buf_addc(&b, '[');
    assert_int_equal(load(buf_text(&b), &a, &s, &err), -1);
    assert_non_null(strstr(err.text, "nested too deeply"));
    buf_truncate(&b, 0);
    while (b.len <= YAML_SIZE_MAX)
        buf_puts(&b, "# much too much\n");
    assert_int_equal(load(buf_text(&b), &a, &s, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    buf_free(&b);
    arena_free(&a);
}

static void a_file_that_can_not_be_read_is_named(void **state)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct test_settings s;
    char path[] = "/tmp/holdfast-yaml-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, "port: 8\n", 8), 8);
    close(fd);
    shape_defaults(&test_settings_shape, &s);
    assert_int_equal(yaml_read_file(&test_settings_shape, path, &a, &s, &err), 0);
    assert_int_equal(s.port, 8);
    assert_int_equal(yaml_read_file(&test_settings_shape, "/nowhere/x.yaml", &a, &s, &err), -1);
    assert_string_equal(err.text, "open /nowhere/x.yaml: No such file or directory");
    assert_int_equal(yaml_read_file(&test_settings_shape, "/tmp", &a, &s, &err), -1);
    assert_string_equal(err.text, "/tmp: is not a regular file");
    sys_fault("read", 1, EIO);
    assert_int_equal(yaml_read_file(&test_settings_shape, path, &a, &s, &err), -1);
    assert_true(sys_fault_hit());
    assert_int_equal(err.sys, EIO);
    unlink(path);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read_as_the_rows_say),
        cmocka_unit_test(json_reads_as_yaml),
        cmocka_unit_test(what_is_not_mentioned_stays),
        cmocka_unit_test(errors_name_line_and_field),
        cmocka_unit_test(deep_and_large_files_are_refused),
        cmocka_unit_test(a_file_that_can_not_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
