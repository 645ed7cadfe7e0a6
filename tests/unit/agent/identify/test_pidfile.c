/* SPDX-License-Identifier: MIT */
#include "agent/identify/pidfile.h"

#include <limits.h>
#include <time.h>

#include "tests/lib/agent_world.h"

static void the_first_number_counts(void **state)
{
    static const struct {
        const char *text;
        int64_t pid; /* 0: refused */
        const char *why;
    } cases[] = {
        { "1234\n", 1234, NULL },
        { "1234", 1234, NULL },
        { " \n\t1234 and more 99\n", 1234, NULL },
        { "1234\n/data/pg\n1699\n5432\n", 1234, NULL },
        { "pid: 1234\n", 1234, NULL },
        { "2", 2, NULL },
        { "0002\r\n", 2, NULL },
        { "4194304", 4194304, NULL },
        { "", 0, "is empty" },
        { "\n", 0, "holds no number" },
        { "none\n", 0, "holds no number" },
        { "0\n", 0, "names pid 0" },
        { "1\n", 0, "names pid 1" },
        { "01\n", 0, "names pid 1" },
        { "-1234\n", 0, "negative" },
        { "4194305", 0, "too large" },
        { "99999999999999999999999999999999999999\n", 0, "too large" },
        { "12\x01", 0, "binary" },
        { "12\x7F", 0, "binary" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };
        int64_t pid = 0;
        int result = pidfile_parse(cases[i].text, strlen(cases[i].text), &pid, &err);

        if (pid != cases[i].pid || result != (cases[i].pid ? 0 : -1))
            fail_msg("%s: %lld", cases[i].text, (long long)pid);
        if (result && !strstr(err.text, cases[i].why))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

static void nul_and_size_are_seen(void **state)
{
    static char large[PIDFILE_MAX_BYTES + 1];
    struct err err;
    int64_t pid;

    (void)state;
    assert_int_equal(pidfile_parse("12\0\n", 4, &pid, &err), -1);
    memset(large, ' ', sizeof(large));
    large[0] = '5';
    assert_int_equal(pidfile_parse(large, PIDFILE_MAX_BYTES, &pid, &err), 0);
    assert_int_equal(pid, 5);
    assert_int_equal(pidfile_parse(large, sizeof(large), &pid, &err), -1);
}

/* Only what can be relied upon. */
static int read_as(struct pidfiles *known, const char *path, const struct user *user,
                   int64_t *ret_pid, struct err *err)
{
    struct pidfile_content file;

    if (pidfile_read(known, path, user->uid, user->gid, &file, err))
        return -1;
    if (file.doubt[0])
        return err_set(err, ERR_DENIED, "%s", file.doubt);
    *ret_pid = file.pid;
    return 0;
}

static int read_pid(struct pidfiles *known, const char *path, int64_t *ret_pid, struct err *err)
{
    return read_as(known, path, &(struct user){ .uid = 0 }, ret_pid, err);
}

/* The path to the file, and the owner of each part, made anew for each case in a folder
 * that only root can write to. */
static const struct {
    const char *make; /* for a shell of root's */
    const char *path;
    int64_t pid;      /* 0: refused */
    const char *text; /* a part of why */
} ways[] = {
    { "echo 77 > p", "p", 77, NULL },
    { "echo 77 > p; chown nobody p", "p", 77, NULL },
    { "echo 77 > p; chown daemon p", "p", 0,
      "p is not used: it belongs to uid 1, expected root or uid 65534" },
    { "echo 77 > p; chmod 646 p", "p", 0,
      "it has mode 0646, uid 0 and gid 0, so others than root and uid 65534 can write to it; run "
      "`chmod go-w /" },
    { "echo 77 > p; chmod 664 p", "p", 0, "it has mode 0664, uid 0 and gid 0" },
    { "echo 77 > p; chown nobody:nogroup p; chmod 664 p", "p", 77, NULL },
    { "echo 77 > p; chown nobody:daemon p; chmod 664 p", "p", 0, "it has mode 0664, uid 65534" },
    { "mkdir a; echo 77 > a/p; chmod 777 a", "a/p", 0, "t/a has mode 0777, uid 0 and gid 0" },
    { "mkdir a; echo 77 > a/p; chmod 1777 a", "a/p", 77, NULL },
    { "mkdir a; echo 77 > a/p; chmod 775 a", "a/p", 0, "t/a has mode 0775" },
    { "mkdir a; echo 77 > a/p; chown nobody:nogroup a; chmod 775 a", "a/p", 77, NULL },
    { "mkdir a; echo 77 > a/p; chown daemon a", "a/p", 0, "t/a belongs to uid 1" },
    { "mkdir a; echo 77 > a/p; chown daemon a; chmod 1777 a", "a/p", 0, "t/a belongs to uid 1" },
    { "mkdir -p a/b/c; echo 77 > a/b/c/p; chmod 777 a", "a/b/c/p", 0, "t/a has mode 0777" },
    { "mkdir -p a/b/c; echo 77 > a/b/c/p; chmod 1777 a", "a/b/c/p", 77, NULL },
    { "mkdir -p a/b/c; echo 77 > a/b/c/p; chown daemon a/b", "a/b/c/p", 0, "b belongs to uid 1" },
    { "mkdir -p a/b c; echo 77 > a/b/p; ln -s $PWD/a/b c/d; chmod 777 a", "c/d/p", 0,
      "t/a has mode 0777" },
    { "mkdir -p a c/d; echo 77 > a/p; ln -s $PWD/a c/d/e; chmod 777 c", "c/d/e/p", 0,
      "t/c has mode 0777" },
    { "mkdir -p a/b; echo 77 > a/b/p", "a/./b/../b//p", 77, NULL },
    { "mkdir a; echo 77 > a/p; ln -s a b", "b/p", 77, NULL }, /* as /var/run */
    { "mkdir a; echo 77 > a/p; ln -s $PWD/a b", "b/p", 77, NULL },
    { "echo 77 > p; ln -s p q", "q", 77, NULL },
    { "echo 77 > p; ln -s p q; ln -s q r", "r", 77, NULL },
    { "echo 77 > p; ln -s p q; chown -h nobody q", "q", 0, "symbolic link of uid 65534" },
    { "mkdir u; echo 77 > u/p; ln -s p u/q; chown nobody u", "u/q", 0, "in a folder of uid 65534" },
    { "mkdir u; ln -s /etc/shadow u/p; chown -h nobody u/p; chown nobody u", "u/p", 0,
      "symbolic link" },
    { "mkdir u; ln -s /etc u/d; chown -h nobody u/d; chown nobody u", "u/d/shadow", 0,
      "symbolic link" },
    { "mkdir u; echo 77 > u/p; ln -s p u/q; chmod 1777 u", "u/q", 0, "symbolic link" },
    { "mkdir u; echo 77 > u/p; ln -s p u/q; chmod 775 u", "u/q", 0, "symbolic link" },
    { "ln -s a b; ln -s b a", "a", 0, "more than 8 symbolic links" },
    { "mkfifo p", "p", 0, "not a regular file" },
    { "mknod p c 1 3", "p", 0, "not a regular file" },
    { ": > p", "p", 0, "p is empty, expected a pid" },
    { "head -c 5000 /dev/zero > p", "p", 0, "holds 5000 bytes, expected a pid" },
    { "head -c 100 /dev/zero > p", "p", 0, "holds binary data" },
    { "truncate -s 10G p", "p", 0, "holds 10737418240 bytes" },
    { "echo 1 > p", "p", 0, "names pid 1" },
    { "cp /etc/passwd p; chmod 600 p", "p", 0, NULL },
};

static void in_folder(struct world *w, const char *script)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        if (chdir(w->dir) || mkdir("t", 0755) || chdir("t"))
            _exit(98);
        execl("/bin/sh", "sh", "-ec", script, NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status)
        fail_msg("%s: %d", script, status);
}

static void only_a_safe_way_leads_to_a_pid(void **state)
{
    struct world *w = *state;

    /* /tmp is not a folder that only root can write to, but no link stands in it. */
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const char *path = world_text("%s/t/%s", w->dir, ways[i].path);
        struct err err = { 0 };
        int64_t pid = 0;
        int result;

        in_folder(w, ways[i].make);
        result = read_as(NULL, path, w->nobody, &pid, &err);
        if (strstr(err.text, "root:"))
            fail_msg("content is shown: %s", err.text);
        if (ways[i].text || ways[i].pid) {
            if (pid != ways[i].pid || result != (ways[i].pid ? 0 : -1))
                fail_msg("%s: %lld %s", ways[i].make, (long long)pid, err.text);
            if (result && (!strstr(err.text, ways[i].text) || !strstr(err.text, "pid file ")))
                fail_msg("%s: %s", ways[i].make, err.text);
            assert_int_not_equal(result && err.code == ERR_NOT_FOUND, true);
        }
        world_remove(world_text("%s/t", w->dir));
    }
}

static void no_file_is_told_apart_from_a_bad_one(void **state)
{
    struct world *w = *state;
    const char *missing[] = { "/nowhere/x.pid", world_text("%s/no.pid", w->dir),
                              world_text("%s/no/x.pid", w->dir),
                              world_text("%s/out/x.pid", w->dir) };
    char huge[PATH_MAX + 100];
    struct err err = { 0 };
    int64_t pid;

    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        assert_int_equal(read_pid(NULL, missing[i], &pid, &err), -1);
        assert_int_equal(err.code, ERR_NOT_FOUND);
        assert_string_equal(err.text, world_text("there is no pid file %s", missing[i]));
    }
    assert_int_equal(read_pid(NULL, "relative/x.pid", &pid, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    memset(huge, '/', sizeof(huge));
    huge[sizeof(huge) - 1] = '\0';
    assert_int_equal(read_pid(NULL, huge, &pid, &err), -1);
    assert_int_equal(err.code, ERR_INVALID);
    assert_int_equal(read_pid(NULL, "/", &pid, &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_int_equal(read_pid(NULL, w->dir, &pid, &err), -1); /* as Job's documents have it */
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_string_equal(err.text, world_text("pid file %s is a folder", w->dir));
}

static void every_call_that_fails_is_an_error(void **state)
{
    struct world *w = *state;
    const char *path = world_text("%s/t/q", w->dir);
    struct err err;
    int64_t pid;
    int nth;

    in_folder(w, "echo 77 > p; ln -s p q");
    for (nth = 1;; nth++) {
        int fd = dup(0);

        close(fd);
        sys_fault("any", nth, EMFILE);
        if (!read_pid(NULL, path, &pid, &err))
            break;
        assert_int_equal(err.code, ERR_SYSTEM);
        assert_int_equal(err.sys, EMFILE);
        assert_int_equal(dup(0), fd); /* none was left open */
        close(fd);
    }
    assert_false(sys_fault_hit());
    assert_true(nth > 12);
}

static void a_pid_is_left_only_where_nobody_else_can_meddle(void **state)
{
    struct world *w = *state;
    const struct {
        const char *folder;
        mode_t mode;
        uid_t owner;
        int code; /* 0: it is written */
    } cases[] = {
        { "root", 0755, 0, 0 },
        { "theirs", 0755, w->nobody->uid, 0 },
        { "sticky", 01777, 0, 0 },
        { "open", 0777, 0, ERR_DENIED },
        { "strange", 0755, 12345, ERR_DENIED },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *folder = world_text("%s/%s", w->dir, cases[i].folder);
        const char *path = world_text("%s/x.pid", folder);
        struct err err = { 0 };
        struct stat st;

        assert_int_equal(mkdir(folder, 0755), 0);
        assert_int_equal(chmod(folder, cases[i].mode), 0);
        assert_int_equal(chown(folder, cases[i].owner, 0), 0);
        if (pidfile_write(NULL, path, w->nobody->uid, w->nobody->gid, 4711, 0, &err)) {
            if (err.code != cases[i].code)
                fail_msg("%s: %s", path, err.text);
            assert_int_equal(stat(path, &st), -1);
            continue;
        }
        assert_int_equal(cases[i].code, 0);
        assert_string_equal(world_read(path), "4711\n");
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_uid, w->nobody->uid);
        assert_int_equal(st.st_mode & 07777, 0644);
    }
}

static void only_the_pid_of_one_that_is_gone_gives_way(void **state)
{
    struct world *w = *state;
    const char *path = world_text("%s/x.pid", w->dir), *link = world_text("%s/l.pid", w->dir);
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct err err = { 0 };

    world_write(path, world_text("%lld\n", (long long)r.id.pid));
    assert_int_equal(pidfile_write(NULL, path, 0, 0, 4711, 0, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(ident_signal(r.pidfd, SIGKILL, &err), 0);
    assert_int_equal(world_end(&r).kind, END_SIGNAL);
    assert_int_equal(pidfile_write(NULL, path, 0, 0, 4711, 0, &err), 0);
    assert_string_equal(world_read(path), "4711\n");
    world_write(path, "words\n"); /* whatever that is, it is not ours */
    assert_int_equal(pidfile_write(NULL, path, 0, 0, 4711, 0, &err), -1);
    assert_string_equal(world_read(path), "words\n");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_equal(pidfile_write(NULL, link, 0, 0, 4711, 0, &err), -1);
    assert_int_equal(pidfile_write(NULL, "relative.pid", 0, 0, 4711, 0, &err), -1);
    assert_int_equal(pidfile_write(NULL, "/", 0, 0, 4711, 0, &err), -1);
}

/* As after a reboot, when a number in an old file is the pid of another process. */
static void the_pid_of_one_that_began_before_gives_way(void **state)
{
    struct world *w = *state;
    char *path = strdup(world_text("%s/x.pid", w->dir));
    struct spawn_result old = world_start(w, w->root, "./victim"), new;
    struct err err = { 0 };

    for (;;) { /* the kernel's clock for it has steps of 10 ms */
        new = world_start(w, w->root, "./victim");
        if (new.id.start_ticks > old.id.start_ticks)
            break;
        assert_int_equal(ident_signal(new.pidfd, SIGKILL, &err), 0);
        world_end(&new);
    }
    world_write(path, world_text("%lld\n", (long long)old.id.pid));
    assert_int_equal(pidfile_write(NULL, path, 0, 0, new.id.pid, new.id.start_ticks, &err), 0);
    assert_string_equal(world_read(path), world_text("%lld\n", (long long)new.id.pid));
    assert_int_equal(pidfile_write(NULL, path, 0, 0, old.id.pid, old.id.start_ticks, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(ident_signal(old.pidfd, SIGKILL, &err), 0);
    assert_int_equal(ident_signal(new.pidfd, SIGKILL, &err), 0);
    world_end(&old);
    world_end(&new);
    free(path);
}

/* A file that is the user's own is written over; one that has another name besides, or
 * another owner, gives way to a new one and stays as it is. */
static void only_a_file_of_ones_own_is_written_over(void **state)
{
    static const struct {
        bool has_link;
        uid_t owner, user;
        bool is_same;
    } cases[] = {
        { false, 0, 0, true },
        { true, 0, 0, false },
        { false, 0, 12345, false },
        { false, 12345, 12345, true },
    };
    struct world *w = *state;
    const char *path = world_text("%s/o.pid", w->dir), *other = world_text("%s/p.pid", w->dir);
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct err err = { 0 };

    assert_int_equal(ident_signal(r.pidfd, SIGKILL, &err), 0);
    assert_int_equal(world_end(&r).kind, END_SIGNAL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *old = world_text("%lld and more\n", (long long)r.id.pid);
        struct stat before, after;

        world_write(path, old);
        assert_int_equal(chown(path, cases[i].owner, cases[i].owner), 0);
        if (cases[i].has_link)
            assert_int_equal(link(path, other), 0);
        assert_int_equal(stat(path, &before), 0);
        assert_int_equal(pidfile_write(NULL, path, cases[i].user, cases[i].user, 42, 0, &err), 0);
        assert_int_equal(stat(path, &after), 0);
        assert_string_equal(world_read(path), "42\n");
        assert_int_equal(after.st_uid, cases[i].user);
        if (cases[i].is_same)
            assert_int_equal(before.st_ino, after.st_ino);
        if (cases[i].has_link)
            assert_string_equal(world_read(other), old);
        unlink(other);
        unlink(path);
    }
}

static void a_pid_that_can_not_be_written_leaves_nothing(void **state)
{
    struct world *w = *state;
    const char *path = world_text("%s/x.pid", w->dir);
    struct err err = { 0 };
    struct stat st;
    long nth;

    for (nth = 1;; nth++) {
        sys_fault("any", nth, ENOSPC);
        if (!pidfile_write(NULL, path, 0, 0, 4711, 0, &err))
            break;
        sys_fault("any", 0, 0);
        assert_int_equal(stat(path, &st), -1);
    }
    assert_false(sys_fault_hit());
    assert_true(nth > 5);
}

/* What another user may do to a file of ours. If he resets its time, that is not within the step
 * of the kernel's clock in which it was written. */
static void write_there(const char *path, const char *text)
{
    world_write(path, text);
}

static void write_and_set_back(const char *path, const char *text)
{
    struct timespec times[2], now;
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    do {
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_sec == st.st_ctim.tv_sec && now.tv_nsec <= st.st_ctim.tv_nsec);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    world_write(path, text);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put_another_in_its_place(const char *path, const char *text)
{
    const char *other = world_text("%s.new", path);

    world_write(other, text);
    assert_int_equal(rename(other, path), 0);
}

static void a_file_of_ours_is_read_when_somebody_has_changed_it(void **state)
{
    static void (*const changes[])(const char *path,
                                   const char *text) = { write_there, write_and_set_back,
                                                         put_another_in_its_place };
    struct world *w = *state;
    struct pidfiles *known = pidfiles_new();
    char path[PATH_MAX];
    struct spawn_result r = world_start(w, w->root, "./victim");
    struct err err = { 0 };
    int64_t pid = 0, gone = r.id.pid;

    assert_int_equal(ident_signal(r.pidfd, SIGKILL, &err), 0);
    assert_int_equal(world_end(&r).kind, END_SIGNAL);
    snprintf(path, sizeof(path), "%s/x.pid", w->dir);
    for (size_t i = 0; i < 2 * ARRAY_LEN(changes); i++) { /* in new ones, and in old ones */
        assert_int_equal(pidfile_write(known, path, 0, 0, gone, 0, &err), 0);
        sys_fault("read", 1, EIO);
        assert_int_equal(read_pid(known, path, &pid, &err), 0);
        assert_int_equal(pid, gone);
        assert_false(sys_fault_hit());
        sys_fault("read", 0, 0);
        changes[i % ARRAY_LEN(changes)](path, world_text("%lld\n", (long long)gone + 1));
        assert_int_equal(read_pid(known, path, &pid, &err), 0);
        assert_int_equal(pid, gone + 1);
        world_write(path, world_text("%lld\n", (long long)gone));
        if (i % 2)
            unlink(path);
    }
    pidfiles_free(known);
}

static void what_can_not_be_remembered_is_written_all_the_same(void **state)
{
    static const char *const calls[] = { "futimens", "pread" };
    struct world *w = *state;
    struct pidfiles *known = pidfiles_new();
    struct err err = { 0 };
    int64_t pid;

    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        const char *path = world_text("%s/%s.pid", w->dir, calls[i]);

        sys_fault(calls[i], 1, EPERM);
        assert_int_equal(pidfile_write(known, path, 0, 0, 4711, 0, &err), 0);
        assert_true(sys_fault_hit());
        sys_fault("read", 1, EIO); /* it has to be read */
        assert_int_equal(read_pid(known, path, &pid, &err), -1);
        sys_fault("read", 0, 0);
        assert_int_equal(read_pid(known, path, &pid, &err), 0);
        assert_int_equal(pid, 4711);
    }
    pidfiles_free(known);
}

static void many_files_of_ours_are_told_apart(void **state)
{
    enum { FILES = 3000 };
    struct world *w = *state;
    struct pidfiles *known = pidfiles_new();
    struct err err = { 0 };
    int64_t pid;

    for (int i = 0; i < FILES; i++)
        assert_int_equal(
            pidfile_write(known, world_text("%s/%d.pid", w->dir, i), 0, 0, 2 + i, 0, &err), 0);
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(read_pid(known, world_text("%s/%d.pid", w->dir, i), &pid, &err), 0);
        assert_int_equal(pid, 2 + i);
    }
    pidfiles_free(known);
}

/* An old kernel, or a filter of system calls, knows no openat2(). */
static void what_can_not_be_reached_in_one_step_is_walked_to(void **state)
{
    static const int errors[] = { ENOSYS, EPERM, EINVAL, EACCES, ENOTDIR, ELOOP };
    struct world *w = *state;
    const char *path = world_text("%s/x.pid", w->dir);
    struct err err;
    int64_t pid;

    world_write(path, "4711\n");
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        pid = 0;
        sys_fault("openat2", 1, errors[i]);
        assert_int_equal(read_pid(NULL, path, &pid, &err), 0);
        assert_true(sys_fault_hit());
        assert_int_equal(pid, 4711);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_number_counts),
        cmocka_unit_test(nul_and_size_are_seen),
        TEST(only_a_safe_way_leads_to_a_pid),
        TEST(no_file_is_told_apart_from_a_bad_one),
        TEST(every_call_that_fails_is_an_error),
        TEST(a_file_of_ours_is_read_when_somebody_has_changed_it),
        TEST(what_can_not_be_remembered_is_written_all_the_same),
        TEST(many_files_of_ours_are_told_apart),
        TEST(what_can_not_be_reached_in_one_step_is_walked_to),
        TEST(a_pid_is_left_only_where_nobody_else_can_meddle),
        TEST(only_the_pid_of_one_that_is_gone_gives_way),
        TEST(the_pid_of_one_that_began_before_gives_way),
        TEST(only_a_file_of_ones_own_is_written_over),
        TEST(a_pid_that_can_not_be_written_leaves_nothing),
    };

    if (geteuid())
        return WORLD_SKIPPED;
    return cmocka_run_group_tests_name("pidfile", tests, NULL, NULL);
}
