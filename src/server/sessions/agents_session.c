/* SPDX-License-Identifier: MIT */
/* agents_session.c - see agents_session.h. */
#include "server/sessions/agents_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "link/message.h"
#include "model/ip.h"
#include "server/dispatch/tasks.h"
#include "server/events/events.h"
#include "server/fleet/fleet.h"
#include "server/registry/groups.h"
#include "server/registry/pushes.h"
#include "server/sessions/agents_ask.h"
#include "server/sessions/agents_join.h"
#include "server/sessions/agents_peers.h"
#include "server/sessions/heartbeat.h"
#include "server/sessions/logs.h"
#include "store/store_join.h"
#include "wire/net/frame.h"

enum {
    RIVAL_MS = 2000, /* for the holder to answer */
    PINGS_MAX = 3,   /* without a message, or without draining output */
    CLONE_RETRY_MS = 30 * 1000,
    UNKNOWN_RETRY_MS = 600 * 1000, /* a backup may be restored, or the host be added again */
};

static void open_session(struct peer *p);

static void send_ping(struct peer *p)
{
    p->pinged_ms = loop_now_ms(p->agents->loop);
    conn_send(p->conn, MESSAGE_PING, &message_ping_shape,
              &(struct message_ping){ .server_ms = p->pinged_ms });
}

/* ---- the clone rule ---- */

static void ask_holder(struct peer *holder)
{
    holder->asked_ms = loop_now_ms(holder->agents->loop);
    send_ping(holder);
}

static void start_contending(struct peer *p, struct peer *holder)
{
    const struct refusal later = { MESSAGE_HELLO, ERR_CONFLICT, RIVAL_MS + retry_soon_ms() };

    if (holder->rival) {
        peer_deny(p, &later, MSG("two connections have this identity already; it is tried again"));
        return;
    }
    p->stage = PEER_CONTENDING;
    p->rival = holder;
    holder->rival = p;
    holder->asked_ms = INT64_MAX;
    if (holder->stage == PEER_OPEN)
        ask_holder(holder);
    timer_set(p->agents->loop, &p->timer, RIVAL_MS);
}

static void deny_rival(struct peer *holder)
{
    const struct refusal later = { MESSAGE_HELLO, ERR_CONFLICT, CLONE_RETRY_MS };
    struct peer *rival = holder->rival;
    struct agents *a = holder->agents;
    char text[640];

    msg_printf(text, sizeof(text),
               "agent %s is connected from %s and answers: this one, from %s, is a clone of it; "
               "remove agent.key and agent.pem on one of the two and join it anew",
               holder->cert.agent_id, holder->host, rival->host);
    events_tell(a->events, fleet_find(a->fleet, holder->cert.agent_id), EVENT_CLONE, text);
    peer_deny(rival, &later, text);
}

static void on_pong(struct peer *p, const struct message_pong *m)
{
    struct agents *a = p->agents;

    agent_stats_take(&p->agent_stats, &m->agent_stats, loop_now_ms(a->loop), &a->counters.grown);
    if (p->rival && m->server_ms >= p->asked_ms)
        deny_rival(p);
}

/* The holder did not answer in time. */
static void replace_holder(struct peer *p)
{
    struct peer *holder = p->rival;

    LOG(p->agents->log, LOG_INFO, "an older connection of an agent is silent and replaced",
        log_str("agent", p->cert.agent_id), log_str("older", holder->host),
        log_str("newer", p->host));
    peer_free(holder); /* its contender becomes the holder */
}

/* ---- hello ---- */

/* The valid addresses, separated by blanks. */
static const char *format_addresses(const struct list *addresses, struct arena *a)
{
    const struct message_text *texts = addresses->items;
    struct buf b = { 0 };
    char ip[IP_TEXT_SIZE];
    const char *text;

    for (size_t i = 0; i < addresses->n; i++) {
        if (ip_read(texts[i].text, ip))
            buf_printf(&b, "%s%s", b.len ? " " : "", ip);
    }
    text = arena_strdup(a, buf_text(&b));
    buf_free(&b);
    return text;
}

static void copy_hello(struct peer *p, const struct message_hello *m)
{
    p->addresses = format_addresses(&m->addresses, &p->arena);
    p->hello = (struct message_hello){
        .agent_version = arena_strdup(&p->arena, m->agent_version),
        .hostname = arena_strdup(&p->arena, m->hostname),
        .digest = arena_strdup(&p->arena, m->digest),
        .agent_ms = m->agent_ms,
        .os = arena_strdup(&p->arena, m->os),
        .arch = arena_strdup(&p->arena, m->arch),
        .cpus = m->cpus,
        .mem_bytes = m->mem_bytes,
        .started_s = m->started_s,
    };
}

static const struct fleet_host *agents_session_find_host(const struct peer *p)
{
    const struct fleet_host *h = fleet_find(p->agents->fleet, p->cert.agent_id);

    return h && !strcmp(h->agent_id, p->cert.agent_id) &&
                   !strcmp(h->cert_fingerprint, p->cert.key_id)
               ? h
               : NULL;
}

static bool check_hello(struct peer *p, const struct message_hello *m)
{
    const struct refusal never = { MESSAGE_HELLO, ERR_DENIED, -1 },
                         unknown = { MESSAGE_HELLO, ERR_DENIED, UNKNOWN_RETRY_MS };

    if (!version_check(p, MESSAGE_HELLO, m->version_min, m->version_max))
        return false;
    if (!p->has_cert || p->cert.role != CERT_AGENT)
        peer_deny(p, &never,
                  MSG("hello needs the certificate of an agent: join first, by a token"));
    else if (strcmp(m->agent_id, p->cert.agent_id) != 0)
        peer_deny(p, &never, MSG("agent_id: not the one in the certificate"));
    else if (agents_wall_ms(p->agents) >= p->cert.until_ms)
        peer_deny(p, &never, MSG("the certificate has expired: remove agent.pem and join anew"));
    else if (!agents_session_find_host(p))
        peer_deny(p, &unknown,
                  MSG("this host is not known, or by another key: it was removed; to have it back, "
                      "remove agent.pem and join anew by a token"));
    else
        return true;
    return false;
}

void session_on_hello(struct peer *p, const struct message_hello *m)
{
    struct peer *holder;

    if (!check_hello(p, m))
        return;
    peer_set_known(p);
    copy_hello(p, m);
    holder = map_find_str(&p->agents->holders, p->cert.agent_id);
    if (holder)
        start_contending(p, holder);
    else
        open_session(p);
}

/* ---- start of a session ---- */

static void submit_close(struct agents *a, const char *agent_id, int64_t epoch, int64_t since_ms);

static void on_updated(struct agents *a, struct peer *p, struct store_call *c, void *data)
{
    const struct join_ask *ask = c->in;

    (void)p;
    (void)data;
    if (c->failed)
        LOG(a->log, LOG_WARN, "what a host says of itself is not stored; its next hello will be",
            log_str("agent", ask->host.agent_id), log_err(&c->err));
    else if (fleet_find(a->fleet, ask->host.agent_id))
        fleet_put_host(a->fleet, join_stored(c));
}

/* The fleet is changed only after the commit, so a failed write is retried with the next hello. */
static void update_host(struct peer *p, const struct fleet_host *h)
{
    struct agents *a = p->agents;
    struct store_call *c;
    struct join_ask *ask;
    struct err err = { 0 };

    if (!strcmp(h->hostname, p->hello.hostname) && !strcmp(h->version, p->hello.agent_version) &&
        !strcmp(h->addresses, p->addresses))
        return;
    c = ask_new(a, NULL, &store_join, on_updated);
    ask = arena_alloc(&c->arena, sizeof(*ask));
    ask->hash = "";
    ask->now_ms = agents_wall_ms(a);
    join_host_row(h, p->cert.serial, &c->arena, &ask->host);
    ask->host.hostname = arena_strdup(&c->arena, p->hello.hostname);
    ask->host.version = arena_strdup(&c->arena, p->hello.agent_version);
    ask->host.addresses = arena_strdup(&c->arena, p->addresses);
    c->in = ask;
    if (ask_submit(c, &err))
        LOG(a->log, LOG_WARN, "what a host says of itself is not stored; its next hello will be",
            log_str("agent", p->cert.agent_id), log_err(&err));
}

static void send_welcome(struct peer *p, const struct fleet_host *h)
{
    const struct message_welcome w = {
        .version = LINK_VERSION,
        .epoch = p->epoch,
        .ping_ms = p->agents->ping_ms,
        .agent_ms = p->hello.agent_ms,
        .server_ms = loop_now_ms(p->agents->loop), /* now: the store may have been slow */
        .wants_processes = strcmp(h->digest, p->hello.digest) != 0,
    };

    conn_send(p->conn, MESSAGE_WELCOME, &message_welcome_shape, &w);
}

/* A word that is too long is dropped; no query has it. */
static void put_word(char to[FLEET_WORD_SIZE], const char *word)
{
    size_t n = strlen(word);

    if (n < FLEET_WORD_SIZE)
        memcpy(to, word, n);
}

static void put_facts(struct peer *p)
{
    const struct message_hello *m = &p->hello;
    struct fleet_facts facts = { .cpus = m->cpus,
                                 .mem_bytes = m->mem_bytes,
                                 .start_s = m->started_s };

    put_word(facts.os, m->os);
    put_word(facts.arch, m->arch);
    fleet_set_facts(p->agents->fleet, p->cert.agent_id, &facts);
}

static void begin_session(struct peer *p, const struct fleet_host *h, int64_t epoch)
{
    struct agents *a = p->agents;
    const char *id = p->cert.agent_id;

    p->stage = PEER_OPEN;
    p->epoch = epoch;
    conn_set_body_max(p->conn, FRAME_BODY_MAX);
    a->counters.sessions++;
    p->version = versions_add(&a->counters.versions, p->hello.agent_version);
    update_host(p, h);
    send_welcome(p, h);
    put_facts(p);
    arena_free(&p->arena);
    p->hello = (struct message_hello){ 0 };
    p->addresses = "";
    timer_set(a->loop, &p->timer, a->ping_ms);
    if (p->rival)
        ask_holder(p);
    LOG(a->log, LOG_INFO, "an agent is connected", log_str("agent", id), log_str("from", p->host),
        log_int("epoch", epoch),
        log_str("handshake", conn_is_resumed(p->conn) ? "resumed" : "full"));
    if (a->heartbeat)
        heartbeat_on_session(a->heartbeat, id);
    fleet_set_session(a->fleet, id, epoch, agents_wall_ms(a)); /* h is invalid after this */
    if (a->tasks)
        tasks_on_session(a->tasks, id, epoch);
    if (a->groups)
        groups_on_session(a->groups, id);
}

static void deny_opening(struct peer *p, const struct err *why)
{
    const struct refusal later = { MESSAGE_HELLO, ERR_UNAVAILABLE, retry_soon_ms() };

    LOG(p->agents->log, LOG_ERROR, "the store opens no session", log_str("agent", p->cert.agent_id),
        log_err(why));
    peer_deny(p, &later, MSG("the server can not store this now; it is tried again"));
}

static void on_opened(struct agents *a, struct peer *p, struct store_call *c, void *data)
{
    const struct refusal unknown = { MESSAGE_HELLO, ERR_DENIED, UNKNOWN_RETRY_MS };
    const struct session_row *row = c->failed ? NULL : ((const struct list *)c->out)->items;
    const struct fleet_host *h = p ? agents_session_find_host(p) : NULL;

    (void)data;
    if (row && h) {
        begin_session(p, h, row->epoch);
        return;
    }
    if (row)
        submit_close(a, row->agent_id, row->epoch, agents_wall_ms(a));
    if (p && row)
        peer_deny(p, &unknown, MSG("this host was removed"));
    else if (p)
        deny_opening(p, &c->err);
}

static void open_session(struct peer *p)
{
    struct agents *a = p->agents;
    struct store_call *c = ask_new(a, p, &store_session_open, on_opened);
    struct session_open_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err = { 0 };

    *ask = (struct session_open_ask){ arena_strdup(&c->arena, p->cert.agent_id),
                                      arena_strdup(&c->arena, a->node), agents_wall_ms(a) };
    c->in = ask;
    p->stage = PEER_OPENING;
    map_put_str(&a->holders, p->cert.agent_id, p);
    if (ask_submit(c, &err))
        deny_opening(p, &err);
}

/* ---- end of a session ---- */

static void retry_close_later(struct agents *a, const struct session_close_ask *ask,
                              const struct err *why)
{
    struct closing *to = xalloc(sizeof(*to));

    LOG(a->log, LOG_WARN, "the end of a session is not stored; it is tried again",
        log_str("agent", ask->agent_id), log_int("epoch", ask->epoch), log_err(why));
    snprintf(to->agent_id, sizeof(to->agent_id), "%s", ask->agent_id);
    to->epoch = ask->epoch;
    to->since_ms = ask->since_ms;
    STAILQ_INSERT_TAIL(&a->closings, to, link);
}

static void agents_session_on_closed(struct agents *a, struct peer *p, struct store_call *c,
                                     void *data)
{
    (void)p;
    (void)data;
    if (c->failed)
        retry_close_later(a, c->in, &c->err);
}

static void submit_close(struct agents *a, const char *agent_id, int64_t epoch, int64_t since_ms)
{
    struct store_call *c = ask_new(a, NULL, &store_session_close, agents_session_on_closed);
    struct session_close_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct err err = { 0 };

    *ask = (struct session_close_ask){ arena_strdup(&c->arena, agent_id), epoch, since_ms };
    c->in = ask;
    if (ask_submit(c, &err))
        retry_close_later(a, &(struct session_close_ask){ agent_id, epoch, since_ms }, &err);
}

/* Retries failed calls.  This does not touch a later session of the agent: the store compares the
 * epoch. */
void session_close_again(struct agents *a)
{
    STAILQ_HEAD(, closing) all = STAILQ_HEAD_INITIALIZER(all);
    struct closing *c;

    STAILQ_CONCAT(&all, &a->closings);
    while ((c = STAILQ_FIRST(&all))) {
        STAILQ_REMOVE_HEAD(&all, link);
        submit_close(a, c->agent_id, c->epoch, c->since_ms);
        free(c);
    }
}

/* The fleet and the tasks see the end of this epoch before the start of a later one. */
static void end_session(struct peer *p)
{
    struct agents *a = p->agents;
    const char *id = p->cert.agent_id;
    int64_t wall_ms = agents_wall_ms(a);

    a->counters.sessions--;
    versions_del(&a->counters.versions, p->version);
    fleet_set_session(a->fleet, id, 0, wall_ms);
    if (a->tasks)
        tasks_on_session_end(a->tasks, id, p->epoch);
    if (a->logs)
        logs_on_session_end(a->logs, id, p->epoch);
    if (a->heartbeat)
        heartbeat_on_session_end(a->heartbeat, id);
    submit_close(a, id, p->epoch, wall_ms);
}

void session_leave(struct peer *p)
{
    struct peer *rival = p->rival;

    p->rival = NULL;
    if (rival)
        rival->rival = NULL;
    if (p->stage != PEER_OPENING && p->stage != PEER_OPEN)
        return;
    map_del_str(&p->agents->holders, p->cert.agent_id);
    if (p->stage == PEER_OPEN)
        end_session(p);
    if (!rival)
        return;
    timer_stop(p->agents->loop, &rival->timer);
    open_session(rival);
}

/* ---- messages ---- */

static void on_processes(struct peer *p, const struct message_processes *m)
{
    const struct refusal later = { MESSAGE_HELLO, ERR_LIMIT, UNKNOWN_RETRY_MS };
    struct err err = { 0 };

    if (fleet_on_processes(p->agents->fleet, p->cert.agent_id, m, &err))
        peer_deny(p, &later, err_msg(&err));
}

static void agents_session_on_event(struct peer *p, const struct message_event *m)
{
    struct agents *a = p->agents;

    events_on_message(a->events, fleet_find(a->fleet, p->cert.agent_id), p->cert.agent_id, m);
}

/* Sends the acknowledgement to the current session of the agent. */
void session_on_event_stored(void *agents, const char *agent_id, int64_t id)
{
    struct agents *a = agents;
    struct peer *p = map_find_str(&a->holders, agent_id);

    if (p && p->stage == PEER_OPEN)
        conn_send(p->conn, MESSAGE_EVENT_STORED, &message_event_ref_shape,
                  &(struct message_event_ref){ id });
}

static void on_error(struct peer *p, const struct message_error *m)
{
    LOG(p->agents->log, LOG_WARN, "an agent does not take a message",
        log_str("agent", p->cert.agent_id), log_str("message", message_name((unsigned)m->type)),
        log_int("code", m->code), log_str("why", m->text));
}

/* Answers to a command of a registration, or of a task. */
static void on_command_answer(struct peer *p, unsigned type, const void *message)
{
    struct agents *a = p->agents;

    if (a->pushes && pushes_on_message(a->pushes, p->cert.agent_id, p->epoch, type, message))
        return;
    if (a->tasks)
        tasks_on_message(a->tasks, p->cert.agent_id, p->epoch, type, message);
}

void session_on_message(struct peer *p, unsigned type, const void *message)
{
    const struct refusal invalid = { type, ERR_INVALID, -1 };
    struct agents *a = p->agents;

    if (p->unheard) {
        p->unheard = 0;
        fleet_set_silent(a->fleet, p->cert.agent_id, 0);
    }
    switch ((enum message_type)type) {
    case MESSAGE_PONG: on_pong(p, message); return;
    case MESSAGE_PROCESSES: on_processes(p, message); return;
    case MESSAGE_EVENT: agents_session_on_event(p, message); return;
    case MESSAGE_RENEW: join_on_renew(p, message); return;
    case MESSAGE_ERROR: on_error(p, message); return;
    case MESSAGE_TAKEN:
    case MESSAGE_RESULT: on_command_answer(p, type, message); return;
    case MESSAGE_GROUP_TAKEN:
        if (a->groups)
            groups_on_taken(a->groups, p->cert.agent_id, message);
        return;
    case MESSAGE_LOG:
        if (a->logs)
            logs_on_answer(a->logs, p->cert.agent_id, p->epoch, message);
        return;
    case MESSAGE_HELLO:
    case MESSAGE_WELCOME:
    case MESSAGE_PING:
    case MESSAGE_COMMAND:
    case MESSAGE_STORED:
    case MESSAGE_JOIN:
    case MESSAGE_EVENT_STORED:
    case MESSAGE_LOG_ASK:
    case MESSAGE_GROUP:
    case MESSAGE_CANCEL:
    case MESSAGE_JOINED: break;
    }
    peer_refuse(p, &invalid, MSG("an agent with a session does not say this"));
}

/* ---- time ---- */

/* Counts pings rather than time: a server that was blocked itself, even for a minute, has read
 * nothing either, and must not take its whole fleet for gone. */
static bool check_lost(struct peer *p)
{
    peer_weigh(p);
    p->unheard = conn_heard_ms(p->conn) < p->pinged_ms ? p->unheard + 1 : 0;
    p->stuck = conn_stuck_ms(p->conn) >= p->agents->ping_ms ? p->stuck + 1 : 0;
    return p->unheard >= PINGS_MAX || p->stuck >= PINGS_MAX;
}

/* An agent that has not answered a ping when the next is due is shown as silent: it may be gone. */
static void note_silence(struct peer *p, const struct fleet_host *host)
{
    struct agents *a = p->agents;
    int64_t silent_ms = loop_now_ms(a->loop) - conn_heard_ms(p->conn);

    if (p->unheard || host->silent_ms)
        fleet_set_silent(a->fleet, host->agent_id, p->unheard ? agents_wall_ms(a) - silent_ms : 0);
}

static void on_ping_due(struct peer *p)
{
    const struct refusal unknown = { MESSAGE_HELLO, ERR_DENIED, UNKNOWN_RETRY_MS };
    const struct fleet_host *host = agents_session_find_host(p);
    struct agents *a = p->agents;

    if (!host) {
        peer_deny(p, &unknown, MSG("this host was removed"));
        return;
    }
    if (check_lost(p)) {
        LOG(a->log, LOG_WARN,
            p->stuck < PINGS_MAX ? "an agent is silent and taken for gone"
                                 : "an agent does not take what is sent and is taken for gone",
            log_str("agent", p->cert.agent_id), log_str("from", p->host),
            log_int("silent_ms", loop_now_ms(a->loop) - conn_heard_ms(p->conn)),
            log_int("bytes_waiting", (int64_t)conn_pending(p->conn)));
        peer_free(p);
        return;
    }
    note_silence(p, host);
    send_ping(p);
    timer_set(a->loop, &p->timer, a->ping_ms);
}

void session_on_timer(struct peer *p)
{
    if (p->stage == PEER_CONTENDING)
        replace_holder(p);
    else
        on_ping_due(p);
}
