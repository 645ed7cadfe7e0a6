/* SPDX-License-Identifier: MIT */
/* test_config_file.c - what is in a file, whatever it is. */
#include "agent/exec/config_file.h"

#include "tests/lib/agent_world.h"
#include "tests/lib/readable.h"

#define ABC "900150983cd24fb0d6963f7d28e17f72"

static char dir[64];

static const char *path_of(const char *name)
{
    return world_text("%s/%s", dir, name);
}

static struct config_content read_new(const char *path)
{
    struct config_mark mark = { 0 };
    struct config_content c;

    config_file_read(path, &mark, &c);
    snprintf(c.why, sizeof(c.why), "%s", english(c.why));
    return c;
}

static void a_file_has_its_md5(void **state)
{
    struct config_content c;

    (void)state;
    world_write(path_of("x"), "abc");
    c = read_new(path_of("x"));
    assert_string_equal(c.md5, ABC);
    assert_string_equal(c.why, "");
    assert_false(c.is_link || c.is_same);
    world_write(path_of("x"), "");
    assert_string_equal(read_new(path_of("x")).md5, "d41d8cd98f00b204e9800998ecf8427e");
}

static void what_is_no_file_is_said(void **state)
{
    (void)state;
    assert_string_equal(read_new(path_of("none")).why, "is not there");
    world_write(path_of("x"), "abc");
    assert_string_equal(read_new(path_of("x/y")).why, "is not there");
    assert_string_equal(read_new(dir).why, "is a folder");
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    assert_string_equal(read_new(path_of("pipe")).why, "is not a regular file"); /* at once */
    assert_string_equal(read_new("/dev/zero").why, "is not a regular file");
    assert_string_equal(read_new(path_of("none")).md5, "");
}

static void a_link_leads_to_what_it_names(void **state)
{
    struct config_content c;

    (void)state;
    world_write(path_of("x"), "abc");
    assert_int_equal(symlink("x", path_of("link")), 0);
    c = read_new(path_of("link"));
    assert_true(c.is_link);
    assert_string_equal(c.md5, ABC);
    assert_int_equal(symlink("loop", path_of("loop")), 0);
    assert_non_null(strstr(read_new(path_of("loop")).why, "can not be read: "));
}

static void one_that_can_not_be_read_is_said(void **state)
{
    static const char *const calls[] = { "stat", "open", "fstat", "read" };

    (void)state;
    world_write(path_of("x"), "abc");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        struct config_content c;

        sys_fault(calls[i], 1, EACCES);
        c = read_new(path_of("x"));
        assert_true(sys_fault_hit());
        assert_string_equal(c.why, "can not be read: Permission denied");
        assert_string_equal(c.md5, "");
    }
    sys_fault("any", 0, 0);
}

static void one_that_is_too_large_is_not_read(void **state)
{
    (void)state;
    world_write(path_of("x"), "abc");
    assert_int_equal(truncate(path_of("x"), CONFIG_FILE_MAX_BYTES + 1), 0);
    assert_string_equal(read_new(path_of("x")).why, "is larger than 64 MB, and not compared");
}

static void what_has_not_changed_is_not_read_again(void **state)
{
    struct config_mark mark = { 0 };
    struct config_content c;

    (void)state;
    world_write(path_of("x"), "abc");
    config_file_read(path_of("x"), &mark, &c);
    config_file_read(path_of("x"), &mark, &c);
    assert_true(c.is_same);
    world_write(path_of("y"), "abc");
    assert_int_equal(rename(path_of("y"), path_of("x")), 0);
    config_file_read(path_of("x"), &mark, &c);
    assert_false(c.is_same);
    assert_string_equal(c.md5, ABC);
    assert_int_equal(unlink(path_of("x")), 0);
    config_file_read(path_of("x"), &mark, &c);
    assert_false(c.is_same);
    assert_string_equal(english(c.why), "is not there");
}

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/config-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    world_remove(dir);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_has_its_md5),
        TEST(what_is_no_file_is_said),
        TEST(a_link_leads_to_what_it_names),
        TEST(one_that_can_not_be_read_is_said),
        TEST(one_that_is_too_large_is_not_read),
        TEST(what_has_not_changed_is_not_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
