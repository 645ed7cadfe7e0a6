/* SPDX-License-Identifier: MIT */
/* agent_local.c - see agent_local.h. */
#include "agent/agent_local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "agent/core_local.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/sys_unix.h"
#include "link/conn.h"
#include "link/local.h"
#include "wire/frame.h"
#include "wire/listen.h"

/* Connections at once, of all but root and of one user; bytes of a question; bytes of answers that
 * nobody has read yet. */
enum { GUESTS_MAX = 64, GUESTS_OF_ONE = 32, ASK_MAX = 256 * 1024, UNREAD_MAX = 8 << 20 };

/* Time for a question, for reading the answer, and for an operation to be begun. */
enum { ASK_MS = 10 * 1000, READ_MS = 30 * 1000, BEGIN_MS = 5 * 60 * 1000 };

/* Views of a page, each with its last runs and what they said, fit into a frame. */
enum { PAGE = 8, GROUPS_MAX = 65536 };

#define RUN_PATH "/run/holdfast-agent.sock"

struct guest {
    TAILQ_ENTRY(guest) link;
    struct local *local;
    struct conn *conn; /* NULL: his name is not known yet */
    int fd;            /* then */
    uid_t uid;
    char user[USER_NAME_SIZE];
    char task[CORE_LOCAL_TASK_SIZE]; /* "": no operation is waited for */
    bool has_asked;
    struct timer timer;
};

struct local {
    struct agent *agent;
    struct listener *listener; /* NULL: it could not be made */
    char *path, *group;
    gid_t gid;
    TAILQ_HEAD(, guest) guests;
    size_t n;
    uint64_t number; /* of the last task; begins anywhere, so that none comes twice */
};

/* ---- guests */

static void free_guest(struct guest *g)
{
    struct local *l = g->local;

    TAILQ_REMOVE(&l->guests, g, link);
    l->n--;
    timer_stop(l->agent->loop, &g->timer);
    conn_free(g->conn);
    if (!g->conn)
        sys_close(g->fd);
    free(g);
}

static void on_late(void *guest)
{
    free_guest(guest);
}

/* It is all said: he reads it, and goes. */
static void has_answered(struct guest *g)
{
    g->task[0] = '\0';
    timer_set(g->local->agent->loop, &g->timer, READ_MS);
}

static void refuse(struct guest *g, unsigned type, int code, const char *text)
{
    conn_refuse(g->conn, type, code, -1, text);
    has_answered(g);
}

/* ---- answers */

struct page {
    struct guest *guest;
    struct local_processes m;
    struct proc_view views[PAGE];
};

static void send_page(struct page *p)
{
    conn_send(p->guest->conn, LOCAL_PROCESSES, &local_processes_shape, &p->m);
    p->m.list.n = 0;
}

static void add_view(void *page, const struct proc_view *v)
{
    struct page *p = page;

    if (p->m.list.n == PAGE)
        send_page(p);
    p->views[p->m.list.n++] = *v;
}

static struct agent_link link_of(const struct agent *a)
{
    struct agent_link link = { "", "", false };

    if (a->o.link)
        a->o.link(a->o.arg, &link);
    return link;
}

static size_t unread(const struct local *l)
{
    const struct guest *g;
    size_t n = 0;

    TAILQ_FOREACH(g, &l->guests, link)
    n += g->conn ? conn_pending(g->conn) : 0;
    return n;
}

static void answer_list(struct guest *g, const struct local_ask *ask)
{
    struct agent *a = g->local->agent;
    struct page *p;

    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, LOCAL_LIST, ERR_LIMIT, "too many answers wait to be read: try again");
        return;
    }
    p = xalloc(sizeof(*p));
    p->guest = g;
    p->m = (struct local_processes){ .agent_id = link_of(a).agent_id, .list = { p->views, 0 } };
    core_each_view(a->core, ask->space, ask->name, add_view, p);
    p->m.is_last = true;
    send_page(p);
    free(p);
    has_answered(g);
}

static void answer_facts(struct guest *g)
{
    const struct agent *a = g->local->agent;
    struct agent_link link = link_of(a);
    struct local_fact facts[FACILITIES];
    struct core_counts n;
    struct local_facts m = { .agent_version = HOLDFAST_VERSION,
                             .agent_id = link.agent_id,
                             .data_dir = a->o.dir,
                             .boot_id = a->boot_id,
                             .servers = link.servers,
                             .is_linked = link.is_up,
                             .pid = getpid(),
                             .facts = { facts, FACILITIES } };

    core_count(a->core, &n);
    m.processes = n.processes;
    m.running = n.running;
    m.hosted = n.hosted;
    m.operations = n.operations;
    m.events = n.events;
    for (size_t i = 0; i < FACILITIES; i++)
        facts[i] = (struct local_fact){ .name = facility_rows[i].name,
                                        .why = a->facilities.why[i],
                                        .instead = facility_rows[i].instead,
                                        .used = a->facilities.has[i] };
    conn_send(g->conn, LOCAL_FACTS_ARE, &local_facts_shape, &m);
    has_answered(g);
}

static void answer_log(struct guest *g, const struct message_log_ask *ask)
{
    struct message_log answer;
    struct buf output = { 0 };
    struct err err = { 0 };

    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, MESSAGE_LOG_ASK, ERR_LIMIT, "too many answers wait to be read: try again");
        return;
    }
    said_read(g->local->agent, ask, &output, &answer, &err);
    conn_send(g->conn, MESSAGE_LOG, &message_log_shape, &answer);
    buf_free(&output);
    has_answered(g);
}

/* ---- operations */

static void operate(struct guest *g, const struct local_operate *m)
{
    struct local *l = g->local;
    struct agent *a = l->agent;
    const struct message_command command = {
        .task = g->task, .item = 1, .op = m->op, .meta = m->meta, .spec = m->spec
    };

    core_local_task(g->user, ++l->number, g->task);
    LOG(a->log, LOG_INFO, "an operation by somebody on this host", log_str("user", g->user),
        log_int("op", m->op), log_str("namespace", m->meta.space), log_str("name", m->meta.name),
        log_str("task", g->task));
    timer_stop(a->loop, &g->timer); /* it takes what it takes */
    if (!core_operate(a->core, &command, BEGIN_MS, agent_now_ms(a)))
        refuse(g, LOCAL_OPERATE, CODE_LOCKED, "too many operations wait on this host: try again");
    agent_wake(a);
}

bool local_send(struct local *l, unsigned type, const struct shape *s, const void *message)
{
    const struct message_result *result = message;
    const struct message_ref *ref = message;
    const char *task = type == MESSAGE_RESULT  ? result->task
                       : type == MESSAGE_TAKEN ? ref->task
                                               : "";
    struct guest *g;

    if (!core_is_local(task))
        return false;
    if (!l)
        return true; /* an operation of before our start ends: who asked for it has gone */
    TAILQ_FOREACH(g, &l->guests, link)
    {
        if (!strcmp(g->task, task))
            break;
    }
    if (!g)
        return true;
    conn_send(g->conn, type, s, message);
    if (type == MESSAGE_RESULT)
        has_answered(g);
    return true;
}

/* ---- questions */

static void on_message(void *guest, unsigned type, const void *message)
{
    struct guest *g = guest;

    if (g->has_asked) { /* one more is one too many: it would be a flood before long */
        free_guest(g);
        return;
    }
    g->has_asked = true;
    if (type == LOCAL_OPERATE)
        operate(g, message);
    else if (type == LOCAL_LIST)
        answer_list(g, message);
    else if (type == LOCAL_FACTS)
        answer_facts(g);
    else if (type == MESSAGE_LOG_ASK)
        answer_log(g, message);
    else
        refuse(g, type, ERR_INVALID, "this is no question");
}

/* Whoever asked has gone; what he asked for goes on. */
static void on_end(void *guest, const struct err *why)
{
    (void)why;
    free_guest(guest);
}

static const struct conn_owner conn_owner = { .on_message = on_message, .on_end = on_end };

static void begin(struct guest *g)
{
    struct agent *a = g->local->agent;
    struct err err = { 0 };

    if (conn_new(a->loop, g->fd, NULL, NULL, &conn_owner, g, &g->conn, &err)) {
        LOG(a->log, LOG_WARN, "a local connection is dropped", log_err(&err));
        free_guest(g);
        return;
    }
    conn_set_shapes(g->conn, local_shape);
    conn_set_body_max(g->conn, ASK_MAX);
}

/* ---- names */

static struct guest *nameless(const struct local *l, uid_t uid)
{
    struct guest *g;

    TAILQ_FOREACH(g, &l->guests, link)
    {
        if (!g->conn && g->uid == uid)
            break;
    }
    return g;
}

void local_on_name(struct local *l, const struct local_name *name)
{
    struct guest *g;

    while (l && (g = nameless(l, name->uid))) {
        memcpy(g->user, name->text, sizeof(g->user));
        begin(g); /* he has a connection now, or is gone */
    }
}

/* A directory may have to be asked, which takes its time; root is root everywhere. */
static void find_name(struct local *l, uid_t uid, bool is_asked)
{
    struct local_name name = { .uid = uid, .text = "root" };
    struct job *job;

    if (uid == 0) {
        local_on_name(l, &name);
        return;
    }
    if (is_asked)
        return;
    job = xalloc(sizeof(*job));
    job->name = xalloc(sizeof(*job->name));
    *job->name = name;
    if (help_do(l->agent->lookups, job))
        return;
    free(job->name);
    free(job);
    snprintf(name.text, sizeof(name.text), "%u", (unsigned)uid);
    local_on_name(l, &name);
}

/* ---- the door */

static bool is_member(const struct local *l, int fd, const struct sys_peer *p)
{
    gid_t *groups;
    size_t n = GROUPS_MAX;
    bool is_one;

    if (!*l->group)
        return false;
    if (p->gid == l->gid)
        return true;
    groups = xalloc(n * sizeof(*groups));
    is_one = sys_peer_groups(fd, groups, &n) && errno == ENOPROTOOPT;
    for (size_t i = 0; i < n && n < GROUPS_MAX && !is_one; i++)
        is_one = groups[i] == l->gid;
    free(groups);
    return is_one;
}

static size_t count_of(const struct local *l, uid_t uid)
{
    const struct guest *g;
    size_t n = 0;

    TAILQ_FOREACH(g, &l->guests, link)
    n += g->uid == uid;
    return n;
}

/* Root has some of his own, so that members of the group do not keep him out. */
static bool has_room(const struct local *l, uid_t uid)
{
    size_t of_root = count_of(l, 0);

    if (uid == 0)
        return of_root < GUESTS_OF_ONE;
    return l->n - of_root < GUESTS_MAX && count_of(l, uid) < GUESTS_OF_ONE;
}

/* Without a word from him: he holds nothing of ours. */
static void turn_away(int fd, int code, const char *text)
{
    const struct message_error e = { 0, code, text, -1 };
    struct buf out = { 0 };
    struct err ignored; /* it is small */
    size_t mark = frame_begin(&out, MESSAGE_ERROR, 0, 1);

    shape_write(&message_error_shape, &e, &out);
    if (!frame_end(&out, mark, &ignored))
        (void)sys_send(fd, buf_data(&out), out.len); /* who is not there any more does not mind */
    buf_free(&out);
    sys_close(fd);
}

static void turn_away_stranger(const struct local *l, int fd, uid_t uid)
{
    char text[256];

    if (*l->group)
        snprintf(text, sizeof(text),
                 "uid %u may not control this agent: root, its own user and members of group %.64s "
                 "may",
                 (unsigned)uid, l->group);
    else
        snprintf(text, sizeof(text),
                 "uid %u may not control this agent: root and its own user may; its setting "
                 "local.group lets a group in",
                 (unsigned)uid);
    LOG(l->agent->log, LOG_WARN, "local control refused", log_int("uid", uid));
    turn_away(fd, ERR_DENIED, text);
}

static void on_accept(void *local, int fd, const struct address *peer)
{
    struct local *l = local;
    struct sys_peer who;
    struct guest *g;
    bool is_asked;

    (void)peer;
    if (sys_peer(fd, &who)) {
        sys_close(fd);
        return;
    }
    if (who.uid != 0 && who.uid != geteuid() && !is_member(l, fd, &who)) {
        turn_away_stranger(l, fd, who.uid);
        return;
    }
    if (!has_room(l, who.uid)) {
        turn_away(fd, ERR_LIMIT, "too many connections at once: try again");
        return;
    }
    is_asked = nameless(l, who.uid);
    g = xalloc(sizeof(*g));
    *g = (struct guest){ .local = l, .fd = fd, .uid = who.uid };
    timer_init(&g->timer, on_late, g);
    timer_set(l->agent->loop, &g->timer, ASK_MS);
    TAILQ_INSERT_TAIL(&l->guests, g, link);
    l->n++;
    find_name(l, who.uid, is_asked);
}

static void on_trouble(void *local, const struct err *err)
{
    struct local *l = local;

    LOG(l->agent->log, LOG_WARN, "local control has to wait", log_err(err));
}

static const struct listener_owner listener_owner = { on_accept, on_trouble };

/* ---- its life */

/* From the moment the file is there until its mode is right it is at most as open as umask
 * lets it be; who comes in by it is asked who he is all the same. */
static int open_socket(struct local *l, struct err *err)
{
    char *text = xprintf("unix:%s", l->path);
    struct address at;
    int bad = address_parse(text, &at, err);

    free(text);
    if (bad || (*l->group && group_find(l->group, &l->gid, err)))
        return err_wrap(err, *l->group && !bad ? "local.group" : "local.socket");
    if (listener_new(l->agent->loop, &at, &listener_owner, l, &l->listener, err))
        return err_wrap(err, "local.socket");
    if ((*l->group && sys_chown_group(l->path, l->gid)) ||
        sys_chmod(l->path, *l->group ? 0660 : 0600)) {
        err_sys(err, "local.socket %s", l->path);
        listener_free(l->listener);
        l->listener = NULL;
        return -1;
    }
    return 0;
}

/* Nobody but its owner gets into data_dir, so a group's socket stands elsewhere. */
static char *path_of(const struct agent_options *o)
{
    if (*o->local_socket)
        return xstrdup(o->local_socket);
    return *o->local_group ? xstrdup(RUN_PATH) : xprintf("%s/control.sock", o->dir);
}

void local_set(struct local *l)
{
    struct agent *a = l->agent;
    struct err err = { 0 };
    char *path;

    if (!a->o.local_socket) /* none is wanted */
        return;
    path = path_of(&a->o);
    if (l->listener && !strcmp(path, l->path) && !strcmp(a->o.local_group, l->group)) {
        free(path);
        return;
    }
    listener_free(l->listener);
    l->listener = NULL;
    free(l->path);
    free(l->group);
    l->path = path;
    l->group = xstrdup(a->o.local_group);
    if (open_socket(l, &err))
        LOG(a->log, LOG_ERROR, "no control from this host itself: holdfast --local will not work",
            log_err(&err));
    else
        LOG(a->log, LOG_INFO, "holdfast --local is served", log_str("socket", l->path),
            log_str("group", l->group));
}

struct local *local_new(struct agent *a)
{
    struct local *l = xalloc(sizeof(*l));

    l->agent = a;
    TAILQ_INIT(&l->guests);
    sys_random(&l->number, sizeof(l->number));
    local_set(l);
    return l;
}

void local_free(struct local *l)
{
    if (!l)
        return;
    while (!TAILQ_EMPTY(&l->guests))
        free_guest(TAILQ_FIRST(&l->guests));
    listener_free(l->listener);
    free(l->path);
    free(l->group);
    free(l);
}
