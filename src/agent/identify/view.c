/* SPDX-License-Identifier: MIT */
/* view.c - see view.h. */
#include "agent/identify/view.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/identify/procfs.h"
#include "base/os/sys.h"
#include "base/text/utf8.h"

enum { CMDLINE_MAX = 4095 };

/* Joins the arguments with spaces; bytes that are not text become '?', because the process chooses
 * them. */
static size_t clean(char *text, size_t n)
{
    size_t step;

    while (n > 0 && text[n - 1] == '\0')
        n--;
    n = utf8_whole(text, n);
    for (size_t i = 0; i < n; i += step) {
        step = utf8_char(text + i, n - i);
        if (text[i] == '\0')
            text[i] = ' ';
        else if (!step || (unsigned char)text[i] < ' ' || text[i] == 127)
            text[i] = '?';
        step = step ? step : 1;
    }
    return n;
}

static const char *read_cmdline(int64_t pid, struct arena *a)
{
    char path[64], text[CMDLINE_MAX];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pid);
    fd = sys_open(path, O_RDONLY, 0);
    if (fd >= 0)
        n = sys_read(fd, text, sizeof(text));
    sys_close(fd);
    return n > 0 ? arena_memdup(a, text, clean(text, (size_t)n)) : "";
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *local_time(int64_t wall_s, struct arena *a)
{
    char text[32];
    time_t when = (time_t)wall_s;
    struct tm tm;

    if (!localtime_r(&when, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
        return "";
    return arena_strdup(a, text);
}

/* Both clocks are read at the same moment, so that the start time of a process does not vary
 * between reads. */
static void fill_times(const struct procfs_stat *st, struct arena *a, struct proc_view *v)
{
    double up_s = seconds_of(CLOCK_BOOTTIME), wall_s = seconds_of(CLOCK_REALTIME);
    double hz = (double)sysconf(_SC_CLK_TCK), cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double age_s = up_s - (double)st->start_ticks / hz;
    double used_s = (double)(st->user_ticks + st->system_ticks) / hz;

    v->elapsed_s = age_s > 0 ? (int64_t)age_s : 0;
    v->start_time = local_time((int64_t)(wall_s - age_s), a);
    v->utime = arena_printf(a, "%.2f", (double)st->user_ticks / hz);
    v->stime = arena_printf(a, "%.2f", (double)st->system_ticks / hz);
    if (age_s > 0 && cpus > 0)
        v->cpu_percent = v->cpu_percent_avg = 100 * used_s / age_s / cpus;
}

static void fill_memory(const struct procfs_stat *st, struct proc_view *v)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES);

    v->mem_bytes = st->rss_pages * sysconf(_SC_PAGESIZE);
    if (pages > 0)
        v->mem_percent = 100 * (double)st->rss_pages / (double)pages;
}

void view_read(int64_t pid, struct arena *a, struct proc_view *v)
{
    struct procfs_stat st;
    struct err why;

    if (procfs_stat((pid_t)pid, &st, &why))
        return;
    v->cmdline = read_cmdline(pid, a);
    v->stat = arena_memdup(a, &st.state, 1);
    v->threads = st.threads;
    fill_times(&st, a, v);
    fill_memory(&st, v);
}
