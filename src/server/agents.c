/* SPDX-License-Identifier: MIT */
/* agents.c - the whole of it: keys and certificates, what is done now and then.  See
 * agents.h. */
#include "server/agents.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "server/agents_peer.h"
#include "store/store_hosts.h"

enum {
    PING_MS = 5000,
    TICK_MS = 10 * 1000,
    KEEP_MS = 3600 * 1000,
    SERVER_DAYS = 90,
    LINES_MAX = 100,
    SHAKES_MS = 10, /* of a turn for handshakes, */
    SHAKES = 64,    /* and not more steps of them */
    /* Bytes that wait for an agent before commands for it are held back: so many, or some
     * while so many wait for all of them together. */
    WAITING_MAX = 2 * 1024 * 1024,
    WAITING_SOME = 64 * 1024,
    WAITING_ALL = 256 * 1024 * 1024,
    DRAIN_MS = 1000,
    LINKS_MAX = 4000,
};

int64_t agents_wall_ms(const struct agents *a)
{
    return clock_wall_ms(loop_clock(a->loop));
}

/* ---- asking the store ---- */

struct ask {
    struct agents *agents;
    struct peer *peer;
    ask_done_fn *done;
    void *data;
};

static void on_asked(void *arg, struct store_call *c)
{
    struct ask *ask = arg;

    if (ask->peer)
        ask->peer->ask = NULL;
    ask->done(ask->agents, ask->peer, c, ask->data);
    store_call_free(c);
}

struct store_call *ask_new(struct agents *a, struct peer *p, const struct store_verb *verb,
                           ask_done_fn *done)
{
    struct store_call *c = store_call_new(verb, on_asked, NULL);
    struct ask *ask = arena_alloc(&c->arena, sizeof(*ask));

    *ask = (struct ask){ a, p, done, NULL };
    c->arg = ask;
    return c;
}

void ask_set_data(struct store_call *c, void *data)
{
    struct ask *ask = c->arg;

    ask->data = data;
}

int ask_submit(struct store_call *c, struct err *err)
{
    struct ask *ask = c->arg;

    if (errands_submit(ask->agents->errands, c, err)) {
        store_call_free(c);
        return -1;
    }
    if (ask->peer)
        ask->peer->ask = ask;
    return 0;
}

void ask_forget(struct ask *ask)
{
    if (ask)
        ask->peer = NULL;
}

/* ---- what we are known by ---- */

static int make_tls(struct agents *a, const struct tickets *keys, struct err *err)
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
    tls_set_tickets(tls, keys);
    tls_free(a->tls); /* goes with the last of its connections */
    a->tls = tls;
    a->own = facts;
    a->tickets_ms = keys->keys[0].made_ms;
    return 0;
}

/* Both have days left when it is time for others, so a failure may wait an hour. */
static int keep_keys(struct agents *a, struct err *err)
{
    struct tickets keys;
    int bad = 0;

    a->kept_ms = loop_now_ms(a->loop);
    if (tickets_keep(a->tickets_path, agents_wall_ms(a), &keys, err))
        return -1;
    if (!a->tls || ca_is_due(&a->own, agents_wall_ms(a)) || keys.keys[0].made_ms != a->tickets_ms)
        bad = make_tls(a, &keys, err); /* what threads share is never changed */
    explicit_bzero(&keys, sizeof(keys));
    return bad;
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

/* ---- now and then ---- */

static void say_refused(struct agents *a)
{
    if (a->counters.refused > a->refused_said)
        LOG(a->log, LOG_INFO, "connections of agents turned away",
            log_int("number", (int64_t)(a->counters.refused - a->refused_said)));
    a->refused_said = a->counters.refused;
    a->lines_left = LINES_MAX;
    if (a->counters.connections + a->counters.parked >= a->links_max)
        LOG(a->log, LOG_WARN, "no more agents can connect; raise ulimit -n, or have another server",
            log_int("connections", a->counters.connections), log_int("in_line", a->counters.parked),
            log_int("most", a->links_max));
}

static void on_tick(void *arg)
{
    struct agents *a = arg;
    struct err err = { 0 };

    if (loop_now_ms(a->loop) - a->kept_ms >= KEEP_MS && keep_keys(a, &err))
        LOG(a->log, LOG_ERROR, "keys of the link are not renewed", log_err(&err));
    say_refused(a);
    peers_sweep(a);
    session_close_again(a);
    events_forget_gone(a->events);
    if (a->heartbeat)
        heartbeat_forget_gone(a->heartbeat);
    timer_set(a->loop, &a->tick, TICK_MS);
}

static void on_pace(void *arg)
{
    peers_pace(arg);
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

/* ---- the beginning and the end ---- */

/* Sessions that this node left open when it died. */
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
                          .ping_ms = s->ping_ms ? s->ping_ms : PING_MS,
                          .links_max = s->links_max ? s->links_max : LINKS_MAX };
    a->node = xstrdup(s->node);
    a->tickets_path = xprintf("%s/tickets", s->dir);
    a->errands = errands_new(store);
    a->shakes = pace_new(loop, &(struct pace_slice){ SHAKES_MS, SHAKES });
    TAILQ_INIT(&a->peers);
    TAILQ_INIT(&a->parking);
    STAILQ_INIT(&a->closings);
    timer_init(&a->tick, on_tick, a);
    timer_init(&a->pace, on_pace, a);
    timer_init(&a->drain, on_drained, a);
    if (address_parse(s->listen, &a->at, err) || open_ca(a, s->dir, err) || keep_keys(a, err) ||
        end_old_sessions(a, err) ||
        (s->threads && far_crew_new(loop, (unsigned)s->threads, &a->crew, err))) {
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
    peers_pace(a);
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

/* One call for all of them, those included that are on their way to be opened: it comes
 * behind them.  It may come back when we are gone. */
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
    peers_say_goodbye(a);
    timer_set(a->loop, &a->drain, TAILQ_EMPTY(&a->peers) ? 0 : DRAIN_MS);
}

void agents_peer_gone(struct agents *a)
{
    if (a->on_drained && TAILQ_EMPTY(&a->peers))
        timer_set(a->loop, &a->drain, 0);
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
    far_crew_free(a->crew);
    pace_free(a->shakes);
    timer_stop(a->loop, &a->tick);
    timer_stop(a->loop, &a->pace);
    timer_stop(a->loop, &a->drain);
    errands_free(a->errands);
    tls_free(a->tls);
    ca_free(a->ca);
    free(a->tickets_path);
    free(a->node);
    free(a);
}

/* ---- for the others ---- */

/* These wait where they come from, as things to be done rather than as bytes. */
static bool is_said_again(unsigned type)
{
    return type == MESSAGE_COMMAND || type == MESSAGE_CANCEL || type == MESSAGE_GROUP;
}

static bool is_full(struct peer *p)
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

    return p && is_full(p);
}

void agents_send(void *agents, const char *agent, int64_t epoch, unsigned type,
                 const struct shape *s, const void *message)
{
    struct agents *a = agents;
    struct peer *p = find_open(a, agent, epoch);

    if (!p)
        return;
    if (is_said_again(type) && is_full(p))
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

void agents_figures(const struct agents *a, struct figures_now *ret)
{
    const struct peer *p;

    *ret = (struct figures_now){ 0 };
    TAILQ_FOREACH(p, &a->peers, link)
    {
        if (p->stage == PEER_OPEN)
            figures_add(&p->figures, ret);
    }
}
