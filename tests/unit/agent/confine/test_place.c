/* SPDX-License-Identifier: MIT */
#include "agent/confine/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "tests/lib/folder.h"
#include "tests/lib/wide_text.h"

static struct folder f;

static const char *in(const char *name)
{
    static char path[2][PATH_MAX];
    static int at;

    at = !at;
    snprintf(path[at], sizeof(path[at]), "%s/%s", f.path, name);
    return path[at];
}

static int set_up(void **state)
{
    (void)state;
    folder_init(&f);
    folder_put(in("file"), 0644, "x", 1);
    assert_int_equal(symlink("file", in("link")), 0);
    assert_int_equal(symlink("/etc", in("out")), 0);
    assert_int_equal(symlink("/nowhere/at/all", in("dangling")), 0);
    assert_int_equal(symlink("round", in("round")), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    folder_done(&f);
    return 0;
}

static void a_path_leads_where_its_links_lead(void **state)
{
    static const struct {
        const char *path, *real; /* a real one that begins with + is in the folder */
        const char *why;
    } cases[] = {
        { "file", "+/file", NULL },
        { "file/", "+/file", NULL },
        { "./file", "+/file", NULL },
        { "link", "+/file", NULL },
        { "", "+", NULL },
        { "//", "+", NULL },
        { "out/passwd", "/etc/passwd", NULL },
        { "out/../etc/passwd", "/etc/passwd", NULL }, /* .. of where it leads */
        { "out/nothing", "/etc/nothing", NULL },
        { "../../../../etc/passwd", "/etc/passwd", NULL },
        { "new", "+/new", NULL },
        { "new/", "+/new", NULL },
        { "new/./newer//newest", "+/new/newer/newest", NULL },
        { "new/../file", NULL, "`..` behind a folder that is not there" },
        { "new/newer/..", NULL, "`..` behind a folder that is not there" },
        { "dangling", NULL, "a symbolic link that leads nowhere" },
        { "dangling/", NULL, "a symbolic link that leads nowhere" },
        { "dangling/new", NULL, "a symbolic link that leads nowhere" },
        { "round", NULL, "Too many levels of symbolic links" },
        { "file/new", NULL, "Not a directory" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char real[PATH_MAX] = "", expected[PATH_MAX];
        struct err err = { 0 };
        int result = place_resolve(in(cases[i].path), real, &err);

        if (!cases[i].real) {
            if (!result || !strstr(err.text, cases[i].why))
                fail_msg("%s: %s %s", cases[i].path, real, err.text);
            continue;
        }
        snprintf(expected, sizeof(expected), "%s%s", *cases[i].real == '+' ? f.path : "",
                 cases[i].real + (*cases[i].real == '+'));
        if (result || strcmp(real, expected) != 0)
            fail_msg("%s: %s, expected %s; %s", cases[i].path, real, expected, err.text);
    }
}

static void the_root_is_a_place_too(void **state)
{
    char real[PATH_MAX];
    struct err err;

    (void)state;
    assert_int_equal(place_resolve("/", real, &err), 0);
    assert_string_equal(real, "/");
    assert_int_equal(place_resolve("///", real, &err), 0);
    assert_string_equal(real, "/");
    assert_int_equal(place_resolve("/no-such-folder/x", real, &err), 0);
    assert_string_equal(real, "/no-such-folder/x");
}

static void what_is_no_path_is_refused(void **state)
{
    char real[PATH_MAX], longer[PATH_MAX + 1];
    struct err err;

    (void)state;
    assert_int_equal(place_resolve("", real, &err), -1);
    assert_int_equal(place_resolve("file", real, &err), -1);
    memset(longer, 'x', PATH_MAX);
    longer[0] = '/';
    longer[PATH_MAX] = '\0';
    assert_int_equal(place_resolve(longer, real, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    for (int i = 0; i < PATH_MAX - 1; i += 2)
        longer[i] = '/';
    longer[PATH_MAX - 1] = '\0'; /* as long as can be, and not there */
    (void)place_resolve(longer, real, &err);
}

static void below_means_below(void **state)
{
    static const struct {
        const char *path, *folder;
        bool is_under;
    } cases[] = {
        { "/data", "/data", true },       { "/data/x", "/data", true },
        { "/data/x/y", "/data/x", true }, { "/database", "/data", false },
        { "/dat", "/data", false },       { "/", "/data", false },
        { "/data", "/", true },           { "/", "/", true },
        { "/data", "/data/x", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(place_is_under(cases[i].path, cases[i].folder), cases[i].is_under);
}

/* The kernel names it as if it were there: "/data/x (deleted)". */
static void what_was_removed_is_nowhere(void **state)
{
    char path[64], real[PATH_MAX];
    struct err err;
    int fd;

    (void)state;
    fd = open(in("file"), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    assert_int_equal(place_resolve(path, real, &err), 0);
    assert_string_equal(real, in("file"));
    assert_int_equal(unlink(in("file")), 0);
    assert_int_equal(place_resolve(path, real, &err), -1);
    assert_non_null(strstr(err.text, "can not be reached from here"));
    close(fd);
}

/* A container, say, that has a /data of its own: not ours. */
static int hide_in_a_namespace(void *go)
{
    int *pipes = go;
    char byte;

    close(pipes[3]); /* so that we see the parent close it */
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("x", f.path, "tmpfs", 0, NULL) ||
        mkdir(in("evil"), 0755) || write(pipes[1], "x", 1) != 1)
        return 1;
    return read(pipes[2], &byte, 1) != 0;
}

static void another_mount_namespace_is_nowhere(void **state)
{
    static char stack[64 * 1024];
    char path[PATH_MAX], real[PATH_MAX], byte;
    int pipes[4], child;
    struct err err;

    (void)state;
    assert_int_equal(pipe2(pipes, O_CLOEXEC) | pipe2(pipes + 2, O_CLOEXEC), 0);
    child = clone(hide_in_a_namespace, stack + sizeof(stack), CLONE_NEWNS | SIGCHLD, pipes);
    if (child < 0 && errno == EPERM)
        skip(); /* not as root */
    assert_true(child > 1);
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) == 1) {
        snprintf(path, sizeof(path), "/proc/%d/root%s/evil", child, f.path);
        assert_int_equal(place_resolve(path, real, &err), -1);
        assert_non_null(strstr(err.text, "can not be reached from here"));
    }
    close(pipes[3]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(pipes[0]);
    close(pipes[2]);
}

static void what_can_not_be_looked_at_is_nowhere(void **state)
{
    static const char *const calls[] = { "open", "readlinkat" };
    char real[PATH_MAX];
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        const char *path = in("file");

        sys_fault(calls[i], 1, EACCES);
        assert_int_equal(place_resolve(path, real, &err), -1);
        assert_true(sys_fault_hit());
        assert_int_equal(err.sys, EACCES);
        sys_fault("any", 0, 0);
    }
    sys_fault("fstat", 1, EIO);
    assert_int_equal(place_resolve(in("new"), real, &err), -1);
    assert_true(sys_fault_hit());
}

static void a_path_is_shown_with_whole_characters(void **state)
{
    char to[PATH_MAX];
    struct err err;

    (void)state;
    for (size_t i = 0; i < WIDE_TEXTS; i++) {
        assert_int_equal(place_resolve(wide_text(i), to, &err), -1); /* not absolute */
        assert_whole_text(err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_leads_where_its_links_lead, set_up, tear_down),
        cmocka_unit_test(the_root_is_a_place_too),
        cmocka_unit_test(what_is_no_path_is_refused),
        cmocka_unit_test(a_path_is_shown_with_whole_characters),
        cmocka_unit_test(below_means_below),
        cmocka_unit_test_setup_teardown(what_was_removed_is_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_mount_namespace_is_nowhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_can_not_be_looked_at_is_nowhere, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
