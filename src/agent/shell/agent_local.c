/* SPDX-License-Identifier: MIT */
/* agent_local.c - see agent_local.h. */
#include "agent/shell/agent_local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "agent/identify/user.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_calls.h"
#include "agent/shell/agent_output.h"
#include "agent/shell/agent_sample.h"
#include "agent/shell/agent_specs.h"
#include "agent/shell/job_thread.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_local.h"
#include "agent/supervise/core_use.h"
#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/buf.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_unix.h"
#include "base/text/utf8.h"
#include "link/conn.h"
#include "link/local.h"
#include "model/app.h"
#include "model/code.h"
#include "model/operation.h"
#include "wire/net/frame.h"
#include "wire/net/listen.h"

/* Connections of all users but root, and of one user; bytes of a request; bytes of unread answers.
 */
enum { GUESTS_MAX = 64, GUESTS_OF_ONE = 32, ASK_MAX = 256 * 1024, UNREAD_MAX = 8 << 20 };

/* Time limits: for a request, for reading the answer, for the start of an operation. */
enum { ASK_MS = 10 * 1000, READ_MS = 30 * 1000, BEGIN_MS = 5 * 60 * 1000 };

/* Process views and events per page: with their last runs and output they fit into a frame. */
enum { PAGE = 8, EVENT_PAGE = 64, GROUPS_MAX = 65536 };

#define RUN_PATH "/run/holdfast-agent.sock"

struct guest {
    TAILQ_ENTRY(guest) link;
    struct local *local;
    struct conn *conn; /* NULL: the user name is not known yet */
    int fd;            /* used until the name is known */
    uid_t uid;
    char user[USER_NAME_SIZE];
    char task[CORE_LOCAL_TASK_SIZE]; /* "": does not wait for an operation */
    bool has_asked;
    char *space, *name; /* of a list that waits for samples; NULL: none */
    struct timer timer;
};

/* The name of a user, which may come from a directory service. */
struct name_job {
    struct job job;
    TAILQ_ENTRY(name_job) link;
    struct local *local; /* NULL: it has ended */
    uid_t uid;
    char text[USER_NAME_SIZE];
};

struct local {
    struct local_parts parts;
    struct agent_base *agent;  /* that of the parts */
    struct listener *listener; /* NULL: creation failed */
    char *path, *group;
    gid_t gid;
    TAILQ_HEAD(, guest) guests;
    size_t n;
    TAILQ_HEAD(, name_job) names; /* look-ups in progress */
    uint64_t number; /* of the last task; starts at a random value, so that no task id repeats */
};

/* ---- clients */

static void free_guest(struct guest *g)
{
    struct local *l = g->local;

    TAILQ_REMOVE(&l->guests, g, link);
    l->n--;
    timer_stop(l->agent->loop, &g->timer);
    output_reader_forget(l->parts.reader, g);
    conn_free(g->conn);
    if (!g->conn)
        sys_close(g->fd);
    free(g->space);
    free(g->name);
    free(g);
}

static void local_on_late(void *guest)
{
    free_guest(guest);
}

/* The answer is complete: the connection closes when it is read. */
static void note_answered(struct guest *g)
{
    g->task[0] = '\0';
    timer_set(g->local->agent->loop, &g->timer, READ_MS);
}

static void refuse(struct guest *g, unsigned type, int code, const char *text)
{
    conn_refuse(g->conn, type, code, -1, text);
    note_answered(g);
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

static struct agent_link link_of(const struct local *l)
{
    struct agent_link link = { .servers = "", .agent_id = "", .trouble = "" };

    if (l->parts.link)
        l->parts.link(l->parts.arg, &link);
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

static void answer_list(struct guest *g, const char *space, const char *name)
{
    struct agent_base *a = g->local->agent;
    struct page *p;

    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, LOCAL_LIST, ERR_LIMIT, MSG("too many answers wait to be read: try again"));
        return;
    }
    p = xalloc(sizeof(*p));
    p->guest = g;
    p->m =
        (struct local_processes){ .agent_id = link_of(g->local).agent_id, .list = { p->views, 0 } };
    core_each_view(a->core, space, name, add_view, p);
    p->m.is_last = true;
    send_page(p);
    free(p);
    note_answered(g);
}

/* Samples of a thousand processes take some turns of the loop. */
static void take_list_ask(struct guest *g, const struct local_ask *ask)
{
    struct agent_base *a = g->local->agent;

    if (!ask->wants_use || !core_sample_old(a->core, agent_now_ms(a))) {
        answer_list(g, ask->space, ask->name);
        return;
    }
    g->space = xstrdup(ask->space);
    g->name = xstrdup(ask->name);
    agent_wake(a);
}

static struct guest *first_that_waits(const struct local *l)
{
    struct guest *g;

    TAILQ_FOREACH(g, &l->guests, link) {
        if (g->space)
            break;
    }
    return g;
}

void local_settle(struct local *l)
{
    struct guest *g;

    if (!l || samples_are_wanted(l->parts.samples))
        return;
    while ((g = first_that_waits(l))) {
        char *space = g->space, *name = g->name;

        g->space = g->name = NULL;
        answer_list(g, space, name);
        free(space);
        free(name);
    }
}

struct event_page {
    struct guest *guest;
    struct local_events m;
    struct message_event events[EVENT_PAGE];
};

static void send_event_page(struct event_page *p)
{
    conn_send(p->guest->conn, LOCAL_EVENTS_ARE, &local_events_shape, &p->m);
    p->m.list.n = 0;
}

static void add_event(void *page, const struct message_event *e)
{
    struct event_page *p = page;

    if (p->m.list.n == EVENT_PAGE)
        send_event_page(p);
    p->events[p->m.list.n++] = *e;
}

static void answer_events(struct guest *g, const struct local_events_ask *ask)
{
    struct event_page *p;

    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, LOCAL_EVENTS, ERR_LIMIT, MSG("too many answers wait to be read: try again"));
        return;
    }
    p = xalloc(sizeof(*p));
    p->guest = g;
    p->m =
        (struct local_events){ .agent_id = link_of(g->local).agent_id, .list = { p->events, 0 } };
    core_each_event(g->local->agent->core, ask->after, add_event, p);
    p->m.is_last = true;
    send_event_page(p);
    free(p);
    note_answered(g);
}

static void send_specs(void *guest, const struct local_specs *page)
{
    struct guest *g = guest;

    conn_send(g->conn, LOCAL_SPECS_ARE, &local_specs_shape, page);
}

static void answer_specs(struct guest *g, const struct local_ask *ask)
{
    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, LOCAL_SPECS, ERR_LIMIT, MSG("too many answers wait to be read: try again"));
        return;
    }
    specs_each_page(g->local->agent->core, ask->space, ask->name, send_specs, g);
    note_answered(g);
}

static void answer_facts(struct guest *g)
{
    const struct agent_base *a = g->local->agent;
    struct agent_link link = link_of(g->local);
    struct local_fact facts[FACILITIES];
    struct core_counts n;
    struct local_facts m = { .agent_version = HOLDFAST_VERSION,
                             .agent_id = link.agent_id,
                             .data_dir = a->dir,
                             .pid_dir = a->pid_dir,
                             .boot_id = a->boot_id,
                             .servers = link.servers,
                             .is_linked = link.is_up,
                             .trouble = link.is_up || !link.trouble ? "" : link.trouble,
                             .again_s = link.is_up ? 0 : (link.again_ms + 999) / 1000,
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
    note_answered(g);
}

static void on_log(void *guest, const struct message_log *answer)
{
    struct guest *g = guest;

    if (unread(g->local) > UNREAD_MAX) { /* others were answered while this one waited */
        refuse(g, MESSAGE_LOG_ASK, ERR_LIMIT, MSG("too many answers wait to be read: try again"));
        return;
    }
    conn_send(g->conn, MESSAGE_LOG, &message_log_shape, answer);
    note_answered(g);
}

static void answer_log(struct guest *g, const struct message_log_ask *ask)
{
    if (unread(g->local) > UNREAD_MAX) {
        refuse(g, MESSAGE_LOG_ASK, ERR_LIMIT, MSG("too many answers wait to be read: try again"));
        return;
    }
    output_reader_ask(g->local->parts.reader, ask, on_log, g);
}

/* ---- operations */

static void begin_command(struct guest *g, unsigned type, struct message_command *m)
{
    struct local *l = g->local;
    struct agent_base *a = l->agent;

    core_local_task(g->user, ++l->number, g->task);
    m->task = g->task;
    m->item = 1;
    LOG(a->log, LOG_INFO, "an operation by a user of this host", log_str("user", g->user),
        log_int("op", m->op), log_int("forgets", m->forgets), log_str("namespace", m->meta.space),
        log_str("name", m->meta.name), log_str("task", g->task));
    timer_stop(a->loop, &g->timer); /* no time limit for the operation */
    if (!core_operate(a->core, m, BEGIN_MS, agent_now_ms(a)))
        refuse(g, type, CODE_LOCKED, MSG("too many operations wait on this host: try again"));
    agent_wake(a);
}

static void operate(struct guest *g, const struct local_operate *m)
{
    struct message_command command = { .op = m->op,
                                       .meta = m->meta,
                                       .spec = m->spec,
                                       .stores_spec =
                                           m->idempotent && operation_was_done(m->op, CODE_RUNNING),
                                       .hosts_running = true,
                                       .ends_tries = true,
                                       .may_host = MAY_HOST_ALL,
                                       .signal = m->signal };

    begin_command(g, LOCAL_OPERATE, &command);
}

static void local_forget(struct guest *g, const struct local_ask *ask)
{
    struct message_command command = { .op = PROC_OP_UNHOST,
                                       .meta = { ask->space, ask->name, { 0 } },
                                       .forgets = true,
                                       .signal = "" };

    if (!*ask->space || !*ask->name) {
        refuse(g, LOCAL_FORGET, ERR_INVALID, MSG("this is no question"));
        return;
    }
    shape_defaults(&proc_spec_shape, &command.spec);
    begin_command(g, LOCAL_FORGET, &command);
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
        return true; /* operation from before the agent's start: its client is gone */
    TAILQ_FOREACH(g, &l->guests, link) {
        if (!strcmp(g->task, task))
            break;
    }
    if (!g)
        return true;
    conn_send(g->conn, type, s, message);
    if (type == MESSAGE_RESULT)
        note_answered(g);
    return true;
}

/* ---- requests */

static void local_on_message(void *guest, unsigned type, const void *message)
{
    struct guest *g = guest;

    if (g->has_asked) { /* only one request per connection */
        free_guest(g);
        return;
    }
    g->has_asked = true;
    if (type == LOCAL_OPERATE)
        operate(g, message);
    else if (type == LOCAL_LIST)
        take_list_ask(g, message);
    else if (type == LOCAL_SPECS)
        answer_specs(g, message);
    else if (type == LOCAL_FACTS)
        answer_facts(g);
    else if (type == LOCAL_FORGET)
        local_forget(g, message);
    else if (type == LOCAL_EVENTS)
        answer_events(g, message);
    else if (type == MESSAGE_LOG_ASK)
        answer_log(g, message);
    else
        refuse(g, type, ERR_INVALID, MSG("this is no question"));
}

/* The client is gone; its operation continues. */
static void on_end(void *guest, const struct err *why)
{
    (void)why;
    free_guest(guest);
}

static const struct conn_owner conn_owner = { .on_message = local_on_message, .on_end = on_end };

static void local_begin(struct guest *g)
{
    struct agent_base *a = g->local->agent;
    struct err err = { 0 };

    if (conn_new(a->loop, g->fd, NULL, NULL, &conn_owner, g, &g->conn, &err)) {
        LOG(a->log, LOG_WARN, "a local connection is dropped", log_err(&err));
        free_guest(g);
        return;
    }
    conn_set_shapes(g->conn, local_shape);
    conn_set_body_max(g->conn, ASK_MAX);
}

/* ---- user names */

static struct guest *nameless(const struct local *l, uid_t uid)
{
    struct guest *g;

    TAILQ_FOREACH(g, &l->guests, link) {
        if (!g->conn && g->uid == uid)
            break;
    }
    return g;
}

static void take_name(struct local *l, uid_t uid, const char text[USER_NAME_SIZE])
{
    struct guest *g;

    while ((g = nameless(l, uid))) {
        memcpy(g->user, text, sizeof(g->user));
        local_begin(g); /* it has a connection now, or is freed */
    }
}

static void look_up_name(struct job *job)
{
    struct name_job *n = (struct name_job *)job;

    user_name_of(n->uid, n->text);
}

static void on_name(struct job *job)
{
    struct name_job *n = (struct name_job *)job;

    if (n->local) {
        TAILQ_REMOVE(&n->local->names, n, link);
        take_name(n->local, n->uid, n->text);
    }
    free(n);
}

/* May ask a directory service, so another thread does it; uid 0 is always root. */
static void find_name(struct local *l, uid_t uid, bool is_asked)
{
    char text[USER_NAME_SIZE] = "root";
    struct name_job *n;

    if (uid == 0) {
        take_name(l, uid, text);
        return;
    }
    if (is_asked)
        return;
    n = xalloc(sizeof(*n));
    *n = (struct name_job){ .job = { .work = look_up_name, .done = on_name },
                            .local = l,
                            .uid = uid };
    if (job_thread_do(l->parts.lookups, &n->job)) {
        TAILQ_INSERT_TAIL(&l->names, n, link);
        return;
    }
    free(n);
    snprintf(text, sizeof(text), "%u", (unsigned)uid);
    take_name(l, uid, text);
}

/* ---- admission */

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

/* Root has extra connections, so that members of the group can not lock it out. */
static bool local_has_room(const struct local *l, uid_t uid)
{
    size_t of_root = count_of(l, 0);

    if (uid == 0)
        return of_root < GUESTS_OF_ONE;
    return l->n - of_root < GUESTS_MAX && count_of(l, uid) < GUESTS_OF_ONE;
}

/* Answers without reading a request: an unauthorized peer gets no resources. */
static void turn_away(int fd, int code, const char *text)
{
    const struct message_error e = { 0, code, text, -1 };
    struct buf out = { 0 };
    struct err ignored; /* the message is small */
    size_t mark = frame_begin(&out, MESSAGE_ERROR, 0, 1);

    shape_write(&message_error_shape, &e, &out);
    if (!frame_end(&out, mark, &ignored))
        (void)sys_send(fd, buf_data(&out), out.len); /* the peer may be gone */
    buf_free(&out);
    sys_close(fd);
}

static void turn_away_stranger(const struct local *l, int fd, uid_t uid)
{
    char text[256];

    if (*l->group)
        msg_printf(text, sizeof(text),
                   "uid %u may not control this agent: root, its own user and members of group "
                   "%.*s may",
                   (unsigned)uid, (int)utf8_cut(l->group, 64), l->group);
    else
        msg_printf(text, sizeof(text),
                   "uid %u may not control this agent: root and its own user may; its setting "
                   "local.group lets a group in",
                   (unsigned)uid);
    LOG(l->agent->log, LOG_WARN, "local control refused", log_int("uid", uid));
    turn_away(fd, ERR_DENIED, text);
}

/* The peer is unknown, for example a process in another user namespace. */
static void turn_away_unknown(const struct local *l, int fd)
{
    LOG(l->agent->log, LOG_WARN,
        "local control refused: the kernel does not report the caller's identity");
    turn_away(
        fd, ERR_DENIED,
        MSG("the kernel does not report the caller's identity; a process in another user or pid "
            "namespace may not control this agent"));
}

static void local_on_accept(void *local, int fd, const struct address *peer)
{
    struct local *l = local;
    struct sys_peer who;
    struct guest *g;
    bool is_asked;

    (void)peer;
    if (sys_peer(fd, &who) || !sys_peer_is_told(&who)) {
        turn_away_unknown(l, fd);
        return;
    }
    if (who.uid != 0 && who.uid != geteuid() && !is_member(l, fd, &who)) {
        turn_away_stranger(l, fd, who.uid);
        return;
    }
    if (!local_has_room(l, who.uid)) {
        turn_away(fd, ERR_LIMIT, MSG("too many connections at once: try again"));
        return;
    }
    is_asked = nameless(l, who.uid);
    g = xalloc(sizeof(*g));
    *g = (struct guest){ .local = l, .fd = fd, .uid = who.uid };
    timer_init(&g->timer, local_on_late, g);
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

/* An unauthorized user must not even connect: descriptors sent over a connection are closed with
 * it, and that close may block as long as the sender likes. */
static const struct listener_owner listener_owner = { local_on_accept, on_trouble,
                                                      .file_mode = 0600 };

/* ---- start and end */

/* Members of the group are admitted if the file belongs to the group. */
static int local_open_socket(struct local *l, struct err *err)
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

/* Only its owner can enter data_dir, so a group's socket has another path. */
static char *path_of(const struct local *l, const char *socket, const char *group)
{
    if (*socket)
        return xstrdup(socket);
    return *group ? xstrdup(RUN_PATH) : xprintf("%s/control.sock", l->agent->dir);
}

void local_set(struct local *l, const char *socket, const char *group)
{
    struct agent_base *a = l->agent;
    struct err err = { 0 };
    char *path;

    if (!socket) /* disabled */
        return;
    path = path_of(l, socket, group);
    if (l->listener && !strcmp(path, l->path) && !strcmp(group, l->group)) {
        free(path);
        return;
    }
    listener_free(l->listener);
    l->listener = NULL;
    free(l->path);
    free(l->group);
    l->path = path;
    l->group = xstrdup(group);
    if (local_open_socket(l, &err))
        LOG(a->log, LOG_ERROR, "no control from this host itself: holdfast --local will not work",
            log_err(&err));
    else
        LOG(a->log, LOG_INFO, "holdfast --local is served", log_str("socket", l->path),
            log_str("group", l->group));
}

/* ---- upgrade in place */

bool local_is_sending(const struct local *l)
{
    return l && unread(l) > 0;
}

void local_hand_over(const struct local *l)
{
    struct buf calls = { 0 };
    const struct guest *g;

    if (!l)
        return;
    TAILQ_FOREACH(g, &l->guests, link) {
        if (g->conn && *g->task)
            calls_add(&calls, g->fd, g->task);
    }
    calls_set(&calls);
    buf_free(&calls);
}

static void take_over(struct local *l, int fd, const char *task)
{
    struct sys_peer who;
    int own = core_is_local(task) && !sys_peer(fd, &who) ? sys_dupfd(fd, STDERR_FILENO + 1) : -1;
    struct guest *g;

    if (own < 0)
        return;
    g = xalloc(sizeof(*g));
    *g = (struct guest){ .local = l, .fd = own, .uid = who.uid, .has_asked = true };
    snprintf(g->task, sizeof(g->task), "%s", task);
    timer_init(&g->timer, local_on_late, g);
    TAILQ_INSERT_TAIL(&l->guests, g, link);
    l->n++;
    local_begin(g);
}

static void take_calls(struct local *l)
{
    const char *at = calls_get();
    char task[CORE_LOCAL_TASK_SIZE];
    int fd;

    while (at && (at = calls_next(at, &fd, task)))
        take_over(l, fd, task);
    calls_drop(); /* the clients use duplicated descriptors */
}

struct local *local_new(const struct local_parts *parts, const char *socket, const char *group)
{
    struct local *l = xalloc(sizeof(*l));

    l->parts = *parts;
    l->agent = parts->agent;
    TAILQ_INIT(&l->guests);
    TAILQ_INIT(&l->names);
    sys_random(&l->number, sizeof(l->number));
    local_set(l, socket, group);
    take_calls(l);
    return l;
}

void local_free(struct local *l)
{
    struct name_job *n;

    if (!l)
        return;
    TAILQ_FOREACH(n, &l->names, link)
        n->local = NULL; /* freed when its job ends */
    while (!TAILQ_EMPTY(&l->guests))
        free_guest(TAILQ_FIRST(&l->guests));
    listener_free(l->listener);
    free(l->path);
    free(l->group);
    free(l);
}
