/* SPDX-License-Identifier: MIT */
/* cgroup.c - see cgroup.h. */
#include "agent/confine/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/confine/cgroup_caps.h"
#include "agent/confine/cgroup_files.h"
#include "agent/confine/cgroup_place.h"
#include "agent/exec/outlog.h"
#include "agent/identify/ident.h"
#include "agent/identify/procfs.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/in_child.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"
#include "model/code.h"

enum {
    KILL_ROUNDS = 1000,
    TIDY_MAX = 256,     /* groups checked per call */
    TIDY_WAIT_MAX = 63, /* maximum number of calls between two checks of a group */
    SWEEP_MAX = 360,    /* the same for two checks of all groups */
    TRY_STACK = 16 * 1024,
    LIST_DEPTH_MAX = 8 /* of groups that a process has made in its own */
};

struct cgroups {
    enum cgroup_use use;
    struct cgroup_parent at;
    char *inside;   /* path of the groups, as in /proc/PID/cgroup */
    bool is_born;   /* a process can be created in a group; otherwise it enters it itself */
    bool is_sticky; /* a process created in a once killed group is killed, too (seen on Linux 6.18)
                     */
    bool has_kill;
    bool is_used; /* a group was created or existed before */
    struct caps caps;
    struct map ended;            /* struct ended_group, by name */
    int sweep_wait, until_sweep; /* calls of cgroups_tidy() */
    struct killed *killed;       /* shared by all threads */
};

/* Groups that cgroup.kill was used on: names, which are their own keys. */
struct killed {
    pthread_mutex_t lock;
    struct map names;
};

/* A group whose process has ended. While it still has members, it is checked less and less often.
 */
struct ended_group {
    int wait, left; /* calls of cgroups_tidy() between checks, and until the next */
    char name[];
};

/* ---- detection */

struct trial {
    int join;
};

IN_CHILD static void run_trial(void *arg)
{
    const struct trial *t = arg;

    sys_end(t->join >= 0 && sys_write(t->join, "0", 1) != 1);
}

/* Whether a child can be put into the group; errno has the reason if not. */
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

/* Tests with a temporary group. */
static bool try_group(struct cgroups *c)
{
    bool is_new, is_well = false;
    int fd = cgroup_make(c->at.groups, "trial", &is_new), join;

    if (fd < 0)
        return false;
    join = sys_openat(fd, "cgroup.procs", O_WRONLY, 0);
    c->is_born = join >= 0 && try_child(fd, -1);
    is_well = c->is_born || (join >= 0 && try_child(-1, join));
    c->has_kill = !cgroup_write(fd, "cgroup.kill", "1");
    c->is_sticky = c->is_born && c->has_kill && !try_child(fd, -1);
    sys_close(join);
    sys_close(fd);
    (void)sys_rmdirat(c->at.groups, "trial"); /* on failure it is removed at the next start */
    return is_well;
}

static void cut_leaf(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash && !strcmp(slash, "/" CGROUP_LEAF))
        *slash = '\0';
}

/* A group of a previous agent that is not empty.  If every process has one, it is not noted, but
 * removed when its process has ended, or by the next sweep. */
static void on_left(void *cgroups, const char *name)
{
    struct cgroups *c = cgroups;

    c->is_used = true;
    if (c->use != CGROUPS_ALL)
        cgroup_ended(c, name);
}

/* False: errno, or 0 if there is no such hierarchy. */
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
    c->at.folder = xstrdup(place.folder);
    c->inside = xprintf("%s/%s", place.inside, c->at.name);
    fd = cgroup_open_folder(place.folder);
    if (fd < 0)
        return false;
    c->at.groups = cgroup_make(fd, c->at.name, &is_new);
    sys_close(fd);
    if (c->at.groups >= 0)
        (void)cgroup_sweep(c->at.groups, on_left, c); /* which notes whether any is left */
    return c->at.groups >= 0 && try_group(c);
}

static void find_groups(struct cgroups *c, const char *mounts, const char *ours,
                        struct facilities *f)
{
    if (c->use == CGROUPS_OFF)
        facility_lacks(f, HAS_CGROUP, MSG("the setting cgroups says off"));
    if (f->has[HAS_CGROUP] && !open_groups(c, mounts, ours)) {
        char reason[128];

        msg_constant(reason, sizeof(reason), strerror(errno));
        facility_lacks(f, HAS_CGROUP, errno ? reason : MSG("version 2 is not mounted"));
        sys_close(c->at.groups);
        c->at.groups = -1;
    }
    if (c->at.groups < 0 || !c->has_kill)
        facility_lacks(f, HAS_CGROUP_KILL,
                       c->at.groups < 0 ? MSG("no cgroup of version 2")
                                        : MSG("there is no cgroup.kill"));
    c->has_kill = f->has[HAS_CGROUP_KILL];
}

/* ---- open and close */

static char *folder_name(const char *data_dir)
{
    char name[OUTLOG_NAME_SIZE];

    outlog_name(data_dir, "", name);
    return xprintf("holdfast-%s", name);
}

static int cgroup_read_all(int fd, struct buf *to)
{
    ssize_t got;

    do {
        got = sys_read(fd, buf_reserve(to, 4096), 4096);
        to->len += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    return got < 0 ? -1 : 0;
}

/* "": not readable. */
static const char *cgroup_read_text(const char *path, struct buf *to)
{
    int fd = sys_open(path, O_RDONLY, 0), result = fd < 0 ? -1 : cgroup_read_all(fd, to);

    sys_close(fd);
    return result ? "" : buf_text(to);
}

/* Removes the agent's folder if it is empty. */
static bool remove_folder(const struct cgroups *c)
{
    int fd = c->at.groups < 0 ? -1 : cgroup_open_folder(c->at.folder);
    bool is_gone =
        c->at.groups < 0 || (fd >= 0 && (!sys_rmdirat(fd, c->at.name) || errno == ENOENT));

    sys_close(fd);
    return is_gone;
}

/* Creates the folder of the groups if needed; -1 with errno. */
static int use_groups(struct cgroups *c)
{
    bool is_new;
    int fd = -1, groups = -1;

    if (c->is_used || c->at.groups < 0)
        return 0;
    fd = cgroup_open_folder(c->at.folder);
    groups = fd < 0 ? -1 : cgroup_make(fd, c->at.name, &is_new);
    sys_close(fd);
    if (groups < 0)
        return -1;
    sys_close(c->at.groups);
    c->at.groups = groups;
    c->is_used = true;
    return 0;
}

struct cgroups *cgroups_open(const char *data_dir, enum cgroup_use use, const char *mounts,
                             const char *ours, struct facilities *f)
{
    struct cgroups *c = xalloc(sizeof(*c));
    struct buf mounts_text = { 0 }, ours_text = { 0 };

    c->use = use;
    c->sweep_wait = c->until_sweep = 1;
    c->killed = xalloc(sizeof(*c->killed));
    pthread_mutex_init(&c->killed->lock, NULL);
    c->at.groups = -1;
    c->at.name = folder_name(data_dir);
    if (!mounts)
        mounts = cgroup_read_text("/proc/self/mountinfo", &mounts_text);
    if (!ours)
        ours = cgroup_read_text("/proc/self/cgroup", &ours_text);
    find_groups(c, mounts, ours, f);
    caps_find(&c->caps, &c->at, mounts, ours, use == CGROUPS_OFF, f, on_left, c);
    c->is_used |= use == CGROUPS_ALL && c->at.groups >= 0;
    if (!c->is_used)
        (void)remove_folder(c); /* created again when needed */
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

/* ---- groups that were killed */

void cgroup_note_killed(const struct cgroups *c, const char *name)
{
    struct killed *k = c->killed;
    char *key;

    if (!c->is_sticky)
        return;
    key = xstrdup(name);
    pthread_mutex_lock(&k->lock);
    free(map_put_str(&k->names, key, key));
    pthread_mutex_unlock(&k->lock);
}

static void forget_killed(const struct cgroups *c, const char *name)
{
    struct killed *k = c->killed;

    pthread_mutex_lock(&k->lock);
    free(map_del_str(&k->names, name));
    if (!k->names.n)
        map_free(&k->names);
    pthread_mutex_unlock(&k->lock);
}

static bool was_killed(const struct cgroups *c, const char *name)
{
    struct killed *k = c->killed;
    bool was;

    pthread_mutex_lock(&k->lock);
    was = k->names.n && map_find_str(&k->names, name);
    pthread_mutex_unlock(&k->lock);
    return was;
}

static void free_killed(struct killed *k)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&k->names, &at));)
        free(e->value);
    map_free(&k->names);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

void cgroups_close(struct cgroups *c)
{
    if (!c)
        return;
    if (c->at.groups >= 0)
        (void)cgroup_sweep(c->at.groups, NULL, NULL);
    (void)remove_folder(c); /* not empty: the next agent uses it */
    sys_close(c->at.groups);
    caps_done(&c->caps, &c->at);
    forget_ended(c);
    free_killed(c->killed);
    free(c->at.folder);
    free(c->inside);
    free(c->at.name);
    free(c);
}

bool cgroups_are_used(const struct cgroups *c)
{
    return c->is_used;
}

void cgroup_ended(struct cgroups *c, const char *name)
{
    struct ended_group *e = map_find_str(&c->ended, name);

    if (!e) {
        e = xalloc(sizeof(*e) + strlen(name) + 1);
        memcpy(e->name, name, strlen(name) + 1);
        map_put_str(&c->ended, e->name, e);
    }
    e->wait = e->left = 0;
}

void cgroup_entered(struct cgroups *c, const char *name)
{
    free(map_del_str(&c->ended, name));
    if (!c->ended.n)
        map_free(&c->ended);
}

/* False: the group has members. */
static bool tidy(struct cgroups *c, const char *name)
{
    bool is_gone = c->at.groups < 0 || cgroup_remove(c->at.groups, name);

    if (is_gone)
        forget_killed(c, name);
    return caps_remove(&c->caps, name) && is_gone;
}

/* Removes the folder with the last group; it is created again when needed. */
static void tidy_folders(struct cgroups *c)
{
    if (c->use != CGROUPS_ALL && c->is_used && caps_remove_folders(&c->caps, &c->at) &&
        remove_folder(c))
        c->is_used = false;
}

/* For groups of a previous agent whose process is not known any more: soon after the start, then
 * less and less often. */
static void sweep_at_times(struct cgroups *c)
{
    if (--c->until_sweep > 0)
        return;
    c->sweep_wait = 2 * c->sweep_wait < SWEEP_MAX ? 2 * c->sweep_wait : SWEEP_MAX;
    c->until_sweep = c->sweep_wait;
    (void)cgroup_sweep(c->at.groups, NULL, NULL);
}

void cgroups_tidy(struct cgroups *c)
{
    struct map_entry *entry;
    int left = TIDY_MAX;
    bool has_removed = false;

    for (size_t at = 0; left > 0 && (entry = map_next(&c->ended, &at));) {
        struct ended_group *e = entry->value;

        if (e->left-- > 0)
            continue;
        left--;
        if (!tidy(c, e->name)) {
            e->wait = 2 * e->wait + 1 < TIDY_WAIT_MAX ? 2 * e->wait + 1 : TIDY_WAIT_MAX;
            e->left = e->wait;
            continue;
        }
        has_removed = true;
        map_del_str(&c->ended, e->name);
        free(e);
    }
    if (c->use == CGROUPS_ALL && c->at.groups >= 0)
        sweep_at_times(c);
    if (has_removed)
        tidy_folders(c);
    if (!c->ended.n)
        map_free(&c->ended);
}

/* ---- entering and leaving */

bool cgroups_are_possible(const struct cgroups *c)
{
    return c->at.groups >= 0;
}

int cgroups_use(struct cgroups *c, struct err *err)
{
    return use_groups(c) ? err_sys(err, "make the cgroup %s", c->inside) : 0;
}

int cgroups_prepare(struct cgroups *c, const struct proc_caps *caps, struct err *err)
{
    if (caps_are_set(caps) && use_groups(c))
        return err_sys(err, "spec.holdfast.caps: the cgroup %s", c->inside);
    c->is_used = true; /* also for v1 only */
    return caps_prepare(&c->caps, &c->at, caps, err);
}

bool cgroup_is_wanted(const struct cgroups *c, const struct proc_caps *caps)
{
    return caps_are_set(caps) || (c->use == CGROUPS_ALL && c->at.groups >= 0);
}

void cgroup_leave(struct cgroup_way *way)
{
    sys_close(way->born);
    way->born = -1;
    while (way->n_join > 0)
        sys_close(way->join[--way->n_join]);
}

/* Where that is sticky, a group that was killed is created again.  *ret_born false: it has members,
 * so the child enters it by itself, which is slower but always works. */
static int make_group(const struct cgroups *c, const char *name, bool is_dead, bool *ret_is_new,
                      bool *ret_born)
{
    int group = cgroup_make(c->at.groups, name, ret_is_new);

    *ret_born = c->is_born;
    if (group < 0 || *ret_is_new || !c->is_born || !(is_dead || was_killed(c, name)))
        return group;
    sys_close(group);
    if (cgroup_remove(c->at.groups, name))
        forget_killed(c, name);
    group = cgroup_make(c->at.groups, name, ret_is_new);
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

static int enter(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                 bool is_dead, struct cgroup_way *ret, struct err *err)
{
    struct cgroup_way way = { .born = -1 };
    bool is_new = false, is_born = false;
    int group = -1;

    if (c->at.groups >= 0) {
        group = make_group(c, name, is_dead, &is_new, &is_born);
        if (group < 0)
            return err_sys(err, "make the cgroup %s/%s", c->inside, name);
    }
    if (caps_set(&c->caps, name, group, is_new, caps, way.join, &way.n_join, err)) {
        sys_close(group);
        cgroup_leave(&way);
        return -1;
    }
    if (group >= 0 && open_way(c, name, group, is_born, &way, err)) {
        cgroup_leave(&way);
        return -1;
    }
    way.may_be_dead = is_born && !is_new && c->is_sticky;
    *ret = way;
    return 0;
}

int cgroup_enter(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                 struct cgroup_way *ret, struct err *err)
{
    return enter(c, name, caps, false, ret, err);
}

int cgroup_enter_dead(const struct cgroups *c, const char *name, const struct proc_caps *caps,
                      struct cgroup_way *ret, struct err *err)
{
    return enter(c, name, caps, true, ret, err);
}

/* ---- members */

const char *cgroup_path(const struct cgroups *c, const char *name, struct arena *a)
{
    return c->at.groups < 0 ? NULL : arena_printf(a, "%s/%s", c->inside, name);
}

bool cgroup_folder(const struct cgroups *c, const char *name, char *to, size_t size)
{
    int n = c->at.groups < 0 ? -1 : snprintf(to, size, "%s/%s/%s", c->at.folder, c->at.name, name);

    return n >= 0 && (size_t)n < size;
}

bool cgroup_has(const struct cgroups *c, const char *name, int64_t pid)
{
    char path[PROCFS_PATH_SIZE];
    size_t n = c->at.groups < 0 ? 0 : strlen(c->inside), m = strlen(name);
    struct err why;

    if (!n || pid <= 1 || procfs_cgroup((pid_t)pid, path, &why))
        return false;
    return !strncmp(path, c->inside, n) && path[n] == '/' && !strncmp(path + n + 1, name, m) &&
           (!path[n + 1 + m] || path[n + 1 + m] == '/');
}

/* One number per line; 0 is a process outside of the pid namespace. */
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
    if (c->at.groups >= 0)
        fd = sys_openat(c->at.groups, file, O_RDONLY, 0);
    if (c->at.groups >= 0 && fd < 0 && errno != ENOENT && errno != ENODEV)
        return err_sys(err, "cgroup %s/%s", c->inside, name);
    if (fd >= 0 && cgroup_read_all(fd, &text) && errno != ENODEV)
        result = err_sys(err, "members of the cgroup %s/%s", c->inside, name);
    sys_close(fd);
    if (!result) {
        *ret = xresize(NULL, (text.len / 2 + 1) * sizeof(**ret));
        *ret_n = parse_pids(buf_text(&text), *ret);
    }
    buf_free(&text);
    return result;
}

static int list_pids(int dir, int depth, struct buf *to);

static int list_below(int dir, int depth, struct buf *to)
{
    int fd = sys_openat(dir, ".", O_RDONLY | O_DIRECTORY, 0), result = 0;
    DIR *all = fd < 0 ? NULL : sys_fdopendir(fd);

    if (!all) {
        sys_close(fd);
        return -1;
    }
    for (struct dirent *d; !result && (d = readdir(all));) {
        if (d->d_type != DT_DIR || d->d_name[0] == '.')
            continue;
        fd = sys_openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
        result = fd < 0 ? (errno == ENOENT ? 0 : -1) : list_pids(fd, depth + 1, to);
        sys_close(fd);
    }
    closedir(all);
    return result;
}

/* A group of threads has no cgroup.procs that can be read: its processes are in that above. */
static int list_pids(int dir, int depth, struct buf *to)
{
    int fd = sys_openat(dir, "cgroup.procs", O_RDONLY, 0), result;

    if (fd < 0)
        return errno == ENOENT || errno == ENODEV ? 0 : -1;
    result = cgroup_read_all(fd, to);
    sys_close(fd);
    if (result && errno != ENODEV && errno != EOPNOTSUPP)
        return -1;
    return depth < LIST_DEPTH_MAX && cgroup_has_groups(dir) ? list_below(dir, depth, to) : 0;
}

int cgroup_list(const char *folder, int64_t **ret, size_t *ret_n, struct err *err)
{
    struct buf text = { 0 };
    int dir = cgroup_open_folder(folder), result = 0;

    if ((dir < 0 && errno != ENOENT && errno != ENODEV) || (dir >= 0 && list_pids(dir, 0, &text)))
        result = err_sys(err, "members of the cgroup %s", folder);
    sys_close(dir);
    if (!result) {
        *ret = xresize(NULL, (text.len / 2 + 1) * sizeof(**ret));
        *ret_n = parse_pids(buf_text(&text), *ret);
    }
    buf_free(&text);
    return result;
}

/* The counter of cgroup.events includes the groups below. */
struct cgroup_state cgroup_look(const struct cgroups *c, const char *name)
{
    char file[OUTLOG_NAME_SIZE + 16], text[64];
    ssize_t n = -1;
    int fd = -1;

    snprintf(file, sizeof(file), "%s/cgroup.events", name);
    if (c->at.groups >= 0)
        fd = sys_openat(c->at.groups, file, O_RDONLY, 0);
    if (fd >= 0)
        n = sys_read(fd, text, sizeof(text) - 1);
    sys_close(fd);
    text[n > 0 ? n : 0] = '\0';
    return (struct cgroup_state){ fd >= 0, strstr(text, "populated 1") != NULL };
}

/* ---- killing */

bool cgroup_has_kill(const struct cgroups *c)
{
    return c->has_kill;
}

int cgroup_end(const char *folder, struct err *err)
{
    int dir = cgroup_open_folder(folder);
    bool is_well = dir >= 0 && !cgroup_write(dir, "cgroup.kill", "1");
    int error = errno;

    sys_close(dir);
    errno = error;
    return is_well ? 0 : err_sys(err, "end the cgroup %s", folder);
}

struct round {
    const struct cgroups *c;
    const char *name, *boot_id;
    struct map signalled; /* pids, as allocated keys */
    size_t n_new;
};

/* The process is still in the group, so its pid has not been reused. */
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

/* A process with a pending SIGKILL does not fork, so a round without new members means that all are
 * dying. */
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

    if (c->at.groups < 0)
        return 0;
    if (!c->has_kill)
        return kill_each(c, name, boot_id, err);
    snprintf(file, sizeof(file), "%s/cgroup.kill", name);
    cgroup_note_killed(c, name);
    if (!cgroup_write(c->at.groups, file, "1") || errno == ENOENT || errno == ENODEV)
        return 0;
    return err_sys(err, "end the cgroup %s/%s", c->inside, name);
}
