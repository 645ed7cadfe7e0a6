/* SPDX-License-Identifier: MIT */
/* agents.c - set-up and tear-down of the link's server side, keys and certificates, periodic work.
 * See agents.h. */
#include "server/sessions/agents.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/file.h"
#include "base/mem/mem.h"
#include "server/sessions/agents_join.h"
#include "server/sessions/agents_nets.h"
#include "server/sessions/agents_peers.h"
#include "server/sessions/agents_session.h"
#include "store/store_hosts.h"

enum {
    PING_MS = 5000,
    TICK_MS = 10 * 1000,
    RENEW_MS = 3600 * 1000,
    SERVER_DAYS = 90,
    LINES_MAX = 100,
    SHAKES_MS = 10, /* per loop iteration, for handshakes */
    SHAKES = 64,    /* steps of handshakes per loop iteration, at most */
    /* Commands for an agent are held back while more than WAITING_MAX bytes wait for it, or more
     * than WAITING_SOME while more than WAITING_ALL wait for all agents together. */
    WAITING_MAX = 2 * 1024 * 1024,
    WAITING_SOME = 64 * 1024,
    WAITING_ALL = 256 * 1024 * 1024,
    DRAIN_MS = 1000,
    LINKS_MAX = 4000,
};

/* ---- our keys and certificates ---- */

static int agents_make_tls(struct agents *a, struct err *err)
{
    static const char *const no_names[] = { NULL };
    struct buf own = { 0 };
    struct tls_config config = { .ca_pem = ca_cert(a->ca),
                                 .only_1_3 = true,
                                 .client_cert_optional = true };
    struct cert_facts facts;
    struct tls *tls;
    int bad;

    bad = ca_issue_server(a->ca, no_names, SERVER_DAYS, agents_wall_ms(a), &own, err);
    config.own_pem = buf_text(&own);
    bad = bad || cert_read(config.own_pem, &facts, err) || tls_server_new(&config, &tls, err);
    file_wipe(&own);
    if (bad)
        return err_wrap(err, "the link's certificate");
    tls_set_tickets(tls, &a->tickets);
    tls_free(a->tls); /* freed with the last of its connections */
    a->tls = tls;
    a->own = facts;
    a->tickets_ms = a->tickets.keys[0].made_ms;
    return 0;
}

/* Both are replaced days before they expire, so after a failure the next check is soon enough. */
static int renew_keys(struct agents *a, struct err *err)
{
    bool is_first = a->tickets.n == 0;
    struct err why = { 0 };

    a->renewed_ms = loop_now_ms(a->loop);
    if (tickets_keep(a->tickets_path, agents_wall_ms(a), &a->tickets, &why))
        LOG(a->log, LOG_WARN,
            is_first ? "the file of ticket keys is not used: the keys are new ones, and each agent "
                       "needs a full handshake once"
                     : "the file of ticket keys is not used: the keys in memory stay",
            log_err(&why));
    if (a->tls && !ca_is_due(&a->own, agents_wall_ms(a)) &&
        a->tickets.keys[0].made_ms == a->tickets_ms)
        return 0;
    return agents_make_tls(a, err); /* existing connections keep the old context */
}

static int open_ca(struct agents *a, const char *dir, struct err *err)
{
    int64_t hosts = fleet_totals(a->fleet)->hosts;
    bool made;

    if (ca_open(dir, agents_wall_ms(a), &made, &a->ca, err))
        return -1;
    if (made && hosts > 0)
        LOG(a->log, LOG_ERROR,
            "a new CA was made though hosts are known: they trust the old one and will not come; "
            "put its ca.pem back",
            log_str("dir", dir), log_int("hosts", hosts));
    return 0;
}

/* ---- periodic work ---- */

static void log_refused(struct agents *a)
{
    if (a->counters.refused > a->refused_logged)
        LOG(a->log, LOG_INFO, "connections of agents turned away",
            log_int("number", (int64_t)(a->counters.refused - a->refused_logged)));
    a->refused_logged = a->counters.refused;
    a->lines_left = LINES_MAX;
    if (a->was_full)
        LOG(a->log, LOG_WARN, "no more agents can connect; raise ulimit -n, or have another server",
            log_int("connections", a->counters.connections), log_int("in_line", a->counters.parked),
            log_int("most", a->links_max));
    a->was_full = false;
}

static void agents_on_tick(void *arg)
{
    struct agents *a = arg;
    struct err err = { 0 };

    if (loop_now_ms(a->loop) - a->renewed_ms >= RENEW_MS && renew_keys(a, &err))
        LOG(a->log, LOG_ERROR, "keys of the link are not renewed", log_err(&err));
    log_refused(a);
    nets_sweep(a);
    session_close_again(a);
    events_forget_gone(a->events);
    if (a->heartbeat)
        heartbeat_forget_gone(a->heartbeat);
    timer_set(a->loop, &a->tick, TICK_MS);
}

static void on_pace(void *arg)
{
    peers_update_timeslice(arg);
}

static void on_squeeze(void *arg)
{
    peers_squeeze(arg);
}

static void on_drained(void *arg)
{
    struct agents *a = arg;
    void (*done)(void *arg) = a->on_drained;

    timer_stop(a->loop, &a->drain);
    a->on_drained = NULL;
    if (done)
        done(a->drained_arg);
}

/* ---- start and stop ---- */

/* Ends the sessions that this node left open when it was killed. */
static int end_old_sessions(struct agents *a, struct err *err)
{
    const struct session_end_ask ask = { a->node, agents_wall_ms(a) };
    struct arena arena = { 0 };
    struct list rows;
    int bad = store_sync(a->store, &store_session_end, &ask, &arena, &rows, err);

    if (!bad && rows.n > 0)
        LOG(a->log, LOG_INFO, "sessions of an earlier run were ended",
            log_int("number", (int64_t)rows.n));
    arena_free(&arena);
    return bad;
}

static const struct peer_owner peer_owner = { join_on_message, session_on_hello, session_on_message,
                                              session_on_timer, session_leave };

int agents_new(struct loop *loop, struct log *log, struct store *store, struct fleet *fleet,
               struct events *events, const struct agents_settings *s, struct agents **ret,
               struct err *err)
{
    struct agents *a = xalloc(sizeof(*a));

    *a = (struct agents){ .loop = loop,
                          .log = log,
                          .store = store,
                          .fleet = fleet,
                          .events = events,
                          .peer_owner = &peer_owner,
                          .ping_ms = s->ping_ms ? s->ping_ms : PING_MS,
                          .links_max = s->links_max ? s->links_max : LINKS_MAX };
    a->node = xstrdup(s->node);
    a->tickets_path = xprintf("%s/tickets", s->dir);
    a->pending_calls = pending_calls_new(store);
    a->shakes = timeslice_new(loop, &(struct timeslice_limit){ SHAKES_MS, SHAKES });
    TAILQ_INIT(&a->peers);
    TAILQ_INIT(&a->parking);
    TAILQ_INIT(&a->strangers);
    STAILQ_INIT(&a->closings);
    timer_init(&a->tick, agents_on_tick, a);
    timer_init(&a->pace, on_pace, a);
    timer_init(&a->squeeze, on_squeeze, a);
    timer_init(&a->drain, on_drained, a);
    if (address_parse(s->listen, &a->at, err) || open_ca(a, s->dir, err) || renew_keys(a, err) ||
        end_old_sessions(a, err)) {
        agents_free(a);
        return -1;
    }
    a->lines_left = LINES_MAX;
    timer_set(loop, &a->tick, TICK_MS);
    events_set_stored(events, session_on_event_stored, a);
    *ret = a;
    return 0;
}

void agents_set_tasks(struct agents *a, struct tasks *t)
{
    a->tasks = t;
}

void agents_set_logs(struct agents *a, struct logs *l)
{
    a->logs = l;
}

void agents_set_registry(struct agents *a, struct pushes *p, struct groups *g)
{
    a->pushes = p;
    a->groups = g;
}

void agents_set_heartbeat(struct agents *a, struct heartbeat *h)
{
    a->heartbeat = h;
}

int agents_listen(struct agents *a, struct address *ret_real, struct err *err)
{
    if (listener_new(a->loop, &a->at, &agents_listener_owner, a, &a->listener, err))
        return err_wrap(err, "link");
    a->has_listened = true;
    listener_address(a->listener, ret_real);
    peers_update_timeslice(a);
    return 0;
}

static void on_all_ended(void *arg, struct store_call *c)
{
    struct log *log = arg;

    if (c->failed)
        LOG(log, LOG_WARN, "sessions stay open in the store until the next start",
            log_err(&c->err));
    store_call_free(c);
}

/* Ends all sessions with one call.  It is queued behind calls that open a session, so it ends these
 * too.  It may return after agents_free(). */
static void end_all_sessions(struct agents *a)
{
    struct store_call *c = store_call_new(&store_session_end, on_all_ended, a->log);
    struct session_end_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err;

    *ask = (struct session_end_ask){ arena_strdup(&c->arena, a->node), agents_wall_ms(a) };
    c->in = ask;
    if (store_submit(a->store, c, &err)) {
        LOG(a->log, LOG_WARN, "sessions stay open in the store until the next start",
            log_err(&err));
        store_call_free(c);
    }
}

void agents_drain(struct agents *a, void (*on_empty)(void *arg), void *arg)
{
    listener_free(a->listener);
    a->listener = NULL;
    timer_stop(a->loop, &a->pace);
    a->on_drained = on_empty;
    a->drained_arg = arg;
    peers_send_goodbye(a);
    timer_set(a->loop, &a->drain, TAILQ_EMPTY(&a->peers) ? 0 : DRAIN_MS);
}

void agents_free(struct agents *a)
{
    if (!a)
        return;
    events_set_stored(a->events, NULL, NULL);
    if (a->has_listened)
        end_all_sessions(a);
    listener_free(a->listener);
    peers_free(a);
    timeslice_free(a->shakes);
    timer_stop(a->loop, &a->tick);
    timer_stop(a->loop, &a->pace);
    timer_stop(a->loop, &a->squeeze);
    timer_stop(a->loop, &a->drain);
    pending_calls_free(a->pending_calls);
    tls_free(a->tls);
    explicit_bzero(&a->tickets, sizeof(a->tickets));
    ca_free(a->ca);
    free(a->tickets_path);
    free(a->node);
    free(a);
}

/* ---- for other modules ---- */

/* Whether the sender repeats a message of this type until the agent acknowledges it. */
static bool is_repeated_by_sender(unsigned type)
{
    return type == MESSAGE_COMMAND || type == MESSAGE_CANCEL || type == MESSAGE_GROUP;
}

static bool check_full(struct peer *p)
{
    bool is;

    peer_weigh(p);
    is = p->waiting > WAITING_MAX ||
         (p->waiting > WAITING_SOME && p->agents->counters.waiting > WAITING_ALL);
    p->agents->counters.held_back += is;
    return is;
}

static struct peer *find_open(const struct agents *a, const char *agent, int64_t epoch)
{
    struct peer *p = map_find_str(&a->holders, agent);

    return p && p->stage == PEER_OPEN && p->epoch == epoch ? p : NULL;
}

bool agents_is_full(void *agents, const char *agent, int64_t epoch)
{
    struct peer *p = find_open(agents, agent, epoch);

    return p && check_full(p);
}

void agents_send(void *agents, const char *agent, int64_t epoch, unsigned type,
                 const struct shape *s, const void *message)
{
    struct agents *a = agents;
    struct peer *p = find_open(a, agent, epoch);

    if (!p)
        return;
    if (is_repeated_by_sender(type) && check_full(p))
        return;
    conn_send(p->conn, type, s, message);
    peer_weigh(p);
}

const char *agents_ca_fingerprint(const struct agents *a)
{
    return ca_fingerprint(a->ca);
}

const struct agents_counters *agents_counters(const struct agents *a)
{
    return &a->counters;
}

void agents_stats(const struct agents *a, struct agent_stats_now *ret)
{
    const struct peer *p;

    *ret = (struct agent_stats_now){ 0 };
    TAILQ_FOREACH(p, &a->peers, link) {
        if (p->stage == PEER_OPEN)
            agent_stats_add(&p->agent_stats, ret);
    }
}
