/* SPDX-License-Identifier: MIT */
#include "agent/identify/walk.h"

#include <fcntl.h>
#include <limits.h>
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

struct place {
    char folder[32], file[48], other[48];
};

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void stay(const struct place *p)
{
    (void)p;
}
static void go(const struct place *p)
{
    assert_int_equal(unlink(p->file), 0);
}
static void replace(const struct place *p)
{
    assert_int_equal(rename(p->other, p->file), 0);
}

static void make_link(const struct place *p)
{
    go(p);
    assert_int_equal(symlink(p->other, p->file), 0);
}

static void make_fifo(const struct place *p)
{
    go(p);
    assert_int_equal(mkfifo(p->file, 0600), 0);
}

/* Between the walk and the opening; the content of another file is never seen. */
static void what_was_walked_to_is_opened_whatever_has_taken_its_place(void **state)
{
    static void (*const happens[])(const struct place *p) = { stay, go, replace, make_link,
                                                              make_fifo };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(happens); i++) {
        struct place p = { .folder = "/tmp/holdfast-walk-XXXXXX" };
        struct walk w = { .what = "file", .at = -1 };
        struct err err = { 0 };
        char text[16] = "";
        int fd;

        assert_non_null(mkdtemp(p.folder));
        snprintf(p.file, sizeof(p.file), "%s/file", p.folder);
        snprintf(p.other, sizeof(p.other), "%s/other", p.folder);
        put(p.file, "mine");
        put(p.other, "theirs");
        assert_int_equal(walk_to_end(&w, p.file, &err), 0);
        happens[i](&p);
        if (walk_open(&w, O_RDONLY | O_NONBLOCK, &fd, &err))
            fail_msg("%zu: %s", i, err.text);
        assert_int_equal(sys_read(fd, text, sizeof(text) - 1), 4);
        assert_string_equal(text, "mine");
        sys_close(fd);
        sys_close(w.at);
        (void)unlink(p.file); /* one of them may be gone */
        (void)unlink(p.other);
        assert_int_equal(rmdir(p.folder), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_walked_to_is_opened_whatever_has_taken_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
