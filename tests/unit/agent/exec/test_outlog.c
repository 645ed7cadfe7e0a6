/* SPDX-License-Identifier: MIT */
#include "agent/exec/outlog.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "agent/exec/outlog_append.h"
#include "agent/exec/outlog_read.h"
#include "agent/exec/outlog_trim.h"
#include "base/os/time.h"
#include "base/text/utf8.h"
#include "tests/lib/agent_world.h"

enum { HEAD_BYTES = 64 }; /* a line that NAME.1 begins with is shorter */

/* A file, and where what is said in it from now on begins. */
struct file {
    int fd;
    uint64_t from;
};

struct out {
    struct world *w;
    struct outlog *o;
    char dir[96];
};

static int set_up(void **state)
{
    struct out *t = xalloc(sizeof(*t));
    struct err err;

    t->w = world_new();
    snprintf(t->dir, sizeof(t->dir), "%s/logs", t->w->dir);
    assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct out *t = *state;

    outlog_close(t->o);
    world_free(t->w);
    free(t);
    return 0;
}

static const char *path_of(struct out *t, const char *name)
{
    return world_text("%s/%s", t->dir, name);
}

static struct file begin(struct out *t, const char *name)
{
    const struct user *user = t->w->nobody;
    struct err err = { 0 };
    struct file f;

    if (outlog_append(t->o, name, user->uid, user->gid, &f.fd, &f.from, &err))
        fail_msg("%s", err.text);
    return f;
}

static void say(struct file f, const char *bytes, size_t n)
{
    assert_int_equal(write(f.fd, bytes, n), n);
}

static const char *tail(struct out *t, const char *name, uint64_t from, size_t max)
{
    static struct buf b;
    struct err err = { 0 };

    buf_free(&b);
    if (outlog_tail(t->o, name, from, 0, max, OUTLOG_MAY_WAIT, &b, &err))
        fail_msg("%s", err.text);
    assert_int_equal(utf8_valid(buf_data(&b), b.len), b.len);
    return buf_text(&b);
}

static bool trim(struct out *t, const char *name, uint64_t max)
{
    bool trimmed = false;
    struct err err = { 0 };

    if (outlog_trim(t->o, name, max, &trimmed, &err))
        fail_msg("%s", err.text);
    return trimmed;
}

static void names_are_safe_and_told_apart(void **state)
{
    static const char *const cases[][2] = {
        { "ns:web_1", "ns%3Aweb_1" }, { "../../etc/passwd", "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd" },
        { ".hidden", "%2Ehidden" },   { "x.1", "x%2E1" },
        { "a%b", "a%25b" },           { "\xE4\xB8\xAD", "%E4%B8%AD" },
        { "a\nb", "a%0Ab" },
    };
    char name[OUTLOG_NAME_SIZE], other[OUTLOG_NAME_SIZE], text[1001];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        outlog_name(cases[i][0], "", name);
        assert_string_equal(name, cases[i][1]);
    }
    outlog_name("", "", name);
    assert_true(strlen(name) > 0);
    memset(text, '/', sizeof(text) - 1);
    text[1000] = '\0';
    outlog_name(text, "", name);
    text[999] = 'x'; /* far behind where it is cut */
    outlog_name(text, "", other);
    assert_true(strlen(name) < OUTLOG_NAME_SIZE && strlen(other) < OUTLOG_NAME_SIZE);
    assert_string_not_equal(name, other);
    for (const char *p = name; *p; p++)
        assert_true(*p != '/' && *p != '.' && *p != '~');
    outlog_name(text, "reload", other);
    assert_true(strlen(other) < OUTLOG_NAME_SIZE);
    assert_string_equal(strchr(other, '~'), "~reload");
    outlog_name("a~stop", "", name); /* no process is another one's command */
    outlog_name("a", "stop", other);
    assert_string_equal(name, "a%7Estop");
    assert_string_equal(other, "a~stop");
}

static void a_folder_that_is_not_ours_alone_is_refused(void **state)
{
    struct out *t = *state;
    struct outlog *o;
    struct err err;

    assert_int_equal(chmod(t->dir, 0777), 0);
    assert_int_equal(outlog_open(t->dir, &o, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(chmod(t->dir, 0755), 0);
    assert_int_equal(chown(t->dir, 65534, 65534), 0);
    assert_int_equal(outlog_open(t->dir, &o, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(symlink(t->w->dir, world_text("%s-link", t->dir)), 0);
    assert_int_equal(outlog_open(world_text("%s-link", t->dir), &o, &err), -1);
    assert_int_equal(outlog_open("/nowhere/at/all", &o, &err), -1);
    assert_int_equal(err.sys, ENOENT);
}

static void a_process_writes_to_its_own_file(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "web");
    struct spawn_request r = { .command = "echo a; echo b > /dev/stderr; echo c >> /dev/stdout",
                               .setup_path = t->w->dir,
                               .user = t->w->nobody,
                               .out_fd = f.fd,
                               .cgroup_fd = -1 };
    struct spawn_result got;
    struct stat st;
    struct err err;

    assert_int_equal(fcntl(f.fd, F_GETFL) & O_APPEND, O_APPEND);
    assert_int_equal(spawn(t->w->spawner, &r, &got, &err), 0);
    t->w->started[t->w->n++] = got;
    close(f.fd);
    assert_int_equal(world_end(&got).code, 0);
    /* Opened again, the second time without O_APPEND and truncated: its own affair. */
    assert_string_equal(tail(t, "web", 0, OUTLOG_TAIL_BYTES), "b\nc\n");
    assert_int_equal(stat(path_of(t, "web"), &st), 0);
    assert_int_equal(st.st_uid, t->w->nobody->uid);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* The one before may still run, with the file open. */
static void another_user_gets_a_file_without_what_was_said_before(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x"), g = { .fd = -1 };
    struct stat st;
    struct err err;

    say(f, "secret\n", 7);
    assert_int_equal(outlog_append(t->o, "x", 65533, 65533, &g.fd, &g.from, &err), 0);
    assert_int_equal(fstat(g.fd, &st), 0);
    assert_int_equal(st.st_uid, 65533);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(g.from, 7);
    say(f, "another secret\n", 15);
    say(g, "new\n", 4);
    assert_int_equal(fstat(g.fd, &st), 0);
    assert_int_equal(st.st_size, 4);
    assert_int_equal(stat(path_of(t, "x.1"), &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_string_equal(tail(t, "x", 0, 100), "secret\nnew\n");
    assert_string_equal(tail(t, "x", g.from, 100), "new\n");
    close(g.fd);
    outlog_close(t->o); /* positions are those of before */
    assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 11);
    assert_string_equal(tail(t, "x", 7, 100), "new\n");
    close(f.fd);
}

static void without_room_another_users_words_are_dropped_not_passed_on(void **state)
{
    struct out *t = *state;

    for (int nth = 1; nth < 20; nth++) {
        struct file f = begin(t, "x"), g = { .fd = -1 };
        struct err err = { 0 };
        struct stat st;

        say(f, "secret\n", 7);
        sys_fault("any", nth, ENOSPC);
        (void)outlog_append(t->o, "x", 65533, 65533, &g.fd, &g.from, &err); /* or it fails */
        sys_fault("any", 0, 0);
        assert_int_equal(lstat(path_of(t, "x"), &st) && errno != ENOENT, 0);
        if (g.fd >= 0) {
            assert_int_equal(fstat(g.fd, &st), 0);
            assert_int_equal(st.st_size, 0);
            assert_int_equal(st.st_uid, 65533);
            close(g.fd);
        } else if (!lstat(path_of(t, "x"), &st)) {
            assert_true(st.st_uid == t->w->nobody->uid || st.st_size == 0);
        }
        close(f.fd);
        assert_int_equal(outlog_remove(t->o, "x", &err), 0);
    }
}

static void what_is_not_a_file_of_ours_is_refused(void **state)
{
    struct out *t = *state;
    struct buf b = { 0 };
    struct err err;
    uint64_t size;
    bool trimmed;
    int fd;

    assert_int_equal(symlink("/etc/passwd", path_of(t, "link")), 0);
    assert_int_equal(outlog_append(t->o, "link", 65534, 65534, &fd, &size, &err), -1);
    assert_int_equal(err.sys, ELOOP);
    assert_int_equal(outlog_trim(t->o, "link", 1, &trimmed, &err), -1);
    assert_int_equal(outlog_tail(t->o, "link", 0, 0, 100, OUTLOG_MAY_WAIT, &b, &err), -1);
    assert_int_equal(mkfifo(path_of(t, "pipe"), 0666), 0);
    assert_int_equal(outlog_tail(t->o, "pipe", 0, 0, 100, OUTLOG_MAY_WAIT, &b, &err), -1);
    assert_int_equal(err.code, ERR_DENIED);
    assert_int_equal(mkdir(path_of(t, "dir"), 0755), 0);
    assert_int_equal(outlog_append(t->o, "dir", 65534, 65534, &fd, &size, &err), -1);
    assert_int_equal(b.len, 0);
}

static void the_tail_is_text(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        size_t max;
        const char *tail;
    } cases[] = {
#define BYTES(text) text, sizeof(text) - 1
        { BYTES("hello\n"), 100, "hello\n" },
        { BYTES("hello\n"), 3, "lo\n" },
        { BYTES(""), 100, "" },
        { BYTES("a\0b"), 100,
          "a\xEF\xBF\xBD"
          "b" },
        { BYTES("\xFFx"), 100, "\xEF\xBF\xBDx" },
        { BYTES("x\xC3"), 100, "x\xEF\xBF\xBD" },
        { BYTES("a\xE4\xB8\xAD"), 3, "\xE4\xB8\xAD" },
        { BYTES("a\xE4\xB8\xADz"), 3, "z" }, /* cut inside of it */
        { BYTES("a\xE4\xB8\xADz"), 2, "z" },
        { BYTES("\x80\x80\x80\x80z"), 100, "\xEF\xBF\xBDz" },
#undef BYTES
    };
    struct out *t = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct file f = begin(t, "x");
        struct err err;

        say(f, cases[i].bytes, cases[i].n);
        close(f.fd);
        if (strcmp(tail(t, "x", 0, cases[i].max), cases[i].tail) != 0)
            fail_msg("case %zu: %s", i, tail(t, "x", 0, cases[i].max));
        assert_int_equal(outlog_remove(t->o, "x", &err), 0);
    }
    assert_string_equal(tail(t, "x", 0, 100), ""); /* there is none */
}

static void what_was_there_before_can_be_left_out(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");

    assert_int_equal(f.from, 0);
    say(f, "before\n", 7);
    close(f.fd);
    f = begin(t, "x");
    assert_int_equal(f.from, 7);
    say(f, "after\n", 6);
    close(f.fd);
    assert_string_equal(tail(t, "x", f.from, 100), "after\n");
    assert_string_equal(tail(t, "x", f.from, 3), "er\n");
    assert_string_equal(tail(t, "x", 0, 100), "before\nafter\n");
    assert_string_equal(tail(t, "x", 100, 100), "before\nafter\n"); /* cut short since */
}

static void last_lines_are_counted_from_the_end(void **state)
{
    static const struct {
        const char *text;
        size_t lines;
        const char *last;
    } cases[] = {
        { "a\nb\nc\n", 2, "b\nc\n" },
        { "a\nb\nc", 2, "b\nc" },
        { "a\nb\n", 5, "a\nb\n" },
        { "a\n\n\n", 2, "\n\n" },
        { "", 3, "" },
        { "a", 1, "a" },
        { "\n", 1, "\n" },
        { "a\nb\n", 0, "" },
        { "a\nb\n", 1, "b\n" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = strlen(cases[i].text);

        assert_string_equal(cases[i].text + outlog_last_lines(cases[i].text, n, cases[i].lines),
                            cases[i].last);
    }
}

/* Numbered lines, so that one that is missing or doubled shows. */
static void add_lines(struct file f, int from, int to)
{
    for (int i = from; i < to; i++)
        say(f, world_text("%07d\n", i), 8);
}

static void trimming_keeps_the_newest_and_the_writer(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    const char *text;
    struct stat st;
    int first;

    add_lines(f, 0, 3000);
    assert_false(trim(t, "x", 24000));
    assert_true(trim(t, "x", 16000));
    assert_false(trim(t, "x", 16000));
    add_lines(f, 3000, 3100); /* with the descriptor it had all the time */
    close(f.fd);
    assert_int_equal(stat(path_of(t, "x"), &st), 0);
    assert_true(st.st_size < 800 + 4096);
    assert_int_equal(stat(path_of(t, "x.1"), &st), 0);
    assert_true(st.st_size <= 16000 + HEAD_BYTES);
    text = tail(t, "x", 0, 60000);
    first = (int)strtol(text, NULL, 10);
    assert_int_equal(first, 1000); /* 16,000 bytes of 24,000 were kept */
    for (int i = first; i < 3100; i++, text += 8)
        assert_int_equal(strtol(text, NULL, 10), i);
    assert_string_equal(text, "");
}

/* Where blocks can not be taken off the front, by copying and truncating. */
static void trimming_works_on_any_file_system(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct stat st;

    add_lines(f, 0, 3000);
    sys_fault("fallocate", 1, EOPNOTSUPP);
    assert_true(trim(t, "x", 16000));
    assert_true(sys_fault_hit());
    assert_int_equal(stat(path_of(t, "x"), &st), 0);
    assert_int_equal(st.st_size, 0);
    add_lines(f, 3000, 3001);
    close(f.fd);
    assert_int_equal(stat(path_of(t, "x"), &st), 0);
    assert_int_equal(st.st_size, 8);
    assert_string_equal(tail(t, "x", 0, 16), "0002999\n0003000\n");
}

static void a_file_of_any_size_can_be_trimmed(void **state)
{
    struct out *t = *state;

    for (int lines = 1; lines < 1600; lines += 37) {
        struct file f = begin(t, "x");
        struct err err;

        add_lines(f, 0, lines);
        assert_int_equal(trim(t, "x", 2048), lines * 8 > 2048);
        add_lines(f, lines, lines + 1);
        close(f.fd);
        assert_string_equal(tail(t, "x", 0, 8), world_text("%07d\n", lines));
        assert_int_equal(outlog_remove(t->o, "x", &err), 0);
    }
}

/* Whether the file system can take blocks off the front of a file. */
static bool can_collapse(struct out *t)
{
    int fd = open(path_of(t, "probe"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool can = !ftruncate(fd, 1 << 16) && !fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);

    close(fd);
    return can;
}

/* The lines of a file and of the one before it, one number each, go up by one. */
static bool check_lines(struct out *t, long *last)
{
    const char *text = tail(t, "x", 0, 1 << 20), *at = strchr(text, '\n');
    long before = -1;

    for (at = at ? at + 1 : text; strchr(at, '\n'); at = strchr(at, '\n') + 1) {
        long n = strtol(at, NULL, 10);

        if (before >= 0 && n != before + 1)
            fail_msg("%ld follows %ld", n, before);
        before = n;
    }
    *last = before;
    return before > 0;
}

static void nothing_is_lost_under_a_writers_hands(void **state)
{
    enum { MAX = 32 * 1024, TRIMS = 20 };
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct spawn_request r = { .command = "i=0; while test $i -lt 50000000; do echo $i; "
                                          "i=$((i+1)); done",
                               .setup_path = t->w->dir,
                               .user = t->w->nobody,
                               .out_fd = f.fd,
                               .cgroup_fd = -1 };
    struct spawn_result got;
    struct err err;
    long last = 0;

    if (!can_collapse(t))
        skip();
    assert_int_equal(spawn(t->w->spawner, &r, &got, &err), 0);
    t->w->started[t->w->n++] = got;
    close(f.fd);
    for (int trims = 0; trims < TRIMS; trims++) {
        WAIT_UNTIL(trim(t, "x", MAX));
        assert_true(check_lines(t, &last));
        assert_false(world_ended(got.pidfd));
    }
    assert_true(last > TRIMS * MAX / 8);
}

static void a_flood_is_bounded(void **state)
{
    enum { MAX = 256 * 1024 };
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct spawn_request r = { .command = "./victim --flood",
                               .setup_path = t->w->dir,
                               .user = t->w->nobody,
                               .out_fd = f.fd,
                               .cgroup_fd = -1 };
    struct spawn_result got;
    struct stat st;
    struct err err;
    int trims = 0;

    assert_int_equal(spawn(t->w->spawner, &r, &got, &err), 0);
    t->w->started[t->w->n++] = got;
    close(f.fd);
    WAIT_UNTIL((trims += trim(t, "x", MAX)) >= 20);
    assert_int_equal(ident_signal(got.pidfd, SIGKILL, &err), 0);
    assert_int_equal(world_end(&got).code, SIGKILL);
    (void)trim(t, "x", MAX);
    assert_int_equal(stat(path_of(t, "x"), &st), 0);
    assert_true(st.st_size <= MAX);
    assert_int_equal(stat(path_of(t, "x.1"), &st), 0);
    assert_true(st.st_size <= MAX + HEAD_BYTES);
}

static void what_is_too_fast_is_dropped_but_for_its_end(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct err err = { 0 };
    const char *newest;
    struct stat st;
    int fd;

    assert_int_equal(outlog_hold(t->o, "x", &fd, &err), 0);
    add_lines(f, 0, 3000);
    assert_int_equal(outlog_drop(t->o, "x", fd, 8000, &err), 0);
    add_lines(f, 3000, 3100);
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 3100 * 8);
    newest = world_text("0002999\n%s", tail(t, "x", 24000, 800)); /* tail() has one buffer */
    assert_string_equal(tail(t, "x", 0, 1600) + 792, newest);
    assert_non_null(strstr(tail(t, "x", 0, 9000), "[16000 bytes of output are missing before"));
    assert_int_equal(outlog_drop(t->o, "x", fd, 400, &err), 0); /* counts on */
    assert_non_null(strstr(tail(t, "x", 0, 9000), "[24400 bytes of output are missing before"));
    assert_string_equal(tail(t, "x", 0, 16), "0003098\n0003099\n");
    assert_int_equal(stat(path_of(t, "x"), &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(outlog_remove(t->o, "x", &err), 0);
    assert_int_equal(outlog_drop(t->o, "x", fd, 400, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    close(fd);
    close(f.fd);
}

static int64_t drop_ms(struct out *t, int fd)
{
    int64_t before_ms = clock_mono_ms(&clock_system);
    struct err err;

    if (outlog_drop(t->o, "x", fd, 8000, &err))
        fail_msg("%s", err.text);
    return clock_mono_ms(&clock_system) - before_ms;
}

/* Otherwise a reader of a file that is dropped all the time would start over forever. */
static void a_reader_is_waited_for_but_not_for_long(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    int64_t quick_ms = INT64_MAX;
    struct err err;
    int fd;

    assert_int_equal(outlog_hold(t->o, "x", &fd, &err), 0);
    outlog_begin_read(t->o, "x"); /* of one that was never trimmed: it is not known of */
    (void)drop_ms(t, fd);
    outlog_end_read(t->o, "x");
    outlog_begin_read(t->o, "x");
    assert_true(drop_ms(t, fd) >= OUTLOG_READER_MS);
    outlog_end_read(t->o, "x");
    for (int i = 0; i < 100 && quick_ms >= OUTLOG_READER_MS; i++) /* the disk may be slow */
        quick_ms = drop_ms(t, fd);
    assert_true(quick_ms < OUTLOG_READER_MS);
    close(fd);
    close(f.fd);
}

/* The file is made empty whatever happens to the part that should have been kept. */
static void a_drop_without_room_drops_all(void **state)
{
    struct out *t = *state;

    for (int nth = 1; nth < 12; nth++) {
        struct file f = begin(t, "x");
        struct err err = { 0 };
        struct stat st;
        int fd;

        assert_int_equal(outlog_hold(t->o, "x", &fd, &err), 0);
        add_lines(f, 0, 3000);
        sys_fault("any", nth, ENOSPC);
        if (!outlog_drop(t->o, "x", fd, 8000, &err)) {
            sys_fault("any", 0, 0);
            assert_int_equal(stat(path_of(t, "x"), &st), 0);
            assert_int_equal(st.st_size, 0);
            assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 24000);
        }
        sys_fault("any", 0, 0);
        add_lines(f, 3000, 3001);
        assert_string_equal(tail(t, "x", 0, 8), "0003000\n");
        close(fd);
        close(f.fd);
        assert_int_equal(outlog_remove(t->o, "x", &err), 0);
    }
}

static void every_call_that_fails_is_an_error_and_loses_nothing(void **state)
{
    struct out *t = *state;
    int failures = 0;

    for (int nth = 1;; nth++) {
        struct file f = begin(t, "x");
        struct err err = { 0 };
        bool trimmed;

        add_lines(f, 0, 2000);
        sys_fault("any", nth, ENOSPC);
        if (outlog_trim(t->o, "x", 8000, &trimmed, &err)) {
            failures++;
            assert_int_equal(err.sys, ENOSPC);
        }
        close(f.fd);
        sys_fault("any", 0, 0);
        assert_string_equal(tail(t, "x", 0, 16), "0001998\n0001999\n");
        assert_int_equal(access(path_of(t, "x.2"), F_OK), -1);
        assert_int_equal(outlog_remove(t->o, "x", &err), 0);
        if (nth > 20)
            break;
    }
    assert_true(failures >= 6);
}

/* ---- positions */

static struct outlog_piece piece;

static const char *read_at(struct out *t, int64_t at, size_t lines, size_t max)
{
    const struct outlog_ask ask = { at, lines, max, OUTLOG_MAY_WAIT };
    static struct buf b;
    struct err err = { 0 };

    buf_free(&b);
    if (outlog_read(t->o, "x", &ask, &b, &piece, &err))
        fail_msg("%s", err.text);
    assert_int_equal(utf8_valid(buf_data(&b), b.len), b.len);
    return buf_text(&b);
}

static void the_last_lines_are_whole(void **state)
{
    struct out *t = *state;
    struct file f;

    assert_string_equal(read_at(t, -1, 3, 1000), "");
    assert_false(piece.is_there);
    f = begin(t, "x");
    assert_string_equal(read_at(t, -1, 3, 1000), "");
    assert_true(piece.is_there && !piece.has_gap && piece.next == 0);
    say(f, "one\ntwo\nthree", 13);
    assert_string_equal(read_at(t, -1, 2, 1000), "two\nthree");
    assert_int_equal(piece.next, 13);
    assert_string_equal(read_at(t, -1, 0, 1000), "one\ntwo\nthree");
    assert_string_equal(read_at(t, -1, 0, 8), "three"); /* "wo" is not a line */
    assert_string_equal(read_at(t, -1, 5, 12), "two\nthree");
    assert_string_equal(read_at(t, -1, 5, 3), "ree"); /* there is no whole one */
    close(f.fd);
}

static void who_follows_sees_every_byte_once(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");

    say(f, "one\ntwo\n", 8);
    (void)read_at(t, -1, 1, 1000);
    assert_int_equal(piece.next, 8);
    assert_string_equal(read_at(t, 8, 0, 1000), "");
    assert_false(piece.has_gap);
    say(f, "three\xE4\xB8", 7); /* half a character */
    assert_string_equal(read_at(t, 8, 0, 1000), "three");
    assert_int_equal(piece.next, 13);
    say(f, "\xAD\nfour\nfive", 11);
    assert_string_equal(read_at(t, 13, 0, 1000), "\xE4\xB8\xAD\nfour\nfive");
    assert_int_equal(piece.next, 26);
    assert_string_equal(read_at(t, 13, 0, 10), "\xE4\xB8\xAD\nfour\n"); /* no part of a line */
    assert_int_equal(piece.next, 22);
    assert_string_equal(read_at(t, 22, 0, 2), "fi"); /* but of one that is too long */
    assert_int_equal(piece.next, 24);
    close(f.fd);
}

/* However often output was dropped since: once, and how much of it he has not seen. */
static void who_follows_is_told_of_each_gap_once_with_its_own_number(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct err err = { 0 };
    uint64_t at = 0;
    int fd, line = 0;

    assert_int_equal(outlog_hold(t->o, "x", &fd, &err), 0);
    for (int round = 0; round < 3; round++) {
        const char *text;

        add_lines(f, line, line + 3000);
        line += 3000;
        assert_int_equal(outlog_drop(t->o, "x", fd, 8000, &err), 0);
        text = read_at(t, (int64_t)at, 0, 100000);
        assert_true(piece.has_gap);
        assert_null(strstr(text, "missing"));
        assert_int_equal(at + piece.gap_bytes + strlen(text), piece.next);
        assert_true(piece.gap_bytes > 16000 && piece.gap_bytes < 16200);
        at = piece.next;
        assert_int_equal(at, line * 8);
        assert_string_equal(read_at(t, (int64_t)at, 0, 100000), "");
        assert_false(piece.has_gap);
        assert_int_equal(piece.gap_bytes, 0);
    }
    (void)read_at(t, (int64_t)at - 7990, 0, 100000); /* within the line that was put there */
    assert_true(piece.has_gap);
    (void)read_at(t, (int64_t)at + 1, 0, 100000); /* of a file that was longer */
    assert_true(piece.has_gap);
    assert_int_equal(piece.gap_bytes, 0);
    close(fd);
    close(f.fd);
}

/* Reads on from *at until there is no more; the numbered lines go up by one. */
static int follow(struct out *t, int64_t *at, int line, bool *ret_gap)
{
    const char *text;

    *ret_gap = false;
    while (*(text = read_at(t, *at, 0, 4096))) {
        if (piece.has_gap)
            line = (int)strtol(text, NULL, 10);
        *ret_gap |= piece.has_gap;
        for (; *text; text += 8, line++)
            assert_int_equal(strtol(text, NULL, 10), line);
        *at = (int64_t)piece.next;
    }
    return line;
}

static void positions_grow_over_trimming_and_restarts(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct err err;
    int64_t at = 0;
    bool gap;
    int line, trims = 0;

    add_lines(f, 0, 1000);
    line = follow(t, &at, 0, &gap);
    for (int round = 1; round < 12; round++) {
        add_lines(f, round * 1000, (round + 1) * 1000);
        if (trims % 2)
            sys_fault("fallocate", 1, EOPNOTSUPP); /* the other way of shortening */
        trims += trim(t, "x", 8192);
        sys_fault("any", 0, 0);
        if (round % 3 == 0) { /* an agent after us */
            outlog_close(t->o);
            assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
        }
        line = follow(t, &at, line, &gap);
        assert_false(gap);
        assert_int_equal(line, (round + 1) * 1000);
        assert_int_equal(at, (round + 1) * 8000);
    }
    assert_true(trims >= 4);
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 96000);
    close(f.fd);
    f = begin(t, "x");
    assert_int_equal(f.from, 96000);
    close(f.fd);
}

static void who_comes_too_late_hears_of_the_gap(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    int64_t at = 8000;
    bool gap;

    add_lines(f, 0, 4000);
    assert_true(trim(t, "x", 8000));
    assert_int_equal(follow(t, &at, 1000, &gap), 4000);
    assert_true(gap);
    assert_int_equal(at, 32000);
    assert_int_equal(ftruncate(f.fd, 0), 0); /* by its owner */
    add_lines(f, 0, 1);
    assert_int_equal(follow(t, &at, 0, &gap), 1);
    assert_false(gap);
    assert_int_equal(at, 32008);
    (void)follow(t, &at, 1, &gap);
    assert_false(gap);
    close(f.fd);
}

static void a_tail_ends_where_the_next_run_began(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct buf b = { 0 };
    struct err err;

    say(f, "old\nmine\n", 9);
    say(f, "next\n", 5);
    assert_int_equal(outlog_tail(t->o, "x", 4, 9, 100, OUTLOG_MAY_WAIT, &b, &err), 0);
    assert_string_equal(buf_text(&b), "mine\n");
    buf_free(&b);
    assert_int_equal(outlog_tail(t->o, "x", 9, 9, 100, OUTLOG_MAY_WAIT, &b, &err), 0);
    assert_int_equal(b.len, 0);
    close(f.fd);
}

static void without_room_for_a_copy_the_bound_holds(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct stat st;

    for (int way = 0; way < 2; way++) {
        add_lines(f, 0, 3000);
        sys_fault("write", 1, ENOSPC);
        assert_true(trim(t, "x", 10000)); /* it is more than twice that */
        assert_true(sys_fault_hit());
        assert_int_equal(fstat(f.fd, &st), 0);
        assert_true(st.st_size <= 4096);
        assert_int_equal(access(path_of(t, "x.1"), F_OK), -1);
        assert_int_equal(access(path_of(t, "x.2"), F_OK), -1);
        add_lines(f, 3000, 3001);
        assert_string_equal(tail(t, "x", 0, 8), "0003000\n");
    }
    close(f.fd);
}

/* --- the loop reads */

static void a_reader_that_must_not_wait_tries_once(void **state)
{
    enum { TIMES = 500 };
    const struct outlog_ask ask = { .at = -1, .max_bytes = 100 };
    struct out *t = *state;
    struct file f = begin(t, "x");
    struct buf b = { 0 };
    struct err err;
    int64_t began_ms;

    add_lines(f, 0, 3000);
    assert_true(trim(t, "x", 16000));
    add_lines(f, 3000, 3002);
    outlog_change(t->o, "x"); /* another thread trims it */
    began_ms = clock_mono_ms(&clock_system);
    for (int i = 0; i < TIMES; i++) {
        buf_free(&b);
        assert_int_equal(outlog_tail(t->o, "x", 0, 0, 100, OUTLOG_NO_WAIT, &b, &err), -1);
        assert_int_equal(err.code, ERR_UNAVAILABLE);
        assert_int_equal(outlog_read(t->o, "x", &ask, &b, &piece, &err), -1);
        assert_int_equal(err.code, ERR_UNAVAILABLE);
        assert_int_equal(b.len, 0);
        assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 3002 * 8);
        assert_int_equal(outlog_newest(t->o, "x", 3001 * 8, 100, &b, &err), 0);
        assert_string_equal(buf_text(&b), "0003001\n");
        assert_int_equal(outlog_newest(t->o, "x", 0, 16, &b, &err), 0);
        assert_string_equal(buf_text(&b), "0003001\n0003000\n0003001\n");
        assert_int_equal(outlog_newest(t->o, "none", 0, 16, &b, &err), 0);
    }
    assert_true(clock_mono_ms(&clock_system) - began_ms < TIMES * OUTLOG_TRY_MS);
    assert_int_equal(outlog_tail(t->o, "x", 0, 0, 100, OUTLOG_MAY_WAIT, &b, &err), -1);
    assert_int_equal(err.code, ERR_UNAVAILABLE); /* not for ever either */
    outlog_keep_trimmed(t->o, "x");
    buf_free(&b);
    assert_int_equal(outlog_tail(t->o, "x", 0, 0, 8, OUTLOG_NO_WAIT, &b, &err), 0);
    assert_string_equal(buf_text(&b), "0003001\n");
    buf_free(&b);
    close(f.fd);
}

static void a_trim_answers_who_waits_for_it(void **state)
{
    const struct outlog_ask ask = { .at = -1, .lines = 2, .max_bytes = 100 };
    struct out *t = *state;
    struct file f = begin(t, "x"), other = begin(t, "y");
    struct outlog_waiter *waiters[6], *of_other, *forgotten;
    struct buf b = { 0 };
    struct err err;
    int n = 0;

    add_lines(f, 0, 3000);
    add_lines(other, 0, 3000);
    forgotten = outlog_waiter_new(t->o, "x", &ask);
    of_other = outlog_waiter_new(t->o, "y", &ask);
    for (size_t i = 0; i < ARRAY_LEN(waiters); i++)
        waiters[i] = outlog_waiter_new(t->o, "x", &ask);
    outlog_waiter_free(forgotten);
    assert_int_equal(outlog_waiter_take(waiters[0], &b, &piece, &err), 1);
    assert_true(trim(t, "x", 16000));
    add_lines(f, 3000, 6000); /* this is no part of it */
    assert_int_equal(outlog_waiter_take(waiters[0], &b, &piece, &err), 0);
    assert_string_equal(buf_text(&b), "0002998\n0002999\n");
    assert_int_equal(piece.next, 24000);
    assert_true(piece.is_there);
    for (size_t i = 0; i < ARRAY_LEN(waiters); i++)
        n += outlog_waiter_take(waiters[i], &b, &piece, &err) == 0;
    assert_int_equal(n, 4); /* the file grows meanwhile, */
    assert_true(trim(t, "x", 16000));
    for (size_t i = 0; i < ARRAY_LEN(waiters); i++) /* and there are other trims */
        assert_int_equal(outlog_waiter_take(waiters[i], &b, &piece, &err), 0);
    assert_int_equal(outlog_waiter_take(of_other, &b, &piece, &err), 1);
    for (size_t i = 0; i < ARRAY_LEN(waiters); i++)
        outlog_waiter_free(waiters[i]);
    outlog_waiter_free(of_other);
    buf_free(&b);
    close(other.fd);
    close(f.fd);
}

struct flood {
    struct out *t;
    struct file f;
    int fd;
    atomic_bool is_over;
};

static void *drop_always(void *arg)
{
    struct flood *flood = arg;
    struct err err;

    while (!flood->is_over) {
        outlog_change(flood->t->o, "x"); /* without a moment in between */
        if (outlog_drop(flood->t->o, "x", flood->fd, 8000, &err))
            return flood;
        outlog_change(flood->t->o, "x");
    }
    return NULL;
}

static void *fill_always(void *arg)
{
    struct flood *flood = arg;

    for (int i = 0; !flood->is_over; i++)
        add_lines(flood->f, i % 9000, i % 9000 + 10);
    return NULL;
}

static void what_is_trimmed_all_the_time_can_be_read(void **state)
{
    enum { TIMES = 200 };
    const struct outlog_ask ask = { .at = -1, .lines = 1, .max_bytes = 100 };
    struct out *t = *state;
    struct flood flood = { .t = t, .f = begin(t, "x") };
    pthread_t threads[2];
    struct err err = { 0 };
    uint64_t at = 0;
    void *bad;

    assert_int_equal(outlog_hold(t->o, "x", &flood.fd, &err), 0);
    assert_int_equal(pthread_create(&threads[0], NULL, drop_always, &flood), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, fill_always, &flood), 0);
    for (int i = 0; i < TIMES; i++) {
        struct outlog_waiter *w = outlog_waiter_new(t->o, "x", &ask);
        struct buf b = { 0 };

        if (i % 3) { /* the others are forgotten, also while they are read for */
            WAIT_UNTIL(outlog_waiter_take(w, &b, &piece, &err) != 1);
            assert_int_equal(outlog_waiter_take(w, &b, &piece, &err), 0);
            assert_true(piece.next >= at);
            at = piece.next;
        }
        outlog_waiter_free(w);
        buf_free(&b);
    }
    flood.is_over = true;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    assert_true(at > 0);
    close(flood.fd);
    close(flood.f.fd);
}

/* --- blocks behind the end */

static blkcnt_t blocks_of(struct out *t, const char *name)
{
    struct stat st;

    assert_int_equal(stat(path_of(t, name), &st), 0);
    return st.st_blocks;
}

static void blocks_behind_the_end_are_given_back(void **state)
{
    enum { BLOCKS = (64 << 20) / 512 };
    struct out *t = *state;
    struct file f = begin(t, "x");

    for (int lines = 0; lines <= 1000; lines += 1000) {
        add_lines(f, 0, lines);
        assert_int_equal(fallocate(f.fd, FALLOC_FL_KEEP_SIZE, 0, 64 << 20), 0);
        assert_true(blocks_of(t, "x") >= BLOCKS);
        assert_false(trim(t, "x", 64 << 20)); /* as much may be reserved */
        assert_true(blocks_of(t, "x") >= BLOCKS);
        assert_false(trim(t, "x", 16000));
        assert_true(blocks_of(t, "x") <= 16000 / 512);
    }
    add_lines(f, 1000, 1001);
    assert_string_equal(tail(t, "x", 0, 16), "0000999\n0001000\n");
    assert_int_equal(outlog_end(t->o, "x", OUTLOG_NO_WAIT), 8008);
    close(f.fd);
}

/* --- leases */

static void open_again(struct out *t)
{
    struct err err;

    outlog_close(t->o);
    assert_int_equal(outlog_open(t->dir, &t->o, &err), 0);
}

/* What a process of before us has: a lease on the file that it writes to. */
static struct file begin_leased(struct out *t, const char *name)
{
    struct file f = begin(t, name);

    signal(SIGIO, SIG_IGN); /* the kernel sends it when an open waits for the lease */
    outlog_close(t->o);
    assert_int_equal(fcntl(f.fd, F_SETLEASE, F_WRLCK), 0);
    t->o = NULL;
    return f;
}

static void a_process_can_not_lease_its_output(void **state)
{
    static const char *const names[] = { "x", "x~stop" };
    struct out *t = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct file f = begin(t, names[i]);

        assert_int_equal(fcntl(f.fd, F_SETLEASE, F_WRLCK), -1);
        assert_int_equal(errno, EAGAIN);
        add_lines(f, 0, 3000);
        assert_true(trim(t, names[i], 16000));
        assert_int_equal(fcntl(f.fd, F_SETLEASE, F_WRLCK), -1);
        close(f.fd);
    }
}

static void output_of_before_can_not_be_leased_any_more(void **state)
{
    struct out *t = *state;
    struct file f = begin(t, "x");

    open_again(t);
    outlog_keep_all_open(t->o);
    assert_int_equal(fcntl(f.fd, F_SETLEASE, F_WRLCK), -1);
    close(f.fd);
}

static void a_lease_of_before_is_removed(void **state)
{
    struct out *t = *state;
    struct file f = begin_leased(t, "x");

    open_again(t);
    outlog_keep_all_open(t->o);
    assert_int_equal(fcntl(f.fd, F_GETLEASE), F_UNLCK);
    assert_int_equal(fcntl(f.fd, F_SETLEASE, F_WRLCK), -1);
    add_lines(f, 0, 3000);
    assert_true(trim(t, "x", 16000));
    assert_string_equal(tail(t, "x", 0, 8), "0002999\n");
    close(f.fd);
}

struct leaser {
    int fd;
    atomic_bool is_over;
};

static void *lease_always(void *arg)
{
    struct leaser *l = arg;

    while (!l->is_over)
        (void)fcntl(l->fd, F_SETLEASE, F_WRLCK); /* else it has one, or there is none for it now */
    return NULL;
}

static void one_that_takes_its_lease_again_at_once_is_bounded(void **state)
{
    struct out *t = *state;
    struct file f = begin_leased(t, "x");
    struct leaser l = { .fd = f.fd };
    struct err err;
    struct stat st;
    pthread_t id;
    int fd;

    assert_int_equal(pthread_create(&id, NULL, lease_always, &l), 0);
    for (int i = 0; i < 200; i++) {
        open_again(t); /* now it can have its lease */
        while ((fd = open(path_of(t, "x"), O_RDWR | O_NONBLOCK)) >= 0) {
            close(fd);
            sched_yield();
        }
        add_lines(f, 0, 100);
        if (outlog_hold(t->o, "x", &fd, &err) || outlog_drop(t->o, "x", fd, 100, &err))
            fail_msg("%s", err.text);
        assert_int_equal(fstat(f.fd, &st), 0);
        assert_int_equal(st.st_size, 0);
        close(fd);
        add_lines(f, 0, 3000);
        assert_true(trim(t, "x", 10000));
        assert_int_equal(fstat(f.fd, &st), 0);
        assert_true(st.st_size <= 10000);
    }
    l.is_over = true;
    pthread_join(id, NULL);
    close(f.fd);
}

static void a_file_that_has_taken_the_place_of_another_is_held_in_its_turn(void **state)
{
    struct out *t = *state;
    struct file old = begin(t, "x"), new;

    assert_int_equal(unlink(path_of(t, "x")), 0);
    new = begin(t, "x");
    assert_int_equal(fcntl(new.fd, F_SETLEASE, F_WRLCK), -1);
    assert_int_equal(fcntl(old.fd, F_SETLEASE, F_WRLCK), 0); /* no other descriptor is open */
    add_lines(new, 0, 3000);
    assert_true(trim(t, "x", 16000));
    close(old.fd);
    close(new.fd);
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void what_is_kept_open_leaves_descriptors_for_others(void **state)
{
    struct out *t = *state;
    struct rlimit before, few = { 80, 0 };
    size_t then = open_files();

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < 50; i++)
        close(begin(t, world_text("x%d", i)).fd);
    assert_int_equal(open_files(), then + 20);
    for (int i = 0; i < 50; i++) {
        struct err err;

        assert_int_equal(outlog_remove(t->o, world_text("x%d", i), &err), 0);
    }
    assert_int_equal(open_files(), then);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

struct walked {
    int files, others;
};

static void on_walked(void *arg, const char *name, const char *process, int64_t wall_s)
{
    struct walked *w = arg;

    w->files++;
    assert_true(wall_s > 1000000);
    if (!strcmp(name, "b~stop"))
        assert_string_equal(process, "b");
    else
        assert_string_equal(name, process);
    w->others += strcmp(name, "b~stop") && strcmp(name, "x") && strcmp(name, "b");
}

static void all_files_are_walked_through_in_steps(void **state)
{
    static const char *const names[] = { "x", "b", "b~stop" };
    struct out *t = *state;
    struct walked w = { 0 };
    int steps = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct file f = begin(t, names[i]);

        add_lines(f, 0, 3000);
        close(f.fd);
    }
    assert_true(trim(t, "x", 16000)); /* x.1 */
    assert_int_equal(symlink("/etc/passwd", path_of(t, "link")), 0);
    while (outlog_walk(t->o, 2, on_walked, &w))
        steps++;
    assert_true(steps >= 2);
    assert_int_equal(w.files, 4);
    assert_int_equal(w.others, 0);
    while (outlog_walk(t->o, 100, on_walked, &w)) /* and once more from the beginning */
        ;
    assert_int_equal(w.files, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_safe_and_told_apart),
        TEST(a_folder_that_is_not_ours_alone_is_refused),
        TEST(a_process_writes_to_its_own_file),
        TEST(another_user_gets_a_file_without_what_was_said_before),
        TEST(without_room_another_users_words_are_dropped_not_passed_on),
        TEST(what_is_not_a_file_of_ours_is_refused),
        TEST(the_tail_is_text),
        TEST(what_was_there_before_can_be_left_out),
        cmocka_unit_test(last_lines_are_counted_from_the_end),
        TEST(trimming_keeps_the_newest_and_the_writer),
        TEST(trimming_works_on_any_file_system),
        TEST(a_file_of_any_size_can_be_trimmed),
        TEST(nothing_is_lost_under_a_writers_hands),
        TEST(a_flood_is_bounded),
        TEST(the_last_lines_are_whole),
        TEST(who_follows_sees_every_byte_once),
        TEST(who_follows_is_told_of_each_gap_once_with_its_own_number),
        TEST(positions_grow_over_trimming_and_restarts),
        TEST(a_reader_that_must_not_wait_tries_once),
        TEST(a_trim_answers_who_waits_for_it),
        TEST(what_is_trimmed_all_the_time_can_be_read),
        TEST(blocks_behind_the_end_are_given_back),
        TEST(a_process_can_not_lease_its_output),
        TEST(output_of_before_can_not_be_leased_any_more),
        TEST(a_lease_of_before_is_removed),
        TEST(one_that_takes_its_lease_again_at_once_is_bounded),
        TEST(a_file_that_has_taken_the_place_of_another_is_held_in_its_turn),
        TEST(what_is_kept_open_leaves_descriptors_for_others),
        TEST(who_comes_too_late_hears_of_the_gap),
        TEST(a_tail_ends_where_the_next_run_began),
        TEST(without_room_for_a_copy_the_bound_holds),
        TEST(all_files_are_walked_through_in_steps),
        TEST(what_is_too_fast_is_dropped_but_for_its_end),
        TEST(a_reader_is_waited_for_but_not_for_long),
        TEST(a_drop_without_room_drops_all),
        TEST(every_call_that_fails_is_an_error_and_loses_nothing),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("outlog", tests, NULL, NULL);
}
