/* SPDX-License-Identifier: MIT */
/* cgroup_caps.c - see cgroup_caps.h. */
#include "agent/confine/cgroup_caps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine/cgroup_place.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "model/code.h"

#define SERVICE ".service"

enum { CPU_PERIOD_US = 100000, CPU_QUOTA_MIN_US = 1000, NUMBERS_SIZE = 64, LIST_SIZE = 512 };

/* clang-format off */
static const struct {
    const char *controller, *field;
    const char *v2, *v1; /* file names */
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

/* Of all cores together, per period. */
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

/* ---- detection */

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

static bool is_on_v2(const struct cgroup_parent *at, const char *controller)
{
    int fd = at->groups < 0 ? -1 : cgroup_open_folder(at->folder);
    bool found = fd >= 0 && lists(fd, "cgroup.controllers", controller);

    sys_close(fd);
    return found;
}

/* Whether the agent can write there; tested without creating anything, because most hosts need no
 * caps. */
static bool is_on_v1(struct cap_place *p, const char *controller, const char *mounts,
                     const char *ours)
{
    struct cgroup_place place;
    struct err err;

    if (!cgroup_find_place(mounts, ours, controller, &place)) {
        msg_printf(p->why, sizeof(p->why), "there is no controller %s here", controller);
        return false;
    }
    if (sys_may_write(place.folder)) {
        err_sys(&err, "controller %s", controller);
        msg_copy(p->why, sizeof(p->why), err_msg(&err));
        return false;
    }
    p->folder = xstrdup(place.folder);
    return true;
}

static void find_one(struct caps *c, const struct cgroup_parent *at, enum cap cap,
                     const char *mounts, const char *ours)
{
    struct cap_place *p = &c->places[cap];

    if (is_on_v2(at, kinds[cap].controller))
        p->way = CAP_V2;
    else if (is_on_v1(p, kinds[cap].controller, mounts, ours))
        p->way = CAP_V1;
}

/* Removes groups of a previous agent; does not create the folder. */
static void sweep_v1(const struct cap_place *p, const char *name, cgroup_left_fn *left, void *arg)
{
    int own = cgroup_open_folder(p->folder);
    int groups = own < 0 ? -1 : sys_openat(own, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

    if (groups >= 0) {
        (void)cgroup_sweep(groups, left, arg);
        (void)sys_rmdirat(own, name); /* fails if it is not empty */
    }
    sys_close(groups);
    sys_close(own);
}

static void say_why(const struct caps *c, struct facilities *f)
{
    struct arena a = { 0 };
    const char *why = NULL;

    for (int i = 0; i < CAPS; i++) {
        if (c->places[i].way == CAP_NONE)
            why = why ? arena_msg(&a, "%s; %s", why, c->places[i].why) : c->places[i].why;
    }
    if (why)
        facility_lacks(f, HAS_CGROUP_CAPS, why);
    arena_free(&a);
}

void caps_find(struct caps *c, const struct cgroup_parent *at, const char *mounts, const char *ours,
               bool is_off, struct facilities *f, cgroup_left_fn *left, void *arg)
{
    if (is_off)
        facility_lacks(f, HAS_CGROUP_CAPS, MSG("the setting cgroups says off"));
    for (int i = 0; i < CAPS; i++) {
        c->places[i].groups = -1;
        msg_copy(c->places[i].why, sizeof(c->places[i].why), f->why[HAS_CGROUP_CAPS]);
        if (!f->has[HAS_CGROUP_CAPS])
            continue;
        find_one(c, at, (enum cap)i, mounts, ours);
        if (c->places[i].way == CAP_V1)
            sweep_v1(&c->places[i], at->name, left, arg);
    }
    c->has_subtree = at->groups >= 0 && (lists(at->groups, "cgroup.subtree_control", "memory") ||
                                         lists(at->groups, "cgroup.subtree_control", "cpu") ||
                                         lists(at->groups, "cgroup.subtree_control", "pids"));
    if (f->has[HAS_CGROUP_CAPS])
        say_why(c, f);
}

/* ---- preparation */

/* Moves the agent to a leaf of its own, so that the parent can enable controllers. */
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

/* systemd puts a restarted service into the same cgroup, which fails as long as a process with caps
 * lives below it; so the agent does not move there. Since version 254 systemd can start the agent
 * in the leaf. */
static bool may_move(const char *folder)
{
    size_t n = strlen(folder), m = strlen(SERVICE);

    return n < m || strcmp(folder + n - m, SERVICE) != 0;
}

static int prepare_v2(struct caps *c, const struct cgroup_parent *at, enum cap cap)
{
    const char *controller = kinds[cap].controller;
    int own = cgroup_open_folder(at->folder), result = -1;

    if (own < 0)
        return -1;
    if (!enable(own, controller) ||
        (errno == EBUSY && may_move(at->folder) && !move_to_leaf(own) && !enable(own, controller)))
        result = enable(at->groups, controller);
    if (!result)
        c->has_subtree = true;
    sys_close(own);
    return result;
}

static int prepare_v1(struct cap_place *p, const char *name)
{
    bool is_new;
    int own;

    if (p->groups >= 0)
        return 0;
    own = cgroup_open_folder(p->folder);
    if (own < 0)
        return -1;
    p->groups = cgroup_make(own, name, &is_new);
    sys_close(own);
    return p->groups < 0 ? -1 : 0;
}

/* With the reason in errno. */
static int no_controller(const struct cgroup_parent *at, enum cap cap, struct err *err)
{
    const char *field = kinds[cap].field, *controller = kinds[cap].controller;
    int error = errno;
    char reason[128];

    msg_constant(reason, sizeof(reason), strerror(error));
    if (error != EBUSY)
        return err_set(err, CODE_SYSTEM,
                       "spec.holdfast.caps.%s: the controller %s can not be used by the agent: %s",
                       field, controller, reason);
    if (may_move(at->folder))
        return err_set(err, CODE_SYSTEM,
                       "spec.holdfast.caps.%s: the controller %s can not be used by the agent: "
                       "%s; others are in its cgroup",
                       field, controller, reason);
    return err_set(err, CODE_SYSTEM,
                   "spec.holdfast.caps.%s: the controller %s can not be used by the agent: %s; "
                   "with systemd 254 or later set %s in its unit, with an older one there are no "
                   "caps on this host",
                   field, controller, reason, "DelegateSubgroup=" CGROUP_LEAF);
}

static int cgroup_caps_prepare(struct caps *c, const struct cgroup_parent *at, enum cap cap,
                               struct err *err)
{
    struct cap_place *p = &c->places[cap];

    if (p->way == CAP_NONE)
        return err_set(err, CODE_SYSTEM,
                       "spec.holdfast.caps.%s: not possible on this host, %s; take it out of the "
                       "spec, or give the agent a cgroup it can write to",
                       kinds[cap].field, p->why);
    if (p->way == CAP_V2 ? !prepare_v2(c, at, cap) : !prepare_v1(p, at->name))
        return 0;
    return no_controller(at, cap, err);
}

int caps_prepare(struct caps *c, const struct cgroup_parent *at, const struct proc_caps *caps,
                 struct err *err)
{
    for (int i = 0; i < CAPS; i++) {
        if (is_set(caps, (enum cap)i) && cgroup_caps_prepare(c, at, (enum cap)i, err))
            return -1;
    }
    return 0;
}

/* ---- setting */

static int cgroup_caps_refuse(enum cap cap, const char *file, const char *value, struct err *err)
{
    return err_set(err, CODE_SYSTEM,
                   "spec.holdfast.caps.%s: the kernel does not take %s for %s: %s",
                   kinds[cap].field, value, file, strerror(errno));
}

/* Resets caps of an existing group that are not set now. */
static int set_v2(const struct caps *c, enum cap cap, int group, bool is_new,
                  const struct proc_caps *caps, struct err *err)
{
    const char *file = kinds[cap].v2;
    char value[NUMBERS_SIZE];

    if (is_set(caps, cap)) {
        write_value(caps, cap, CAP_V2, value);
        return cgroup_write(group, file, value) ? cgroup_caps_refuse(cap, file, value, err) : 0;
    }
    if (!is_new && c->has_subtree)
        (void)cgroup_write(group, file, "max"); /* missing file: it had no cap */
    return 0;
}

static int set_v1(const struct cap_place *p, enum cap cap, const char *name,
                  const struct proc_caps *caps, int *join, int *n_join, struct err *err)
{
    const char *file = kinds[cap].v1;
    char value[NUMBERS_SIZE];
    bool is_new;
    int group = cgroup_make(p->groups, name, &is_new), fd = -1;

    write_value(caps, cap, CAP_V1, value);
    if (group >= 0 && !cgroup_write(group, file, value))
        fd = sys_openat(group, "cgroup.procs", O_WRONLY, 0);
    if (fd < 0)
        cgroup_caps_refuse(cap, file, value, err);
    sys_close(group);
    if (fd < 0)
        return -1;
    join[(*n_join)++] = fd;
    return 0;
}

int caps_set(const struct caps *c, const char *name, int group, bool is_new,
             const struct proc_caps *caps, int *join, int *n_join, struct err *err)
{
    for (int i = 0; i < CAPS; i++) {
        const struct cap_place *p = &c->places[i];
        enum cap cap = (enum cap)i;

        if (p->way == CAP_V2 && group >= 0 && set_v2(c, cap, group, is_new, caps, err))
            return -1;
        if (p->way == CAP_V1 && is_set(caps, cap) && set_v1(p, cap, name, caps, join, n_join, err))
            return -1;
    }
    return 0;
}

bool caps_remove(const struct caps *c, const char *name)
{
    bool is_gone = true;

    for (int i = 0; i < CAPS; i++) {
        if (c->places[i].groups >= 0 && sys_rmdirat(c->places[i].groups, name) && errno != ENOENT)
            is_gone = false;
    }
    return is_gone;
}

static bool remove_folder(struct cap_place *p, const char *name)
{
    int own = p->groups < 0 ? -1 : cgroup_open_folder(p->folder);
    bool is_gone = p->groups < 0 || (own >= 0 && !sys_rmdirat(own, name));

    sys_close(own);
    if (is_gone) {
        sys_close(p->groups);
        p->groups = -1; /* created again when needed */
    }
    return is_gone;
}

bool caps_remove_folders(struct caps *c, const struct cgroup_parent *at)
{
    bool are_gone = true;

    for (int i = 0; i < CAPS; i++)
        are_gone &= remove_folder(&c->places[i], at->name);
    return are_gone;
}

void caps_done(struct caps *c, const struct cgroup_parent *at)
{
    for (int i = 0; i < CAPS; i++) {
        struct cap_place *p = &c->places[i];

        sys_close(p->groups);
        if (p->groups >= 0)
            sweep_v1(p, at->name, NULL, NULL);
        free(p->folder);
    }
}
