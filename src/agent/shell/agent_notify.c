/* SPDX-License-Identifier: MIT */
/* agent_notify.c - see agent_notify.h. */
#include "agent/shell/agent_notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "agent/confine/cgroup.h"
#include "agent/identify/find.h"
#include "agent/identify/procfs.h"
#include "agent/identify/user.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_trim.h"
#include "agent/shell/notify_socket.h"
#include "agent/shell/workers.h"
#include "agent/supervise/core.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"

enum {
    WORDS_MAX = 128,    /* messages not assigned to a process yet */
    WORDS_OF_ONE = 32,  /* of these per user: every user can send messages */
    TRIES = 30,         /* attempts to assign a message */
    TRY_MS = 100,       /* interval of attempts */
    NAME_TRIES = 5,     /* matching by name is expensive: every fifth attempt only */
    LOOK_TRIES = 300,   /* attempts while a worker has not answered */
    ANCESTORS_MAX = 32, /* ancestors of a sender that are compared */
    CLOSE_MS = 700,     /* time for the threads of the socket to end */
};

/* A process (first) and its ancestors up to the agent, its session and its user. */
struct line {
    struct core_ident idents[ANCESTORS_MAX];
    int n;
    int64_t session;
    uid_t uid;
};

struct word {
    TAILQ_ENTRY(word) link;
    struct notices *notices;
    struct line sender, main; /* main.n 0: no MAINPID= */
    int tries;
    struct look *look; /* job of a worker; NULL: none */
};

/* An awaited process that may match the sender by name. */
struct candidate {
    struct candidate *next;
    const char *space, *name;
    struct core_ident start;
    struct find_want want;
    bool is_main;                /* the main process belongs to it */
    bool asks_main;              /* the main process may belong to it by name */
    bool fits_sender, fits_main; /* answer of the worker */
};

/* Compares the names of sender and main process with the candidates. Arguments are read from the
 * memory of a process, and its user can make that read block, so a worker does it. Meanwhile the
 * worker owns all members but `word`. */
struct look {
    struct worker_job job;
    struct word *word; /* NULL: the message was dropped */
    struct arena arena;
    uid_t uid;          /* of the processes to compare */
    bool is_for_sender; /* false: the sender is assigned, only the main process is compared */
    struct core_ident sender, main;
    struct candidate *list;
    char boot_id[BOOT_ID_SIZE];
};

struct notices {
    struct agent_base *agent;
    struct users *users;
    struct notify_socket *socket; /* NULL: no socket */
    TAILQ_HEAD(, word) words;
    size_t n;
    struct timer timer;
};

const char *notices_socket(const struct notices *n)
{
    return n && n->socket ? notify_socket_name(n->socket) : "";
}

/* ---- identity of the sender */

static void notify_read_line(int64_t pid, struct line *ret)
{
    struct procfs_stat st;
    struct err ignored; /* a process that has ended matches nothing */

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

static bool notify_has(const struct line *line, struct core_ident ident)
{
    for (int i = 0; ident.pid > 1 && i < line->n; i++) {
        if (line->idents[i].pid == ident.pid && line->idents[i].start_ticks == ident.start_ticks)
            return true;
    }
    return false;
}

/* Read once for all awaited processes; "": no cgroup of the agent. */
static void read_cgroup(const struct agent_base *a, const struct line *line,
                        char to[PROCFS_PATH_SIZE])
{
    struct err ignored; /* on failure: not a match */

    if (!line->n || !cgroups_are_used(a->cgroups) ||
        procfs_cgroup((pid_t)line->idents[0].pid, to, &ignored))
        to[0] = '\0';
}

static bool is_in_cgroup(const struct agent_base *a, const struct core_unready *u, const char *path)
{
    char file[OUTLOG_NAME_SIZE];
    struct arena arena = { 0 };
    const char *own;
    bool is_in;

    if (!*path)
        return false;
    output_name(u->space, u->name, "start", file);
    own = cgroup_path(a->cgroups, file, &arena);
    is_in = own && *own && !strcmp(own, path);
    arena_free(&arena);
    return is_in;
}

static bool descends(const struct agent_base *a, const struct core_unready *u,
                     const struct line *line, const char *cgroup)
{
    struct ident start = agent_ident(a, u->start);

    return notify_has(line, u->start) || notify_has(line, u->ident) ||
           (line->n && (ident_made_session(&start, line->session) || is_in_cgroup(a, u, cgroup)));
}

/* Matches by name and user, also for root: any program can have any name. Returns the user; NULL:
 * no match. */
static const struct user *could_be(const struct notices *n, const struct core_unready *u,
                                   const struct line *line)
{
    const struct agent_base *a = n->agent;
    const struct user *user =
        users_find(n->users, u->identity->user, clock_mono_ms(loop_clock(a->loop)));

    return user && line->n && line->uid == user->uid &&
                   !core_is_others(a->core, line->idents[0], u->space, u->name)
               ? user
               : NULL;
}

static bool descends_main(struct agent_base *a, const struct core_unready *u, const struct word *w)
{
    char cgroup[PROCFS_PATH_SIZE];

    if (!w->main.n)
        return false;
    read_cgroup(a, &w->main, cgroup);
    return descends(a, u, &w->main, cgroup);
}

/* ---- by name, on a worker */

static bool notify_fits(const struct look *look, const struct find_want *want,
                        struct core_ident ident)
{
    struct find_result got = { .pidfd = -1 };
    struct err ignored; /* on failure: no match for now */
    bool does;

    if (find_check(want, "it", ident.pid, look->boot_id, &got, &ignored))
        return false;
    does = got.kind == FIND_FOUND && got.id.start_ticks == ident.start_ticks;
    sys_close(got.pidfd);
    return does;
}

static void work(struct worker_job *job, struct spawner *s)
{
    struct look *look = job->arg;

    (void)s;
    for (struct candidate *c = look->list; c; c = c->next) {
        c->fits_sender = look->is_for_sender && notify_fits(look, &c->want, look->sender);
        c->fits_main = c->asks_main && (c->fits_sender || !look->is_for_sender) &&
                       notify_fits(look, &c->want, look->main);
    }
}

/* ---- by name, on the loop */

static void free_look(struct look *look)
{
    struct arena arena = look->arena; /* `look` is allocated in it */

    arena_free(&arena);
}

static struct look *new_look(struct word *w, bool is_for_sender)
{
    struct arena arena = { 0 };
    struct look *look = arena_alloc(&arena, sizeof(*look));

    look->arena = arena;
    look->word = w;
    look->uid = is_for_sender ? w->sender.uid : w->main.uid;
    look->is_for_sender = is_for_sender;
    look->sender = w->sender.idents[0];
    look->main = w->main.idents[0];
    memcpy(look->boot_id, w->notices->agent->boot_id, sizeof(look->boot_id));
    return look;
}

static void add_candidate(struct look *look, const struct core_unready *u, const struct user *user)
{
    struct agent_base *a = look->word->notices->agent;
    struct candidate *c = arena_alloc(&look->arena, sizeof(*c));

    c->space = arena_strdup(&look->arena, u->space);
    c->name = arena_strdup(&look->arena, u->name);
    c->start = u->start;
    c->want = (struct find_want){
        .proc_name = arena_strdup(&look->arena, u->identity->proc_name),
        .setup_path = arena_strdup(&look->arena, u->identity->setup_path),
        .user = user_copy(user, &look->arena),
        .start = { .id = agent_ident(a, u->start) },
    };
    c->is_main = look->is_for_sender && descends_main(a, u, look->word);
    c->asks_main = !c->is_main && could_be(look->word->notices, u, &look->word->main);
    c->next = look->list;
    look->list = c;
}

static void notify_on_looked(struct worker_job *job);

/* Uses job owners of its own, so that starts of the same user continue while its reads block.
 * False: no candidate, or too many reads are pending. */
static bool start_look(struct look *look)
{
    struct word *w = look->word;
    struct workers *workers = w->notices->agent->workers;
    char owner[32];

    snprintf(owner, sizeof(owner), "notify:%u", (unsigned)look->uid);
    if (!look->list || !workers_have_room(workers, owner)) {
        free_look(look);
        return false;
    }
    look->job = (struct worker_job){ .work = work, .done = notify_on_looked, .arg = look };
    w->look = look;
    workers_put(workers, owner, &look->job);
    return true;
}

/* ---- assignment */

static void tell_ready(struct notices *n, const char *space, const char *name,
                       struct core_ident main)
{
    core_on_ready(n->agent->core, space, name, main, agent_now_ms(n->agent));
    agent_wake(n->agent);
}

struct search {
    struct notices *notices;
    struct word *word;
    char *space, *name; /* of the assigned process */
    struct core_ident main;
    struct look *look;             /* comparison by name that is needed */
    char cgroup[PROCFS_PATH_SIZE]; /* of the sender */
};

static bool on_descent(void *arg, const struct core_unready *u)
{
    struct search *s = arg;
    struct word *w = s->word;
    const struct user *user;

    if (!descends(s->notices->agent, u, &w->sender, s->cgroup))
        return true;
    s->space = xstrdup(u->space);
    s->name = xstrdup(u->name);
    if (descends_main(s->notices->agent, u, w)) {
        s->main = w->main.idents[0];
    } else if ((user = could_be(s->notices, u, &w->main))) {
        s->look = new_look(w, false);
        add_candidate(s->look, u, user);
    }
    return false;
}

/* True: the sender is assigned. Reports it at once, or after a worker has compared the main
 * process. */
static bool place_by_descent(struct notices *n, struct word *w)
{
    struct search s = { .notices = n, .word = w };
    bool is_placed;

    read_cgroup(n->agent, &w->sender, s.cgroup);
    core_each_unready(n->agent->core, on_descent, &s);
    is_placed = s.name;
    if (is_placed && !(s.look && start_look(s.look)))
        tell_ready(n, s.space, s.name, s.main);
    free(s.space);
    free(s.name);
    return is_placed;
}

static bool on_candidate(void *arg, const struct core_unready *u)
{
    struct look *look = arg;
    const struct user *user = could_be(look->word->notices, u, &look->word->sender);

    if (user)
        add_candidate(look, u, user);
    return true;
}

/* True: the message is finished. */
static bool notify_place(struct notices *n, struct word *w)
{
    struct look *look = w->look;

    if (look && !look->is_for_sender)
        return false;
    if (place_by_descent(n, w)) {
        if (look)
            look->word = NULL; /* its answer is ignored */
        if (w->look == look)
            w->look = NULL;
        else
            w->tries = 0; /* the look for MAINPID= has its own time */
        return !w->look;
    }
    if (look || w->tries % NAME_TRIES != 0)
        return false;
    look = new_look(w, true);
    core_each_unready(n->agent->core, on_candidate, look);
    (void)start_look(look); /* retried on failure */
    return false;
}

/* ---- messages */

static void free_word(struct word *w)
{
    if (w->look)
        w->look->word = NULL; /* freed when the job ends */
    free(w);
}

static void notify_drop(struct notices *n, struct word *w)
{
    TAILQ_REMOVE(&n->words, w, link);
    n->n--;
    free_word(w);
}

static bool on_awaited(void *arg, const struct core_unready *u)
{
    struct candidate **c = arg;

    if (strcmp((*c)->space, u->space) != 0 || strcmp((*c)->name, u->name) != 0 ||
        (*c)->start.pid != u->start.pid || (*c)->start.start_ticks != u->start.start_ticks)
        return true;
    *c = NULL; /* found */
    return false;
}

static bool is_awaited(const struct notices *n, struct candidate *c)
{
    core_each_unready(n->agent->core, on_awaited, &c);
    return !c;
}

/* Reports the sender as ready, whatever MAINPID= it named, if the same start still waits for it. */
static void notify_give_up(struct notices *n, const struct word *w)
{
    const struct look *look = w->look;

    if (look && !look->is_for_sender && is_awaited(n, look->list))
        tell_ready(n, look->list->space, look->list->name, (struct core_ident){ 0 });
}

/* The only match, if it is still awaited. */
static struct candidate *notify_judge(const struct notices *n, const struct look *look)
{
    struct candidate *found = NULL;

    for (struct candidate *c = look->list; c; c = c->next) {
        if (look->is_for_sender && !c->fits_sender)
            continue;
        if (found)
            return NULL;
        found = c;
    }
    return found && is_awaited(n, found) ? found : NULL;
}

static void notify_on_looked(struct worker_job *job)
{
    struct look *look = job->arg;
    struct word *w = look->word;
    struct notices *n = w ? w->notices : NULL;
    const struct candidate *c;

    if (w)
        w->look = NULL;
    if (w && !n->agent->is_closing) {
        c = notify_judge(n, look);
        if (c)
            tell_ready(n, c->space, c->name,
                       c->is_main || c->fits_main ? look->main : (struct core_ident){ 0 });
        if (c || !look->is_for_sender)
            notify_drop(n, w);
    }
    free_look(look);
}

static void notify_on_time(void *notices)
{
    struct notices *n = notices;
    struct word *w, *next;

    for (w = TAILQ_FIRST(&n->words); w; w = next) {
        next = TAILQ_NEXT(w, link);
        w->tries++;
        if (notify_place(n, w)) {
            notify_drop(n, w);
        } else if (w->tries >= (w->look && w->look->is_for_sender ? LOOK_TRIES : TRIES)) {
            notify_give_up(n, w);
            notify_drop(n, w);
        }
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

/* Without awaited processes messages cost nothing. */
static bool is_anybody_awaited(const struct notices *n)
{
    bool is = false;

    core_each_unready(n->agent->core, on_any, &is);
    return is;
}

/* Other users can not take the room of a user with an awaited process. */
static bool notify_has_room(const struct notices *n, const struct word *new)
{
    const struct word *w;
    size_t of_one = 0;

    TAILQ_FOREACH(w, &n->words, link)
        of_one += w->sender.uid == new->sender.uid;
    return of_one < WORDS_OF_ONE && (new->look || n->n < WORDS_MAX);
}

static void notify_keep(struct notices *n, struct word *w)
{
    TAILQ_INSERT_TAIL(&n->words, w, link);
    n->n++;
    if (!n->timer.place)
        timer_set(n->agent->loop, &n->timer, TRY_MS);
}

/* A sender that can be assigned at once is processed however many others wait. */
static void hear(struct notices *n, pid_t pid, int64_t main_pid)
{
    struct word *w;

    if (!is_anybody_awaited(n))
        return;
    w = xalloc(sizeof(*w));
    w->notices = n;
    notify_read_line(pid, &w->sender);
    notify_read_line(main_pid, &w->main);
    if (!w->sender.n || notify_place(n, w)) {
        free_word(w);
    } else if (notify_has_room(n, w)) {
        notify_keep(n, w);
    } else {
        notify_give_up(n, w);
        free_word(w);
    }
}

static void notify_on_message(void *notices, pid_t pid, int64_t main_pid)
{
    hear(notices, pid, main_pid);
}

/* ---- start and end */

void notices_open(struct notices *n)
{
    struct agent_base *a = n->agent;
    struct err err;

    if (notify_socket_new(a->loop, a->dir, notify_on_message, n, &n->socket, &err))
        LOG(a->log, LOG_WARN, "processes that say when they are ready are not heard",
            log_err(&err));
}

bool notices_close(struct notices *n)
{
    bool is_closed = notify_socket_free(n->socket, CLOSE_MS);

    n->socket = NULL;
    if (!is_closed)
        LOG(n->agent->log, LOG_WARN,
            "a descriptor that was sent to the socket for readiness takes "
            "long to close, and is not waited for");
    return is_closed;
}

struct notices *notices_new(struct agent_base *a, struct users *users)
{
    struct notices *n = xalloc(sizeof(*n));

    n->agent = a;
    n->users = users;
    TAILQ_INIT(&n->words);
    timer_init(&n->timer, notify_on_time, n);
    notices_open(n);
    return n;
}

void notices_free(struct notices *n)
{
    if (!n)
        return;
    (void)notices_close(n); /* the process ends in any case */
    timer_stop(n->agent->loop, &n->timer);
    while (n->n > 0)
        notify_drop(n, TAILQ_FIRST(&n->words));
    free(n);
}
