/* SPDX-License-Identifier: MIT */
/* ident.c - see ident.h. */
#include "agent/identify/ident.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agent/identify/ident_folder.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

bool ident_equal(const struct ident *a, const struct ident *b)
{
    return a->pid == b->pid && a->start_ticks == b->start_ticks && !strcmp(a->boot_id, b->boot_id);
}

static int gone(struct err *err, int64_t pid)
{
    return err_set(err, ERR_NOT_FOUND, "there is no process %lld", (long long)pid);
}

static int open_pid(int64_t pid, int *ret_pidfd, struct err *err)
{
    int fd;

    if (pid <= 1)
        return err_set(err, ERR_DENIED, "pid %lld is not a process to act on", (long long)pid);
    if (pid == getpid())
        return err_set(err, ERR_DENIED, "pid %lld is the agent itself", (long long)pid);
    if (pid > INT32_MAX)
        return gone(err, pid);
    fd = sys_pidfd_open((pid_t)pid);
    if (fd < 0 && errno == ESRCH)
        return gone(err, pid);
    if (fd < 0 && errno == ENOSYS)
        return folder_open(pid, ret_pidfd, err);
    if (fd < 0 && (errno == EINVAL || errno == ENOENT))
        return err_set(err, ERR_DENIED, "pid %lld is a thread, not a process", (long long)pid);
    if (fd < 0)
        return err_sys(err, "pidfd_open %lld", (long long)pid);
    *ret_pidfd = fd;
    return 0;
}

/* A zombie has ended; a process whose first thread alone has ended has not, though both are shown
 * in state Z. POLLOUT tells the kind of descriptor: a pidfd never reports it, a /proc folder always
 * does. For a folder it is unknown whether the process has been reaped; it is reported as reaped.
 */
static int see_end(int pidfd, bool *ret, bool *ret_is_reaped, struct err *err)
{
    struct pollfd p = { .fd = pidfd, .events = POLLIN | POLLOUT };
    int64_t pid;
    int n;

    do { /* SIGCHLD interrupts it although it does not wait */
        n = sys_poll(&p, 1, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_sys(err, "poll a pidfd");
    *ret_is_reaped = (p.revents & (POLLHUP | POLLOUT)) != 0;
    if (p.revents & POLLOUT)
        return folder_check_ended(pidfd, ret, &pid, err);
    *ret = p.revents != 0;
    return 0;
}

int ident_check_ended(int pidfd, bool *ret, struct err *err)
{
    bool is_reaped;

    return see_end(pidfd, ret, &is_reaped, err);
}

/* The pidfd is opened before the ticks are read. If the ticks are those of a known process, that
 * process still exists, so it had the pid all the time and is the one the pidfd refers to. */
static int read_behind(int64_t pid, int pidfd, struct procfs_stat *ret, struct err *err)
{
    bool ended = false;

    if (procfs_stat((pid_t)pid, ret, err) || ident_check_ended(pidfd, &ended, err))
        return -1;
    if (ended)
        return err_set(err, ERR_NOT_FOUND,
                       ret->state == 'Z'
                           ? "process %lld has ended and its parent has not reaped it (a "
                             "zombie)"
                           : "process %lld has ended",
                       (long long)pid);
    return 0;
}

int ident_of(int64_t pid, const char *boot_id, struct ident *ret, int *ret_pidfd, struct err *err)
{
    struct procfs_stat st;
    int fd;

    if (open_pid(pid, &fd, err))
        return -1;
    if (read_behind(pid, fd, &st, err)) {
        sys_close(fd);
        return -1;
    }
    *ret = (struct ident){ .pid = pid, .start_ticks = st.start_ticks };
    memcpy(ret->boot_id, boot_id, strnlen(boot_id, BOOT_ID_SIZE - 1));
    *ret_pidfd = fd;
    return 0;
}

static int open_ident(const struct ident *id, const char *boot_id, bool ended_will_do,
                      int *ret_pidfd, struct err *err)
{
    struct procfs_stat st = { 0 };
    int fd;

    if (strcmp(id->boot_id, boot_id) != 0)
        return err_set(err, ERR_NOT_FOUND, "process %lld was of an earlier boot",
                       (long long)id->pid);
    if (open_pid(id->pid, &fd, err))
        return -1;
    if (!read_behind(id->pid, fd, &st, err) ||
        (ended_will_do && st.state == 'Z' && st.ppid == getpid())) {
        if (st.start_ticks == id->start_ticks) {
            *ret_pidfd = fd;
            return 0;
        }
        err_set(err, ERR_NOT_FOUND,
                "pid %lld is another process now: started at tick %lld, not %lld",
                (long long)id->pid, (long long)st.start_ticks, (long long)id->start_ticks);
    }
    sys_close(fd);
    return -1;
}

int ident_open(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err)
{
    return open_ident(id, boot_id, false, ret_pidfd, err);
}

int ident_adopt(const struct ident *id, const char *boot_id, int *ret_pidfd, struct err *err)
{
    return open_ident(id, boot_id, true, ret_pidfd, err);
}

/* While a session has members no other process gets its number; a process with that number is the
 * leader. */
bool ident_made_session(const struct ident *leader, int64_t session)
{
    struct procfs_stat st;
    struct err why;

    if (session <= 1 || session != leader->pid)
        return false;
    return procfs_stat((pid_t)session, &st, &why) || st.start_ticks == leader->start_ticks;
}

int ident_signal(int pidfd, int number, struct err *err)
{
    if (!sys_pidfd_send_signal(pidfd, number))
        return 0;
    if (errno == ESRCH)
        return err_set(err, ERR_NOT_FOUND, "the process has ended");
    if (errno == ENOSYS)
        return folder_signal(pidfd, number, err);
    return err_sys(err, "signal %d", number);
}

static struct end end_of_child(const siginfo_t *info)
{
    if (!info->si_pid)
        return (struct end){ .kind = END_NOT_YET };
    return (struct end){
        .kind = info->si_code == CLD_EXITED ? END_EXIT : END_SIGNAL,
        .code = info->si_status,
        .has_core = info->si_code == CLD_DUMPED,
    };
}

static struct end end_of_status(int status)
{
    if (WIFSIGNALED(status))
        return (struct end){
            .kind = END_SIGNAL,
            .code = WTERMSIG(status),
            .has_core = WCOREDUMP(status),
        };
    return (struct end){ .kind = END_EXIT, .code = WEXITSTATUS(status) };
}

/* A kernel without this ioctl leaves the status unknown. Otherwise there is none before the process
 * is reaped (ENODATA) or while it is being reaped (ESRCH). */
static int end_of_other(int pidfd, struct end *ret, struct err *err)
{
    bool ended = false, is_reaped = false;
    int status;

    if (see_end(pidfd, &ended, &is_reaped, err))
        return -1;
    *ret = (struct end){ .kind = ended ? END_UNKNOWN : END_NOT_YET };
    if (!ended)
        return 0;
    if (!sys_pidfd_status(pidfd, &status))
        *ret = end_of_status(status);
    else
        ret->is_unreaped = !is_reaped && (errno == ENODATA || errno == ESRCH);
    return 0;
}

/* Waits for a child by pidfd; by its pid if the descriptor is a folder, because an unreaped child
 * keeps its pid. ECHILD: not a child. */
static int wait_child(int pidfd, int options, siginfo_t *info)
{
    int64_t pid = -1;
    struct err why;
    bool ended;
    int error;

    if (!sys_waitid(P_PIDFD, (id_t)pidfd, info, WEXITED | WNOHANG | options))
        return 0;
    if (errno != EBADF && errno != EINVAL)
        return -1;
    error = errno;
    if (folder_check_ended(pidfd, &ended, &pid, &why) || pid <= 1) {
        errno = pid ? error : ECHILD; /* not a folder; otherwise reaped, so not a child */
        return -1;
    }
    return sys_waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | options);
}

static int ident_wait_for(int pidfd, int options, struct end *ret, bool *ret_is_child,
                          struct err *err)
{
    siginfo_t info = { .si_pid = 0 };

    *ret_is_child = !wait_child(pidfd, options, &info);
    if (*ret_is_child) {
        *ret = end_of_child(&info);
        return 0;
    }
    if (errno != ECHILD)
        return err_sys(err, "waitid");
    return end_of_other(pidfd, ret, err);
}

int ident_end(int pidfd, struct end *ret, struct err *err)
{
    bool is_child;

    return ident_wait_for(pidfd, 0, ret, &is_child, err);
}

int ident_look_at_end(int pidfd, struct end *ret, bool *ret_is_left, struct err *err)
{
    return ident_wait_for(pidfd, WNOWAIT, ret, ret_is_left, err);
}

int ident_reap_strays(bool (*is_held)(void *arg, pid_t pid), void *arg, bool *ret_any,
                      struct err *err)
{
    for (bool any = false;; any = true) {
        siginfo_t info = { .si_pid = 0 };

        if (sys_waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno != ECHILD)
            return err_sys(err, "waitid");
        if (!info.si_pid || is_held(arg, info.si_pid)) {
            *ret_any = any;
            return 0;
        }
        if (sys_waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG))
            return err_sys(err, "waitid %d", (int)info.si_pid);
    }
}

int ident_try_signal(const struct ident *id, int number, struct err *err)
{
    struct err why;
    int fd, result;

    if (ident_open(id, id->boot_id, &fd, &why)) {
        if (why.code == ERR_NOT_FOUND || why.code == ERR_DENIED)
            return 0;
        *err = why;
        return -1;
    }
    result = ident_signal(fd, number, &why);
    sys_close(fd);
    if (!result || why.code == ERR_NOT_FOUND || why.sys == EPERM)
        return 0;
    *err = why;
    return -1;
}
