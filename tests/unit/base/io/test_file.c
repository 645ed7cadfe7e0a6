/* SPDX-License-Identifier: MIT */
#include "base/io/file.h"

#include <errno.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"

struct world {
    struct folder folder;
    char path[64];
};

static int setup(void **state)
{
    struct world *w = xalloc(sizeof(*w));

    folder_init(&w->folder);
    snprintf(w->path, sizeof(w->path), "%s/f", w->folder.path);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    sys_fault("any", 0, 0);
    unlink(w->path);
    assert_int_equal(folder_sweep(&w->folder), 0); /* no temporary file is left */
    folder_done(&w->folder);
    free(w);
    return 0;
}

static void has(const struct world *w, const char *text)
{
    struct buf b = { 0 };
    struct err err = { 0 };

    if (file_read(w->path, 100, &b, &err))
        fail_msg("%s", err.text);
    assert_string_equal(buf_text(&b), text);
    buf_free(&b);
}

static void put(const struct world *w, const char *text, mode_t mode)
{
    struct err err = { 0 };

    if (file_replace(w->path, mode, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static void what_was_written_is_read(void **state)
{
    struct world *w = *state;

    put(w, "one", 0600);
    has(w, "one");
    put(w, "", 0644);
    has(w, "");
    put(w, "two", 0640);
    has(w, "two");
    assert_int_equal(folder_mode(w->path), 0640);
}

static void a_file_is_created_once(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };

    assert_int_equal(file_create(w->path, 0600, "one", 3, &err), 0);
    assert_int_equal(file_create(w->path, 0600, "two", 3, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_non_null(strstr(err.text, w->path));
    has(w, "one");
}

/* A dangling symbolic link counts as an existing file. */
static void a_link_that_leads_nowhere_is_not_filled(void **state)
{
    struct world *w = *state;
    struct err err = { 0 };

    assert_int_equal(symlink("/nowhere/f", w->path), 0);
    assert_int_equal(file_create(w->path, 0600, "one", 3, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
}

static void what_is_missing_or_no_file_or_too_large_is_said(void **state)
{
    struct world *w = *state;
    struct buf b = { 0 };
    struct err err = { 0 };

    assert_int_equal(file_read(w->path, 100, &b, &err), -1);
    assert_int_equal(err.sys, ENOENT);
    assert_non_null(strstr(err.text, w->path));
    assert_int_equal(file_read(w->folder.path, 100, &b, &err), -1);
    assert_non_null(strstr(err.text, "not a regular file"));
    assert_int_equal(file_read("/dev/zero", 100, &b, &err), -1);
    assert_non_null(strstr(err.text, "not a regular file"));
    put(w, "12345", 0600);
    assert_int_equal(file_read(w->path, 5, &b, &err), 0);
    buf_free(&b);
    assert_int_equal(file_read(w->path, 4, &b, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    /* stat() gives size 0 for this file */
    assert_int_equal(file_read("/proc/self/maps", 100, &b, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_null(b.block);
}

static void a_secret_is_for_its_owner_only(void **state)
{
    struct world *w = *state;
    static const struct {
        mode_t mode;
        uid_t owner;
        const char *error;
    } cases[] = {
        { 0600, 0, NULL },
        { 0400, 0, NULL },
        { 0640, 0, "others may use it (mode 640)" },
        { 0604, 0, "others may use it" },
        { 0620, 0, "others may use it" },
        { 0602, 0, "others may use it" },
        { 0601, 0, "others may use it" },
        { 0600, 12345, "belongs to user 12345" },
    };

    put(w, "x", 0600);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };
        struct err err = { 0 };

        chmod(w->path, cases[i].mode);
        if (cases[i].owner && chown(w->path, cases[i].owner, 0))
            continue; /* only root can change the owner */
        assert_int_equal(file_read_secret(w->path, 10, &b, &err), cases[i].error ? -1 : 0);
        if (cases[i].error) {
            assert_int_equal(err.code, ERR_DENIED);
            assert_non_null(strstr(err.text, cases[i].error));
            assert_non_null(strstr(err.text, w->path));
        }
        file_wipe(&b);
        assert_null(b.block);
    }
}

static void every_failure_of_replacing_leaves_the_old_or_the_new(void **state)
{
    struct world *w = *state;
    long nth = 1;

    for (;; nth++) {
        struct err err = { 0 };
        struct buf b = { 0 };
        int bad;

        put(w, "old", 0600);
        sys_fault("any", nth, EIO);
        bad = file_replace(w->path, 0600, "new", 3, &err);
        if (!sys_fault_hit())
            break;
        sys_fault("any", 0, 0);
        assert_int_equal(bad, -1);
        assert_int_equal(err.sys, EIO);
        assert_non_null(strstr(err.text, w->path));
        assert_int_equal(file_read(w->path, 10, &b, &err), 0);
        assert_string_equal(buf_text(&b), nth <= 4 ? "old" : "new");
        buf_free(&b);
    }
    assert_int_equal(nth, 7); /* open, write, fsync, rename; the folder's open, fsync */
}

static void every_failure_of_creating_leaves_all_or_nothing(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *call;
        int result, files;
    } steps[] = {
        { "open", -1, 0 }, { "write", -1, 0 }, { "fsync", -1, 0 },
        { "link", -1, 0 }, { "unlink", 0, 2 }, /* only a second name is left */
        { "open", -1, 1 }, { "fsync", -1, 1 }, { "no more", 0, 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct err err = { 0 };
        int result;

        sys_fault("any", (long)i + 1, EIO);
        result = file_create(w->path, 0600, "new", 3, &err);
        assert_int_equal(sys_fault_hit(), i + 1 < ARRAY_LEN(steps));
        sys_fault("any", 0, 0);
        if (result != steps[i].result)
            fail_msg("%s: %s", steps[i].call, err.text);
        if (result)
            assert_non_null(strstr(err.text, w->path));
        if (steps[i].files)
            has(w, "new");
        assert_int_equal(folder_sweep(&w->folder), steps[i].files);
    }
}

static void what_a_crash_left_is_no_hindrance(void **state)
{
    struct world *w = *state;
    char left[80];

    snprintf(left, sizeof(left), "%s.new", w->path);
    folder_put(left, 0666, "half", 4);
    put(w, "whole", 0600);
    has(w, "whole");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_read),
        TEST(a_file_is_created_once),
        TEST(a_link_that_leads_nowhere_is_not_filled),
        TEST(what_is_missing_or_no_file_or_too_large_is_said),
        TEST(a_secret_is_for_its_owner_only),
        TEST(every_failure_of_replacing_leaves_the_old_or_the_new),
        TEST(every_failure_of_creating_leaves_all_or_nothing),
        TEST(what_a_crash_left_is_no_hindrance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
