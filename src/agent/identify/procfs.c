/* SPDX-License-Identifier: MIT */
/* procfs.c - see procfs.h. */
#include "agent/identify/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/identify/interp.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "base/text/utf8.h"

enum { PF_KTHREAD = 0x00200000 }; /* from the kernel's internal <linux/sched.h> */
enum { CMDLINE_READ = 4096, STATUS_READ = 4096, CHILDREN_READ = 4096 };

/* --- Parsers ------------------------------------------------------------ */

/* Parses the number at *p and the space after it and advances *p; -1 with *p NULL: no number.
 * Larger numbers than 63 bits (some fields) become the maximum. */
static int64_t take_number(const char **p, const char *end)
{
    const char *at = *p;
    bool negative = at && at < end && *at == '-';
    int64_t n = 0;

    at += negative;
    if (!*p || at >= end || *at < '0' || *at > '9') {
        *p = NULL;
        return -1;
    }
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *at - '0', &n))
            n = INT64_MAX;
    }
    *p = at < end && (*at == ' ' || *at == '\n') ? at + 1 : NULL;
    return negative ? -n : n;
}

static void procfs_copy_text(char *to, size_t size, const char *from, size_t n)
{
    n = n < size ? n : size - 1;
    memcpy(to, from, n);
    to[n] = '\0';
}

/* Field numbers as in proc(5); the 4th comes first. */
static bool parse_numbers(const char *at, const char *end, struct procfs_stat *ret)
{
    for (int field = 4; field <= 24; field++) {
        int64_t n = take_number(&at, end);

        if (!at)
            return false;
        switch (field) {
        case 4: ret->ppid = n; break;
        case 5: ret->group = n; break;
        case 6: ret->session = n; break;
        case 9: ret->is_kernel_thread = (n & PF_KTHREAD) != 0; break;
        case 14: ret->user_ticks = n; break;
        case 15: ret->system_ticks = n; break;
        case 16: ret->waited_user_ticks = n; break;
        case 17: ret->waited_system_ticks = n; break;
        case 20: ret->threads = n; break;
        case 22: ret->start_ticks = n; break;
        case 24: ret->rss_pages = n; break;
        default: break;
        }
    }
    return ret->start_ticks >= 0 && ret->ppid >= 0;
}

/* The name ends at the last parenthesis: it may contain any, the following fields none. */
int procfs_parse_stat(const char *text, size_t n, struct procfs_stat *ret, struct err *err)
{
    const char *end = text + n, *at = text;
    const char *open = memchr(text, '(', n), *close = memrchr(text, ')', n);
    struct procfs_stat st = { 0 };

    st.pid = take_number(&at, end);
    if (!at || at != open || !close || close < open || end - close < 5 || close[1] != ' ' ||
        close[3] != ' ' || st.pid <= 0 || st.pid > INT32_MAX)
        return err_set(err, ERR_MALFORMED, "not the text of a /proc/PID/stat");
    st.state = close[2];
    procfs_copy_text(st.comm, sizeof(st.comm), open + 1, (size_t)(close - open - 1));
    if (!parse_numbers(close + 4, end, &st))
        return err_set(err, ERR_MALFORMED, "not the text of a /proc/PID/stat: a number is missing");
    *ret = st;
    return 0;
}

int procfs_parse_uid(const char *text, size_t n, uid_t *ret_real, struct err *err)
{
    static const char key[] = "\nUid:\t";
    const char *found = memmem(text, n, key, sizeof(key) - 1), *end = text + n;
    const char *digits = found ? found + sizeof(key) - 1 : end, *at = digits;
    uint64_t uid = 0;

    for (; at < end && *at >= '0' && *at <= '9' && uid <= UINT32_MAX; at++)
        uid = uid * 10 + (uint64_t)(*at - '0');
    if (at == digits || at == end || *at != '\t' || uid > UINT32_MAX)
        return err_set(err, ERR_MALFORMED, "not the text of a /proc/PID/status: no Uid");
    *ret_real = (uid_t)uid;
    return 0;
}

void procfs_base_name(const char *path, char to[PROCFS_NAME_SIZE])
{
    static const char gone[] = " (deleted)";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), gone_n = sizeof(gone) - 1;

    if (n > gone_n && !strcmp(name + n - gone_n, gone))
        n -= gone_n;
    procfs_copy_text(to, PROCFS_NAME_SIZE, name, n);
}

void procfs_clean(char *text)
{
    size_t n = strlen(text), step;

    for (size_t i = 0; i < n; i += step) {
        step = utf8_char(text + i, n - i);
        if (!step || (unsigned char)text[i] < ' ' || text[i] == 127) {
            text[i] = '?';
            step = 1;
        }
    }
}

static void last_part(const char *path, char to[PROCFS_NAME_SIZE])
{
    const char *slash = strrchr(path, '/');

    procfs_copy_text(to, PROCFS_NAME_SIZE, slash ? slash + 1 : path,
                     strlen(slash ? slash + 1 : path));
}

/* A program that overwrites its arguments with a title may leave out the final NUL. */
void procfs_parse_names(const char *cmdline, size_t n, struct procfs_names *names)
{
    char first[PROCFS_PATH_SIZE];
    const char *script = interp_script(names->exe, cmdline, n);

    names->argv0[0] = names->script[0] = '\0';
    if (n > 0) {
        procfs_copy_text(first, sizeof(first), cmdline, strnlen(cmdline, n));
        last_part(first, names->argv0);
    }
    if (script)
        last_part(script, names->script);
}

/* --- Reading ------------------------------------------------------------ */

static int no_process(struct err *err, pid_t pid, const char *what)
{
    if (errno == ENOENT || errno == ESRCH)
        return err_set(err, ERR_NOT_FOUND, "there is no process %d", (int)pid);
    return err_sys(err, "/proc/%d/%s", (int)pid, what);
}

/* At most `size` bytes of /proc/PID/what; these files are complete after one read. */
static int procfs_read_file(pid_t pid, const char *what, char *to, size_t size, size_t *ret_n,
                            struct err *err)
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
    fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return no_process(err, pid, what);
    got = sys_read(fd, to, size);
    if (got < 0)
        no_process(err, pid, what);
    sys_close(fd);
    if (got < 0)
        return -1;
    *ret_n = (size_t)got;
    return 0;
}

int procfs_stat(pid_t pid, struct procfs_stat *ret, struct err *err)
{
    char text[PROCFS_STAT_SIZE];
    size_t n = 0;

    if (procfs_read_file(pid, "stat", text, sizeof(text), &n, err))
        return -1;
    return procfs_parse_stat(text, n, ret, err);
}

int procfs_uid(pid_t pid, uid_t *ret_real, struct err *err)
{
    char text[STATUS_READ];
    size_t n = 0;

    if (procfs_read_file(pid, "status", text, sizeof(text), &n, err))
        return -1;
    return procfs_parse_uid(text, n, ret_real, err);
}

int procfs_exe(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    n = sys_readlinkat(AT_FDCWD, path, to, PROCFS_PATH_SIZE - 1);
    if (n < 0)
        return no_process(err, pid, "exe");
    to[n] = '\0';
    return 0;
}

/* A kernel thread has no exe, and that of another user may not be readable: then the exe name is
 * "". */
int procfs_names(pid_t pid, struct procfs_names *ret, struct err *err)
{
    struct procfs_names names = { 0 };
    struct procfs_stat st;
    char exe[PROCFS_PATH_SIZE], cmdline[CMDLINE_READ];
    struct err why;
    size_t n;

    if (procfs_stat(pid, &st, err))
        return -1;
    memcpy(names.comm, st.comm, sizeof(names.comm));
    if (!procfs_exe(pid, exe, &why))
        procfs_base_name(exe, names.exe);
    if (procfs_read_file(pid, "cmdline", cmdline, sizeof(cmdline), &n, err))
        return -1;
    procfs_parse_names(cmdline, n, &names);
    *ret = names;
    return 0;
}

int procfs_cgroup(pid_t pid, char to[PROCFS_PATH_SIZE], struct err *err)
{
    char text[PROCFS_PATH_SIZE * 2];
    const char *at, *end;
    size_t n;

    if (procfs_read_file(pid, "cgroup", text, sizeof(text) - 1, &n, err))
        return -1;
    text[n] = '\0';
    at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
    end = at ? strchr(at + 1, '\n') : NULL;
    if (!end)
        return err_set(err, ERR_NOT_FOUND, "process %d is in no cgroup of version 2", (int)pid);
    at = strstr(at, "0::") + 3;
    procfs_copy_text(to, PROCFS_PATH_SIZE, at, (size_t)(end - at));
    return 0;
}

int procfs_boot_id(char to[BOOT_ID_SIZE], struct err *err)
{
    int fd = sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, to, BOOT_ID_SIZE - 1);

    if (n < 0)
        err_sys(err, "/proc/sys/kernel/random/boot_id");
    else if (n != BOOT_ID_SIZE - 1)
        err_set(err, ERR_MALFORMED, "/proc/sys/kernel/random/boot_id is too short");
    sys_close(fd);
    if (n != BOOT_ID_SIZE - 1)
        return -1;
    to[n] = '\0';
    return 0;
}

/* --- Walking ------------------------------------------------------------ */

/* The number if all of the name is one; 0: it is not. */
static pid_t pid_of(const char *name)
{
    int64_t n = 0;

    for (const char *p = name; *p; p++) {
        if (*p < '0' || *p > '9' || n > INT32_MAX / 10)
            return 0;
        n = n * 10 + (*p - '0');
    }
    return n > 0 && n <= INT32_MAX ? (pid_t)n : 0;
}

static int each_in(const char *path, procfs_fn *fn, void *arg)
{
    int fd = sys_open(path, O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);
    struct dirent *entry;

    if (!dir) {
        int saved = errno;

        sys_close(fd);
        errno = saved;
        return -1;
    }
    while ((entry = readdir(dir)) != NULL) {
        pid_t pid = pid_of(entry->d_name);

        if (pid && !fn(arg, pid))
            break;
    }
    closedir(dir);
    return 0;
}

int procfs_each(procfs_fn *fn, void *arg, struct err *err)
{
    return each_in("/proc", fn, arg) ? err_sys(err, "/proc") : 0;
}

struct children {
    pid_t parent;
    procfs_fn *fn;
    void *arg;
    bool is_over, is_listed; /* stopped by fn; the kernel lists children */
    struct err *err;
    int result;
};

/* "12 34 56 ", in pieces that may split a number. */
static void read_children(struct children *c, int fd)
{
    char text[CHILDREN_READ];
    int64_t pid = 0;
    ssize_t n = 0;

    while (!c->is_over && (n = sys_read(fd, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < n && !c->is_over; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else {
                c->is_over = pid > 0 && !c->fn(c->arg, (pid_t)pid);
                pid = 0;
            }
        }
    }
    if (!c->is_over && n < 0)
        c->result = err_sys(c->err, "the children of process %d", (int)c->parent);
}

static bool on_thread(void *arg, pid_t tid)
{
    struct children *c = arg;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)c->parent, (int)tid);
    fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0 && errno != ENOENT && errno != ESRCH)
        c->result = err_sys(c->err, "%s", path);
    if (fd < 0)
        return c->result == 0; /* the thread has ended, or the kernel does not list children */
    c->is_listed = true;
    read_children(c, fd);
    sys_close(fd);
    return !c->is_over && c->result == 0;
}

static bool on_candidate(void *arg, pid_t pid)
{
    struct children *c = arg;
    struct procfs_stat st;
    struct err why;

    if (procfs_stat(pid, &st, &why) || st.ppid != c->parent)
        return true;
    return c->fn(c->arg, pid);
}

int procfs_each_child(pid_t pid, procfs_fn *fn, void *arg, struct err *err)
{
    struct children c = { .parent = pid, .fn = fn, .arg = arg, .err = err };
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    if (!sys_lacks(SYS_CHILDREN) && each_in(path, on_thread, &c))
        return no_process(err, pid, "task");
    if (c.result || c.is_listed)
        return c.result;
    return procfs_each(on_candidate, &c, err);
}
