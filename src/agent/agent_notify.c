/* SPDX-License-Identifier: MIT */
/* agent_notify.c - see agent_notify.h. */
#include "agent/agent_notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "agent/find.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_sender.h"

enum {
    WORDS_MAX = 128,    /* that nobody could place yet, */
    WORDS_OF_ONE = 32,  /* of them of one user: anybody on the host can say something */
    TRIES = 30,         /* to place them, */
    TRY_MS = 100,       /* so far apart, */
    NAME_TRIES = 5,     /* by name, which costs more, only each fifth time */
    ANCESTORS_MAX = 32, /* of a sender that are looked at */
    TEXT_MAX = 4096,    /* bytes of a datagram */
    READS_MAX = 16,     /* datagrams in one go */
    NAME_BYTES = 8,
};

/* A process and those above it, up to us, its session and whose it is; the first is it. */
struct line {
    struct core_ident idents[ANCESTORS_MAX];
    int n;
    int64_t session;
    uid_t uid;
};

struct word {
    TAILQ_ENTRY(word) link;
    struct line sender, main; /* main.n 0: none was named */
    int tries;
};

struct notices {
    struct agent *agent;
    int fd;
    struct watch *watch;
    char name[80];
    TAILQ_HEAD(, word) words;
    size_t n;
    struct timer timer;
};

const char *notices_socket(const struct notices *n)
{
    return n && n->fd >= 0 ? n->name : "";
}

/* ---- who says it */

static void read_line(int64_t pid, struct line *ret)
{
    struct procfs_stat st;
    struct err ignored; /* whoever is gone is of nobody */

    *ret = (struct line){ 0 };
    if (pid <= 1 || pid > INT32_MAX || procfs_uid((pid_t)pid, &ret->uid, &ignored))
        return;
    while (pid > 1 && pid != getpid() && ret->n < ANCESTORS_MAX &&
           !procfs_stat((pid_t)pid, &st, &ignored)) {
        if (!ret->n)
            ret->session = st.session;
        ret->idents[ret->n++] = (struct core_ident){ pid, st.start_ticks };
        pid = st.ppid;
    }
}

static bool has(const struct line *line, struct core_ident ident)
{
    for (int i = 0; ident.pid > 1 && i < line->n; i++) {
        if (line->idents[i].pid == ident.pid && line->idents[i].start_ticks == ident.start_ticks)
            return true;
    }
    return false;
}

/* Read once, however many are waited for; "": none of ours. */
static void read_cgroup(const struct agent *a, const struct line *line, char to[PROCFS_PATH_SIZE])
{
    struct err ignored; /* then it is not known to be */

    if (!line->n || !cgroups_are_used(a->cgroups) ||
        procfs_cgroup((pid_t)line->idents[0].pid, to, &ignored))
        to[0] = '\0';
}

static bool is_in_cgroup(const struct agent *a, const struct core_unready *u, const char *path)
{
    char file[OUTLOG_NAME_SIZE];
    struct arena arena = { 0 };
    const char *own;
    bool is_in;

    if (!*path)
        return false;
    said_name(u->space, u->name, "start", file);
    own = cgroup_path(a->cgroups, file, &arena);
    is_in = own && *own && !strcmp(own, path);
    arena_free(&arena);
    return is_in;
}

static bool descends(const struct agent *a, const struct core_unready *u, const struct line *line,
                     const char *cgroup)
{
    struct ident start = watch_ident(a, u->start);

    return has(line, u->start) || has(line, u->ident) ||
           (line->n && (ident_made_session(&start, line->session) || is_in_cgroup(a, u, cgroup)));
}

/* By its name, and by its user, also where that is root: anybody can call a program anything. */
static bool fits(struct agent *a, const struct core_unready *u, const struct line *line)
{
    const struct find_want want = {
        .proc_name = u->identity->proc_name,
        .setup_path = u->identity->setup_path,
        .user = users_find(&a->users, u->identity->user, clock_mono_ms(loop_clock(a->loop))),
        .start = { .id = watch_ident(a, u->start) },
    };
    struct find_result got = { .pidfd = -1 };
    struct err ignored; /* then it does not, for now */
    bool does;

    if (!want.user || !line->n || line->uid != want.user->uid ||
        core_is_others(a->core, line->idents[0], u->space, u->name) ||
        find_check(&want, "it", line->idents[0].pid, a->boot_id, &got, &ignored))
        return false;
    does = got.kind == FIND_FOUND;
    sys_close(got.pidfd);
    return does;
}

struct search {
    struct agent *a;
    const struct word *word;
    char *space, *name; /* of the one it is */
    struct core_ident main;
    int n; /* that it could be */
    bool by_name;
    char cgroup[PROCFS_PATH_SIZE]; /* of the sender */
};

static bool is_main(const struct search *s, const struct core_unready *u)
{
    const struct line *line = &s->word->main;
    char cgroup[PROCFS_PATH_SIZE];

    read_cgroup(s->a, line, cgroup);
    return descends(s->a, u, line, cgroup) || fits(s->a, u, line);
}

static bool on_unready(void *arg, const struct core_unready *u)
{
    struct search *s = arg;
    const struct word *w = s->word;

    if (!(s->by_name ? fits(s->a, u, &w->sender) : descends(s->a, u, &w->sender, s->cgroup)))
        return true;
    if (s->n++)
        return false;
    s->space = xstrdup(u->space);
    s->name = xstrdup(u->name);
    if (w->main.n && is_main(s, u))
        s->main = w->main.idents[0];
    return s->by_name; /* is there another one? */
}

/* Whether it could be said whose it is. */
static bool place(struct notices *n, const struct word *w)
{
    struct agent *a = n->agent;
    struct search s = { .a = a, .word = w };
    bool is_placed;

    read_cgroup(a, &w->sender, s.cgroup);
    core_each_unready(a->core, on_unready, &s);
    if (!s.n && w->tries % NAME_TRIES == 0) {
        s.by_name = true;
        core_each_unready(a->core, on_unready, &s);
    }
    is_placed = s.n == 1;
    if (is_placed) {
        core_on_ready(a->core, s.space, s.name, s.main, agent_now_ms(a));
        agent_wake(a);
    }
    free(s.space);
    free(s.name);
    return is_placed;
}

/* ---- what is said */

static void drop(struct notices *n, struct word *w)
{
    TAILQ_REMOVE(&n->words, w, link);
    n->n--;
    free(w);
}

static void on_time(void *notices)
{
    struct notices *n = notices;
    struct word *w, *next;

    for (w = TAILQ_FIRST(&n->words); w; w = next) {
        next = TAILQ_NEXT(w, link);
        w->tries++;
        if (place(n, w) || w->tries >= TRIES)
            drop(n, w);
    }
    if (n->n)
        timer_set(n->agent->loop, &n->timer, TRY_MS);
}

static bool on_any(void *arg, const struct core_unready *u)
{
    (void)u;
    *(bool *)arg = true;
    return false;
}

/* Where nobody is waited for, what is said costs nothing. */
static bool is_anybody_awaited(const struct notices *n)
{
    bool is = false;

    core_each_unready(n->agent->core, on_any, &is);
    return is;
}

static bool has_room(const struct notices *n, uid_t uid)
{
    const struct word *w;
    size_t of_one = 0;

    TAILQ_FOREACH(w, &n->words, link)
    of_one += w->sender.uid == uid;
    return n->n < WORDS_MAX && of_one < WORDS_OF_ONE;
}

/* Whoever can be placed at once is heard however many others wait. */
static void hear(struct notices *n, pid_t pid, int64_t main_pid)
{
    struct word *w;

    if (!is_anybody_awaited(n))
        return;
    w = xalloc(sizeof(*w));
    read_line(pid, &w->sender);
    read_line(main_pid, &w->main);
    if (!w->sender.n || place(n, w) || !has_room(n, w->sender.uid)) {
        free(w);
        return;
    }
    TAILQ_INSERT_TAIL(&n->words, w, link);
    n->n++;
    if (!n->timer.place)
        timer_set(n->agent->loop, &n->timer, TRY_MS);
}

/* Lines of NAME=value; `text` is cut up. */
static void take(struct notices *n, pid_t pid, char *text)
{
    int64_t main_pid = 0;
    bool is_ready = false;
    char *line, *rest = text;

    while ((line = strsep(&rest, "\n"))) {
        if (!strcmp(line, "READY=1"))
            is_ready = true;
        else if (!strncmp(line, "MAINPID=", 8))
            main_pid = strtoll(line + 8, NULL, 10);
    }
    if (is_ready)
        hear(n, pid, main_pid);
}

static void on_ready(void *notices, unsigned ready)
{
    struct notices *n = notices;
    char text[TEXT_MAX + 1];

    (void)ready;
    for (int i = 0; i < READS_MAX; i++) {
        pid_t pid;
        ssize_t got = sys_recv_sender(n->fd, text, TEXT_MAX, &pid);

        if (got < 0)
            return;
        text[got] = '\0';
        take(n, pid, text);
    }
}

/* ---- its life */

/* The same in every life of this agent: a process may be about to say something when we are
 * started anew.  Should somebody have taken it, another one. */
static void choose_name(struct notices *n, bool is_taken)
{
    unsigned char more[NAME_BYTES];
    char digest[DIGEST_TEXT_SIZE], suffix[2 * NAME_BYTES + 1] = "";
    const char *dir = n->agent->o.dir;

    sys_random(more, sizeof(more));
    digest_sha256_text(dir, strlen(dir), digest);
    if (is_taken)
        hex_write(more, sizeof(more), suffix);
    snprintf(n->name, sizeof(n->name), "@holdfast/notify/%.16s%s", digest, suffix);
}

static int bind_name(struct notices *n)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = strlen(n->name);

    memcpy(to.sun_path, n->name, len);
    to.sun_path[0] = '\0'; /* abstract */
    return sys_bind(n->fd, (struct sockaddr *)&to,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

static int take_name(struct notices *n)
{
    choose_name(n, false);
    if (!bind_name(n))
        return 0;
    choose_name(n, true);
    return errno == EADDRINUSE ? bind_name(n) : -1;
}

static int open_socket(struct notices *n, struct err *err)
{
    struct loop *loop = n->agent->loop;

    n->fd = sys_socket(AF_UNIX, SOCK_DGRAM, 0);
    if (n->fd < 0 || sys_setsockopt(n->fd, SOL_SOCKET, SO_PASSCRED, 1))
        return err_sys(err, "a socket for readiness");
    if (take_name(n))
        return err_sys(err, "bind %s", n->name);
    return watch_new(loop, n->fd, on_ready, n, &n->watch, err) ||
                   watch_want(n->watch, WATCH_READ, err)
               ? -1
               : 0;
}

struct notices *notices_new(struct agent *a)
{
    struct notices *n = xalloc(sizeof(*n));
    struct err err;

    n->agent = a;
    TAILQ_INIT(&n->words);
    timer_init(&n->timer, on_time, n);
    if (!open_socket(n, &err))
        return n;
    LOG(a->log, LOG_WARN, "processes that say when they are ready are not heard", log_err(&err));
    watch_free(n->watch);
    n->watch = NULL;
    sys_close(n->fd);
    n->fd = -1;
    return n;
}

void notices_free(struct notices *n)
{
    if (!n)
        return;
    timer_stop(n->agent->loop, &n->timer);
    while (n->n > 0)
        drop(n, TAILQ_FIRST(&n->words));
    watch_free(n->watch);
    sys_close(n->fd);
    free(n);
}
