/* SPDX-License-Identifier: MIT */
/* facility.c - see facility.h. */
#include "agent/facility.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_old.h"

#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))
#define BETWEEN  " \t,"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

enum { STACK_BYTES = 16 * 1024, CHILD_CODE = 42 };

/* clang-format off */
const struct facility_row facility_rows[FACILITIES] = {
    [HAS_PIDFD] =         { "pidfd", "processes are looked at once a second, children as soon as they end" },
    [HAS_PIDFD_INFO] =    { "pidfd_info", "how a process ended that is no child of the agent is not known" },
    [HAS_CGROUP] =        { "cgroup", "session and descendants tell which processes belong together" },
    [HAS_CGROUP_KILL] =   { "cgroup_kill", "every process of a cgroup is signalled, until none is left" },
    [HAS_CGROUP_CAPS] =   { "cgroup_caps", "a start with spec.holdfast.caps that can not be kept is refused" },
    [HAS_CHILDREN_FILE] = { "children_file", "all of /proc is read to find a process's children" },
    [HAS_INOTIFY] =       { "inotify", "output is looked at every 10 seconds, files of configmaps once a minute" },
};
/* clang-format on */

/* The next name in *at, which goes behind it; 0: there is none. */
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
            return "must be some of pidfd, pidfd_info, cgroup, cgroup_kill, cgroup_caps, "
                   "children_file and inotify, with blanks between";
    }
    return NULL;
}

void facility_lacks(struct facilities *f, enum facility which, const char *why)
{
    if (f->has[which])
        snprintf(f->why[which], FACILITY_WHY_SIZE, "%s", why);
    f->has[which] = false;
}

static void lacks_call(struct facilities *f, enum facility which, const char *what)
{
    char why[FACILITY_WHY_SIZE];

    snprintf(why, sizeof(why), "%s: %s", what, strerror(errno));
    facility_lacks(f, which, why);
}

/* Gives what base/sys is to do without. */
static unsigned leave_out(struct facilities *f, const char *without)
{
    static const unsigned newer[FACILITIES] = { [HAS_PIDFD] = SYS_PIDFD,
                                                [HAS_PIDFD_INFO] = SYS_PIDFD_INFO,
                                                [HAS_CHILDREN_FILE] = SYS_CHILDREN,
                                                [HAS_INOTIFY] = SYS_INOTIFY };
    unsigned calls = 0;
    size_t n;

    for (const char *at = without; (n = next_name(&at)); at += n) {
        int row = find_row(at, n);

        if (row < 0)
            continue;
        facility_lacks(f, (enum facility)row, "the setting without says so");
        calls |= newer[row];
    }
    return calls;
}

IN_CHILD static void end_child(void *arg)
{
    (void)arg;
    sys_end(CHILD_CODE);
}

/* A sandbox may let clone3 pass and not this, by which everything else is held. */
static int try_open(void)
{
    int fd = sys_pidfd_open(getpid());

    sys_close(fd);
    return fd < 0 ? -1 : 0;
}

/* A child that is over already tells what the kernel can say of one; -1 with errno. */
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

        (void)sys_waitid(P_PID, (id_t)pid, &info, WEXITED); /* else it is a stray */
        errno = error;
    }
    free(stack);
    *ret_pidfd = pidfd;
    return result;
}

/* A host that is short of something for a moment has not lost the facility for good. */
static bool is_passing(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/* One that has only a part of it counts as one that has none. */
static void probe_pidfd(struct facilities *f, unsigned calls)
{
    int pidfd = -1, status;
    bool has_failed = try_pidfd(&pidfd) != 0;

    if (has_failed && is_passing(errno)) {
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
}
