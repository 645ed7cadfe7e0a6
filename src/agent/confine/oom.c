/* SPDX-License-Identifier: MIT */
/* oom.c - see oom.h. */
#include "agent/confine/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"

struct group {
    int64_t kills;
    char name[];
};

static const char vmstat_path[] = "/proc/vmstat";

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

static int read_count(const char *path, int64_t *ret, struct err *err)
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

int oom_kills(int64_t *ret, struct err *err)
{
    return read_count(vmstat_path, ret, err);
}

void oom_begin(struct oom *o, int64_t kills)
{
    *o = (struct oom){ .before = kills, .last = kills };
}

void oom_done(struct oom *o)
{
    struct map_entry *e;
    size_t at = 0;

    while ((e = map_next(&o->groups, &at)))
        free(e->value);
    map_free(&o->groups);
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

/* ---- cgroup of the process */

static struct group *find_group(struct oom *o, const char *name)
{
    struct group *g = map_find_str(&o->groups, name);

    if (g)
        return g;
    g = xalloc(sizeof(*g) + strlen(name) + 1);
    memcpy(g->name, name, strlen(name) + 1);
    map_put_str(&o->groups, g->name, g);
    return g;
}

/* A group that was removed and created again counts from 0. */
enum oom_group oom_look_at_group(struct oom *o, const char *name, const char *folder)
{
    char *events = xprintf("%s/memory.events", folder);
    struct err ignored; /* on failure the result is unknown */
    int64_t kills, before;
    struct group *g;
    int bad = read_count(events, &kills, &ignored);

    free(events);
    if (bad)
        return OOM_GROUP_UNKNOWN;
    g = find_group(o, name);
    before = kills < g->kills ? 0 : g->kills;
    g->kills = kills;
    return kills > before ? OOM_GROUP_MORE : OOM_GROUP_AS_BEFORE;
}

/* The cgroup's counter may include a child killed long ago, so a recent OOM kill of the host is
 * required, too. */
enum proc_oom oom_judge(struct oom *o, enum oom_group group, int64_t kills)
{
    if (group == OOM_GROUP_AS_BEFORE || !oom_claim(o, kills))
        return PROC_OOM_NO;
    return group == OOM_GROUP_MORE ? PROC_OOM_YES : PROC_OOM_PERHAPS;
}
