/* SPDX-License-Identifier: MIT */
/* facility.c - see facility.h. */
#include "agent/confine/facility.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem/mem.h"
#include "base/os/in_child.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "base/os/sys_unix.h"
#include "base/text/err.h"

#define BETWEEN " \t,"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { STACK_BYTES = 16 * 1024, CHILD_CODE = 42 };

/* clang-format off */
const struct facility_row facility_rows[FACILITIES] = {
    [HAS_PIDFD] =         { "pidfd", MSG("processes are looked at once a second, children as soon as they end") },
    [HAS_PIDFD_INFO] =    { "pidfd_info", MSG("how a process ended that is no child of the agent is not known") },
    [HAS_CGROUP] =        { "cgroup", MSG("session and descendants tell which processes belong together") },
    [HAS_CGROUP_KILL] =   { "cgroup_kill", MSG("every process of a cgroup is signalled, until none is left") },
    [HAS_CGROUP_CAPS] =   { "cgroup_caps", MSG("a start with spec.holdfast.caps that can not be kept is refused") },
    [HAS_CHILDREN_FILE] = { "children_file", MSG("all of /proc is read to find a process's children") },
    [HAS_INOTIFY] =       { "inotify", MSG("output is looked at every 10 seconds, files of configmaps once a minute") },
    [HAS_PASSRIGHTS] =    { "passrights", MSG("descriptors that are sent with a readiness message are closed by a thread") },
};
/* clang-format on */

/* Length of the next name in *at, which is advanced; 0: none. */
static size_t next_name(const char **at)
{
    *at += strspn(*at, BETWEEN);
    return strcspn(*at, BETWEEN);
}

static int find_row(const char *name, size_t n)
{
    for (int i = 0; i < FACILITIES; i++) {
        if (strlen(facility_rows[i].name) == n && !memcmp(facility_rows[i].name, name, n))
            return i;
    }
    return -1;
}

const char *facilities_check(const char *without)
{
    size_t n;

    for (const char *at = without; (n = next_name(&at)); at += n) {
        if (find_row(at, n) < 0)
            return MSG("must be some of pidfd, pidfd_info, cgroup, cgroup_kill, cgroup_caps, "
                       "children_file, inotify and passrights, with blanks between");
    }
    return NULL;
}

void facility_lacks(struct facilities *f, enum facility which, const char *why)
{
    if (f->has[which])
        msg_copy(f->why[which], FACILITY_WHY_SIZE, why);
    f->has[which] = false;
}

static void lacks_call(struct facilities *f, enum facility which, const char *what)
{
    struct err why;

    err_sys(&why, "%s", what);
    facility_lacks(f, which, err_msg(&why));
}

/* Returns the features that base/sys must not use. */
static unsigned leave_out(struct facilities *f, const char *without)
{
    static const unsigned newer[FACILITIES] = { [HAS_PIDFD] = SYS_PIDFD,
                                                [HAS_PIDFD_INFO] = SYS_PIDFD_INFO,
                                                [HAS_CHILDREN_FILE] = SYS_CHILDREN,
                                                [HAS_INOTIFY] = SYS_INOTIFY,
                                                [HAS_PASSRIGHTS] = SYS_PASSRIGHTS };
    unsigned calls = 0;
    size_t n;

    for (const char *at = without; (n = next_name(&at)); at += n) {
        int row = find_row(at, n);

        if (row < 0)
            continue;
        facility_lacks(f, (enum facility)row, MSG("the setting without says so"));
        calls |= newer[row];
    }
    return calls;
}

IN_CHILD static void end_child(void *arg)
{
    (void)arg;
    sys_end(CHILD_CODE);
}

/* A sandbox may allow clone3 but not pidfd_open, which everything else needs. */
static int try_open(void)
{
    int fd = sys_pidfd_open(getpid());

    sys_close(fd);
    return fd < 0 ? -1 : 0;
}

/* Tests with a child that has ended; -1 with errno. */
static int try_pidfd(int *ret_pidfd)
{
    void *stack = xalloc(STACK_BYTES);
    const struct sys_child child = { end_child, NULL, stack, STACK_BYTES, -1 };
    siginfo_t info = { .si_pid = 0 };
    int pidfd = -1, result = -1;
    pid_t pid = sys_clone3(&child, &pidfd);

    if (pid > 0 && pidfd < 0)
        errno = ENOSYS;
    if (pid > 0 && pidfd >= 0 && !try_open() && !sys_pidfd_send_signal(pidfd, 0))
        result = sys_waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED);
    if (pid > 0 && result) {
        int error = errno;

        (void)sys_waitid(P_PID, (id_t)pid, &info, WEXITED); /* on failure it is a stray */
        errno = error;
    }
    free(stack);
    *ret_pidfd = pidfd;
    return result;
}

/* Temporary errors (lack of resources) do not mean that the feature is missing. */
static bool facility_is_passing(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* A partial implementation counts as missing. */
static void probe_pidfd(struct facilities *f, unsigned calls)
{
    int pidfd = -1, status;
    bool has_failed = try_pidfd(&pidfd) != 0;

    if (has_failed && facility_is_passing(errno)) {
        sys_close(pidfd);
        return;
    }
    if (has_failed) {
        lacks_call(f, HAS_PIDFD, "pidfd");
        lacks_call(f, HAS_PIDFD_INFO, "pidfd");
        sys_do_without(calls | SYS_PIDFD);
    } else if (sys_pidfd_status(pidfd, &status)) {
        lacks_call(f, HAS_PIDFD_INFO, "PIDFD_GET_INFO");
    }
    sys_close(pidfd);
}

static void probe_children_file(struct facilities *f)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        lacks_call(f, HAS_CHILDREN_FILE, "/proc/PID/task/TID/children");
    sys_close(fd);
}

static void probe_inotify(struct facilities *f)
{
    int fd = sys_inotify("/", IN_DELETE_SELF);

    if (fd < 0)
        lacks_call(f, HAS_INOTIFY, "inotify");
    sys_close(fd);
}

static void probe_passrights(struct facilities *f)
{
    int fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);

    if (fd < 0 || sys_refuse_descriptors(fd))
        lacks_call(f, HAS_PASSRIGHTS, "SO_PASSRIGHTS");
    sys_close(fd);
}

void facilities_probe(struct facilities *f, const char *without)
{
    unsigned calls;

    *f = (struct facilities){ .has = { false } };
    for (int i = 0; i < FACILITIES; i++)
        f->has[i] = true;
    calls = leave_out(f, without);
    sys_do_without(calls);
    probe_pidfd(f, calls);
    probe_children_file(f);
    probe_inotify(f);
    probe_passrights(f);
}
