/* SPDX-License-Identifier: MIT */
/* family.c - see family.h.
 *
 * A look reads the processes that may belong to the family, and their ancestors, and gives each a
 * kin: that of its parent, unless it has a mark of its own. An orphan is judged by what ties it to
 * the main process. */
#include "agent/identify/family.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/identify/find.h"
#include "agent/identify/procfs.h"
#include "agent/identify/program.h"
#include "base/mem/buf.h"
#include "base/mem/map.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_old.h"

enum {
    MEMBERS_MAX = 32768,
    ROUNDS_MAX = 1000,
    DEPTH_MAX = 65536,     /* of descent */
    NAMES_READ_MAX = 1000, /* members whose names are compared with proc_name */
    FAMILY_KIN_MAX = 200,  /* descendants that are remembered */
    END_WAIT_MS = 500      /* for killed members to end */
};

enum kin {
    KIN_UNKNOWN,
    KIN_NONE,     /* not related */
    KIN_OTHER,    /* of another spec, a sibling, or the kernel's */
    KIN_MAIN,     /* the main process */
    KIN_START,    /* its start command */
    KIN_MEMBER,   /* belongs to the family */
    KIN_APART,    /* a session of its own after a crash: named */
    KIN_DOUBTFUL, /* may belong to the family: named */
};

struct person {
    int64_t pid; /* its key */
    struct procfs_stat st;
    enum kin kin;
    bool is_listed;   /* in the list of candidates */
    bool is_in_group; /* a member of the cgroup */
};

struct look {
    const struct family_want *w;
    struct map persons;  /* by the bytes of the pid */
    struct map siblings; /* struct ident of w->siblings, by the bytes of the pid */
    struct map kin;      /* the same of w->kin */
    bool has_many;       /* w->siblings is "*" */
    bool has_siblings;
    struct arena arena;
    struct person **list; /* candidates */
    size_t n, cap;
    size_t n_group; /* candidates in the cgroup */
    bool is_over;   /* more than MEMBERS_MAX */
    bool is_thorough;
    int64_t parent; /* of procfs_each_child() */
    const int64_t *sessions;
    size_t n_sessions;
};

/* ---- persons */

static bool has_ended(const struct procfs_stat *st)
{
    return (st->state == 'Z' && st->threads <= 1) || st->state == 'X';
}

/* NULL: there is no such process, or it has ended. */
static struct person *person_get(struct look *l, int64_t pid)
{
    struct person *p = map_find(&l->persons, (const char *)&pid, sizeof(pid));
    struct procfs_stat st;
    struct err why;

    if (p)
        return p;
    if (pid <= 0 || pid > INT32_MAX || procfs_stat((pid_t)pid, &st, &why) || has_ended(&st))
        return NULL;
    p = arena_alloc(&l->arena, sizeof(*p));
    p->pid = pid;
    p->st = st;
    map_put(&l->persons, (const char *)&p->pid, sizeof(p->pid), p);
    return p;
}

static struct ident person_ident(const struct look *l, const struct person *p)
{
    struct ident id = { .pid = p->pid, .start_ticks = p->st.start_ticks };

    memcpy(id.boot_id, l->w->boot_id, strnlen(l->w->boot_id, BOOT_ID_SIZE - 1));
    return id;
}

static bool is_person(const struct person *p, const struct ident *id)
{
    return id->pid && p->pid == id->pid && p->st.start_ticks == id->start_ticks;
}

/* Returns the process if it was not listed before. */
static struct person *list_pid(struct look *l, int64_t pid)
{
    struct person *p = pid <= 1 || pid == getpid() ? NULL : person_get(l, pid);

    if (!p || p->is_listed)
        return NULL;
    if (l->n >= MEMBERS_MAX) {
        l->is_over = true;
        return NULL;
    }
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->list = xresize(l->list, l->cap * sizeof(struct person *));
    }
    p->is_listed = true;
    l->list[l->n++] = p;
    return p;
}

/* In a map of struct ident. */
static bool is_in(const struct map *idents, const struct person *p)
{
    const struct ident *id = map_find(idents, (const char *)&p->pid, sizeof(p->pid));

    return id && id->start_ticks == p->st.start_ticks;
}

/* ---- ties */

static bool leads_session(const struct person *p)
{
    return p->st.session == p->pid;
}

/* Whether the leader of a session has ended: while it has members, its number is not used again. */
static bool is_without_leader(struct look *l, int64_t session)
{
    return !person_get(l, session);
}

static bool is_of_main_session(const struct look *l, const struct person *p)
{
    return l->w->main.pid && ident_made_session(&l->w->main, p->st.session);
}

/* In the session or group of our start command, or in that which the main process had. */
static bool is_of_start(struct look *l, const struct person *p)
{
    const struct family_want *w = l->w;

    if (!w->start.pid || p->st.start_ticks < w->start.start_ticks)
        return false;
    if (ident_made_session(&w->start, p->st.session))
        return true;
    return (w->session && p->st.session == w->session && is_without_leader(l, w->session)) ||
           (w->group && p->st.group == w->group && is_without_leader(l, w->group));
}

static enum kin kin_of(struct look *l, struct person *p);

static bool has_main_name(const struct look *l, const struct person *p)
{
    struct procfs_names names;
    struct err why;

    return *l->w->proc_name && !procfs_names((pid_t)p->pid, &names, &why) &&
           find_name_fits(&names, l->w->proc_name);
}

/* As long as the main process lived, its session and group had no other members. */
static bool was_there(const struct look *l, const struct person *p)
{
    return l->w->ended_ticks ? p->st.start_ticks <= l->w->ended_ticks : has_main_name(l, p);
}

/* The session of the start command alone, which the main process has left: its number may have been
 * used again since. */
static bool is_of_left_session(const struct look *l, const struct person *p)
{
    const struct family_want *w = l->w;

    return w->session && p->st.session != w->session && p->st.group != w->group &&
           !is_of_main_session(l, p);
}

/* It does not descend from a living process with a mark. */
static enum kin judge_orphan(struct look *l, const struct person *p)
{
    bool is_main_session = is_of_main_session(l, p) && was_there(l, p);

    if (is_in(&l->kin, p))
        return KIN_MEMBER;
    if (!is_main_session && !p->is_in_group && !(is_of_start(l, p) && was_there(l, p)))
        return KIN_NONE;
    if (l->w->is_session_shared || (!p->is_in_group && is_of_left_session(l, p)))
        return KIN_DOUBTFUL;
    if (is_main_session || !l->has_siblings)
        return KIN_MEMBER;
    return l->has_many ? KIN_OTHER : KIN_DOUBTFUL;
}

static bool runs_another_program(const struct look *l, const struct person *p)
{
    struct procfs_names names;
    uint64_t program = program_of(p->pid);
    struct err why;

    if (l->w->program && program)
        return program != l->w->program;
    return procfs_names((pid_t)p->pid, &names, &why) || !find_name_fits(&names, l->w->proc_name);
}

/* Its own mark; KIN_UNKNOWN: none. */
static enum kin mark_of(const struct look *l, const struct person *p)
{
    const struct family_want *w = l->w;
    struct ident id = person_ident(l, p);

    if (p->pid <= 1 || p->pid == getpid())
        return KIN_NONE;
    if (is_person(p, &w->main))
        return KIN_MAIN;
    if (p->st.is_kernel_thread || is_in(&l->siblings, p) ||
        (w->is_others && w->is_others(w->arg, &id)))
        return KIN_OTHER;
    if (is_person(p, &w->start))
        return KIN_START;
    return KIN_UNKNOWN;
}

/* Of the leader of its session: an orphan of another spec, say. */
static enum kin kin_of_leader(struct look *l, struct person *p)
{
    struct person *leader = leads_session(p) ? NULL : person_get(l, p->st.session);

    p->kin = KIN_NONE; /* processes that change while they are read do not lead in a circle */
    return leader ? kin_of(l, leader) : KIN_NONE;
}

static enum kin set_kin(struct look *l, struct person *p, enum kin of_parent)
{
    enum kin kin = of_parent == KIN_MAIN || of_parent == KIN_START ? KIN_MEMBER : of_parent;

    if (of_parent == KIN_START && l->has_many && !is_of_main_session(l, p))
        kin = KIN_OTHER; /* the siblings are not listed one by one */
    if (kin == KIN_NONE) {
        kin = kin_of_leader(l, p);
        if (kin != KIN_OTHER && kin != KIN_APART)
            kin = judge_orphan(l, p);
    }
    if (kin == KIN_MEMBER && l->w->has_crashed && leads_session(p) && runs_another_program(l, p))
        kin = KIN_APART;
    return p->kin = kin;
}

/* Climbs to an ancestor whose kin is known, then gives each below it its own. */
static enum kin kin_of(struct look *l, struct person *p)
{
    struct person **path = NULL;
    size_t n = 0, cap = 0;
    enum kin kin = KIN_NONE;

    for (struct person *at = p; at && n < DEPTH_MAX; at = person_get(l, at->st.ppid)) {
        if (!at->kin)
            at->kin = mark_of(l, at);
        if (at->kin) {
            kin = at->kin;
            break;
        }
        if (n == cap) {
            cap = cap ? 2 * cap : 8;
            path = xresize(path, cap * sizeof(struct person *));
        }
        path[n++] = at;
    }
    while (n > 0)
        kin = set_kin(l, path[--n], kin);
    free(path);
    return kin;
}

/* ---- candidates */

static int list_group(struct look *l, int64_t but, struct err *err)
{
    const struct family_cgroup *g = l->w->cgroup;
    int64_t *pids;
    size_t n;

    if (!g)
        return 0;
    if (g->list(g->arg, &pids, &n, err))
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct person *p = pids[i] == but ? NULL : list_pid(l, pids[i]);

        if (!p)
            continue;
        p->is_in_group = true;
        l->n_group++;
    }
    free(pids);
    return 0;
}

/* The session of a process costs one system call; its stat ten times that. */
static bool family_on_process(void *look, pid_t pid)
{
    struct look *l = look;
    int64_t session = getsid(pid);

    for (size_t i = 0; i < l->n_sessions; i++) {
        if (session == l->sessions[i])
            list_pid(l, pid);
    }
    return !l->is_over;
}

static int list_sessions(struct look *l, struct err *err)
{
    const struct family_want *w = l->w;
    const int64_t all[] = { w->main.pid, w->start.pid, w->start.pid ? w->session : 0 };
    int64_t sessions[ARRAY_LEN(all)];

    l->sessions = sessions;
    l->n_sessions = 0;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (all[i] > 1)
            sessions[l->n_sessions++] = all[i];
    }
    return l->n_sessions ? procfs_each(family_on_process, l, err) : 0;
}

static bool family_on_child(void *look, pid_t pid)
{
    struct look *l = look;
    const struct person *p = list_pid(l, pid);

    if (p && p->st.ppid != l->parent) /* its pid was used again */
        l->list[--l->n]->is_listed = false;
    return !l->is_over;
}

static bool has_family_of(struct look *l, struct person *p)
{
    enum kin kin = kin_of(l, p);

    return kin != KIN_NONE && kin != KIN_OTHER;
}

static bool family_on_any(void *look, pid_t pid)
{
    struct look *l = look;
    struct person *p = person_get(l, pid);

    if (p && has_family_of(l, p))
        list_pid(l, pid);
    return !l->is_over;
}

/* The list grows while it is walked.  A kernel that does not list children needs one search. */
static int list_descendants(struct look *l, struct err *err)
{
    struct err why;

    if (l->n && sys_lacks(SYS_CHILDREN))
        return procfs_each(family_on_any, l, err);
    for (size_t i = 0; i < l->n; i++) {
        if (!has_family_of(l, l->list[i]))
            continue;
        l->parent = l->list[i]->pid;
        if (procfs_each_child((pid_t)l->parent, family_on_child, l, &why) &&
            why.code != ERR_NOT_FOUND && why.code != ERR_DENIED) {
            *err = why;
            return -1;
        }
    }
    return 0;
}

static void list_ident(struct look *l, const struct ident *id)
{
    const struct person *p = id->pid ? person_get(l, id->pid) : NULL;

    if (p && is_person(p, id))
        list_pid(l, id->pid);
}

/* After a crash the cgroup has the members: the host is searched for those that have left it only
 * when the others get a signal, or when there are none. */
static int look_round(struct look *l, struct err *err)
{
    bool is_searched = l->is_thorough || !l->w->cgroup || !l->w->has_crashed;

    if (l->w->scope == SCOPE_PROCESS) {
        list_ident(l, &l->w->start);
        return 0;
    }
    if (list_group(l, 0, err) || ((is_searched || !l->n_group) && list_sessions(l, err)))
        return -1;
    list_ident(l, &l->w->main);
    list_ident(l, &l->w->start);
    return list_descendants(l, err);
}

/* "PID:TICKS PID:TICKS" */
static void read_idents(struct look *l, const char *at, struct map *to)
{
    char *end;

    while (at && *at) {
        struct ident *id = arena_alloc(&l->arena, sizeof(*id));

        id->pid = strtoll(at, &end, 10);
        if (*end != ':')
            return;
        id->start_ticks = strtoll(end + 1, &end, 10);
        map_put(to, (const char *)&id->pid, sizeof(id->pid), id);
        at = end + strspn(end, " ");
    }
}

static void read_siblings(struct look *l)
{
    const char *siblings = l->w->siblings ? l->w->siblings : "";

    if (l->w->scope == SCOPE_START)
        return;
    l->has_siblings = *siblings != '\0';
    l->has_many = *siblings == '*';
    read_idents(l, siblings, &l->siblings);
    read_idents(l, l->w->kin, &l->kin);
}

static void add_ident(const struct person *p, struct buf *to)
{
    buf_printf(to, "%s%lld:%lld", to->len ? " " : "", (long long)p->pid,
               (long long)p->st.start_ticks);
}

static void look_done(struct look *l)
{
    map_free(&l->persons);
    map_free(&l->siblings);
    map_free(&l->kin);
    arena_free(&l->arena);
    free(l->list);
}

static int look_begin(struct look *l, const struct family_want *w, bool is_thorough,
                      struct err *err)
{
    *l = (struct look){ .w = w, .is_thorough = is_thorough };
    read_siblings(l);
    if (!look_round(l, err))
        return 0;
    look_done(l);
    return -1;
}

static bool is_member(struct look *l, struct person *p)
{
    enum kin kin = kin_of(l, p);

    return kin == KIN_MEMBER || kin == KIN_START;
}

static bool descends_from_main(struct look *l, const struct person *p)
{
    for (int i = 0; p && i < DEPTH_MAX; i++) {
        if (is_person(p, &l->w->main))
            return true;
        p = person_get(l, p->st.ppid);
    }
    return false;
}

/* ---- texts */

static void add_name(const struct person *p, size_t n, struct buf *to)
{
    char name[PROCFS_COMM_SIZE];

    if (n >= FAMILY_NAMED_MAX)
        return;
    memcpy(name, p->st.comm, sizeof(name));
    procfs_clean(name);
    buf_printf(to, "%s%s (%lld)", n ? ", " : "", name, (long long)p->pid);
}

static const char *finish_names(struct buf *names, size_t n, struct arena *a)
{
    const char *text = arena_strdup(a, buf_text(names));

    buf_free(names);
    if (n <= FAMILY_NAMED_MAX)
        return text;
    return arena_msg(a, "%s and %zu more", text, n - FAMILY_NAMED_MAX);
}

/* The processes that descend from it while it lives, for the time when they are orphans. */
static const char *describe_kin(struct look *l, struct arena *a)
{
    struct buf text = { 0 };
    const char *kin;
    size_t n = 0;

    for (size_t i = 0; i < l->n && n < FAMILY_KIN_MAX; i++) {
        if (is_person(l->list[i], &l->w->main) || !descends_from_main(l, l->list[i]))
            continue;
        add_ident(l->list[i], &text);
        n++;
    }
    kin = arena_strdup(a, buf_text(&text));
    buf_free(&text);
    return kin;
}

static void describe(struct look *l, struct arena *a, struct family *ret)
{
    struct buf names = { 0 }, others = { 0 };
    size_t n_others = 0;

    *ret = (struct family){ 0 };
    for (size_t i = 0; i < l->n; i++) {
        struct person *p = l->list[i];

        if (is_member(l, p)) {
            add_name(p, ret->n, &names);
            if (!ret->may_be_main && ret->n < NAMES_READ_MAX)
                ret->may_be_main = has_main_name(l, p);
            ret->n++;
        } else if (p->kin == KIN_APART || p->kin == KIN_DOUBTFUL) {
            add_name(p, n_others++, &others);
        }
    }
    ret->names = finish_names(&names, ret->n, a);
    ret->others = finish_names(&others, n_others, a);
    ret->kin = l->has_siblings ? describe_kin(l, a) : "";
}

/* ---- signals */

/* Those that got SIGSTOP, to be killed once no new ones are found. */
struct victims {
    struct map seen; /* struct ident, by the bytes of the pid */
    struct arena arena;
    size_t n_new;
};

static bool is_victim(const struct victims *v, const struct person *p)
{
    const struct ident *id = map_find(&v->seen, (const char *)&p->pid, sizeof(p->pid));

    return id && id->start_ticks == p->st.start_ticks;
}

static void add_victim(struct victims *v, const struct look *l, const struct person *p)
{
    struct ident *id = arena_alloc(&v->arena, sizeof(*id));

    *id = person_ident(l, p);
    map_put(&v->seen, (const char *)&id->pid, sizeof(id->pid), id);
    v->n_new++;
}

static bool is_dropped(const struct family_want *w)
{
    return w->is_dropped && w->is_dropped(w->arg);
}

static int stop_new(struct look *l, struct victims *v, struct err *err)
{
    v->n_new = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct person *p = l->list[i];
        struct ident id = person_ident(l, p);

        if (!is_member(l, p) || is_victim(v, p))
            continue;
        if (is_dropped(l->w))
            return 0;
        if (ident_try_signal(&id, SIGSTOP, err))
            return -1;
        add_victim(v, l, p);
    }
    return 0;
}

static int kill_victims(const struct victims *v, struct err *err)
{
    struct map_entry *e;

    for (size_t at = 0; (e = map_next(&v->seen, &at));) {
        if (ident_try_signal(e->value, SIGKILL, err))
            return -1;
    }
    return 0;
}

/* Their end takes a moment, longer for those with much memory. */
static void await_victims(const struct victims *v)
{
    int left_ms = END_WAIT_MS;
    struct map_entry *e;
    struct err why;
    int fd;

    for (size_t at = 0; (e = map_next(&v->seen, &at));) {
        const struct ident *id = e->value;

        for (; left_ms > 0 && !ident_open(id, id->boot_id, &fd, &why); left_ms--) {
            struct pollfd p = { .fd = fd, .events = POLLIN };

            (void)sys_poll(&p, 1, 1);
            sys_close(fd);
        }
    }
}

/* A member that is found after all others were stopped was forked before that; a member with a
 * pending SIGKILL does not fork. */
static int kill_in_rounds(struct look *l, struct victims *v, struct err *err)
{
    const struct family_want *w = l->w;

    for (int i = 0; i < ROUNDS_MAX; i++) {
        if (stop_new(l, v, err))
            return -1;
        if (!v->n_new)
            return 0;
        look_done(l);
        if (look_begin(l, w, true, err)) {
            *l = (struct look){ .w = w };
            return -1;
        }
    }
    return 0;
}

/* cgroup.kill ends all processes of the group at once, so all of them must belong to the family.
 * Names were read since the group was listed, which may have taken long. */
static bool is_all_of_group(struct look *l)
{
    struct err why;

    if (!l->w->cgroup || !l->w->cgroup->kill || !l->n_group || list_group(l, 0, &why) ||
        l->is_over || is_dropped(l->w))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        if (is_member(l, l->list[i]) != l->list[i]->is_in_group)
            return false;
    }
    return true;
}

static int kill_family(struct look *l, struct err *err)
{
    struct victims v = { 0 };
    struct err why;
    int result;

    if (is_all_of_group(l) && !l->w->cgroup->kill(l->w->cgroup->arg, &why)) {
        for (size_t i = 0; i < l->n; i++)
            add_victim(&v, l, l->list[i]);
        result = 0;
    } else {
        result = kill_in_rounds(l, &v, err);
        if (kill_victims(&v, result ? &why : err)) /* they are stopped: also after an error */
            result = -1;
    }
    if (!result)
        await_victims(&v);
    map_free(&v.seen);
    arena_free(&v.arena);
    return result;
}

static int signal_family(struct look *l, int number, struct err *err)
{
    for (size_t i = 0; i < l->n; i++) {
        struct ident id = person_ident(l, l->list[i]);

        if (!is_member(l, l->list[i]))
            continue;
        if (is_dropped(l->w))
            return 0;
        if (ident_try_signal(&id, number, err))
            return -1;
    }
    return 0;
}

int family_find(const struct family_want *w, int number, struct arena *a, struct family *ret,
                struct err *err)
{
    struct look l;
    struct family found;
    int result = 0;

    if (look_begin(&l, w, number != 0, err))
        return -1;
    describe(&l, a, &found);
    if (found.n && number == SIGKILL)
        result = kill_family(&l, err);
    else if (found.n && number)
        result = signal_family(&l, number, err);
    look_done(&l);
    if (!result)
        *ret = found;
    return result;
}

/* ---- siblings */

/* From the main process up to the start command: a shell that waits for it, for example. */
static bool leads_to_main(struct look *l, const struct person *p)
{
    const struct person *at = person_get(l, l->w->main.pid);

    for (int i = 0; at && i < DEPTH_MAX; i++) {
        if (at == p)
            return true;
        at = person_get(l, at->st.ppid);
    }
    return false;
}

static bool is_new_sibling(struct look *l, const struct person *p)
{
    return !is_person(p, &l->w->start) && !p->st.is_kernel_thread && !leads_to_main(l, p) &&
           !descends_from_main(l, p) && !is_of_main_session(l, p) &&
           (p->is_in_group || is_of_start(l, p));
}

int family_siblings(const struct family_want *w, struct arena *a, const char **ret,
                    const char **ret_kin, struct err *err)
{
    struct look l = { .w = w };
    struct buf text = { 0 };
    size_t n = 0;

    /* The usual one is alone in its cgroup, and no file of it is read. */
    if (w->cgroup ? list_group(&l, w->main.pid, err) : list_sessions(&l, err)) {
        look_done(&l);
        return -1;
    }
    for (size_t i = 0; i < l.n && n <= FAMILY_SIBLINGS_MAX; i++) {
        const struct person *p = l.list[i];

        if (is_new_sibling(&l, p) && n++ < FAMILY_SIBLINGS_MAX)
            add_ident(p, &text);
    }
    *ret = n > FAMILY_SIBLINGS_MAX ? "*" : arena_strdup(a, buf_text(&text));
    *ret_kin = n > 0 ? describe_kin(&l, a) : "";
    buf_free(&text);
    look_done(&l);
    return 0;
}

/* ---- pids */

int family_list(const struct family_want *w, struct arena *a, int64_t **ret, size_t *ret_n,
                struct err *err)
{
    const struct map_entry *e;
    struct look l;
    size_t n = 0;

    if (look_begin(&l, w, false, err))
        return -1;
    *ret = arena_alloc(a, (l.n + l.siblings.n + 1) * sizeof(**ret));
    for (size_t i = 0; i < l.n; i++) {
        if (has_family_of(&l, l.list[i]))
            (*ret)[n++] = l.list[i]->pid;
    }
    for (size_t at = 0; (e = map_next(&l.siblings, &at));) {
        const struct ident *id = e->value;
        const struct person *p = person_get(&l, id->pid);

        if (p && is_person(p, id))
            (*ret)[n++] = id->pid;
    }
    *ret_n = n;
    look_done(&l);
    return 0;
}
