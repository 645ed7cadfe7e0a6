/* SPDX-License-Identifier: MIT */
#include "agent/persist/procfile_disk.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "model/procfile.h"
#include "tests/lib/folder.h"

struct here {
    struct folder dir;
    char path[64], beside[64], bad[64];
};

static int set_up(void **state)
{
    struct here *h = xalloc(sizeof(*h));

    folder_init(&h->dir);
    snprintf(h->path, sizeof(h->path), "%s/proc", h->dir.path);
    snprintf(h->beside, sizeof(h->beside), "%s/proc.new", h->dir.path);
    snprintf(h->bad, sizeof(h->bad), "%s/proc.bad", h->dir.path);
    *state = h;
    return 0;
}

static int tear_down(void **state)
{
    struct here *h = *state;

    sys_fault("any", 0, 0);
    folder_done(&h->dir);
    free(h);
    return 0;
}

static int put(const struct here *h, const char *text, struct err *err)
{
    struct buf b = { 0 };
    struct procfile_new f = { .dir = -1 };
    int result;

    buf_puts(&b, text);
    result = procfile_begin(h->path, &b, &f, err) || procfile_end(&f, err);
    buf_free(&b);
    assert_int_equal(f.dir, -1);
    return result ? -1 : 0;
}

static void expect(const struct here *h, const char *text)
{
    struct buf b = { 0 };
    struct err err = { 0 };

    if (procfile_load(h->path, &b, &err))
        fail_msg("%s", err.text);
    assert_string_equal(buf_text(&b), text);
    buf_free(&b);
}

static void it_is_replaced_in_one_step(void **state)
{
    struct here *h = *state;
    struct procfile_new f;
    struct buf b = { 0 };
    struct err err = { 0 };

    assert_int_equal(procfile_load(h->path, &b, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(put(h, "one", &err), 0);
    assert_int_equal(folder_mode(h->path), 0600);
    buf_puts(&b, "two");
    assert_int_equal(procfile_begin(h->path, &b, &f, &err), 0);
    expect(h, "one");
    procfile_drop(&f);
    assert_int_equal(access(h->beside, F_OK), -1);
    assert_int_equal(procfile_begin(h->path, &b, &f, &err), 0); /* and left by a crash: */
    close(f.dir);
    free(f.name);
    assert_int_equal(put(h, "three", &err), 0);
    expect(h, "three");
    assert_int_equal(procfile_set_aside(h->path, &err), 0);
    assert_int_equal(access(h->bad, F_OK), 0);
    assert_int_equal(access(h->path, F_OK), -1);
    buf_free(&b);
}

static void a_failure_leaves_the_old_one_and_nothing_beside_it(void **state)
{
    static const struct {
        const char *call;
        int error;
    } cases[] = { { "write", ENOSPC },
                  { "openat", EMFILE },
                  { "open", EACCES },
                  { "renameat", EROFS },
                  { "fstat", EIO } };
    struct here *h = *state;
    struct err err = { 0 };

    assert_int_equal(put(h, "old", &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sys_fault(cases[i].call, 1, cases[i].error);
        assert_int_equal(put(h, "new", &err), -1);
        assert_true(sys_fault_hit());
        assert_int_equal(err.sys, cases[i].error);
        expect(h, "old");
        assert_int_equal(access(h->beside, F_OK), -1);
    }
}

static void a_folder_that_is_missing_or_of_others_will_not_do(void **state)
{
    struct here *h = *state;
    struct err err = { 0 };
    struct buf b = { 0 };
    struct procfile_new f;

    assert_int_equal(procfile_begin("/nowhere/at/all/.proc", &b, &f, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all/"));
    assert_int_equal(chmod(h->dir.path, 0777), 0);
    assert_int_equal(put(h, "x", &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(procfile_load(h->path, &b, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(chmod(h->dir.path, 0700), 0);
    assert_int_equal(put(h, "x", &err), 0);
    assert_int_equal(chmod(h->path, 0666), 0);
    assert_int_equal(procfile_load(h->path, &b, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(put(h, "y", &err), -1);
}

/* One that claims to be large takes no memory for it. */
static void a_file_that_is_too_large_is_not_read(void **state)
{
    struct here *h = *state;
    struct err err = { 0 };
    struct buf b = { 0 };

    assert_int_equal(put(h, "x", &err), 0);
    assert_int_equal(truncate(h->path, (off_t)1 << 41), 0);
    assert_int_equal(procfile_load(h->path, &b, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_non_null(strstr(err.text, h->path));
}

static void a_folder_that_can_not_be_synced_is_told(void **state)
{
    struct here *h = *state;
    struct err err = { 0 };

    assert_int_equal(put(h, "x", &err), 0);
    assert_int_equal(procfile_sync(h->path, &err), 0);
    sys_fault("fsync", 1, EIO);
    assert_int_equal(procfile_sync(h->path, &err), -1);
    assert_int_equal(err.sys, EIO);
}

static void what_is_no_file_will_not_do(void **state)
{
    struct here *h = *state;
    struct err err = { 0 };

    assert_int_equal(mkdir(h->path, 0700), 0);
    assert_int_equal(put(h, "x", &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(rmdir(h->path), 0);
    assert_int_equal(symlink("proc", h->path), 0); /* itself */
    assert_int_equal(put(h, "x", &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(unlink(h->path), 0);
}

/* Of root, in root's own folder; of another, or elsewhere, it is refused. */
static void a_link_is_followed_only_if_root_made_it(void **state)
{
    struct here *h = *state;
    struct err err = { 0 };
    struct stat st;
    char target[64];

    snprintf(target, sizeof(target), "%s/real", h->dir.path);
    assert_int_equal(symlink("real", h->path), 0);
    if (geteuid() != 0) {
        assert_int_equal(put(h, "x", &err), -1);
        assert_int_equal(err.code, ERR_DENIED);
        return;
    }
    assert_int_equal(put(h, "through", &err), 0);
    assert_int_equal(lstat(h->path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    expect(h, "through");
    assert_int_equal(folder_mode(target), 0600);
    assert_int_equal(lchown(h->path, 65534, 65534), 0);
    assert_int_equal(put(h, "x", &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_non_null(strstr(err.text, "symbolic link"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_replaced_in_one_step),
        TEST(a_failure_leaves_the_old_one_and_nothing_beside_it),
        TEST(a_folder_that_is_missing_or_of_others_will_not_do),
        TEST(a_file_that_is_too_large_is_not_read),
        TEST(a_folder_that_can_not_be_synced_is_told),
        TEST(what_is_no_file_will_not_do),
        TEST(a_link_is_followed_only_if_root_made_it),
    };

    return cmocka_run_group_tests_name("procfile_disk", tests, NULL, NULL);
}
