/* SPDX-License-Identifier: MIT */
#include "base/io/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

/* Each test has an empty directory, and a clock that stands still. */
static struct {
    char dir[64], path[96], moved[96];
    struct clock_fake clock;
} here;

static int set_up(void **state)
{
    (void)state;
    snprintf(here.dir, sizeof(here.dir), "/tmp/test_log.XXXXXX");
    if (!mkdtemp(here.dir))
        return -1;
    snprintf(here.path, sizeof(here.path), "%s/log", here.dir);
    snprintf(here.moved, sizeof(here.moved), "%s/log.1", here.dir);
    clock_fake_init(&here.clock, 0, 1794721673123);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sys_fault("any", 0, 0);
    unlink(here.path);
    unlink(here.moved);
    return rmdir(here.dir);
}

static struct log *open_log(enum log_level level)
{
    struct log *l = NULL;
    struct err err;

    assert_int_equal(log_new(here.path, level, &here.clock.clock, &l, &err), 0);
    return l;
}

static void read_all(const char *path, struct buf *to)
{
    int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    while ((n = read(fd, buf_reserve(to, 4096), 4096)) > 0)
        to->len += (size_t)n;
    close(fd);
}

/* All lines of a file as an array of objects.  The test fails if a line is not an object or the
 * last one has no newline. */
static json_t *read_lines(const char *path)
{
    struct buf text = { 0 };
    json_t *lines = json_array();

    read_all(path, &text);
    while (text.len) {
        const char *end = memchr(buf_data(&text), '\n', text.len);
        size_t n = end ? (size_t)(end - buf_data(&text)) : 0;
        json_t *line;

        assert_non_null(end);
        line = json_loadb(buf_data(&text), n, JSON_REJECT_DUPLICATES, NULL);
        if (!json_is_object(line))
            fail_msg("not an object: %.*s", (int)n, buf_data(&text));
        json_array_append_new(lines, line);
        buf_drop(&text, n + 1);
    }
    buf_free(&text);
    return lines;
}

static const char *text_of(const json_t *lines, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(lines, i), key));

    return text ? text : "(none)";
}

static int64_t number_of(const json_t *lines, size_t i, const char *key)
{
    return json_integer_value(json_object_get(json_array_get(lines, i), key));
}

static void a_line_looks_as_the_header_says(void **state)
{
    struct log *l = open_log(LOG_INFO);
    struct err err = { .text = "no such host" };
    struct buf text = { 0 };

    (void)state;
    LOG(l, LOG_WARN, "agent refused", log_str("agent", "a-1"), log_int("wait_ms", 200),
        log_err(&err));
    LOG(l, LOG_INFO, "nothing more");
    LOG(l, LOG_ERROR, "extremes", log_int("a", INT64_MIN), log_int("b", INT64_MAX),
        log_str("c", NULL));
    read_all(here.path, &text);
    assert_string_equal(
        buf_text(&text),
        "{\"time\":\"2026-11-15T05:47:53.123Z\",\"level\":\"warn\",\"text\":\"agent refused\","
        "\"agent\":\"a-1\",\"wait_ms\":200,\"error\":\"no such host\"}\n"
        "{\"time\":\"2026-11-15T05:47:53.123Z\",\"level\":\"info\",\"text\":\"nothing more\"}\n"
        "{\"time\":\"2026-11-15T05:47:53.123Z\",\"level\":\"error\",\"text\":\"extremes\","
        "\"a\":-9223372036854775808,\"b\":9223372036854775807,\"c\":\"\"}\n");
    buf_free(&text);
    log_free(l);
}

static void a_level_keeps_itself_and_what_is_worse(void **state)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };

    (void)state;
    for (int limit = 0; limit < LOG_LEVELS; limit++) {
        struct log *l = open_log((enum log_level)limit);
        json_t *lines;

        assert_string_equal(log_level_name((enum log_level)limit), names[limit]);
        for (int level = 0; level < LOG_LEVELS; level++)
            LOG(l, (enum log_level)level, "x");
        lines = read_lines(here.path);
        assert_int_equal(json_array_size(lines), limit + 1);
        for (int i = 0; i <= limit; i++)
            assert_string_equal(text_of(lines, (size_t)i, "level"), names[i]);
        json_decref(lines);
        log_free(l);
        unlink(here.path);
    }
}

static void whatever_the_text_a_line_stays_one_line(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        { "two\nlines\r\n", "two\nlines\r\n" },
        { "\",\"level\":\"forged", "\",\"level\":\"forged" },
        { "back\\slash\ttab\x01\x1b[31m\x7f", "back\\slash\ttab\x01\x1b[31m\x7f" },
        { "\xE4\xB8\xBB\xE6\x9C\xBA \xF0\x9F\x98\x80",
          "\xE4\xB8\xBB\xE6\x9C\xBA \xF0\x9F\x98\x80" },
        { "bad \xFF\xC3", "bad \xEF\xBF\xBD\xEF\xBF\xBD" },
        { "", "" },
    };
    struct log *l = open_log(LOG_DEBUG);
    json_t *lines;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        LOG(l, LOG_DEBUG, cases[i].in, log_str("field", cases[i].in));
    lines = read_lines(here.path);
    assert_int_equal(json_array_size(lines), ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(text_of(lines, i, "text"), cases[i].out);
        assert_string_equal(text_of(lines, i, "field"), cases[i].out);
    }
    json_decref(lines);
    log_free(l);
}

static void lost_lines_are_counted_by_the_next(void **state)
{
    struct log *l = open_log(LOG_INFO);
    json_t *lines;

    (void)state;
    for (int i = 0; i < 3; i++) {
        sys_fault("write", 1, ENOSPC);
        LOG(l, LOG_INFO, "lost");
        assert_true(sys_fault_hit());
        LOG(l, LOG_DEBUG, "not wanted, so not lost");
    }
    LOG(l, LOG_INFO, "first");
    LOG(l, LOG_INFO, "second");
    lines = read_lines(here.path);
    assert_int_equal(json_array_size(lines), 2);
    assert_int_equal(number_of(lines, 0, "lines_lost_before"), 3);
    assert_string_equal(text_of(lines, 0, "text"), "first");
    assert_null(json_object_get(json_array_get(lines, 1), "lines_lost_before"));
    json_decref(lines);
    log_free(l);
}

/* A limit on the file's size cuts a line in the middle, as a full disk does.  The next line
 * starts on a new line. */
static void a_torn_line_spoils_no_other(void **state)
{
    struct rlimit old, small;
    struct log *l = open_log(LOG_INFO);
    struct buf text = { 0 };
    char *second;
    json_t *line;

    (void)state;
    getrlimit(RLIMIT_FSIZE, &old);
    small = (struct rlimit){ 30, old.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    LOG(l, LOG_INFO, "torn");
    LOG(l, LOG_INFO, "lost");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    LOG(l, LOG_INFO, "whole");
    LOG(l, LOG_INFO, "also whole");
    read_all(here.path, &text);
    second = strchr(buf_text(&text), '\n') + 1;
    assert_int_equal(second - buf_data(&text), 31);
    buf_drop(&text, 31);
    line = json_loads(buf_text(&text), JSON_DISABLE_EOF_CHECK, NULL);
    assert_string_equal(json_string_value(json_object_get(line, "text")), "whole");
    assert_int_equal(json_integer_value(json_object_get(line, "lines_lost_before")), 2);
    json_decref(line);
    assert_non_null(strstr(buf_data(&text), "2}\n{\"time\":")); /* no empty line between */
    buf_free(&text);
    log_free(l);
}

static void reopen_follows_a_rotation(void **state)
{
    struct log *l = open_log(LOG_INFO);
    struct err err;
    json_t *before, *after;

    (void)state;
    LOG(l, LOG_INFO, "a");
    assert_int_equal(rename(here.path, here.moved), 0);
    LOG(l, LOG_INFO, "b");
    assert_int_equal(log_reopen(l, &err), 0);
    LOG(l, LOG_INFO, "c");
    assert_int_equal(log_reopen(l, &err), 0); /* appends, does not truncate */
    LOG(l, LOG_INFO, "d");
    before = read_lines(here.moved);
    after = read_lines(here.path);
    assert_int_equal(json_array_size(before), 2);
    assert_string_equal(text_of(before, 1, "text"), "b");
    assert_int_equal(json_array_size(after), 2);
    assert_string_equal(text_of(after, 0, "text"), "c");
    assert_string_equal(text_of(after, 1, "text"), "d");
    json_decref(before);
    json_decref(after);
    log_free(l);
}

static void another_place_and_level_from_the_next_line_on(void **state)
{
    struct log *l = open_log(LOG_INFO);
    struct err err = { 0 };
    json_t *lines;

    (void)state;
    LOG(l, LOG_INFO, "a");
    assert_int_equal(log_set(l, here.moved, LOG_ERROR, &err), 0);
    LOG(l, LOG_WARN, "silent");
    LOG(l, LOG_ERROR, "b");
    assert_int_equal(log_set(l, "/nowhere/at/all", LOG_DEBUG, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    LOG(l, LOG_WARN, "silent");
    assert_int_equal(log_set(l, here.path, LOG_DEBUG, &err), 0);
    LOG(l, LOG_DEBUG, "c");
    lines = read_lines(here.moved);
    assert_int_equal(json_array_size(lines), 1);
    assert_string_equal(text_of(lines, 0, "text"), "b");
    json_decref(lines);
    lines = read_lines(here.path);
    assert_int_equal(json_array_size(lines), 2);
    assert_string_equal(text_of(lines, 1, "text"), "c");
    json_decref(lines);
    log_free(l);
    assert_int_equal(log_set(NULL, here.path, LOG_INFO, &err), 0);
}

/* From standard error to a file, back and again; standard error itself is never closed. */
static void it_moves_between_standard_error_and_a_file(void **state)
{
    int kept = dup(STDERR_FILENO), to = open(here.moved, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct err err = { 0 };
    struct log *l;
    json_t *lines;

    (void)state;
    assert_true(kept >= 0 && to >= 0 && dup2(to, STDERR_FILENO) >= 0);
    assert_int_equal(log_new(NULL, LOG_INFO, &clock_system, &l, &err), 0);
    LOG(l, LOG_INFO, "a");
    assert_int_equal(log_set(l, here.path, LOG_INFO, &err), 0);
    LOG(l, LOG_INFO, "b");
    assert_int_equal(log_set(l, NULL, LOG_INFO, &err), 0);
    LOG(l, LOG_INFO, "c");
    assert_int_equal(log_set(l, here.path, LOG_INFO, &err), 0);
    LOG(l, LOG_INFO, "d");
    log_free(l);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(to);
    lines = read_lines(here.moved);
    assert_int_equal(json_array_size(lines), 2);
    assert_string_equal(text_of(lines, 1, "text"), "c");
    json_decref(lines);
    lines = read_lines(here.path);
    assert_int_equal(json_array_size(lines), 2);
    assert_string_equal(text_of(lines, 1, "text"), "d");
    json_decref(lines);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void a_reopen_that_fails_keeps_the_old_file(void **state)
{
    static const struct {
        const char *call;
        int error;
    } cases[] = { { "open", EMFILE }, { "open", ENOSPC }, { "dup3", EIO } };
    struct log *l = open_log(LOG_INFO);
    int before = open_descriptors();
    json_t *lines;

    (void)state;
    assert_int_equal(rename(here.path, here.moved), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;

        sys_fault(cases[i].call, 1, cases[i].error);
        assert_int_equal(log_reopen(l, &err), -1);
        assert_true(sys_fault_hit());
        assert_int_equal(err.code, ERR_SYSTEM);
        assert_int_equal(err.sys, cases[i].error);
        assert_non_null(strstr(err.text, here.path));
        LOG(l, LOG_INFO, "still here");
        assert_int_equal(open_descriptors(), before);
    }
    lines = read_lines(here.moved);
    assert_int_equal(json_array_size(lines), ARRAY_LEN(cases));
    json_decref(lines);
    log_free(l);
    assert_int_equal(open_descriptors(), before - 1);
}

static void a_log_that_cannot_be_opened_is_an_error(void **state)
{
    struct log *l = (struct log *)&here;
    struct err err;

    (void)state;
    assert_int_equal(log_new("/nowhere/log", LOG_INFO, &here.clock.clock, &l, &err), -1);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "open log file /nowhere/log: No such file or directory");
    assert_ptr_equal(l, &here);
}

/* Neither a pipe without a reader nor a full pipe blocks the loop. */
static void a_pipe_never_blocks_the_writer(void **state)
{
    struct log *l = NULL;
    struct err err;
    int reader;
    char *large = xalloc(100000);

    (void)state;
    memset(large, 'x', 99999);
    assert_int_equal(mkfifo(here.path, 0600), 0);
    assert_int_equal(log_new(here.path, LOG_INFO, &here.clock.clock, &l, &err), -1);
    assert_int_equal(err.sys, ENXIO);
    reader = open(here.path, O_RDONLY | O_NONBLOCK);
    l = open_log(LOG_INFO);
    for (int i = 0; i < 10; i++)
        LOG(l, LOG_INFO, large);
    close(reader);
    log_free(l);
    free(large);
}

static void without_a_path_lines_go_to_standard_error(void **state)
{
    int saved = dup(STDERR_FILENO), fd = open(here.path, O_WRONLY | O_CREAT, 0600);
    struct log *l;
    struct err err;
    json_t *lines;

    (void)state;
    assert_int_equal(log_new(NULL, LOG_INFO, &here.clock.clock, &l, &err), 0);
    dup2(fd, STDERR_FILENO);
    LOG(l, LOG_INFO, "x");
    assert_int_equal(log_reopen(l, &err), 0);
    log_free(l);
    assert_int_equal(write(STDERR_FILENO, "{}\n", 3), 3); /* it was not closed */
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fd);
    lines = read_lines(here.path);
    assert_int_equal(json_array_size(lines), 2);
    json_decref(lines);
}

static void a_null_log_is_silent(void **state)
{
    struct err err;

    (void)state;
    LOG(NULL, LOG_ERROR, "x", log_int("n", 1));
    assert_int_equal(log_reopen(NULL, &err), 0);
    log_free(NULL);
}

enum { WRITERS = 4, LINES = 500 };

static void *write_lines(void *arg)
{
    for (int i = 0; i < LINES; i++)
        LOG(arg, LOG_INFO, "a line of some length, so that a torn one would show", log_int("i", i));
    return NULL;
}

/* Threads write lines while the file is opened again and again, and some writes fail: each line
 * is in the file or counted as lost. */
static void lines_of_threads_do_not_mix(void **state)
{
    struct log *l = open_log(LOG_INFO);
    pthread_t threads[WRITERS];
    int64_t n = 0;
    json_t *lines;

    (void)state;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, l), 0);
    for (int i = 0; i < 50; i++) {
        struct err err;

        assert_int_equal(log_reopen(l, &err), 0);
        sys_fault("write", 3, ENOSPC);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    sys_fault("any", 0, 0);
    LOG(l, LOG_INFO, "last");
    lines = read_lines(here.path);
    for (size_t i = 0; i < json_array_size(lines); i++)
        n += 1 + number_of(lines, i, "lines_lost_before");
    assert_int_equal(n, WRITERS * LINES + 1);
    json_decref(lines);
    log_free(l);
}

/* Creates, uses and frees a log; true if every call succeeded. */
static bool live(void)
{
    struct log *l = NULL;
    struct err err = { 0 };
    bool ok = true;

    if (log_new(here.path, LOG_INFO, &here.clock.clock, &l, &err)) {
        assert_int_equal(err.sys, EMFILE);
        assert_null(l);
        return false;
    }
    LOG(l, LOG_INFO, "a");
    if (log_reopen(l, &err)) {
        assert_int_equal(err.sys, EMFILE);
        ok = false;
    }
    LOG(l, LOG_INFO, "b");
    log_free(l);
    return ok;
}

static void whichever_call_fails_nothing_leaks(void **state)
{
    int before = open_descriptors(), failed = 0;

    (void)state;
    for (long nth = 1;; nth++) {
        sys_fault("any", nth, EMFILE);
        failed += !live();
        assert_int_equal(open_descriptors(), before);
        if (!sys_fault_hit())
            break;
    }
    assert_int_equal(failed, 3);
    json_decref(read_lines(here.path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_looks_as_the_header_says),
        TEST(a_level_keeps_itself_and_what_is_worse),
        TEST(whatever_the_text_a_line_stays_one_line),
        TEST(lost_lines_are_counted_by_the_next),
        TEST(a_torn_line_spoils_no_other),
        TEST(reopen_follows_a_rotation),
        TEST(another_place_and_level_from_the_next_line_on),
        TEST(it_moves_between_standard_error_and_a_file),
        TEST(a_reopen_that_fails_keeps_the_old_file),
        TEST(a_log_that_cannot_be_opened_is_an_error),
        TEST(a_pipe_never_blocks_the_writer),
        TEST(without_a_path_lines_go_to_standard_error),
        TEST(a_null_log_is_silent),
        TEST(lines_of_threads_do_not_mix),
        TEST(whichever_call_fails_nothing_leaks),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
