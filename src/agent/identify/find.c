/* SPDX-License-Identifier: MIT */
/* find.c - see find.h. */
#include "agent/identify/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/identify/pidfile.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/utf8.h"

enum { ANCESTORS_MAX = 64, SOURCE_SIZE = 300, CANDIDATES_MAX = 1024 };

/* Sets a negative result; always returns 0. */
MSG_FORMAT(3, 4)
static int find_no(struct find_result *ret, enum find_kind kind, const char *fmt, ...)
{
    va_list ap;

    *ret = (struct find_result){ .kind = kind, .pidfd = -1 };
    va_start(ap, fmt);
    msg_vprintf(ret->text, sizeof(ret->text), fmt, ap);
    va_end(ap);
    return 0;
}

/* An error of the process or the file, including a lack of permission, becomes a result; an error
 * of the agent is returned to the caller. */
static int find_judge(const struct err *why, enum find_kind kind, const char *source,
                      struct find_result *ret, struct err *err)
{
    if (why->code == ERR_SYSTEM && why->sys != EACCES && why->sys != EPERM) {
        *err = *why;
        return -1;
    }
    if (why->code == ERR_NOT_FOUND)
        kind = FIND_NONE;
    if (!source[0])
        return find_no(ret, kind, "%s", err_msg(why));
    return find_no(ret, kind, "%s: %s", source, err_msg(why));
}

static bool has_pid_path(const struct find_want *w)
{
    return w->pid_path && w->pid_path[0];
}

bool find_name_fits(const struct procfs_names *names, const char *proc_name)
{
    const char *own[] = { names->comm, names->exe, names->argv0, names->script };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (own[i][0] && !strcmp(own[i], proc_name))
            return true;
    }
    return false;
}

/* --- Ownership ---------------------------------------------------------- */

static bool is_in_cgroup(pid_t pid, const char *cgroup)
{
    char path[PROCFS_PATH_SIZE];
    struct err why;
    size_t n = cgroup ? strlen(cgroup) : 0;

    return n > 1 && !procfs_cgroup(pid, path, &why) && !strncmp(path, cgroup, n) &&
           (path[n] == '\0' || path[n] == '/');
}

/* A parent read by pid is still the parent if the child still exists afterwards. The caller holds
 * the pidfd of the first process and checks it again after a positive result. */
static bool descends(pid_t pid, const struct ident *start)
{
    struct procfs_stat st;
    struct err why;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1 && start->pid > 1; i++) {
        if (procfs_stat(pid, &st, &why))
            return false;
        if (ident_made_session(start, st.session) ||
            (st.pid == start->pid && st.start_ticks == start->start_ticks))
            return true;
        pid = (pid_t)st.ppid;
    }
    return false;
}

static bool is_of_start(pid_t pid, const struct find_start *start)
{
    return descends(pid, &start->id) || is_in_cgroup(pid, start->cgroup);
}

/* A daemon has left its session and lost its parent: it is a child of the agent (subreaper),
 * younger than the last start, and not of another spec. */
static bool is_our_orphan(const struct find_want *w, const struct ident *id)
{
    struct procfs_stat st;
    struct err why;

    return w->start.id.pid > 1 && id->start_ticks >= w->start.id.start_ticks &&
           !procfs_stat((pid_t)id->pid, &st, &why) && st.ppid == getpid() &&
           !(w->is_others && w->is_others(w->arg, id));
}

/* Whether a start by the agent created it. */
static bool find_is_ours(const struct find_want *w, const struct ident *id)
{
    return is_of_start((pid_t)id->pid, &w->start) || is_our_orphan(w, id);
}

/* --- One process -------------------------------------------------------- */

/* "exe is java" or, for an interpreter or an unreadable exe, another name. */
static void describe_misnamed(const struct find_want *w, const char *source, int64_t pid,
                              const struct procfs_names *names, struct find_result *ret)
{
    long long n = (long long)pid;

    if (names->script[0])
        find_no(ret, FIND_MISMATCH, "%s names %lld whose exe is %s running %s, expected %s", source,
                n, names->exe, names->script, w->proc_name);
    else if (names->exe[0])
        find_no(ret, FIND_MISMATCH, "%s names %lld whose exe is %s, expected %s", source, n,
                names->exe, w->proc_name);
    else
        find_no(ret, FIND_MISMATCH, "%s names %lld whose name is %s, expected %s", source, n,
                names->comm, w->proc_name);
}

static int find_misnamed(const struct find_want *w, const char *source, int64_t pid,
                         struct procfs_names *names, struct find_result *ret)
{
    procfs_clean(names->exe);
    procfs_clean(names->script);
    names->comm[utf8_whole(names->comm, strlen(names->comm))] = '\0'; /* the kernel cut it */
    procfs_clean(names->comm);
    describe_misnamed(w, source, pid, names, ret);
    snprintf(ret->program, sizeof(ret->program), "%s", *names->exe ? names->exe : names->comm);
    snprintf(ret->script, sizeof(ret->script), "%s", names->script);
    return 0;
}

/* The common case first. Every file of /proc/PID that was opened costs the kernel time when the
 * process is reaped. */
static bool has_exe(pid_t pid, const char *proc_name)
{
    char exe[PROCFS_PATH_SIZE], name[PROCFS_NAME_SIZE];
    struct err why;

    if (procfs_exe(pid, exe, &why))
        return false;
    procfs_base_name(exe, name);
    return !strcmp(name, proc_name);
}

/* Only kernel threads, and processes that the agent may not inspect, have no readable exe. */
static bool is_kernel_thread(pid_t pid, const struct procfs_names *names)
{
    struct procfs_stat st;
    struct err why;

    return !names->exe[0] && !procfs_stat(pid, &st, &why) && st.is_kernel_thread;
}

static bool takes_any_uid(const struct find_want *w)
{
    return w->user->uid == 0 && has_pid_path(w) && !w->is_untrusted;
}

/* A program started as root may change its uid and then leave its session. */
static bool may_have_other_uid(const struct find_want *w, const struct ident *id)
{
    return w->user->uid == 0 ? find_is_ours(w, id) : is_of_start((pid_t)id->pid, &w->start);
}

static int check_opened(const struct find_want *w, const char *source, const struct ident *id,
                        struct find_result *ret, struct err *err)
{
    bool fits = has_exe((pid_t)id->pid, w->proc_name);
    struct procfs_names names;
    struct err why;
    uid_t uid = 0;

    if ((!fits && procfs_names((pid_t)id->pid, &names, &why)) ||
        (!takes_any_uid(w) && procfs_uid((pid_t)id->pid, &uid, &why)))
        return find_judge(&why, FIND_NONE, source, ret, err);
    if (!fits && is_kernel_thread((pid_t)id->pid, &names))
        return find_no(ret, FIND_MISMATCH, "%s names %lld, a kernel thread, expected %s", source,
                       (long long)id->pid, w->proc_name);
    if (!fits && !find_name_fits(&names, w->proc_name))
        return find_misnamed(w, source, id->pid, &names, ret);
    if (!takes_any_uid(w) && uid != w->user->uid && !may_have_other_uid(w, id)) {
        find_no(ret, FIND_MISMATCH, "%s names %lld, a %s of uid %u, expected uid %u (%s)", source,
                (long long)id->pid, w->proc_name, (unsigned)uid, (unsigned)w->user->uid,
                w->user->name);
        ret->is_named = true;
        return 0;
    }
    *ret = (struct find_result){ .kind = FIND_FOUND, .id = *id, .pidfd = -1 };
    return 0;
}

/* Data read by pid belongs to the pidfd only if the process is still alive. */
static int check_again(const struct ident *id, const char *source, const char *boot_id,
                       struct find_result *ret, struct err *err)
{
    struct err why;
    int fd;

    if (ident_open(id, boot_id, &fd, &why))
        return find_judge(&why, FIND_NONE, source, ret, err);
    sys_close(fd);
    return 0;
}

int find_check(const struct find_want *w, const char *source, int64_t pid, const char *boot_id,
               struct find_result *ret, struct err *err)
{
    struct find_result got = { .pidfd = -1 };
    struct ident id;
    struct err why;
    int fd, result;

    if (ident_of(pid, boot_id, &id, &fd, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return find_no(ret, FIND_NONE, "%s names %lld, but %s", source, (long long)pid,
                           err_msg(&why));
        return find_judge(&why, FIND_MISMATCH, source, ret, err);
    }
    result = check_opened(w, source, &id, &got, err);
    if (!result && got.kind == FIND_FOUND)
        result = check_again(&id, source, boot_id, &got, err);
    if (!result && got.kind == FIND_FOUND)
        got.pidfd = fd;
    else
        sys_close(fd);
    if (!result)
        *ret = got;
    return result;
}

bool find_follows(const struct find_want *w, const struct ident *from, const struct ident *id)
{
    return descends((pid_t)id->pid, from) || find_is_ours(w, id);
}

/* --- A command and its descendants --------------------------------------- */

enum { COMMAND_DEPTH_MAX = 16, COMMAND_PROCESSES_MAX = 256 };

struct command {
    const struct find_want *w;
    const char *boot_id;
    int depth, n;                /* of the process looked at; processes looked at so far */
    struct find_result found[2]; /* the first topmost ones */
    int n_found;
    struct err *err;
    int result;
};

static bool find_on_child(void *arg, pid_t pid);

static void look_at_children(struct command *c, int64_t pid)
{
    struct err why;

    if (c->depth >= COMMAND_DEPTH_MAX)
        return;
    c->depth++;
    (void)procfs_each_child((pid_t)pid, find_on_child, c, &why); /* it may have ended */
    c->depth--;
}

static bool find_on_child(void *arg, pid_t pid)
{
    struct command *c = arg;
    struct find_result got;

    if (++c->n > COMMAND_PROCESSES_MAX)
        return false;
    c->result = find_check(c->w, MSG("a descendant of the command"), pid, c->boot_id, &got, c->err);
    if (c->result)
        return false;
    if (got.kind != FIND_FOUND) {
        look_at_children(c, pid);
    } else if (c->w->is_others && c->w->is_others(c->w->arg, &got.id)) {
        sys_close(got.pidfd);
    } else {
        c->found[c->n_found++] = got;
    }
    return !c->result && c->n_found < 2;
}

int find_by_command(const struct find_want *w, int64_t command, const char *boot_id,
                    struct find_result *ret, struct err *err)
{
    struct command c = { .w = w, .boot_id = boot_id, .err = err };
    struct find_result own;

    if (find_check(w, MSG("the command"), command, boot_id, &own, err))
        return -1;
    if (own.kind != FIND_FOUND)
        look_at_children(&c, command);
    if (!c.result && c.n_found == 1) {
        *ret = c.found[0];
        return 0;
    }
    for (int i = 0; i < c.n_found; i++)
        sys_close(c.found[i].pidfd);
    if (c.result)
        return -1;
    if (c.n_found == 0) {
        *ret = own;
        return 0;
    }
    return find_no(ret, FIND_MISMATCH, "several processes of the command fit %s (%lld, %lld)",
                   w->proc_name, (long long)c.found[0].id.pid, (long long)c.found[1].id.pid);
}

/* --- Search ------------------------------------------------------------- */

struct search {
    const struct find_want *w;
    const char *boot_id, *source;
    char folder[PROCFS_PATH_SIZE]; /* setup_path without links; "": whole host */
    size_t folder_n;
    struct ident *found; /* at most CANDIDATES_MAX */
    size_t n;
    struct err *err;
    int result;
};

/* A process in a container may run a file that has such a path only inside the container: the file
 * at that path on the host must be the same one. A replaced file can not be compared; then the
 * mount namespaces must be the same. */
static bool is_file_of_host(pid_t pid, const char *exe)
{
    char link[64], theirs[64], ours[64];
    struct stat a, b;
    ssize_t n, m;

    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    if (!sys_stat(link, &a) && !sys_stat(exe, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return true;
    snprintf(link, sizeof(link), "/proc/%d/ns/mnt", (int)pid);
    n = sys_readlinkat(AT_FDCWD, link, theirs, sizeof(theirs));
    m = sys_readlinkat(AT_FDCWD, "/proc/self/ns/mnt", ours, sizeof(ours));
    return n > 0 && n == m && !memcmp(theirs, ours, (size_t)n);
}

/* In a search of the whole host the name excludes most processes. */
static bool is_searched_for(const struct search *s, pid_t pid)
{
    char exe[PROCFS_PATH_SIZE];
    struct procfs_names names;
    struct err why;

    if (pid <= 1 || pid == getpid() || procfs_exe(pid, exe, &why) ||
        strncmp(exe, s->folder, s->folder_n) != 0 || exe[s->folder_n] != '/')
        return false;
    if (!s->folder_n && !procfs_names(pid, &names, &why) &&
        !find_name_fits(&names, s->w->proc_name))
        return false;
    return is_file_of_host(pid, exe);
}

/* What began before that start is a survivor of the run before it, which has ended. */
static bool may_be_of_start(const struct find_want *w, const struct ident *id)
{
    return id->start_ticks >= w->start.id.start_ticks && (has_pid_path(w) || find_is_ours(w, id));
}

static bool find_on_process(void *arg, pid_t pid)
{
    struct search *s = arg;
    struct find_result got;

    if (!is_searched_for(s, pid))
        return true;
    s->result = find_check(s->w, s->source, pid, s->boot_id, &got, s->err);
    if (s->result || got.kind != FIND_FOUND)
        return s->result == 0;
    sys_close(got.pidfd);
    if (s->w->is_others && s->w->is_others(s->w->arg, &got.id))
        return true;
    if (s->w->is_of_start && !may_be_of_start(s->w, &got.id))
        return true;
    if (s->w->is_leader && getsid(pid) != pid)
        return true;
    s->found = xresize(s->found, (s->n + 1) * sizeof(*s->found));
    s->found[s->n++] = got.id;
    return s->n < CANDIDATES_MAX;
}

static bool has_parent_among(const struct search *s, const struct ident *id)
{
    struct procfs_stat st;
    struct err why;

    if (procfs_stat((pid_t)id->pid, &st, &why))
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (s->found[i].pid == st.ppid)
            return true;
    }
    return false;
}

/* Removes processes whose parent is in the list; keeps the order. */
static void keep_topmost(struct search *s)
{
    struct ident *top = xalloc((s->n + 1) * sizeof(*top));
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (!has_parent_among(s, &s->found[i]))
            top[n++] = s->found[i];
    }
    free(s->found);
    s->found = top;
    s->n = n;
}

/* Of several, keeps those started by the agent; all, if there is none. */
static void prefer_ours(struct search *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n && s->n > 1; i++) {
        if (find_is_ours(s->w, &s->found[i])) {
            const struct ident ours = s->found[i];

            s->found[i] = s->found[n];
            s->found[n++] = ours;
        }
    }
    s->n = n ? n : s->n;
}

static const struct ident *eldest(const struct search *s)
{
    const struct ident *e = &s->found[0];

    for (size_t i = 1; i < s->n; i++) {
        if (s->found[i].start_ticks < e->start_ticks)
            e = &s->found[i];
    }
    return e;
}

static int find_none(const struct search *s, struct find_result *ret)
{
    if (!s->folder_n)
        return find_no(ret, FIND_NONE, "%s, and no process fits %s", s->source, s->w->proc_name);
    return find_no(ret, FIND_NONE, "%s, and no process of a file under %s fits %s", s->source,
                   s->w->setup_path, s->w->proc_name);
}

/* A pid file would select one; without it the choice is impossible. */
static int find_several(const struct search *s, struct find_result *ret)
{
    enum { PIDS_MAX = 10 };
    char pids[PIDS_MAX * 24 + sizeof(", ...")] = "";
    size_t used = 0;

    if (has_pid_path(s->w))
        return find_no(ret, FIND_MISMATCH, "%s, and several processes under %s fit %s (%lld, %lld)",
                       s->source, s->w->setup_path, s->w->proc_name, (long long)s->found[0].pid,
                       (long long)s->found[1].pid);
    for (size_t i = 0; i < s->n && i < PIDS_MAX; i++)
        used += (size_t)snprintf(pids + used, sizeof(pids) - used, "%s%lld", i ? ", " : "",
                                 (long long)s->found[i].pid);
    if (s->n > PIDS_MAX)
        snprintf(pids + used, sizeof(pids) - used, ", ...");
    if (!s->folder_n)
        return find_no(ret, FIND_UNSURE,
                       "%zu processes of user %s fit %s: %s; give pid_path to tell them apart",
                       s->n, s->w->user->name, s->w->proc_name, pids);
    return find_no(ret, FIND_UNSURE,
                   "%zu processes of user %s fit %s under %s: %s; give pid_path to tell them apart",
                   s->n, s->w->user->name, s->w->proc_name, s->w->setup_path, pids);
}

static int choose(struct search *s, struct find_result *ret, struct err *err)
{
    const struct ident *id;
    struct err why;
    int fd;

    keep_topmost(s);
    if (!has_pid_path(s->w))
        prefer_ours(s);
    if (s->n == 0)
        return find_none(s, ret);
    if (s->n > 1 && !s->w->is_of_many)
        return find_several(s, ret);
    id = eldest(s);
    if (ident_open(id, s->boot_id, &fd, &why))
        return find_judge(&why, FIND_NONE, s->source, ret, err);
    *ret = (struct find_result){ .kind = FIND_FOUND, .id = *id, .pidfd = fd, .is_searched = true };
    return 0;
}

/* The path is in the form that the kernel would return. */
static bool is_plain_path(const char *path)
{
    size_t n = strlen(path);

    return path[0] == '/' && n > 1 && path[n - 1] != '/' && n < PROCFS_PATH_SIZE &&
           !strstr(path, "//") && !strstr(path, "/.");
}

/* A folder without symbolic links in its path, which is the common case, needs no resolution. -1:
 * it may have links, or does not exist. */
static ssize_t take_plain_folder(struct search *s)
{
    const char *path = s->w->setup_path;
    int fd = is_plain_path(path) ? sys_openat2(path, O_PATH | O_DIRECTORY) : -1;

    sys_close(fd);
    if (fd < 0)
        return -1;
    memcpy(s->folder, path, strlen(path) + 1);
    return (ssize_t)strlen(path);
}

static ssize_t follow_folder(struct search *s)
{
    int fd = sys_open(s->w->setup_path, O_PATH | O_DIRECTORY, 0);
    char self[64];
    ssize_t n = -1;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    if (fd >= 0)
        n = sys_readlinkat(AT_FDCWD, self, s->folder, sizeof(s->folder) - 1);
    sys_close(fd);
    return n;
}

/* False: the folder does not exist. "/" is refused if there is a pid_path: everything is under it.
 */
static bool resolve_folder(struct search *s)
{
    bool is_given = s->w->setup_path && s->w->setup_path[0];
    ssize_t n = is_given ? take_plain_folder(s) : 1;

    if (n < 0)
        n = follow_folder(s);
    if (n < 1 || (n == 1 && has_pid_path(s->w)))
        return false;
    s->folder_n = n == 1 ? 0 : (size_t)n;
    s->folder[s->folder_n] = '\0';
    return true;
}

static int collect(struct search *s)
{
    const struct find_want *w = s->w;
    int result = w->exes ? exes_each(w->exes, w->asked, s->folder, find_on_process, s, s->err)
                         : procfs_each(find_on_process, s, s->err);

    return result ? result : s->result;
}

/* `source`: the reason for the search. */
static int find_search(const struct find_want *w, const char *source, const char *boot_id,
                       struct find_result *ret, struct err *err)
{
    struct search s = { .w = w, .boot_id = boot_id, .source = source, .err = err };
    int result;

    if (!resolve_folder(&s))
        return find_no(ret, FIND_NONE, "%s, and %s is no folder to search under", source,
                       *w->setup_path ? w->setup_path : "/");
    result = collect(&s);
    if (!result)
        result = choose(&s, ret, err);
    free(s.found);
    return result;
}

int find_all(const struct find_want *w, const char *boot_id, struct ident **ret, size_t *ret_n,
             struct err *err)
{
    struct search s = { .w = w, .boot_id = boot_id, .source = MSG("the search"), .err = err };

    if (resolve_folder(&s) && collect(&s)) {
        free(s.found);
        return -1;
    }
    *ret = s.found;
    *ret_n = s.n;
    return 0;
}

/* --- Pid file ----------------------------------------------------------- */

/* The result of the pid file is the answer if the search finds nothing. */
static int search_too(const struct find_want *w, const struct find_result *said,
                      const char *boot_id, struct find_result *ret, struct err *err)
{
    struct find_result got;

    if (find_search(w, said->text, boot_id, &got, err))
        return -1;
    *ret = got.kind == FIND_NONE ? *said : got;
    return 0;
}

/* "": the file is reliable. */
static const char *find_doubt(const struct find_want *w, const struct pidfile_content *file,
                              char text[sizeof(file->doubt)])
{
    struct err why;
    uid_t uid = 0;

    if (file->doubt[0] || w->user->uid != 0 || file->owner == 0)
        return file->doubt;
    if (procfs_uid((pid_t)file->pid, &uid, &why) || uid == file->owner)
        return ""; /* or the process has ended */
    msg_printf(text, sizeof(file->doubt),
               "pid file %.*s is not used: it belongs to uid %u, but process %lld that it names "
               "runs as uid %u; change its owner to root",
               (int)utf8_cut(w->pid_path, 200), w->pid_path, (unsigned)file->owner,
               (long long)file->pid, (unsigned)uid);
    return text;
}

/* A matching process, named by a file that others can write to: counts only if the agent started
 * it. */
static void weigh_doubt(const struct find_want *w, const struct pidfile_content *file,
                        struct find_result *said)
{
    char text[sizeof(file->doubt)];
    const char *doubt;

    if (said->kind != FIND_FOUND && !said->is_named)
        return;
    doubt = find_doubt(w, file, text);
    if (!doubt[0] || (said->kind == FIND_FOUND && find_is_ours(w, &said->id)))
        return;
    sys_close(said->pidfd);
    find_no(said, w->is_of_start ? FIND_NONE : FIND_UNSURE, "%s", doubt);
}

static int check_file(const struct find_want *w, const struct pidfile_content *file,
                      const char *boot_id, struct find_result *ret, struct err *err)
{
    struct find_result said;
    char source[SOURCE_SIZE];

    msg_printf(source, sizeof(source), "pid file %.*s", (int)utf8_cut(w->pid_path, 246),
               w->pid_path);
    if (find_check(w, source, file->pid, boot_id, &said, err))
        return -1;
    weigh_doubt(w, file, &said);
    *ret = said;
    return 0;
}

static int find_read_file(const struct find_want *w, struct pidfile_content *ret, struct err *why)
{
    return pidfile_read(w->pidfiles, w->pid_path, w->user->uid, w->user->gid, ret, why);
}

static int judge_file(const struct err *why, struct find_result *ret, struct err *err)
{
    return find_judge(why, why->code == ERR_UNAVAILABLE ? FIND_UNSURE : FIND_MISMATCH, "", ret,
                      err);
}

int find_by_pid_file(const struct find_want *w, const char *boot_id, struct find_result *ret,
                     struct err *err)
{
    struct pidfile_content file;
    struct err why;

    if (find_read_file(w, &file, &why))
        return judge_file(&why, ret, err);
    return check_file(w, &file, boot_id, ret, err);
}

int find_process(const struct find_want *w, const char *boot_id, struct find_result *ret,
                 struct err *err)
{
    struct pidfile_content file;
    struct find_result said;
    struct find_want without;
    struct err why;

    if (!has_pid_path(w))
        return find_search(w, MSG("no pid file is named"), boot_id, ret, err);
    if (find_read_file(w, &file, &why)) {
        without = *w;
        if (why.sys == EISDIR)
            without.pid_path = NULL;
        if (why.code == ERR_NOT_FOUND)
            return find_search(&without, err_msg(&why), boot_id, ret, err);
        return judge_file(&why, ret, err);
    }
    if (check_file(w, &file, boot_id, &said, err))
        return -1;
    if (w->is_doubtful && said.kind != FIND_FOUND && said.kind != FIND_UNSURE)
        return search_too(w, &said, boot_id, ret, err);
    *ret = said;
    return 0;
}
