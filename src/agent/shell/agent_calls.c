/* SPDX-License-Identifier: MIT */
/* agent_calls.c - see agent_calls.h. */
#include "agent/shell/agent_calls.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/sys.h"

/* "FD TASK FD TASK..." */
#define CALLS "HOLDFAST_UPGRADE_CALLS"

/* A connection that can not be kept open is closed. */
void calls_add(struct buf *to, int fd, const char *task)
{
    int copy = sys_dupfd(fd, STDERR_FILENO + 1);

    if (copy < 0)
        return;
    if (sys_dup2(fd, copy) < 0) /* the copy stays open over execve() */
        sys_close(copy);
    else
        buf_printf(to, "%d %s ", copy, task);
}

void calls_set(struct buf *calls)
{
    if (calls->len)
        setenv(CALLS, buf_text(calls), 1); /* if this fails the connections are lost */
}

const char *calls_get(void)
{
    return getenv(CALLS);
}

const char *calls_next(const char *at, int *ret_fd, char task[CORE_LOCAL_TASK_SIZE])
{
    char *end;
    long fd = strtol(at, &end, 10);
    size_t n;

    if (end == at || *end != ' ' || fd <= STDERR_FILENO || fd > INT_MAX)
        return NULL;
    n = strcspn(++end, " ");
    snprintf(task, CORE_LOCAL_TASK_SIZE, "%.*s", (int)n, end);
    *ret_fd = (int)fd;
    return end + n;
}

void calls_drop(void)
{
    const char *at = calls_get();
    char task[CORE_LOCAL_TASK_SIZE];
    int fd;

    while (at && (at = calls_next(at, &fd, task)))
        sys_close(fd);
    unsetenv(CALLS);
}
