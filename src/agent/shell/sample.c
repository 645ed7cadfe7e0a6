/* SPDX-License-Identifier: MIT */
/* sample.c - see sample.h. */
#include "agent/shell/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/identify/procfs.h"
#include "agent/shell/sample_scan.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"

enum { TEXT_BYTES = 4096 };

struct sampler {
    int proc; /* descriptor of /proc */
    bool lists_children;
    int64_t tick_us, page_bytes;
    struct scan *scan; /* of this turn; NULL: not needed yet */
    pid_t members[SAMPLE_MEMBERS_MAX];
    size_t n;
    bool is_full;
    char text[TEXT_BYTES];
};

/* With kernel support the list of a thread without children is empty, but exists. */
static bool lists_children(int proc)
{
    int fd = sys_lacks(SYS_CHILDREN) ? -1 : sys_openat(proc, "thread-self/children", O_RDONLY, 0);

    sys_close(fd);
    return fd >= 0;
}

int sampler_new(struct sampler **ret, struct err *err)
{
    int proc = sys_open("/proc", O_RDONLY | O_DIRECTORY, 0);
    struct sampler *s;

    if (proc < 0)
        return err_sys(err, "/proc");
    s = xalloc(sizeof(*s));
    s->proc = proc;
    s->lists_children = lists_children(proc);
    s->tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    s->page_bytes = sysconf(_SC_PAGESIZE);
    *ret = s;
    return 0;
}

void sampler_forget(struct sampler *s)
{
    scan_free(s->scan);
    s->scan = NULL;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    sampler_forget(s);
    sys_close(s->proc);
    free(s);
}

/* ---- one process */

static int sample_fail(const char *what, struct err *err)
{
    if (errno == ENOENT || errno == ESRCH)
        return err_set(err, ERR_NOT_FOUND, "/proc/%s is gone", what);
    return err_sys(err, "/proc/%s", what);
}

/* These files are complete after one read. */
static int read_stat(struct sampler *s, int64_t pid, struct procfs_stat *ret, struct err *err)
{
    char name[32];
    ssize_t n;
    int fd, result = 0;

    snprintf(name, sizeof(name), "%lld/stat", (long long)pid);
    fd = sys_openat(s->proc, name, O_RDONLY, 0);
    if (fd < 0)
        return sample_fail(name, err);
    n = sys_read(fd, s->text, PROCFS_STAT_SIZE);
    if (n < 0)
        result = sample_fail(name, err);
    sys_close(fd);
    return result ? result : procfs_parse_stat(s->text, (size_t)n, ret, err);
}

static void sample_count(struct sampler *s, struct core_sample *sum, int64_t ticks,
                         int64_t rss_pages)
{
    sum->processes++;
    sum->cpu_us += ticks * s->tick_us;
    sum->rss_bytes += rss_pages * s->page_bytes;
}

/* ---- from child to child */

bool sample_take_pids(const char *text, size_t n, int64_t *pid, pid_t *to, size_t *to_n, size_t max)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            *pid = *pid > INT32_MAX ? *pid : *pid * 10 + (text[i] - '0');
            continue;
        }
        if (*pid > 0 && *pid <= INT32_MAX) {
            if (*to_n == max)
                return false;
            to[(*to_n)++] = (pid_t)*pid;
        }
        *pid = 0;
    }
    return true;
}

static void take_list(struct sampler *s, int fd)
{
    int64_t pid = 0;
    ssize_t n;

    while (!s->is_full && (n = sys_read(fd, s->text, sizeof(s->text))) > 0)
        s->is_full =
            !sample_take_pids(s->text, (size_t)n, &pid, s->members, &s->n, SAMPLE_MEMBERS_MAX);
}

static void take_children(struct sampler *s, int64_t pid, int64_t tid)
{
    char name[64];
    int fd;

    snprintf(name, sizeof(name), "%lld/task/%lld/children", (long long)pid, (long long)tid);
    fd = sys_openat(s->proc, name, O_RDONLY, 0);
    if (fd < 0)
        return; /* it has just ended */
    take_list(s, fd);
    sys_close(fd);
}

/* Every thread may have children of its own. */
static void take_children_of_all(struct sampler *s, int64_t pid)
{
    char name[32];
    const struct dirent *entry;
    DIR *dir;
    int fd;

    snprintf(name, sizeof(name), "%lld/task", (long long)pid);
    fd = sys_openat(s->proc, name, O_RDONLY | O_DIRECTORY, 0);
    dir = fd < 0 ? NULL : sys_fdopendir(fd);
    if (!dir) {
        sys_close(fd);
        take_children(s, pid, pid);
        return;
    }
    while (!s->is_full && (entry = readdir(dir)) != NULL) {
        long long tid = strtoll(entry->d_name, NULL, 10);

        if (tid > 0)
            take_children(s, pid, tid);
    }
    closedir(dir);
}

/* Sums up all members; goes_on: also adds their descendants to the list. */
static int count_members(struct sampler *s, struct core_ident who, bool goes_on,
                         struct core_sample *ret, struct err *err)
{
    struct core_sample sum = { 0 };
    struct procfs_stat st;

    for (size_t i = 0; i < s->n; i++) {
        bool is_root = s->members[i] == who.pid;
        struct err why;

        if (read_stat(s, s->members[i], &st, &why)) {
            if (is_root)
                return *err = why, -1;
            continue; /* it has just ended */
        }
        if (is_root && st.start_ticks != who.start_ticks)
            return err_set(err, ERR_NOT_FOUND, "process %lld has ended", (long long)who.pid);
        sample_count(s, &sum, scan_ticks(&st), scan_sane(st.rss_pages));
        if (goes_on && !s->is_full && st.threads == 1)
            take_children(s, s->members[i], s->members[i]);
        else if (goes_on && !s->is_full)
            take_children_of_all(s, s->members[i]);
    }
    sum.is_partial = s->is_full;
    *ret = sum;
    return 0;
}

static int sample_walk(struct sampler *s, struct core_ident who, struct core_sample *ret,
                       struct err *err)
{
    s->members[0] = (pid_t)who.pid;
    s->n = 1;
    s->is_full = false;
    return count_members(s, who, true, ret, err);
}

/* ---- by its cgroup */

int64_t sample_parse_cpu_us(const char *text, size_t n)
{
    static const char key[] = "usage_usec ";
    const char *at = memmem(text, n, key, sizeof(key) - 1), *end = text + n;
    int64_t us = 0;

    if (!at || (at > text && at[-1] != '\n'))
        return -1;
    at += sizeof(key) - 1;
    if (at == end || *at < '0' || *at > '9')
        return -1;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(us, 10, &us) || __builtin_add_overflow(us, *at - '0', &us))
            return -1;
    }
    return us;
}

static int open_in(const char *folder, const char *name)
{
    char path[TEXT_BYTES];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return -1;
    return sys_open(path, O_RDONLY, 0);
}

static int64_t cgroup_cpu_us(struct sampler *s, const char *cgroup)
{
    int fd = open_in(cgroup, "cpu.stat");
    ssize_t n = fd < 0 ? -1 : sys_read(fd, s->text, sizeof(s->text));

    sys_close(fd);
    return n < 0 ? -1 : sample_parse_cpu_us(s->text, (size_t)n);
}

static bool has_member(const struct sampler *s, int64_t pid)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->members[i] == pid)
            return true;
    }
    return false;
}

/* False: the process is not in the cgroup, so other members may be elsewhere, too. */
static bool take_cgroup(struct sampler *s, int64_t pid, const char *cgroup)
{
    int fd = open_in(cgroup, "cgroup.procs");

    s->n = 0;
    s->is_full = false;
    if (fd < 0)
        return false;
    take_list(s, fd);
    sys_close(fd);
    return has_member(s, pid);
}

static int read_cgroup(struct sampler *s, struct core_ident who, const char *cgroup,
                       struct core_sample *ret, struct err *err)
{
    int64_t cpu_us;

    if (count_members(s, who, false, ret, err))
        return -1;
    cpu_us = cgroup_cpu_us(s, cgroup);
    if (cpu_us >= 0)
        ret->cpu_us = cpu_us;
    return 0;
}

/* ---- choice of the method */

static int read_scan(struct sampler *s, struct core_ident who, struct core_sample *ret,
                     struct err *err)
{
    struct scan_sum sum;

    if (!s->scan && scan_new(&s->scan, err))
        return -1;
    if (scan_tree(s->scan, who.pid, who.start_ticks, SAMPLE_MEMBERS_MAX, &sum, err))
        return -1;
    *ret = (struct core_sample){ .cpu_us = sum.ticks * s->tick_us,
                                 .rss_bytes = sum.rss_pages * s->page_bytes,
                                 .processes = sum.processes,
                                 .is_partial = sum.is_partial };
    return 0;
}

int sampler_read(struct sampler *s, struct core_ident who, const char *cgroup,
                 struct core_sample *ret, struct err *err)
{
    if (cgroup && take_cgroup(s, who.pid, cgroup))
        return read_cgroup(s, who, cgroup, ret, err);
    return s->lists_children ? sample_walk(s, who, ret, err) : read_scan(s, who, ret, err);
}
