/* SPDX-License-Identifier: MIT */
/* agent_world.h - a folder with a victim in it, and what is needed to start it and to
 * see how it ends.  Whatever was started is killed when the test is over. */
#ifndef TESTS_LIB_AGENT_WORLD_H
#define TESTS_LIB_AGENT_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs those before it. */
#include <cmocka.h>

#include "agent/exec/spawn.h"
#include "agent/identify/ident.h"
#include "agent/identify/tree.h"
#include "agent/identify/user.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum {
    WORLD_STARTED_MAX = 64,
    WORLD_WAIT_MS = 20000,
    WORLD_SKIPPED = 77, /* for Meson; only root can start processes of others */
};

struct world {
    char dir[64], out[96], victim[96], boot_id[BOOT_ID_SIZE];
    int out_fd;
    struct users users;
    const struct user *root, *nobody;
    struct spawner *spawner;
    struct spawn_result started[WORLD_STARTED_MAX];
    size_t n;
};

/* The condition is looked at every millisecond, so it may do something. */
#define WAIT_UNTIL(condition)                                                                      \
    do {                                                                                           \
        bool holds_ = (condition);                                                                 \
                                                                                                   \
        for (int wait_ = 0; wait_ < WORLD_WAIT_MS && !holds_; wait_++) {                           \
            poll(NULL, 0, 1);                                                                      \
            holds_ = (condition);                                                                  \
        }                                                                                          \
        if (!holds_)                                                                               \
            fail_msg("never came true: %s", #condition);                                           \
    } while (0)

/* Kills one process, dead or alive; never all processes, even if a failed test passes -1. */
static inline void world_kill(int64_t pid)
{
    assert_true(pid > 1);
    assert_true(!kill((pid_t)pid, SIGKILL) || errno == ESRCH);
}

/* build/X/tests/victim, beside the test itself; read once, because a test that has made
 * itself a mount namespace may see another path there. */
static inline const char *world_victim_path(void)
{
    static char path[512];
    char *slash;

    if (*path)
        return path;
    assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
    slash = strrchr(path, '/');
    snprintf(slash, sizeof(path) - (size_t)(slash - path), "/victim");
    return path;
}

/* A copy of the victim under another name, for processes to be told apart by. */
static inline void world_copy_victim(const char *to)
{
    struct stat st;
    int in, out;

    in = open(world_victim_path(), O_RDONLY | O_CLOEXEC);
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    assert_true(in >= 0 && out >= 0);
    assert_int_equal(fstat(in, &st), 0);
    assert_int_equal(sendfile(out, in, NULL, (size_t)st.st_size), st.st_size);
    close(in);
    close(out);
}

static inline struct world *world_new(void)
{
    struct world *w = xalloc(sizeof(*w));
    struct err err = { 0 };

    snprintf(w->dir, sizeof(w->dir), "/tmp/agent-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    assert_int_equal(chmod(w->dir, 0755), 0);
    snprintf(w->out, sizeof(w->out), "%s/out", w->dir);
    snprintf(w->victim, sizeof(w->victim), "%s/victim", w->dir);
    world_copy_victim(w->victim);
    w->out_fd = open(w->out, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    assert_true(w->out_fd >= 0);
    if (users_get(&w->users, "root", 0, &w->root, &err) ||
        users_get(&w->users, "nobody", 0, &w->nobody, &err) || procfs_boot_id(w->boot_id, &err) ||
        spawner_new(w->boot_id, &w->spawner, &err))
        fail_msg("%s", err.text);
    return w;
}

static inline void world_remove(const char *dir)
{
    char command[128];
    pid_t pid = fork();
    int status;

    snprintf(command, sizeof(command), "%s", dir);
    if (pid == 0) {
        execl("/bin/rm", "rm", "-rf", command, NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static inline void world_free(struct world *w)
{
    struct err err;
    size_t killed;

    sys_fault("any", 0, 0);
    for (size_t i = 0; i < w->n; i++) {
        (void)tree_kill(&w->started[i].id, true, NULL, &killed, &err);
        close(w->started[i].pidfd);
    }
    while (waitpid(-1, NULL, 0) > 0) /* all were killed, and those we inherited too */
        ;
    spawner_free(w->spawner);
    users_done(&w->users);
    close(w->out_fd);
    world_remove(w->dir);
    free(w);
}

static inline int world_setup(void **state)
{
    *state = world_new();
    return 0;
}

static inline int world_teardown(void **state)
{
    world_free(*state);
    return 0;
}

static inline int world_try(struct world *w, const struct user *user, const char *command,
                            struct spawn_result *ret, struct err *err)
{
    struct spawn_request r = {
        .command = command, .setup_path = w->dir, .user = user, .out_fd = w->out_fd, .cgroup_fd = -1
    };

    if (spawn(w->spawner, &r, ret, err))
        return -1;
    assert_true(w->n < WORLD_STARTED_MAX);
    w->started[w->n++] = *ret;
    return 0;
}

static inline struct spawn_result world_start(struct world *w, const struct user *user,
                                              const char *command)
{
    struct spawn_result r;
    struct err err = { 0 };

    if (world_try(w, user, command, &r, &err))
        fail_msg("%s: %s", command, err.text);
    return r;
}

static inline bool world_ended(int pidfd)
{
    struct pollfd p = { .fd = pidfd, .events = POLLIN };

    return poll(&p, 1, 0) == 1;
}

static inline struct end world_end(const struct spawn_result *r)
{
    struct end end = { 0 };
    struct err err = { 0 };

    WAIT_UNTIL(world_ended(r->pidfd));
    if (ident_end(r->pidfd, &end, &err))
        fail_msg("%s", err.text);
    return end;
}

/* The whole of a file; "" if there is none. */
static inline const char *world_read(const char *path)
{
    static char text[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static inline void world_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* A text with the world's folder in it; good until the next but 7. */
__attribute__((format(printf, 1, 2))) static inline const char *world_text(const char *fmt, ...)
{
    static char texts[8][1024];
    static unsigned at;
    va_list ap;

    at = (at + 1) % 8;
    va_start(ap, fmt);
    vsnprintf(texts[at], sizeof(texts[at]), fmt, ap);
    va_end(ap);
    return texts[at];
}

#endif
