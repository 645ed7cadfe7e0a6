/* SPDX-License-Identifier: MIT */
/* oom.c - see oom.h. */
#include "agent/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"

static const char path[] = "/proc/vmstat";

bool oom_parse(const char *vmstat, int64_t *ret)
{
    static const char key[] = "\noom_kill ";
    const char *at = strstr(vmstat, key);
    char *end;
    long long n;

    if (!at)
        return false;
    at += sizeof(key) - 1;
    errno = 0;
    n = strtoll(at, &end, 10);
    if (errno || end == at || *end != '\n' || n < 0)
        return false;
    *ret = n;
    return true;
}

int oom_kills(int64_t *ret, struct err *err)
{
    char text[16384];
    size_t n = 0;
    ssize_t got = 1;
    int fd = sys_open(path, O_RDONLY, 0);

    if (fd < 0)
        return err_sys(err, "open %s", path);
    while (n < sizeof(text) - 1 && (got = sys_read(fd, text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    if (got < 0)
        err_sys(err, "read %s", path);
    sys_close(fd);
    if (got < 0)
        return -1;
    text[n] = '\0';
    return oom_parse(text, ret) ? 0 : err_set(err, ERR_NOT_FOUND, "%s has no oom_kill", path);
}

void oom_begin(struct oom *o, int64_t kills)
{
    *o = (struct oom){ kills, kills };
}

void oom_on_tick(struct oom *o, int64_t kills)
{
    o->before = o->last;
    o->last = kills;
}

bool oom_claim(struct oom *o, int64_t kills)
{
    if (kills <= o->before)
        return false;
    o->before++;
    if (o->last < o->before)
        o->last = o->before;
    return true;
}
