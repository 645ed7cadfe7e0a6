/* SPDX-License-Identifier: MIT */
/* fleet_agent.c - see fleet_agent.h: the link, and the behaviour of each kind. */
#include "fleetsim/fleet_agent.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/group.h"
#include "link/message.h"

enum { PAGE = 100, LIE_MS = 200, SECOND_MS = 1000 };

/* A dead process that will be restarted. */
struct fleet_return {
    struct fleet_agent *agent;
    size_t proc;
    struct timer timer;
    LIST_ENTRY(fleet_return) link;
};

int64_t fleet_wall_s(const struct fleet_agent *a)
{
    return clock_wall_ms(loop_clock(a->world->loop)) / 1000;
}

void fleet_send(struct fleet_agent *a, unsigned type, const struct shape *s, const void *message)
{
    if (a->client && a->kind != FLEET_BLACK_HOLE)
        client_send(a->client, type, s, message);
}

/* ---- processes */

static void send_views(struct fleet_agent *a, struct proc_view *views, size_t n, bool is_snapshot,
                       bool is_last)
{
    char digest[FLEET_DIGEST_SIZE];
    const struct message_processes m = {
        .is_snapshot = is_snapshot, .is_last = is_last, .list = { views, n }, .digest = digest
    };

    fleet_procs_digest(&a->procs, digest);
    fleet_send(a, MESSAGE_PROCESSES, &message_processes_shape, &m);
}

void fleet_push(struct fleet_agent *a, const struct fleet_dummy *proc)
{
    struct proc_view view;

    if (!a->is_up)
        return; /* the digest of the next hello will differ */
    fleet_dummy_view(proc, false, fleet_wall_s(a), &view);
    send_views(a, &view, 1, false, false);
    a->world->counts.pushes++;
}

static void send_all(struct fleet_agent *a)
{
    struct proc_view *page = xalloc(PAGE * sizeof(*page));
    size_t n = 0;

    for (size_t i = 0; i < a->procs.n; i++) {
        if (n == PAGE) {
            send_views(a, page, n, true, false);
            n = 0;
        }
        fleet_dummy_view(&a->procs.list[i], false, fleet_wall_s(a), &page[n++]);
    }
    send_views(a, page, n, true, true);
    free(page);
    a->world->counts.snapshots++;
}

/* ---- exit and restart of a process */

static void free_return(struct fleet_return *r)
{
    timer_stop(r->agent->world->loop, &r->timer);
    LIST_REMOVE(r, link);
    free(r);
}

/* Processes are never removed from the list, so the index is still valid. */
static void on_return(void *arg)
{
    struct fleet_return *r = arg;
    struct fleet_agent *a = r->agent;
    struct fleet_dummy *proc = &a->procs.list[r->proc];
    char text[512];

    free_return(r);
    if (!fleet_dummy_revive(&a->procs, proc, fleet_wall_s(a)))
        return;
    a->world->counts.returns++;
    fleet_push(a, proc);
    snprintf(text, sizeof(text), "check %.256s not running, and restart it success", proc->name);
    fleet_event_send(a, "process_restart_success", text, proc);
}

bool fleet_agent_die(struct fleet_agent *a, size_t proc, int64_t back_ms)
{
    struct fleet_return *r;

    if (proc >= a->procs.n ||
        !fleet_dummy_die(&a->procs, &a->procs.list[proc], SIGSEGV, fleet_wall_s(a)))
        return false;
    a->world->counts.deaths++;
    fleet_push(a, &a->procs.list[proc]);
    if (back_ms < 0)
        return true;
    r = xalloc(sizeof(*r));
    *r = (struct fleet_return){ .agent = a, .proc = proc };
    timer_init(&r->timer, on_return, r);
    timer_set(a->world->loop, &r->timer, back_ms);
    LIST_INSERT_HEAD(&a->returns, r, link);
    return true;
}

bool fleet_agent_drop(struct fleet_agent *a)
{
    bool was_up = a->is_up;

    if (was_up)
        client_drop(a->client);
    return was_up;
}

/* ---- behaviour by kind */

static void flap_process(struct fleet_agent *a)
{
    if (a->procs.n)
        (void)fleet_agent_die(a, fleet_random(&a->random) % a->procs.n, a->world->s->back_ms);
}

static void drop_session(struct fleet_agent *a)
{
    (void)fleet_agent_drop(a);
}

static void fall_silent(struct fleet_agent *a)
{
    client_pause(a->client);
}

static int64_t flap_ms(const struct fleet_settings *s)
{
    return s->flap_s * SECOND_MS;
}

static int64_t drop_ms(const struct fleet_settings *s)
{
    return s->drop_s * SECOND_MS;
}

static int64_t lie_ms(const struct fleet_settings *s)
{
    (void)s;
    return LIE_MS;
}

/* Behaviour of each kind; all but the offline ones open a session. */
static const struct way {
    bool hears, obeys;                    /* answers pings and the like; runs commands */
    void (*on_up)(struct fleet_agent *a); /* NULL: nothing */
    void (*now_and_then)(struct fleet_agent *a);
    int64_t (*every_ms)(const struct fleet_settings *s);
} ways[FLEET_KINDS] = {
    /* clang-format off */
    [FLEET_GOOD]         = { true,  true,  NULL,        NULL,         NULL },
    [FLEET_SLOW]         = { true,  true,  NULL,        NULL,         NULL },
    [FLEET_FAILING]      = { true,  true,  NULL,        NULL,         NULL },
    [FLEET_FLAPPING]     = { true,  true,  NULL,        flap_process, flap_ms },
    [FLEET_OFFLINE]      = { false, false, NULL,        NULL,         NULL },
    [FLEET_BLACK_HOLE]   = { false, false, fall_silent, NULL,         NULL },
    [FLEET_MUTE]         = { true,  false, NULL,        NULL,         NULL },
    [FLEET_LYING]        = { true,  true,  fleet_lie,   fleet_lie,    lie_ms },
    [FLEET_RECONNECTING] = { true,  true,  NULL,        drop_session, drop_ms },
    /* clang-format on */
};

/* Spreads the agents over time: up to half the interval earlier or later. */
static void fleet_agent_set_timer(struct fleet_agent *a)
{
    const struct way *w = &ways[a->kind];
    int64_t ms;

    if (!w->now_and_then)
        return;
    ms = w->every_ms(a->world->s);
    timer_set(a->world->loop, &a->timer,
              ms / 2 + (int64_t)(fleet_random(&a->random) % (uint64_t)(ms + 1)));
}

static void fleet_agent_on_timer(void *arg)
{
    struct fleet_agent *a = arg;

    fleet_agent_set_timer(a);
    if (a->is_up)
        ways[a->kind].now_and_then(a);
}

/* ---- the link */

static void set_session_up(struct fleet_agent *a, bool is_up)
{
    struct fleet_counts *c = &a->world->counts;

    if (a->is_up == is_up)
        return;
    a->is_up = is_up;
    c->up += is_up ? 1 : -1;
    c->up_ns = fleet_now_ns();
    if (!is_up || a->is_reached)
        return;
    a->is_reached = true;
    if (++c->reached == c->expected)
        c->all_up_ms = (c->up_ns - c->begun_ns) / 1000000 + 1;
}

/* It has had its first session, or never will; the next agent may connect. */
static void mark_settled(struct fleet_agent *a)
{
    if (!a->is_settled)
        a->world->counts.joining--;
    a->is_settled = true;
}

static void fleet_agent_fill_hello(void *arg, struct message_hello *hello)
{
    struct fleet_agent *a = arg;
    struct fleet_world *w = a->world;

    fleet_name(w->s, a->number, w->name);
    fleet_procs_digest(&a->procs, w->digest);
    a->greeted = a->procs.digest;
    hello->agent_version = HOLDFAST_VERSION;
    hello->hostname = w->name;
    hello->boot_id = "simulated";
    hello->digest = w->digest;
    hello->os = "linux";
    hello->arch = "x86_64";
    hello->cpus = 4;
    hello->mem_bytes = INT64_C(8) << 30;
    hello->started_s = w->started_s;
}

static void on_up(void *arg, const struct message_welcome *welcome)
{
    struct fleet_agent *a = arg;

    a->server_ms = welcome->server_ms - loop_now_ms(a->world->loop);
    a->world->counts.sessions++;
    set_session_up(a, true);
    mark_settled(a);
    if (ways[a->kind].on_up)
        ways[a->kind].on_up(a);
    if (!ways[a->kind].hears)
        return;
    if (welcome->wants_processes || a->greeted != a->procs.digest)
        send_all(a); /* the server does not know changes since hello */
    fleet_commands_resend(a);
    fleet_events_resend(a);
}

static void on_down(void *arg, const struct err *why, int64_t again_ms)
{
    struct fleet_agent *a = arg;
    struct fleet_counts *c = &a->world->counts;

    (void)again_ms;
    if (a->is_up)
        c->lost++;
    else
        c->refused++;
    a->world->last_error = *why;
    set_session_up(a, false);
    if (client_is_unwanted(a->client))
        mark_settled(a);
}

/* An offline agent does nothing after joining. */
static void fleet_agent_on_joined(void *arg, const char *agent_id)
{
    struct fleet_agent *a = arg;
    struct client *client = a->client;

    (void)agent_id;
    a->world->counts.joined++;
    if (a->kind != FLEET_OFFLINE)
        return;
    mark_settled(a);
    a->world->counts.parked++;
    a->client = NULL;
    client_free(client);
}

/* Each agent reports its share of the memory and processor time of the process. */
static void fill_stats(const struct fleet_agent *a, struct message_agent_stats *to)
{
    struct rusage use;

    if (getrusage(RUSAGE_SELF, &use) == 0) {
        to->rss_bytes = use.ru_maxrss * 1024 / a->world->counts.agents;
        to->cpu_ms = ((use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
                      (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000) /
                     a->world->counts.agents;
    }
    to->processes = (int64_t)a->procs.n;
    to->running = (int64_t)a->procs.running;
    to->restarts = a->procs.restarts;
    to->operations = fleet_commands_open(a);
    to->events = (int64_t)a->n_events;
}

static void answer_ping(struct fleet_agent *a, const struct message_ping *m)
{
    struct message_pong pong = { .server_ms = m->server_ms,
                                 .agent_ms = loop_now_ms(a->world->loop) };

    fill_stats(a, &pong.agent_stats);
    fleet_send(a, MESSAGE_PONG, &message_pong_shape, &pong);
    a->world->counts.pings++;
}

static void answer_log(struct fleet_agent *a, const struct message_log_ask *m)
{
    const struct message_log log = { .id = m->id,
                                     .text = "",
                                     .output = m->at > 0 ? "" : "a simulated process says this\n",
                                     .next = 1 };

    fleet_send(a, MESSAGE_LOG, &message_log_shape, &log);
    a->world->counts.logs++;
}

static void answer_group(struct fleet_agent *a, const struct message_group *m)
{
    const struct message_group_ref ref = { m->id };

    fleet_send(a, MESSAGE_GROUP_TAKEN, &message_group_ref_shape, &ref);
}

static void on_command_message(struct fleet_agent *a, unsigned type, const void *message)
{
    switch (type) {
    case MESSAGE_COMMAND: fleet_on_command(a, message); return;
    case MESSAGE_CANCEL: fleet_on_cancel(a, message); return;
    case MESSAGE_STORED: fleet_on_stored(a, message); return;
    case MESSAGE_EVENT_STORED:
        fleet_on_event_stored(a, ((const struct message_event_ref *)message)->id);
        return;
    case MESSAGE_LOG_ASK: answer_log(a, message); return;
    case MESSAGE_GROUP: answer_group(a, message); return;
    default: return; /* types of other versions, which the link ignores */
    }
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct fleet_agent *a = arg;
    const struct way *w = &ways[a->kind];

    if (!w->hears)
        return;
    if (type == MESSAGE_PING)
        answer_ping(a, message);
    else if (type == MESSAGE_ERROR)
        a->world->counts.errors++;
    else if (w->obeys)
        on_command_message(a, type, message);
}

static const struct client_owner owner = { fleet_agent_fill_hello, on_up, on_message, on_down,
                                           fleet_agent_on_joined };

/* ---- life cycle */

void fleet_agent_init(struct fleet_agent *a, struct fleet_world *w, int64_t number)
{
    *a = (struct fleet_agent){ .world = w, .number = number };
    a->kind = (enum fleet_kind)w->plan->kinds[number];
    a->random = fleet_seed(w->s->seed, number);
    a->event_id = w->started_s * 1000000;
    LIST_INIT(&a->commands);
    LIST_INIT(&a->returns);
    STAILQ_INIT(&a->events);
    timer_init(&a->timer, fleet_agent_on_timer, a);
    fleet_procs_init(&a->procs, &w->names, w->started_s);
}

static int make_folder(const char *path, struct err *err)
{
    if (sys_mkdir(path, 0700) && errno != EEXIST)
        return err_sys(err, "%s", path);
    return 0;
}

static bool fleet_agent_has_joined(const char *folder)
{
    char *path = xprintf("%s/agent.pem", folder);
    struct stat st;
    bool is_there = sys_stat(path, &st) == 0;

    free(path);
    return is_there;
}

static int open_link(struct fleet_agent *a, const char *folder, const char *name, struct err *err)
{
    struct fleet_world *w = a->world;
    const char *const servers[] = { w->s->server, NULL };
    char ip[FLEET_IP_SIZE];
    const struct client_settings link = {
        .dir = folder, .servers = servers, .token = w->token, .ip = ip, .agent_id = name
    };

    if (a->kind == FLEET_OFFLINE && fleet_agent_has_joined(folder)) {
        w->counts.parked++;
        return 0;
    }
    if (fleet_ip(w->s, a->number, ip, err) ||
        client_new(w->loop, &link, &owner, a, &a->client, err))
        return -1;
    w->counts.joining++;
    fleet_agent_set_timer(a);
    return 0;
}

/* 1,000 identities per folder: look-ups in larger folders are slow on some file systems. */
int fleet_agent_begin(struct fleet_agent *a, struct err *err)
{
    char name[FLEET_NAME_SIZE];
    char *shelf = xprintf("%s/%03lld", a->world->s->dir, (long long)(a->number / 1000)), *folder;
    int bad;

    fleet_name(a->world->s, a->number, name);
    folder = xprintf("%s/%s", shelf, name);
    bad = make_folder(shelf, err) || make_folder(folder, err) || open_link(a, folder, name, err);
    a->is_settled = bad || !a->client;
    free(folder);
    free(shelf);
    return bad ? err_wrap(err, "agent %s", name) : 0;
}

void fleet_agent_done(struct fleet_agent *a)
{
    client_free(a->client);
    a->client = NULL;
    timer_stop(a->world->loop, &a->timer);
    while (!LIST_EMPTY(&a->returns))
        free_return(LIST_FIRST(&a->returns));
    fleet_commands_done(a);
    fleet_events_done(a);
    fleet_procs_done(&a->procs);
}
