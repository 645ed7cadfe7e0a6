/* SPDX-License-Identifier: MIT */
/* find.c - see find.h. */
#include "agent/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/pidfile.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/utf8.h"

enum { ANCESTORS_MAX = 64, CANDIDATES_MAX = 1024, SOURCE_SIZE = 256 };

/* Names are the processes' own choice: what is no text becomes '?'. */
static void clean(char *text)
{
    size_t n = strlen(text), step;

    for (size_t i = 0; i < n; i += step) {
        step = utf8_char(text + i, n - i);
        if (!step || (unsigned char)text[i] < ' ' || text[i] == 127) {
            text[i] = '?';
            step = 1;
        }
    }
}

__attribute__((format(printf, 3, 4))) static int no(struct find_result *ret, enum find_kind kind,
                                                    const char *fmt, ...)
{
    va_list ap;
    int n;

    *ret = (struct find_result){ .kind = kind, .pidfd = -1 };
    va_start(ap, fmt);
    n = vsnprintf(ret->text, sizeof(ret->text), fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof(ret->text))
        ret->text[utf8_whole(ret->text, sizeof(ret->text) - 1)] = '\0';
    clean(ret->text);
    return 0;
}

/* What is wrong with the process or the file is an answer, that we may not look at it
 * too; trouble of ours goes to the caller. */
static int judge(const struct err *why, enum find_kind kind, const char *source,
                 struct find_result *ret, struct err *err)
{
    if (why->code == ERR_SYSTEM && why->sys != EACCES && why->sys != EPERM) {
        *err = *why;
        return -1;
    }
    if (why->code == ERR_NOT_FOUND)
        kind = FIND_NONE;
    return no(ret, kind, "%s%s%s", source, source[0] ? ": " : "", why->text);
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

/* --- Whose it is -------------------------------------------------------- */

static bool is_in_cgroup(pid_t pid, const char *cgroup)
{
    char path[PROCFS_PATH_SIZE];
    struct err why;
    size_t n = cgroup ? strlen(cgroup) : 0;

    return n > 1 && !procfs_cgroup(pid, path, &why) && !strncmp(path, cgroup, n) &&
           (path[n] == '\0' || path[n] == '/');
}

/* A parent read by pid is a parent still if the child is still there after; the
 * caller holds the pidfd of the first and looks once more when this has said yes. */
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

/* --- One process -------------------------------------------------------- */

/* "exe is java" or, where it is an interpreter's or not to be read, what else there
 * is to go by. */
static void describe(const struct procfs_names *names, char *to, size_t size)
{
    if (names->script[0])
        snprintf(to, size, "exe is %s running %s", names->exe, names->script);
    else if (names->exe[0])
        snprintf(to, size, "exe is %s", names->exe);
    else
        snprintf(to, size, "name is %s", names->comm);
}

/* As most do.  Each file of /proc/PID that was looked at is one more for the kernel to forget
 * when the process is reaped. */
static bool has_exe(pid_t pid, const char *proc_name)
{
    char exe[PROCFS_PATH_SIZE], name[PROCFS_NAME_SIZE];
    struct err why;

    if (procfs_exe(pid, exe, &why))
        return false;
    procfs_base_name(exe, name);
    return !strcmp(name, proc_name);
}

static int check_opened(const struct find_want *w, const char *source, const struct ident *id,
                        struct find_result *ret, struct err *err)
{
    bool fits = has_exe((pid_t)id->pid, w->proc_name);
    struct procfs_names names;
    struct err why;
    char what[2 * PROCFS_NAME_SIZE + 32];
    uid_t uid = 0;

    if ((!fits && procfs_names((pid_t)id->pid, &names, &why)) ||
        (w->user->uid != 0 && procfs_uid((pid_t)id->pid, &uid, &why)))
        return judge(&why, FIND_NONE, source, ret, err);
    if (!fits && !find_name_fits(&names, w->proc_name)) {
        describe(&names, what, sizeof(what));
        return no(ret, FIND_MISMATCH, "%s names %lld whose %s, expected %s", source,
                  (long long)id->pid, what, w->proc_name);
    }
    if (w->user->uid != 0 && uid != w->user->uid && !is_of_start((pid_t)id->pid, &w->start))
        return no(ret, FIND_MISMATCH, "%s names %lld, a %s of uid %u, expected uid %u (%s)", source,
                  (long long)id->pid, w->proc_name, (unsigned)uid, (unsigned)w->user->uid,
                  w->user->name);
    *ret = (struct find_result){ .kind = FIND_FOUND, .id = *id, .pidfd = -1 };
    return 0;
}

/* All that was read by pid holds for the pidfd only if it lives still. */
static int check_again(const struct ident *id, const char *source, const char *boot_id,
                       struct find_result *ret, struct err *err)
{
    struct err why;
    int fd;

    if (ident_open(id, boot_id, &fd, &why))
        return judge(&why, FIND_NONE, source, ret, err);
    sys_close(fd);
    return 0;
}

/* One that is held need not be opened: what was read is of it if it lives still. */
static int check_held(const struct find_want *w, const char *source, struct ident id,
                      struct find_result *ret, struct err *err)
{
    struct find_result got;

    if (check_opened(w, source, &id, &got, err))
        return -1;
    if (got.kind == FIND_FOUND && !w->find_held(w->arg, id.pid))
        return no(ret, FIND_NONE, "%s names %lld, but that has ended", source, (long long)id.pid);
    *ret = got;
    return 0;
}

int find_check(const struct find_want *w, const char *source, int64_t pid, const char *boot_id,
               struct find_result *ret, struct err *err)
{
    const struct ident *held = w->find_held ? w->find_held(w->arg, pid) : NULL;
    struct find_result got = { .pidfd = -1 };
    struct ident id;
    struct err why;
    int fd, result;

    if (held)
        return check_held(w, source, *held, ret, err);
    if (ident_of(pid, boot_id, &id, &fd, &why)) {
        if (why.code == ERR_NOT_FOUND)
            return no(ret, FIND_NONE, "%s names %lld, but %s", source, (long long)pid, why.text);
        return judge(&why, FIND_MISMATCH, source, ret, err);
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

/* --- A search ----------------------------------------------------------- */

struct search {
    const struct find_want *w;
    const char *boot_id, *source;
    char folder[PROCFS_PATH_SIZE]; /* setup_path without links */
    size_t folder_n;
    struct ident *found; /* CANDIDATES_MAX at most */
    size_t n;
    struct err *err;
    int result;
};

/* A process in a container may run a file that only there has such a path: the file
 * at that path on the host must be the same one.  One that was replaced can not be
 * compared, and then the mount namespaces must be the same. */
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

static bool on_process(void *arg, pid_t pid)
{
    struct search *s = arg;
    char exe[PROCFS_PATH_SIZE];
    struct find_result got;
    struct err why;

    if (pid <= 1 || pid == getpid() || procfs_exe(pid, exe, &why) ||
        strncmp(exe, s->folder, s->folder_n) != 0 || exe[s->folder_n] != '/' ||
        !is_file_of_host(pid, exe))
        return true;
    s->result = find_check(s->w, s->source, pid, s->boot_id, &got, s->err);
    if (s->result || got.kind != FIND_FOUND)
        return s->result == 0;
    sys_close(got.pidfd);
    if (s->w->is_others && s->w->is_others(s->w->arg, &got.id))
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

static const struct ident *elder(const struct ident *a, const struct ident *b)
{
    return b->start_ticks < a->start_ticks ? b : a;
}

/* The one that is nobody's child here. */
static int choose(const struct search *s, struct find_result *ret, struct err *err)
{
    const struct ident *eldest[2] = { 0 };
    struct err why;
    size_t n = 0;
    int fd;

    for (size_t i = 0; i < s->n && n < 2; i++) {
        if (has_parent_among(s, &s->found[i]))
            continue;
        if (n && s->w->is_of_many)
            eldest[0] = elder(eldest[0], &s->found[i]);
        else
            eldest[n++] = &s->found[i];
    }
    if (n == 0)
        return no(ret, FIND_NONE, "%s, and no process of a file under %s fits %s", s->source,
                  s->w->setup_path, s->w->proc_name);
    if (n > 1)
        return no(ret, FIND_MISMATCH, "%s, and several processes under %s fit %s (%lld, %lld)",
                  s->source, s->w->setup_path, s->w->proc_name, (long long)eldest[0]->pid,
                  (long long)eldest[1]->pid);
    if (ident_open(eldest[0], s->boot_id, &fd, &why))
        return judge(&why, FIND_NONE, s->source, ret, err);
    *ret = (struct find_result){ .kind = FIND_FOUND, .id = *eldest[0], .pidfd = fd };
    return 0;
}

/* Nothing in it that the kernel would write otherwise, were it asked for the path. */
static bool is_plain_path(const char *path)
{
    size_t n = strlen(path);

    return path[0] == '/' && n > 1 && path[n - 1] != '/' && n < PROCFS_PATH_SIZE &&
           !strstr(path, "//") && !strstr(path, "/.");
}

/* A folder on whose way are no links, as on almost all, has this path and no other.  -1: it
 * may have, or there is no such folder. */
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

/* False if there is no such folder, or it is the root, under which everything is. */
static bool resolve_folder(struct search *s)
{
    ssize_t n = take_plain_folder(s);

    if (n < 0)
        n = follow_folder(s);
    if (n <= 1)
        return false;
    s->folder[n] = '\0';
    s->folder_n = (size_t)n;
    return true;
}

static int collect(struct search *s)
{
    const struct find_want *w = s->w;
    int result = w->exes ? exes_each(w->exes, w->asked, s->folder, on_process, s, s->err)
                         : procfs_each(on_process, s, s->err);

    return result ? result : s->result;
}

static int search(const struct find_want *w, const char *source, const char *boot_id,
                  struct find_result *ret, struct err *err)
{
    struct search s = { .w = w, .boot_id = boot_id, .source = source, .err = err };
    int result;

    if (!resolve_folder(&s))
        return no(ret, FIND_NONE, "%s, and %s is no folder to search under", source, w->setup_path);
    result = collect(&s);
    if (!result)
        result = choose(&s, ret, err);
    free(s.found);
    return result;
}

int find_all(const struct find_want *w, const char *boot_id, struct ident **ret, size_t *ret_n,
             struct err *err)
{
    struct search s = { .w = w, .boot_id = boot_id, .source = "the search", .err = err };

    if (resolve_folder(&s) && collect(&s)) {
        free(s.found);
        return -1;
    }
    *ret = s.found;
    *ret_n = s.n;
    return 0;
}

/* --- Both --------------------------------------------------------------- */

/* What the pid file says of it is the answer if nothing else is found. */
static int search_too(const struct find_want *w, const struct find_result *said,
                      const char *boot_id, struct find_result *ret, struct err *err)
{
    struct find_result got;

    if (search(w, said->text, boot_id, &got, err))
        return -1;
    *ret = got.kind == FIND_NONE ? *said : got;
    return 0;
}

int find_process(const struct find_want *w, const char *boot_id, struct find_result *ret,
                 struct err *err)
{
    char source[SOURCE_SIZE];
    struct find_result said;
    struct err why;
    int64_t pid;

    if (!w->pid_path || !w->pid_path[0])
        return search(w, "no pid file is named", boot_id, ret, err);
    if (!pidfile_read(w->pidfiles, w->pid_path, w->user->uid, &pid, &why)) {
        snprintf(source, sizeof(source), "pid file %s", w->pid_path); /* may be cut */
        if (w->has_ended && w->has_ended(w->arg, pid))
            no(&said, FIND_NONE, "%s names %lld, but that has ended", source, (long long)pid);
        else if (find_check(w, source, pid, boot_id, &said, err))
            return -1;
        if (w->is_doubtful && said.kind != FIND_FOUND)
            return search_too(w, &said, boot_id, ret, err);
        *ret = said;
        return 0;
    }
    if (why.code == ERR_NOT_FOUND)
        return search(w, why.text, boot_id, ret, err);
    return judge(&why, FIND_MISMATCH, "", ret, err);
}
