/* SPDX-License-Identifier: MIT */
#include "agent/exec/command.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/exec/spawn.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

static void only_plain_words_are_split(void **state)
{
    static const struct {
        const char *line, *words; /* joined by '|'; NULL: for a shell */
    } cases[] = {
        { "./start.sh name", "./start.sh|name" },
        { " a\t b  ", "a|b" },
        { "a", "a" },
        { "a -x --y=z 1,2:3@%+", "a|-x|--y=z|1,2:3@%+" },
        { "a b=c", "a|b=c" },
        { "a =", "a|=" },
        { "", NULL },
        { "  ", NULL },
        { "A=b c", NULL },
        { "a=b", NULL },
        { "a;b", NULL },
        { "a|b", NULL },
        { "a&", NULL },
        { "a >b", NULL },
        { "a <b", NULL },
        { "a $b", NULL },
        { "a `b`", NULL },
        { "a 'b'", NULL },
        { "a \"b\"", NULL },
        { "a \\b", NULL },
        { "a *", NULL },
        { "a ?", NULL },
        { "a [b]", NULL },
        { "a {b,c}", NULL },
        { "a ~", NULL },
        { "a #b", NULL },
        { "a !b", NULL },
        { "a ^b", NULL },
        { "(a)", NULL },
        { "a\nb", NULL },
        { "a\r", NULL },
        { "a \x01", NULL },
        { "a \xC3\xA9", NULL },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char **words = command_words(cases[i].line, &a), joined[256] = "";

        for (size_t k = 0; words && words[k]; k++)
            snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s", k ? "|" : "",
                     words[k]);
        if (!words != !cases[i].words || (words && strcmp(joined, cases[i].words) != 0))
            fail_msg("%s: %s", cases[i].line, words ? joined : "for a shell");
    }
    arena_free(&a);
}

static void a_command_has_the_name_of_its_file(void **state)
{
    static const struct {
        const char *line, *name;
        bool has;
    } cases[] = {
        { "java -jar x", "java", true },
        { "  ./bin/java\t-x", "java", true },
        { "/usr/bin/java", "java", true },
        { "./start java", "java", false },
        { "./notjava", "java", false },
        { "./java.sh", "java", false },
        { "java/", "java", false },
        { "ava", "java", false },
        { "", "java", false },
        { "java", "", false },
        { "./", "", false },

    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (command_has_name(cases[i].line, cases[i].name) != cases[i].has)
            fail_msg("%s: %s", cases[i].line, cases[i].name);
    }
}

static void a_program_is_found_as_a_shell_would(void **state)
{
    static const struct {
        const char *line, *path, *file;
    } cases[] = {
        { "./ls -l", "./ls", "/usr/bin/./ls" },
        { "/usr/bin/ls", "/usr/bin/ls", "/usr/bin/ls" },
        { "ls -l", "/usr/bin/ls", "/usr/bin/ls" },
        { "../bin/ls", "../bin/ls", "/usr/bin/../bin/ls" },
        { "nosuchprogram", "/bin/sh", "/bin/sh" },
        { "./nosuchprogram", "/bin/sh", "/bin/sh" },
        { ".", "/bin/sh", "/bin/sh" },
        { "/etc/passwd", "/bin/sh", "/bin/sh" },
        { "/usr/bin", "/bin/sh", "/bin/sh" },
        { "/dev/null", "/bin/sh", "/bin/sh" },
        { "exec ls", "/bin/sh", "/bin/sh" },
        { "ls | cat", "/bin/sh", "/bin/sh" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct command c;

        command_plan(cases[i].line, "/usr/bin", "relative::/nowhere:/usr/bin", NULL, &a, &c);
        if (strcmp(c.path, cases[i].path) || strcmp(c.file, cases[i].file))
            fail_msg("%s: %s %s", cases[i].line, c.path, c.file);
        assert_int_equal(c.is_direct, strcmp(c.path, "/bin/sh") != 0);
        if (!c.is_direct)
            assert_string_equal(c.argv[2], cases[i].line);
    }
    arena_free(&a);
}

/* A file that was a program when it was last looked at is looked at again when it has
 * changed, and only then. */
static void a_program_is_opened_once(void **state)
{
    char path[] = "/tmp/command-XXXXXX";
    int fd = mkstemp(path);
    struct command_cache cache = { 0 };
    struct arena a = { 0 };
    struct command c;

    (void)state;
    assert_int_equal(fchmod(fd, 0700), 0);
    assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
    command_plan(path, "/", SPAWN_PATH, &cache, &a, &c);
    assert_true(c.is_direct);
    sys_fault("open", 1, EMFILE);
    command_plan(path, "/", SPAWN_PATH, &cache, &a, &c);
    assert_false(sys_fault_hit());
    assert_true(c.is_direct);
    sys_fault("open", 0, 0);
    assert_int_equal(pwrite(fd, "echo 1\n# \n", 10, 0), 10);
    assert_int_equal(fchmod(fd, 0755), 0); /* a clock that is coarse may have stood still */
    assert_int_equal(ftruncate(fd, 8), 0);
    command_plan(path, "/", SPAWN_PATH, &cache, &a, &c);
    assert_false(c.is_direct);
    assert_int_equal(fchmod(fd, 0600), 0);
    command_plan(path, "/", SPAWN_PATH, &cache, &a, &c);
    assert_false(c.is_direct);
    close(fd);
    unlink(path);
    arena_free(&a);
}

static void what_can_not_be_looked_at_is_the_shells(void **state)
{
    struct arena a = { 0 };
    struct command c;

    (void)state;
    for (int nth = 1; nth <= 4; nth++) { /* its path, stat, open, read */
        sys_fault("any", nth, EIO);
        command_plan("/usr/bin/ls", "/", SPAWN_PATH, NULL, &a, &c);
        assert_true(sys_fault_hit());
        assert_false(c.is_direct);
    }
    sys_fault("any", 0, 0);
    command_plan("/usr/bin/ls", "/", SPAWN_PATH, NULL, &a, &c);
    assert_true(c.is_direct);
    arena_free(&a);
}

static char program[64], pipe_path[64];
static atomic_bool is_over;

static void *swap(void *arg)
{
    while (!is_over)
        renameat2(AT_FDCWD, program, AT_FDCWD, pipe_path, RENAME_EXCHANGE);
    return arg;
}

/* The user can put a pipe, or a link to a device, in the program's place at any moment. */
static void what_takes_its_place_is_not_opened(void **state)
{
    enum { TIMES = 20000 };
    char dir[] = "/tmp/command-XXXXXX", events[4096];
    struct arena a = { 0 };
    struct command c;
    pthread_t thread;
    int fd, seen;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(program, sizeof(program), "%s/program", dir);
    snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", dir);
    assert_int_equal(mkfifo(pipe_path, 0755), 0);
    fd = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
    close(fd);
    seen = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(inotify_add_watch(seen, pipe_path, IN_OPEN) >= 0);
    is_over = false;
    assert_int_equal(pthread_create(&thread, NULL, swap, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        command_plan(program, "/", SPAWN_PATH, NULL, &a, &c);
        arena_reset(&a);
    }
    is_over = true;
    pthread_join(thread, NULL);
    assert_int_equal(read(seen, events, sizeof(events)), -1);
    close(seen);
    unlink(program);
    unlink(pipe_path);
    rmdir(dir);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_plain_words_are_split),
        cmocka_unit_test(a_command_has_the_name_of_its_file),
        cmocka_unit_test(a_program_is_found_as_a_shell_would),
        cmocka_unit_test(a_program_is_opened_once),
        cmocka_unit_test(what_can_not_be_looked_at_is_the_shells),
        cmocka_unit_test(what_takes_its_place_is_not_opened),
    };

    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
