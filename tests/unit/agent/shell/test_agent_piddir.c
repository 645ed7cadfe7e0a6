/* SPDX-License-Identifier: MIT */
/* The folder of pid files that the agent keeps: what lies in it, and what is removed from it. */
#include "agent/shell/agent_piddir.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "agent/shell/agent_base.h"
#include "base/mem/mem.h"

static void only_files_directly_in_it_count(void **state)
{
    static const struct {
        const char *dir, *path;
        bool has;
    } cases[] = {
        { "/run/h", "/run/h/a.pid", true },
        { "/run/h/", "/run/h/a.pid", true },
        { "/run/h", "/run/h/..a", true },
        { "/run/h", "/run/h/", false },
        { "/run/h", "/run/h", false },
        { "/run/h", "/run/h/a/b", false },
        { "/run/h", "/run/h/..", false },
        { "/run/h", "/run/h/.", false },
        { "/run/h", "/run/hh/a.pid", false },
        { "/run/h", "/run/a.pid", false },
        { "/run/h", "", false },
        { "/run/h", "/run/h//a", false },
        { "/run/h", "/var/../run/h/a", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (piddir_has(cases[i].dir, cases[i].path) != cases[i].has)
            fail_msg("%s in %s", cases[i].path, cases[i].dir);
    }
}

static void write_pid(const char *path, long pid)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fprintf(f, "%ld\n", pid);
    fclose(f);
}

static void drop(char *dir, const char *path, int64_t pid)
{
    struct agent_base a = { .pid_dir = dir };

    pthread_mutex_init(&a.pid_lock, NULL);
    piddir_drop(&a, path, pid);
    pthread_mutex_destroy(&a.pid_lock);
}

static pid_t ended_pid(void)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void a_file_goes_with_its_process_alone(void **state)
{
    char dir[] = "/tmp/piddir-XXXXXX", path[64], other[64];
    pid_t gone = ended_pid();

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/a.pid", dir);
    snprintf(other, sizeof(other), "%s/none/a.pid", dir);
    drop(dir, path, 5); /* there is none */
    write_pid(path, getpid());
    drop(dir, path, gone);       /* it lives */
    drop(other, path, getpid()); /* not in this folder */
    assert_int_equal(access(path, F_OK), 0);
    drop(dir, path, getpid()); /* it is known to have ended */
    assert_int_equal(access(path, F_OK), -1);
    write_pid(path, gone);
    drop(dir, path, 0);
    assert_int_equal(access(path, F_OK), -1);
    write_pid(path, 0); /* no pid */
    drop(dir, path, 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/proc/self/stat", path), 0); /* is not followed */
    drop(dir, path, getpid());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

/* Whoever made it may replace what lies in it. */
static void a_folder_of_others_is_not_used(void **state)
{
    static const char *const ends[] = { "", "/", "//" };
    char dir[] = "/tmp/piddir-XXXXXX", path[64], link[64], by_link[96], in_link[96];

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/a.pid", dir);
    snprintf(link, sizeof(link), "%s-link", dir);
    assert_int_equal(symlink(dir, link), 0);
    write_pid(path, getpid());
    assert_true(piddir_keeps(dir, path));
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        snprintf(by_link, sizeof(by_link), "%s%s", link, ends[i]);
        snprintf(in_link, sizeof(in_link), "%s/a.pid", link);
        assert_true(piddir_has(by_link, in_link));
        assert_false(piddir_keeps(by_link, in_link));
        drop(by_link, in_link, getpid());
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_int_equal(chmod(dir, 0777), 0);
    assert_false(piddir_keeps(dir, path));
    drop(dir, path, getpid());
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(chmod(dir, 0755), 0);
    drop(dir, path, getpid());
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(dir), 0);
}

enum { RACES = 1000 };

struct race {
    struct agent_base a;
    char path[64];
    pid_t gone;
    pthread_barrier_t begin, end;
};

static void *drop_each(void *arg)
{
    struct race *r = arg;

    for (int i = 0; i < RACES; i++) {
        pthread_barrier_wait(&r->begin);
        piddir_drop(&r->a, r->path, r->gone);
        pthread_barrier_wait(&r->end);
    }
    return NULL;
}

/* The file of an ended process is removed while that of the next one is written. */
static void a_file_written_meanwhile_stays(void **state)
{
    char dir[] = "/tmp/piddir-XXXXXX";
    struct race r = { .a.pid_dir = dir, .gone = ended_pid() };
    int n_lost = 0, n_failed = 0;
    pthread_t thread;
    struct err err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(r.path, sizeof(r.path), "%s/a.pid", dir);
    pthread_mutex_init(&r.a.pid_lock, NULL);
    pthread_barrier_init(&r.begin, NULL, 2);
    pthread_barrier_init(&r.end, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, drop_each, &r), 0);
    for (int i = 0; i < RACES; i++) {
        write_pid(r.path, r.gone);
        pthread_barrier_wait(&r.begin);
        n_failed += piddir_write(&r.a, NULL, r.path, geteuid(), getegid(), getpid(), 0, &err) != 0;
        pthread_barrier_wait(&r.end);
        n_lost += access(r.path, F_OK) != 0;
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&r.begin);
    pthread_barrier_destroy(&r.end);
    pthread_mutex_destroy(&r.a.pid_lock);
    (void)unlink(r.path);
    assert_int_equal(rmdir(dir), 0);
    if (n_failed || n_lost)
        fail_msg("%d not written (%s), %d lost", n_failed, n_failed ? err_msg(&err) : "", n_lost);
}

static void its_default_is_of_the_user(void **state)
{
    char *path = piddir_path("", "/var/lib/x"), *set = piddir_path("/run/pids", "/var/lib/x");

    (void)state;
    assert_string_equal(path, geteuid() ? "/var/lib/x/pids" : "/run/holdfast");
    assert_string_equal(set, "/run/pids");
    free(path);
    free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_files_directly_in_it_count),
        cmocka_unit_test(a_file_goes_with_its_process_alone),
        cmocka_unit_test(a_folder_of_others_is_not_used),
        cmocka_unit_test(a_file_written_meanwhile_stays),
        cmocka_unit_test(its_default_is_of_the_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
