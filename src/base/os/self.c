/* SPDX-License-Identifier: MIT */
/* self.c - see self.h. */
#include "base/os/self.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/os/sys.h"

static int64_t cpu_us(void)
{
    struct rusage use = { 0 };

    (void)getrusage(RUSAGE_SELF, &use); /* cannot fail for RUSAGE_SELF */
    return ((int64_t)use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 + use.ru_utime.tv_usec +
           use.ru_stime.tv_usec;
}

/* "5471 1203 ...": size and resident set, in pages. */
static void read_memory(struct self_use *to)
{
    int fd = sys_open("/proc/self/statm", O_RDONLY, 0);
    long long size = 0, rss = 0, page = sysconf(_SC_PAGESIZE);
    char text[128];
    ssize_t n;

    if (fd < 0)
        return;
    n = sys_read(fd, text, sizeof(text) - 1);
    sys_close(fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%lld %lld", &size, &rss) != 2)
        return;
    to->size_bytes = size * page;
    to->rss_bytes = rss * page;
}

void self_use(struct self_use *ret)
{
    *ret = (struct self_use){ .cpu_us = cpu_us() };
    read_memory(ret);
}

static int64_t count_fds(void)
{
    int fd = sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : sys_fdopendir(fd);
    int64_t n = 0;

    if (!dir && fd >= 0)
        sys_close(fd);
    if (!dir)
        return 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 3; /* ".", ".." and the descriptor of the folder itself */
}

int64_t self_fds(void)
{
    struct stat st;

    if (sys_stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
        return (int64_t)st.st_size;
    return count_fds();
}

int64_t self_fds_max(void)
{
    struct rlimit limit;

    if (sys_prlimit(RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    return (int64_t)limit.rlim_cur;
}
