/* SPDX-License-Identifier: MIT */
/* cgroup.c - see cgroup.h. */
#include "agent/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cgroup_in.h"
#include "agent/ident.h"
#include "agent/outlog.h"
#include "agent/procfs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_old.h"
#include "model/code.h"

#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

enum {
    DEPTH_MAX = 8, /* of groups that a process has made below its own */
    KILL_ROUNDS = 1000,
    TIDY_MAX = 256,
    TRY_STACK = 16 * 1024
};

/* ---- folders and files */

int cgroup_write(int dir, const char *file, const char *text)
{
    int fd = sys_openat(dir, file, O_WRONLY, 0), result, error;

    if (fd < 0)
        return -1;
    result = sys_write(fd, text, strlen(text)) < 0 ? -1 : 0;
    error = errno;
    sys_close(fd);
    errno = error;
    return result;
}

int cgroup_open_folder(const char *path)
{
    return sys_open(path, O_RDONLY | O_DIRECTORY, 0);
}

int cgroup_make(int dir, const char *name, bool *ret_is_new)
{
    *ret_is_new = !sys_mkdirat(dir, name, 0755);
    if (!*ret_is_new && errno != EEXIST)
        return -1;
    return sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

static bool is_group(const struct dirent *d)
{
    return d->d_name[0] != '.' && d->d_type == DT_DIR;
}

/* What is not empty is not removed, and that is all we want: false. */
static bool remove_group(int dir, const char *name, int depth)
{
    DIR *all;
    int fd;

    if (!sys_rmdirat(dir, name))
        return true;
    if (depth >= DEPTH_MAX)
        return false;
    fd = sys_openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    all = fd < 0 ? NULL : sys_fdopendir(fd);
    if (!all) {
        sys_close(fd);
        return false;
    }
    for (struct dirent *d; (d = readdir(all));) {
        if (is_group(d))
            (void)remove_group(dirfd(all), d->d_name, depth + 1);
    }
    closedir(all);
    return !sys_rmdirat(dir, name);
}

bool cgroup_sweep(int groups)
{
    int fd = sys_openat(groups, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *all = fd < 0 ? NULL : sys_fdopendir(fd);
    bool stays = false;

    if (!all) {
        sys_close(fd);
        return false;
    }
    for (struct dirent *d; (d = readdir(all));) {
        if (is_group(d))
            stays |= !remove_group(groups, d->d_name, 0);
    }
    closedir(all);
    return stays;
}

/* ---- what can be done here */

struct trial {
    int join;
};

IN_CHILD static void run_trial(void *arg)
{
    const struct trial *t = arg;

    sys_end(t->join >= 0 && sys_write(t->join, "0", 1) != 1);
}

/* Whether a child of ours comes into the group; errno says why not. */
static bool try_child(int born, int join)
{
    struct trial trial = { join };
    void *stack = xalloc(TRY_STACK);
    struct sys_child child = { run_trial, &trial, stack, TRY_STACK, born };
    siginfo_t info = { .si_pid = 0 };
    int pidfd = -1;
    pid_t pid = sys_clone3(&child, &pidfd);
    bool is_well = pid > 0 && !sys_waitid(P_PID, (id_t)pid, &info, WEXITED) && !info.si_status;

    sys_close(pidfd);
    free(stack);
    return is_well;
}

/* A group that is there for a moment. */
static bool try_group(struct cgroups *c)
{
    bool is_new, is_well = false;
    int fd = cgroup_make(c->groups, "trial", &is_new), join;

    if (fd < 0)
        return false;
    join = sys_openat(fd, "cgroup.procs", O_WRONLY, 0);
    c->is_born = join >= 0 && try_child(fd, -1);
    is_well = c->is_born || (join >= 0 && try_child(-1, join));
    c->has_kill = !cgroup_write(fd, "cgroup.kill", "1");
    c->is_sticky = c->is_born && c->has_kill && !try_child(fd, -1);
    sys_close(join);
    sys_close(fd);
    (void)sys_rmdirat(c->groups, "trial"); /* else it is swept at the next start */
    return is_well;
}

static void cut_leaf(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash && !strcmp(slash, "/" CGROUP_LEAF))
        *slash = '\0';
}

/* False, with errno or 0 where there is no such hierarchy. */
static bool open_groups(struct cgroups *c, const char *mounts, const char *ours)
{
    struct cgroup_place place;
    bool is_new;
    int fd;

    errno = 0;
    if (!cgroup_find_place(mounts, ours, "", &place))
        return false;
    cut_leaf(place.folder);
    cut_leaf(place.inside);
    c->folder = xstrdup(place.folder);
    c->inside = xprintf("%s/%s", place.inside, c->name);
    fd = cgroup_open_folder(place.folder);
    if (fd < 0)
        return false;
    c->groups = cgroup_make(fd, c->name, &is_new);
    sys_close(fd);
    c->is_used = c->groups >= 0 && cgroup_sweep(c->groups);
    return c->groups >= 0 && try_group(c);
}

static void find_groups(struct cgroups *c, const char *mounts, const char *ours,
                        struct facilities *f)
{
    if (c->use == CGROUPS_OFF)
        facility_lacks(f, HAS_CGROUP, "the setting cgroups says off");
    if (f->has[HAS_CGROUP] && !open_groups(c, mounts, ours)) {
        facility_lacks(f, HAS_CGROUP, errno ? strerror(errno) : "version 2 is not mounted");
        sys_close(c->groups);
        c->groups = -1;
    }
    if (c->groups < 0 || !c->has_kill)
        facility_lacks(f, HAS_CGROUP_KILL,
                       c->groups < 0 ? "no cgroup of version 2" : "there is no cgroup.kill");
    c->has_kill = f->has[HAS_CGROUP_KILL];
}

/* ---- its life */

static char *folder_name(const char *data_dir)
{
    char name[OUTLOG_NAME_SIZE];

    outlog_name(data_dir, "", name);
    return xprintf("holdfast-%s", name);
}

static int read_all(int fd, struct buf *to)
{
    ssize_t got;

    do {
        got = sys_read(fd, buf_reserve(to, 4096), 4096);
        to->len += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return got < 0 ? -1 : 0;
}

/* "": there are none. */
static const char *read_text(const char *path, struct buf *to)
{
    int fd = sys_open(path, O_RDONLY, 0), result = fd < 0 ? -1 : read_all(fd, to);

    sys_close(fd);
    return result ? "" : buf_text(to);
}

/* Ours, where there is nobody. */
static void remove_folder(const struct cgroups *c)
{
    int fd = c->groups < 0 ? -1 : cgroup_open_folder(c->folder);

    if (fd >= 0)
        (void)sys_rmdirat(fd, c->name); /* somebody is there: the next agent's */
    sys_close(fd);
}

int cgroup_use_groups(struct cgroups *c)
{
    bool is_new;
    int fd = -1, groups = -1;

    if (c->is_used || c->groups < 0)
        return 0;
    fd = cgroup_open_folder(c->folder);
    groups = fd < 0 ? -1 : cgroup_make(fd, c->name, &is_new);
    sys_close(fd);
    if (groups < 0)
        return -1;
    sys_close(c->groups);
    c->groups = groups;
    c->is_used = true;
    return 0;
}

struct cgroups *cgroups_open(const char *data_dir, enum cgroup_use use, const char *mounts,
                             const char *ours, struct facilities *f)
{
    struct cgroups *c = xalloc(sizeof(*c));
    struct buf mounts_text = { 0 }, ours_text = { 0 };

    c->use = use;
    c->groups = -1;
    c->name = folder_name(data_dir);
    if (!mounts)
        mounts = read_text("/proc/self/mountinfo", &mounts_text);
    if (!ours)
        ours = read_text("/proc/self/cgroup", &ours_text);
    find_groups(c, mounts, ours, f);
    caps_find(c, mounts, ours, f);
    c->is_used |= use == CGROUPS_ALL && c->groups >= 0;
    if (!c->is_used)
        remove_folder(c); /* it is made again when it is needed */
    buf_free(&mounts_text);
    buf_free(&ours_text);
    return c;
}

static void forget_ended(struct cgroups *c)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&c->ended, &at));)
        free(e->value);
    map_free(&c->ended);
}

void cgroups_close(struct cgroups *c)
{
    if (!c)
        return;
    if (c->groups >= 0)
        (void)cgroup_sweep(c->groups);
    remove_folder(c);
    sys_close(c->groups);
    caps_close(c);
    forget_ended(c);
    free(c->folder);
    free(c->inside);
    free(c->name);
    free(c);
}

bool cgroups_are_used(const struct cgroups *c)
{
    return c->is_used;
}

void cgroup_ended(struct cgroups *c, const char *name)
{
    char *copy;

    if (map_find_str(&c->ended, name))
        return;
    copy = xstrdup(name);
    map_put_str(&c->ended, copy, copy);
}

void cgroups_tidy(struct cgroups *c)
{
    struct map_entry *e;
    int left = TIDY_MAX;

    for (size_t at = 0; left-- > 0 && (e = map_next(&c->ended, &at));) {
        char *name = e->value;

        map_del_str(&c->ended, name);
        if (c->groups >= 0)
            (void)remove_group(c->groups, name, 0);
        caps_remove(c, name);
        free(name);
    }
    if (!c->ended.n)
        map_free(&c->ended);
}

/* ---- in and out */

bool cgroup_is_wanted(const struct cgroups *c, const struct proc_caps *caps)
{
    return caps_are_set(caps) || (c->use == CGROUPS_ALL && c->groups >= 0);
}

void cgroup_leave(struct cgroup_way *way)
{
    sys_close(way->born);
    way->born = -1;
    while (way->n_join > 0)
        sys_close(way->join[--way->n_join]);
}

/* One that was there before may have been ended, so where that is sticky it is made anew;
 * *ret_born false: somebody is in it, and who comes goes there by himself, which is slower
 * and always works. */
static int make_group(const struct cgroups *c, const char *name, bool *ret_is_new, bool *ret_born)
{
    int group = cgroup_make(c->groups, name, ret_is_new);

    *ret_born = c->is_born;
    if (group < 0 || *ret_is_new || !c->is_sticky || !c->is_born)
        return group;
    sys_close(group);
    (void)sys_rmdirat(c->groups, name); /* not where somebody is */
    group = cgroup_make(c->groups, name, ret_is_new);
    *ret_born = *ret_is_new;
    return group;
}

static int open_way(const struct cgroups *c, const char *name, int group, bool is_born,
                    struct cgroup_way *way, struct err *err)
{
    int fd;

    if (is_born) {
        way->born = group;
        return 0;
    }
    fd = sys_openat(group, "cgroup.procs", O_WRONLY, 0);
    sys_close(group);
    if (fd < 0)
        return err_sys(err, "cgroup %s/%s", c->inside, name);
    way->join[way->n_join++] = fd;
    return 0;
}

int cgroup_enter(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                 struct cgroup_way *ret, struct err *err)
{
    struct cgroup_way way = { .born = -1 };
    bool is_new = false, is_born = false;
    int group = -1;

    if (c->groups >= 0) {
        group = make_group(c, name, &is_new, &is_born);
        if (group < 0)
            return err_sys(err, "make the cgroup %s/%s", c->inside, name);
    }
    if (caps_set(c, name, group, is_new, caps, &way, err)) {
        sys_close(group);
        cgroup_leave(&way);
        return -1;
    }
    if (group >= 0 && open_way(c, name, group, is_born, &way, err)) {
        cgroup_leave(&way);
        return -1;
    }
    *ret = way;
    return 0;
}

/* ---- its members */

const char *cgroup_path(const struct cgroups *c, const char *name, struct arena *a)
{
    return c->groups < 0 ? NULL : arena_printf(a, "%s/%s", c->inside, name);
}

bool cgroup_folder(const struct cgroups *c, const char *name, char *to, size_t size)
{
    int n = c->groups < 0 ? -1 : snprintf(to, size, "%s/%s/%s", c->folder, c->name, name);

    return n >= 0 && (size_t)n < size;
}

bool cgroup_has(const struct cgroups *c, const char *name, int64_t pid)
{
    char path[PROCFS_PATH_SIZE];
    size_t n = c->groups < 0 ? 0 : strlen(c->inside), m = strlen(name);
    struct err why;

    if (!n || pid <= 1 || procfs_cgroup((pid_t)pid, path, &why))
        return false;
    return !strncmp(path, c->inside, n) && path[n] == '/' && !strncmp(path + n + 1, name, m) &&
           (!path[n + 1 + m] || path[n + 1 + m] == '/');
}

/* Numbers, one a line; 0 is one that our namespace does not see. */
static size_t parse_pids(const char *text, int64_t *to)
{
    size_t n = 0;
    char *end;

    for (const char *at = text; *at; at = *end ? end + 1 : end) {
        long long pid = strtoll(at, &end, 10);

        if (pid > 1)
            to[n++] = pid;
    }
    return n;
}

int cgroup_members(const struct cgroups *c, const char *name, int64_t **ret, size_t *ret_n,
                   struct err *err)
{
    char file[OUTLOG_NAME_SIZE + 16];
    struct buf text = { 0 };
    int fd = -1, result = 0;

    snprintf(file, sizeof(file), "%s/cgroup.procs", name);
    if (c->groups >= 0)
        fd = sys_openat(c->groups, file, O_RDONLY, 0);
    if (c->groups >= 0 && fd < 0 && errno != ENOENT && errno != ENODEV)
        return err_sys(err, "cgroup %s/%s", c->inside, name);
    if (fd >= 0 && read_all(fd, &text) && errno != ENODEV)
        result = err_sys(err, "members of the cgroup %s/%s", c->inside, name);
    sys_close(fd);
    if (!result) {
        *ret = xresize(NULL, (text.len / 2 + 1) * sizeof(**ret));
        *ret_n = parse_pids(buf_text(&text), *ret);
    }
    buf_free(&text);
    return result;
}

/* ---- its end */

struct round {
    const struct cgroups *c;
    const char *name, *boot_id;
    struct map signalled; /* pids, of their own */
    size_t n_new;
};

/* It is still in the group, so it is no other with the same pid. */
static int kill_one(struct round *r, int64_t pid, struct err *err)
{
    int64_t *key;
    struct ident id;
    int fd, result = 0;

    if (map_find(&r->signalled, (const char *)&pid, sizeof(pid)))
        return 0;
    if (ident_of(pid, r->boot_id, &id, &fd, err))
        return err->code == ERR_NOT_FOUND || err->code == ERR_DENIED ? 0 : -1;
    if (cgroup_has(r->c, r->name, pid) && ident_signal(fd, SIGKILL, err) &&
        err->code != ERR_NOT_FOUND)
        result = -1;
    sys_close(fd);
    key = xalloc(sizeof(*key));
    *key = pid;
    map_put(&r->signalled, (const char *)key, sizeof(*key), key);
    r->n_new++;
    return result;
}

static int kill_round(struct round *r, struct err *err)
{
    int64_t *pids;
    size_t n;
    int result = 0;

    r->n_new = 0;
    if (cgroup_members(r->c, r->name, &pids, &n, err))
        return -1;
    for (size_t i = 0; i < n && !result; i++)
        result = kill_one(r, pids[i], err);
    free(pids);
    return result;
}

/* Who has got a SIGKILL forks no more, so when there is nobody new all are about to go. */
static int kill_each(const struct cgroups *c, const char *name, const char *boot_id,
                     struct err *err)
{
    struct round r = { .c = c, .name = name, .boot_id = boot_id };
    struct map_entry *e;
    int result, rounds = 0;

    do
        result = kill_round(&r, err);
    while (!result && r.n_new && ++rounds < KILL_ROUNDS);
    if (!result && rounds == KILL_ROUNDS)
        result = err_set(err, ERR_LIMIT,
                         "the processes of cgroup %s/%s fork faster than they can be ended",
                         c->inside, name);
    for (size_t at = 0; (e = map_next(&r.signalled, &at));)
        free(e->value);
    map_free(&r.signalled);
    return result;
}

int cgroup_kill(const struct cgroups *c, const char *name, const char *boot_id, struct err *err)
{
    char file[OUTLOG_NAME_SIZE + 16];

    if (c->groups < 0)
        return 0;
    if (!c->has_kill)
        return kill_each(c, name, boot_id, err);
    snprintf(file, sizeof(file), "%s/cgroup.kill", name);
    if (!cgroup_write(c->groups, file, "1") || errno == ENOENT || errno == ENODEV)
        return 0;
    return err_sys(err, "end the cgroup %s/%s", c->inside, name);
}
