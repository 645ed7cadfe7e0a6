/* SPDX-License-Identifier: MIT */
/* cgroup_caps.c - bounds that the kernel keeps; see cgroup.h.
 *
 * Version 2 sets them in the group itself, where the process is born.  In version 1 each
 * controller has folders of its own, which the child goes to before it becomes the program:
 * the kernel takes some milliseconds for that, but nothing is left unbounded for a moment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cgroup_in.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_old.h"
#include "model/code.h"

#define SERVICE ".service"

enum { CPU_PERIOD_US = 100000, CPU_QUOTA_MIN_US = 1000, NUMBERS_SIZE = 64, LIST_SIZE = 512 };

/* clang-format off */
static const struct {
    const char *controller, *field;
    const char *v2, *v1; /* the files */
} kinds[CAPS] = {
    [CAP_CPU] =  { "cpu", "cpu", "cpu.max", "cpu.cfs_quota_us" },
    [CAP_MEM] =  { "memory", "mem_bytes", "memory.max", "memory.limit_in_bytes" },
    [CAP_PIDS] = { "pids", "processes", "pids.max", "pids.max" },
};
/* clang-format on */

static bool is_set(const struct proc_caps *caps, enum cap cap)
{
    switch (cap) {
    case CAP_CPU: return caps->cpu_percent > 0;
    case CAP_MEM: return caps->mem_bytes > 0;
    case CAP_PIDS: return caps->processes > 0;
    case CAPS: break;
    }
    return false;
}

bool caps_are_set(const struct proc_caps *caps)
{
    return is_set(caps, CAP_CPU) || is_set(caps, CAP_MEM) || is_set(caps, CAP_PIDS);
}

/* Of all cores together, in each period. */
static long long quota_us(const struct proc_caps *caps)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double us = caps->cpu_percent / 100 * (double)(cores > 0 ? cores : 1) * CPU_PERIOD_US;

    return us < CPU_QUOTA_MIN_US ? CPU_QUOTA_MIN_US : (long long)us;
}

static void write_value(const struct proc_caps *caps, enum cap cap, enum cap_way way, char *to)
{
    long long value = cap == CAP_MEM ? caps->mem_bytes : caps->processes;

    if (cap == CAP_CPU && way == CAP_V2)
        snprintf(to, NUMBERS_SIZE, "%lld %d", quota_us(caps), CPU_PERIOD_US);
    else
        snprintf(to, NUMBERS_SIZE, "%lld", cap == CAP_CPU ? quota_us(caps) : value);
}

/* ---- what there is */

/* Whether a word is in a file like cgroup.controllers: "cpu memory pids". */
static bool lists(int dir, const char *file, const char *word)
{
    char text[LIST_SIZE];
    int fd = sys_openat(dir, file, O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : sys_read(fd, text, sizeof(text) - 1);
    size_t len = strlen(word);

    sys_close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    for (const char *at = text; (at = strstr(at, word)); at += len) {
        if ((at == text || at[-1] == ' ') && strchr(" \n", at[len]))
            return true;
    }
    return false;
}

static bool is_on_v2(const struct cgroups *c, const char *controller)
{
    int fd = c->groups < 0 ? -1 : cgroup_open_folder(c->folder);
    bool found = fd >= 0 && lists(fd, "cgroup.controllers", controller);

    sys_close(fd);
    return found;
}

/* Ours to write: found out without making anything, for most hosts need none. */
static bool is_on_v1(struct cap_place *p, const char *controller, const char *mounts,
                     const char *ours)
{
    struct cgroup_place place;

    if (!cgroup_find_place(mounts, ours, controller, &place)) {
        snprintf(p->why, sizeof(p->why), "there is no controller %s here", controller);
        return false;
    }
    if (sys_may_write(place.folder)) {
        snprintf(p->why, sizeof(p->why), "controller %s: %s", controller, strerror(errno));
        return false;
    }
    p->folder = xstrdup(place.folder);
    return true;
}

static void find_one(struct cgroups *c, enum cap cap, const char *mounts, const char *ours)
{
    struct cap_place *p = &c->caps[cap];

    if (is_on_v2(c, kinds[cap].controller))
        p->way = CAP_V2;
    else if (is_on_v1(p, kinds[cap].controller, mounts, ours))
        p->way = CAP_V1;
}

/* Groups of an agent before us; where there are none, the folder is not made. */
static void sweep_v1(struct cgroups *c, struct cap_place *p)
{
    int own = cgroup_open_folder(p->folder);
    int groups = own < 0 ? -1 : sys_openat(own, c->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    if (groups >= 0) {
        c->is_used |= cgroup_sweep(groups);
        (void)sys_rmdirat(own, c->name); /* not if somebody is there */
    }
    sys_close(groups);
    sys_close(own);
}

static void say_why(const struct cgroups *c, struct facilities *f)
{
    char why[FACILITY_WHY_SIZE] = "";
    size_t n = 0;

    for (int i = 0; i < CAPS; i++) {
        if (c->caps[i].way == CAP_NONE && n < sizeof(why))
            n += (size_t)snprintf(why + n, sizeof(why) - n, "%s%s", n ? "; " : "", c->caps[i].why);
    }
    if (n)
        facility_lacks(f, HAS_CGROUP_CAPS, why);
}

void caps_find(struct cgroups *c, const char *mounts, const char *ours, struct facilities *f)
{
    bool is_off = c->use == CGROUPS_OFF;

    if (is_off)
        facility_lacks(f, HAS_CGROUP_CAPS, "the setting cgroups says off");
    for (int i = 0; i < CAPS; i++) {
        c->caps[i].groups = -1;
        snprintf(c->caps[i].why, sizeof(c->caps[i].why), "%s", f->why[HAS_CGROUP_CAPS]);
        if (!f->has[HAS_CGROUP_CAPS])
            continue;
        find_one(c, (enum cap)i, mounts, ours);
        if (c->caps[i].way == CAP_V1)
            sweep_v1(c, &c->caps[i]);
    }
    c->has_subtree = c->groups >= 0 && (lists(c->groups, "cgroup.subtree_control", "memory") ||
                                        lists(c->groups, "cgroup.subtree_control", "cpu") ||
                                        lists(c->groups, "cgroup.subtree_control", "pids"));
    if (f->has[HAS_CGROUP_CAPS])
        say_why(c, f);
}

/* ---- made ready */

/* The agent goes to a leaf of its own, so that the folder above may have controllers. */
static int move_to_leaf(int own)
{
    char pid[NUMBERS_SIZE];
    bool is_new;
    int leaf = cgroup_make(own, CGROUP_LEAF, &is_new), result;

    if (leaf < 0)
        return -1;
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    result = cgroup_write(leaf, "cgroup.procs", pid);
    sys_close(leaf);
    return result;
}

static int enable(int dir, const char *controller)
{
    char text[NUMBERS_SIZE];

    if (lists(dir, "cgroup.subtree_control", controller))
        return 0;
    snprintf(text, sizeof(text), "+%s", controller);
    return cgroup_write(dir, "cgroup.subtree_control", text);
}

/* systemd puts a service that it starts again into that very cgroup, which it could not as
 * long as a process with caps lives there; so there we stay.  From 254 on it can start us
 * in the leaf at once. */
static bool may_move(const char *folder)
{
    size_t n = strlen(folder), m = strlen(SERVICE);

    return n < m || strcmp(folder + n - m, SERVICE) != 0;
}

static int prepare_v2(struct cgroups *c, enum cap cap)
{
    const char *controller = kinds[cap].controller;
    int own = cgroup_open_folder(c->folder), result = -1;

    if (own < 0)
        return -1;
    if (!enable(own, controller) ||
        (errno == EBUSY && may_move(c->folder) && !move_to_leaf(own) && !enable(own, controller)))
        result = enable(c->groups, controller);
    if (!result)
        c->has_subtree = true;
    sys_close(own);
    return result;
}

static int prepare_v1(struct cgroups *c, struct cap_place *p)
{
    bool is_new;
    int own;

    if (p->groups >= 0)
        return 0;
    own = cgroup_open_folder(p->folder);
    if (own < 0)
        return -1;
    p->groups = cgroup_make(own, c->name, &is_new);
    sys_close(own);
    return p->groups < 0 ? -1 : 0;
}

static int prepare(struct cgroups *c, enum cap cap, struct err *err)
{
    struct cap_place *p = &c->caps[cap];

    if (p->way == CAP_NONE)
        return err_set(err, CODE_SYSTEM,
                       "spec.holdfast.caps.%s: not possible on this host, %s; take it out of the "
                       "spec, or give the agent a cgroup it can write to",
                       kinds[cap].field, p->why);
    if (p->way == CAP_V2 ? !prepare_v2(c, cap) : !prepare_v1(c, p))
        return 0;
    return err_set(err, CODE_SYSTEM,
                   "spec.holdfast.caps.%s: the controller %s can not be used by the agent: %s%s",
                   kinds[cap].field, kinds[cap].controller, strerror(errno),
                   errno != EBUSY ? ""
                   : may_move(c->folder)
                       ? "; others are in its cgroup"
                       : "; with systemd 254 or later set DelegateSubgroup=" CGROUP_LEAF
                         " in its unit, with an older one there are no caps on this host");
}

int cgroups_prepare(struct cgroups *c, const struct proc_caps *caps, struct err *err)
{
    if (caps_are_set(caps) && cgroup_use_groups(c))
        return err_sys(err, "spec.holdfast.caps: the cgroup %s", c->inside);
    c->is_used = true; /* also of version 1 alone */
    for (int i = 0; i < CAPS; i++) {
        if (is_set(caps, (enum cap)i) && prepare(c, (enum cap)i, err))
            return -1;
    }
    return 0;
}

/* ---- set */

static int refuse(enum cap cap, const char *file, const char *value, struct err *err)
{
    return err_set(err, CODE_SYSTEM,
                   "spec.holdfast.caps.%s: the kernel does not take %s for %s: %s",
                   kinds[cap].field, value, file, strerror(errno));
}

/* A group that was there before may have had others. */
static int set_v2(const struct cgroups *c, enum cap cap, int group, bool is_new,
                  const struct proc_caps *caps, struct err *err)
{
    const char *file = kinds[cap].v2;
    char value[NUMBERS_SIZE];

    if (is_set(caps, cap)) {
        write_value(caps, cap, CAP_V2, value);
        return cgroup_write(group, file, value) ? refuse(cap, file, value, err) : 0;
    }
    if (!is_new && c->has_subtree)
        (void)cgroup_write(group, file, "max"); /* not there: it had none */
    return 0;
}

static int set_v1(const struct cap_place *p, enum cap cap, const char *name,
                  const struct proc_caps *caps, struct cgroup_way *way, struct err *err)
{
    const char *file = kinds[cap].v1;
    char value[NUMBERS_SIZE];
    bool is_new;
    int group = cgroup_make(p->groups, name, &is_new), join = -1;

    write_value(caps, cap, CAP_V1, value);
    if (group >= 0 && !cgroup_write(group, file, value))
        join = sys_openat(group, "cgroup.procs", O_WRONLY, 0);
    if (join < 0)
        refuse(cap, file, value, err);
    sys_close(group);
    if (join < 0)
        return -1;
    way->join[way->n_join++] = join;
    return 0;
}

int caps_set(const struct cgroups *c, const char *name, int group, bool is_new,
             const struct proc_caps *caps, struct cgroup_way *way, struct err *err)
{
    for (int i = 0; i < CAPS; i++) {
        const struct cap_place *p = &c->caps[i];
        enum cap cap = (enum cap)i;

        if (p->way == CAP_V2 && group >= 0 && set_v2(c, cap, group, is_new, caps, err))
            return -1;
        if (p->way == CAP_V1 && is_set(caps, cap) && set_v1(p, cap, name, caps, way, err))
            return -1;
    }
    return 0;
}

void caps_remove(const struct cgroups *c, const char *name)
{
    for (int i = 0; i < CAPS; i++) {
        if (c->caps[i].groups >= 0)
            (void)sys_rmdirat(c->caps[i].groups, name); /* none, or somebody is in it */
    }
}

void caps_close(struct cgroups *c)
{
    for (int i = 0; i < CAPS; i++) {
        struct cap_place *p = &c->caps[i];

        sys_close(p->groups);
        if (p->groups >= 0)
            sweep_v1(c, p);
        free(p->folder);
    }
}
