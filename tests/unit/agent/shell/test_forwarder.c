/* SPDX-License-Identifier: MIT */
#include "agent/shell/forwarder.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "agent/exec/outlog_append.h"
#include "agent/exec/outlog_trim.h"
#include "agent/shell/forward_sink.h"
#include "tests/lib/agent_world.h"

enum { WAIT_MS = 30000, LINE_SIZE = 10000 };

struct fixture {
    struct world *w;
    struct outlog *o;
    struct forwarder *forwarder;
    int fd, server; /* fd: of file x, as its process has it */
    char dir[96], path[96], got[LINE_SIZE];
};

/* A syslog daemon begins to listen. */
static void serve(struct fixture *t)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    (void)unlink(t->path);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", t->path);
    t->server = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(t->server, (const struct sockaddr *)&at, sizeof(at)), 0);
}

static int set_up(void **state)
{
    struct fixture *t = xalloc(sizeof(*t));
    struct forward_options options = forward_defaults();
    struct err err;
    uint64_t from;

    t->w = world_new();
    snprintf(t->dir, sizeof(t->dir), "%s/logs", t->w->dir);
    snprintf(t->path, sizeof(t->path), "%s/log", t->w->dir);
    assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
    assert_int_equal(
        outlog_append(t->o, "x", t->w->nobody->uid, t->w->nobody->gid, &t->fd, &from, &err), 0);
    options.syslog = t->path;
    options.lag_max_bytes = 256 << 10;
    options.count_max_bytes = 4 << 20;
    t->forwarder = forwarder_new(t->o, t->dir, &options);
    t->server = -1;
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *t = *state;

    assert_true(forwarder_free(t->forwarder, WAIT_MS));
    close(t->fd);
    close(t->server);
    outlog_close(t->o);
    world_free(t->w);
    free(t);
    return 0;
}

static void begin(struct fixture *t)
{
    forwarder_follow(t->forwarder, "x", "ns", "web", OUTPUT_SYSLOG,
                     outlog_end(t->o, "x", OUTLOG_MAY_WAIT));
    forwarder_set_pid(t->forwarder, "x", 17, 1);
}

static void say_n(struct fixture *t, const char *text, size_t n)
{
    assert_int_equal(write(t->fd, text, n), n);
}

static void say(struct fixture *t, const char *text)
{
    say_n(t, text, strlen(text));
}

static bool receive(struct fixture *t)
{
    static const char head[] = " ns.web[17]: ";
    char raw[LINE_SIZE];
    ssize_t n = recv(t->server, raw, sizeof(raw) - 1, 0);
    const char *text;

    if (n < 0)
        return false;
    raw[n] = '\0';
    assert_int_equal(strncmp(raw, "<30>", 4), 0);
    text = strstr(raw, head);
    assert_non_null(text);
    snprintf(t->got, sizeof(t->got), "%s", text + strlen(head));
    return true;
}

static const char *next(struct fixture *t)
{
    WAIT_UNTIL(receive(t));
    return t->got;
}

static void whole_lines_are_forwarded_from_the_end_on(void **state)
{
    struct fixture *t = *state;

    serve(t);
    say(t, "before\n");
    begin(t);
    say(t, "one\ntw");
    assert_string_equal(next(t), "one");
    say(t, "o\n\nthree\n");
    assert_string_equal(next(t), "two");
    assert_string_equal(next(t), "three");
    assert_false(receive(t));
}

static void bytes_that_are_not_text_and_long_lines(void **state)
{
    enum { LONG = 1 << 20, PART = 8192 };
    struct fixture *t = *state;
    char *text = xalloc(LONG + 1);
    size_t n = 0;

    serve(t);
    begin(t);
    say_n(t, "a\0b\n", 4);
    assert_string_equal(next(t), "a\xEF\xBF\xBD"
                                 "b");
    memset(text, 'x', LONG);
    text[LONG] = '\n';
    for (size_t at = 0; at < LONG + 1; at += n) { /* it may not get too far ahead */
        n = LONG + 1 - at < 16 * PART ? LONG + 1 - at : 16 * PART;
        say_n(t, text + at, n);
        for (size_t i = 0; i + 1 < n / PART; i++)
            assert_int_equal(strlen(next(t)), PART);
    }
    say(t, "next\n");
    while (strcmp(next(t), "next") != 0)
        assert_int_equal(t->got[0], 'x');
    free(text);
}

static void a_socket_that_is_missing_and_comes_back_loses_nothing(void **state)
{
    struct fixture *t = *state;

    begin(t);
    say(t, "one\n");
    WAIT_UNTIL(forwarder_has(t->forwarder, "x"));
    serve(t);
    assert_string_equal(next(t), "one");
    close(t->server); /* refuses: the file is there, and nothing listens */
    say(t, "two\n");
    poll(NULL, 0, 30);
    serve(t);
    assert_string_equal(next(t), "two");
    close(t->server);
    (void)unlink(t->path);
    say(t, "three\n");
    poll(NULL, 0, 30);
    serve(t);
    assert_string_equal(next(t), "three");
}

static void a_slow_receiver_gets_all_lines_in_order(void **state)
{
    enum { LINES = 1500 };
    struct fixture *t = *state;
    char line[16];

    serve(t);
    begin(t);
    for (int i = 0; i < LINES; i++)
        say(t, (snprintf(line, sizeof(line), "%d\n", i), line));
    poll(NULL, 0, 100); /* the queue of the socket is full by now */
    for (int i = 0; i < LINES; i++)
        assert_int_equal(strtol(next(t), NULL, 10), i);
}

/* Adds up what is forwarded and what is reported as lost, until the last line comes. */
static void lost_lines_are_counted(void **state)
{
    enum { LINES = 100000 };
    struct fixture *t = *state;
    struct buf b = { 0 };
    long lost = 0, got = 0, n;

    serve(t);
    begin(t);
    for (int i = 0; i < LINES; i++)
        buf_printf(&b, "line %06d\n", i);
    say_n(t, buf_data(&b), b.len);
    say(t, "last\n");
    while (strcmp(next(t), "last") != 0) {
        n = strtol(t->got, NULL, 10);
        if (n && !strcmp(strchr(t->got, ' '), " lines were not forwarded"))
            lost += n;
        else
            got++;
    }
    assert_true(lost > 0);
    assert_int_equal(lost + got, LINES);
    buf_free(&b);
}

/* Less is written at a time than a trim keeps, so only a wrong position loses or repeats a line. */
static void trimming_in_between_is_not_noticed(void **state)
{
    enum { ROUNDS = 12, LINES = 100, KEPT = 8192 };
    struct fixture *t = *state;
    struct buf b = { 0 };
    struct err err;
    bool trimmed;
    char line[32];
    int trims = 0;

    serve(t);
    begin(t);
    for (int round = 0; round < ROUNDS; round++) {
        buf_truncate(&b, 0);
        for (int i = 0; i < LINES; i++)
            buf_printf(&b, "%06d %040d\n", LINES * round + i, 0);
        say_n(t, buf_data(&b), b.len);
        assert_int_equal(outlog_trim(t->o, "x", KEPT, &trimmed, &err), 0);
        trims += trimmed;
        for (int i = 0; i < LINES; i++) {
            snprintf(line, sizeof(line), "%06d ", LINES * round + i);
            assert_int_equal(strncmp(next(t), line, 7), 0);
        }
    }
    assert_true(trims > 2);
    buf_free(&b);
}

/* As logrotate does with copytruncate, and as it does without. */
static void rotation_loses_nothing_of_what_comes_later(void **state)
{
    struct fixture *t = *state;
    struct err err;
    uint64_t from;

    serve(t);
    begin(t);
    say(t, "a rather long line\n");
    assert_string_equal(next(t), "a rather long line");
    assert_int_equal(ftruncate(t->fd, 0), 0);
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_MAY_WAIT), 19);
    say(t, "short\n");
    assert_string_equal(next(t), "short");
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_MAY_WAIT), 25);
    assert_int_equal(rename(world_text("%s/x", t->dir), world_text("%s/x.old", t->dir)), 0);
    close(t->fd);
    assert_int_equal(
        outlog_append(t->o, "x", t->w->nobody->uid, t->w->nobody->gid, &t->fd, &from, &err), 0);
    assert_int_equal(from, 25);
    say(t, "another\n");
    assert_string_equal(next(t), "another");
}

static void what_is_not_followed_any_more_is_not_forwarded(void **state)
{
    struct fixture *t = *state;

    serve(t);
    begin(t);
    say(t, "one\n");
    assert_string_equal(next(t), "one");
    forwarder_follow(t->forwarder, "x", "", "", OUTPUT_FILE, 0);
    assert_false(forwarder_has(t->forwarder, "x"));
    WAIT_UNTIL(forwarder_is_idle(t->forwarder));
    say(t, "two\n");
    begin(t);
    say(t, "three\n");
    assert_string_equal(next(t), "three");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_lines_are_forwarded_from_the_end_on),
        TEST(bytes_that_are_not_text_and_long_lines),
        TEST(a_socket_that_is_missing_and_comes_back_loses_nothing),
        TEST(a_slow_receiver_gets_all_lines_in_order),
        TEST(lost_lines_are_counted),
        TEST(trimming_in_between_is_not_noticed),
        TEST(rotation_loses_nothing_of_what_comes_later),
        TEST(what_is_not_followed_any_more_is_not_forwarded),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("forwarder", tests, NULL, NULL);
}
