/* SPDX-License-Identifier: MIT */
#include "agent/exec/envfile.h"

#include "tests/lib/agent_world.h"

static void lines_are_taken_as_they_stand(void **state)
{
    static const struct {
        const char *text, *pairs; /* joined with "|" */
    } cases[] = {
        { "", "" },
        { "\n\n  \n", "" },
        { "# A=1\n  # B=2", "" },
        { "A=1", "A=1" },
        { "A=1\nB=2\n", "A=1|B=2" },
        { "A=1\r\nB=2\r\n", "A=1|B=2" },
        { "  A=1  \n\tB= 2 x \n", "A=1|B=2 x" },
        { "A=", "A=" },
        { "A=b=c", "A=b=c" },
        { "A=$HOME `id` \\n # no comment", "A=$HOME `id` \\n # no comment" },
        { "A=\" x \"", "A= x " },
        { "A='it \"is\" so'", "A=it \"is\" so" },
        { "A=\"\"", "A=" },
        { "A=x\"y", "A=x\"y" },
        { "_a9=1\nA=2\nA=3", "_a9=1|A=2|A=3" },
        { "A=\xC3\xA9\xFF", "A=\xC3\xA9\xFF" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        struct buf all = { 0 };
        const char *const *pairs;
        struct err err = { 0 };

        if (envfile_parse(cases[i].text, strlen(cases[i].text), &a, &pairs, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        for (size_t n = 0; pairs[n]; n++)
            buf_printf(&all, "%s%s", n ? "|" : "", pairs[n]);
        assert_string_equal(buf_text(&all), cases[i].pairs);
        buf_free(&all);
        arena_free(&a);
    }
}

static void a_bad_line_is_named_and_not_repeated(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        { "A=1\n\n#\nsecret\n", "line 4: expected NAME=value, there is no \"=\"" },
        { "export A=secret", "line 1: before \"=\" must stand a name" },
        { "A =secret", "line 1: before \"=\" must stand a name" },
        { "=secret", "line 1: before \"=\" must stand a name" },
        { "9A=secret", "line 1: before \"=\" must stand a name" },
        { "a.b=secret", "line 1: before \"=\" must stand a name" },
        { "A=1\nB=\"secret", "line 2: the value begins with a quote that does not end it" },
        { "A='", "line 1: the value begins with a quote" },
        { "A=\"a\" secret", "line 1: the value begins with a quote" },
        { "A=\"a\"secret\"", "line 1: the value begins with a quote" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        const char *const *pairs;
        struct err err = { 0 };

        assert_int_equal(envfile_parse(cases[i].text, strlen(cases[i].text), &a, &pairs, &err), -1);
        if (strncmp(err.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_null(strstr(err.text, "secret"));
        arena_free(&a);
    }
}

static void its_size_is_bounded(void **state)
{
    static char text[ENVFILE_MAX_BYTES + 1];
    struct arena a = { 0 };
    const char *const *pairs;
    struct err err = { 0 };

    (void)state;
    memset(text, '\n', sizeof(text));
    assert_int_equal(envfile_parse(text, ENVFILE_MAX_BYTES, &a, &pairs, &err), 0);
    assert_int_equal(envfile_parse(text, sizeof(text), &a, &pairs, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    for (size_t i = 0; i <= ENVFILE_MAX_LINES; i++)
        memcpy(text + 3 * i, "A=\n", 3);
    assert_int_equal(envfile_parse(text, 3 * ENVFILE_MAX_LINES, &a, &pairs, &err), 0);
    assert_int_equal(envfile_parse(text, ENVFILE_MAX_BYTES, &a, &pairs, &err), -1);
    assert_string_equal(err.text, "line 1025: more than 1024 variables");
    assert_int_equal(envfile_parse("A=\0b", 4, &a, &pairs, &err), -1);
    assert_non_null(strstr(err.text, "zero byte"));
    arena_free(&a);
}

static int read_as(const char *path, const struct user *u, struct err *err)
{
    struct arena a = { 0 };
    const char *const *pairs;
    int result = envfile_read(path, u, &a, &pairs, err);

    if (!result)
        assert_string_equal(pairs[0], "A=1");
    arena_free(&a);
    return result;
}

/* The agent reads the file as root, and passes its content to another user's process. */
static void only_what_the_user_could_read_himself_is_read_for_him(void **state)
{
    static const struct {
        const char *what;
        uid_t uid; /* of the file; 1: the user's own */
        mode_t mode, folder;
        const char *error; /* NULL: none */
    } cases[] = {
        { "root's, for all", 0, 0644, 0755, NULL },
        { "root's own", 0, 0600, 0755, "may not read it himself" },
        { "root's, where he can not get", 0, 0644, 0700, "may not read it himself" },
        { "his own", 1, 0600, 0755, NULL },
        { "his own, not to be read", 1, 0044, 0755, "may not read it himself" },
        { "a third one's", 12345, 0644, 0755, "belongs to uid 12345" },
    };
    struct world *w = *state;
    const char *path = world_text("%s/sub/env", w->dir);
    struct err err = { 0 };

    assert_int_equal(mkdir(world_text("%s/sub", w->dir), 0755), 0);
    world_write(path, "A=1\n");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uid_t uid = cases[i].uid == 1 ? w->nobody->uid : cases[i].uid;
        int result;

        assert_int_equal(chown(path, uid, 0), 0);
        assert_int_equal(chmod(path, cases[i].mode), 0);
        assert_int_equal(chmod(world_text("%s/sub", w->dir), cases[i].folder), 0);
        result = read_as(path, w->nobody, &err);
        if (!result != !cases[i].error || (result && !strstr(err.text, cases[i].error)))
            fail_msg("%s: %s", cases[i].what, result ? err.text : "read");
        if (cases[i].uid == 0)
            assert_int_equal(read_as(path, w->root, &err), 0);
    }
    assert_int_equal(chmod(world_text("%s/sub", w->dir), 0755), 0);
}

static void what_is_no_plain_file_is_refused(void **state)
{
    struct world *w = *state;
    const char *path = world_text("%s/env", w->dir);
    struct err err = { 0 };
    int result, withstood = 0;

    assert_int_equal(read_as(path, w->root, &err), -1);
    assert_string_equal(err.text, world_text("there is no env_file %s", path));
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(read_as(path, w->root, &err), -1);
    assert_non_null(strstr(err.text, "is not a regular file"));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(read_as(path, w->root, &err), -1);
    assert_non_null(strstr(err.text, "is not a regular file"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(chown(w->dir, w->nobody->uid, 0), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(read_as(path, w->nobody, &err), -1);
    assert_non_null(strstr(err.text, "symbolic link"));
    assert_int_equal(unlink(path), 0);
    world_write(path, "A=1\nB\n");
    assert_int_equal(read_as(path, w->root, &err), -1);
    assert_string_equal(
        err.text, world_text("env_file %s: line 2: expected NAME=value, there is no \"=\"", path));
    world_write(path, "A=1\n");
    for (int nth = 1;; nth++) {
        sys_fault("any", nth, EIO);
        result = read_as(path, w->root, &err);
        if (!sys_fault_hit())
            break;
        withstood += !result;
        assert_true(nth < 20);
    }
    assert_int_equal(result, 0);
    assert_true(withstood <= 2); /* the quick way to it, of which there is a slow one */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_taken_as_they_stand),
        cmocka_unit_test(a_bad_line_is_named_and_not_repeated),
        cmocka_unit_test(its_size_is_bounded),
        TEST(only_what_the_user_could_read_himself_is_read_for_him),
        TEST(what_is_no_plain_file_is_refused),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("envfile", tests, NULL, NULL);
}
