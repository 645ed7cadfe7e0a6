/* SPDX-License-Identifier: MIT */
/* agents_join.c - see agents_join.h. */
#include "server/sessions/agents_join.h"

#include <stdio.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "model/ip.h"
#include "server/events/events.h"
#include "server/fleet/fleet.h"
#include "server/sessions/agents_ask.h"
#include "server/sessions/agents_nets.h"
#include "server/sessions/agents_peers.h"
#include "server/sessions/heartbeat.h"
#include "store/store_join.h"
#include "wire/tls/secret.h"

enum { AGENT_DAYS = 365, ADDRESS_RETRY_MS = 60 * 1000, ID_BYTES = 16, TEXT_SIZE = 768 };

static const struct refusal denied = { MESSAGE_JOIN, ERR_DENIED, -1 },
                            invalid = { MESSAGE_JOIN, ERR_INVALID, -1 };

/* A join in progress; in the arena of the current call. */
struct join {
    char hash[SECRET_HASH_SIZE], key_id[DIGEST_TEXT_SIZE];
    char ip[IP_TEXT_SIZE];
    char from[IP_TEXT_SIZE]; /* the address of its connection; "": not numeric */
    const char *request, *asked_id, *hostname, *version;
    struct host_row host;   /* the row to be stored */
    bool reports_elsewhere; /* report that it connects from another address than it claims */
    const char *cert;       /* PEM */
};

static void deny_later(struct peer *p, unsigned type, const struct err *why)
{
    const struct refusal later = { type, ERR_UNAVAILABLE, retry_soon_ms() };

    LOG(p->agents->log, LOG_ERROR, "the store does not let agents in", log_str("from", p->host),
        log_err(why));
    peer_deny(p, &later, MSG("the server can not store this now; it is tried again"));
}

/* ---- reading the message ---- */

static int read_key_id(const char *request, char to[DIGEST_TEXT_SIZE], struct err *err)
{
    struct cert_key *key;

    if (cert_request_read(request, &key, err))
        return err_wrap(err, "request");
    cert_key_id(key, to);
    cert_key_free(key);
    return 0;
}

static int read_join(const struct peer *p, const struct message_join *m, struct join *j,
                     struct arena *arena, struct err *err)
{
    const char *ip = *m->ip ? m->ip : p->host;

    if (!ip_read(ip, j->ip))
        return err_set(err, ERR_INVALID, "ip: '%s' is not a numeric address", ip);
    if (!ip_read(p->host, j->from))
        j->from[0] = '\0';
    if (read_key_id(m->request, j->key_id, err))
        return -1;
    secret_hash(m->secret, j->hash);
    j->request = arena_strdup(arena, m->request);
    j->asked_id = arena_strdup(arena, m->agent_id);
    j->hostname = arena_strdup(arena, m->hostname);
    j->version = arena_strdup(arena, m->agent_version);
    return 0;
}

/* ---- checking the join ---- */

/* An id with a colon reads as cloud area and address, so only the host with that address may use
 * it. */
static bool may_have_id(const struct join *j, int64_t cloud_id)
{
    char own[ADDRESS_TEXT_SIZE];

    if (cert_check_agent_id(j->asked_id))
        return false;
    snprintf(own, sizeof(own), "%lld:%s", (long long)cloud_id, j->ip);
    return !strchr(j->asked_id, ':') || !strcmp(j->asked_id, own);
}

static const char *make_id(struct arena *arena)
{
    unsigned char bytes[ID_BYTES];
    char hex[HEX_SIZE(ID_BYTES)];

    sys_random(bytes, sizeof(bytes));
    hex_write(bytes, sizeof(bytes), hex);
    return arena_printf(arena, "hf-%s", hex);
}

static bool is_key_of(const struct join *j, const struct host_row *host)
{
    return host && !strcmp(host->cert_fingerprint, j->key_id);
}

static const void *first_row(const struct list *l)
{
    return l->n ? l->items : NULL;
}

static const struct refusal not_here = { MESSAGE_JOIN, ERR_CONFLICT, ADDRESS_RETRY_MS };

/* The agent is not told the reason; operators find it in an event. */
static void deny_token(struct peer *p, const struct join *j, int64_t cloud_id)
{
    struct err why;

    (void)join_not_for_token(j->ip, cloud_id, &why);
    peer_deny(p, &not_here, err_msg(&why)); /* not a guess: its token was valid */
}

/* A token holder of another business is not told which host has the address. */
static void deny_address(struct peer *p, const struct join *j, const struct token_row *token,
                         const struct host_row *at)
{
    bool may_know = !token->biz_id || token->biz_id == at->biz_id;
    struct agents *a = p->agents;
    char text[TEXT_SIZE];

    if (may_know)
        msg_printf(text, sizeof(text),
                   "ip: %s in cloud area %lld is taken by host %s (%.*s), whose key is another "
                   "one; if this machine replaces it, remove that host first, else join with "
                   "another address",
                   j->ip, (long long)at->cloud_id, at->agent_id, (int)utf8_cut(at->hostname, 100),
                   at->hostname);
    else
        msg_printf(text, sizeof(text),
                   "ip: %s in cloud area %lld is taken by another host, whose key is another one; "
                   "if this machine replaces it, remove that host first, else join with another "
                   "address",
                   j->ip, (long long)at->cloud_id);
    events_tell(a->events, fleet_find(a->fleet, at->agent_id), EVENT_ADDRESS, text);
    if (may_know)
        peer_deny(p, &not_here, text);
    else
        deny_token(p, j, at->cloud_id);
}

static bool is_elsewhere(const struct join *j)
{
    return strcmp(j->ip, j->from) != 0;
}

static bool check_expected(struct peer *p, const struct join *j, const struct join_look *look)
{
    const struct token_row *token = first_row(&look->token);
    const struct expected_row *expected = first_row(&look->expected);
    enum join_bar bar =
        expected ? join_unexpected(token, expected, is_elsewhere(j)) : JOIN_BAR_NONE;
    char key[ADDRESS_TEXT_SIZE], text[TEXT_SIZE];

    if (bar == JOIN_BAR_NONE)
        return true;
    snprintf(key, sizeof(key), "%lld:%s", (long long)expected->cloud_id, expected->ip);
    if (bar == JOIN_BAR_BUSINESS)
        msg_printf(text, sizeof(text),
                   "ip: %s in cloud area %lld is expected in another business than the join token "
                   "is for",
                   j->ip, (long long)expected->cloud_id);
    else
        msg_printf(text, sizeof(text),
                   "ip: %s in cloud area %lld is expected there, and the agent connects from "
                   "another address; if it comes through a relay, make its token with --relay",
                   j->ip, (long long)expected->cloud_id);
    events_tell_at(p->agents->events, key, EVENT_REFUSED, text);
    deny_token(p, j, expected->cloud_id);
    return false;
}

/* This is normal behind a relay or NAT; otherwise the agent may claim to be another host. */
static void report_elsewhere(struct agents *a, const struct join *j, const struct host_row *host)
{
    char text[256];

    if (!j->reports_elsewhere || !j->from[0])
        return;
    msg_printf(text, sizeof(text), "joined as %s, but from %s", j->ip, j->from);
    events_tell(a->events, fleet_find(a->fleet, host->agent_id), EVENT_ELSEWHERE, text);
}

/* Checks what the first call found; on false the peer is denied. *ret_known is the host that it
 * already is, or NULL for a new one. */
static bool check_look(struct peer *p, const struct join *j, const struct join_look *look,
                       const struct host_row **ret_known)
{
    const struct token_row *token = first_row(&look->token);
    const struct host_row *at = first_row(&look->at), *named = first_row(&look->named);
    const char *bad = NULL;

    *ret_known = is_key_of(j, at) ? at : is_key_of(j, named) ? named : NULL;
    if (!token)
        bad = MSG("the join token is not known: make a new one");
    else if (token->expires_ms <= agents_wall_ms(p->agents))
        bad = MSG("the join token has expired: make a new one");
    else if (token->revoked_ms)
        bad = MSG("the join token was revoked: make a new one");
    else if (token->uses_left <= 0 && !is_key_of(j, at))
        bad = MSG("the join token is used up: make a new one");
    if (bad) {
        net_note_failure(p->agents, p->net);
        peer_deny(p, &denied, bad);
        return false;
    }
    if (at && !is_key_of(j, at)) {
        deny_address(p, j, token, at);
        return false;
    }
    return at || check_expected(p, j, look);
}

/* ---- the certificate ---- */

static int sign_agent(struct agents *a, const char *request, const char *agent_id,
                      struct arena *arena, const char **ret_pem, struct cert_facts *ret,
                      struct err *err)
{
    struct buf pem = { 0 };
    int bad = ca_sign_agent(a->ca, request, agent_id, AGENT_DAYS, agents_wall_ms(a), &pem, err) ||
              cert_read(buf_text(&pem), ret, err);

    if (!bad)
        *ret_pem = arena_strdup(arena, buf_text(&pem));
    buf_free(&pem);
    return bad ? -1 : 0;
}

static void send_joined(struct peer *p, const struct host_row *host, const char *cert)
{
    conn_send(p->conn, MESSAGE_JOINED, &message_joined_shape,
              &(struct message_joined){ .agent_id = host->agent_id,
                                        .cert = cert,
                                        .ca = ca_cert(p->agents->ca),
                                        .cloud_id = host->cloud_id,
                                        .biz_id = host->biz_id,
                                        .ip = host->ip });
}

/* ---- the second call ---- */

/* The host is stored even if its agent is gone by now. */
static void agents_join_on_stored(struct agents *a, struct peer *p, struct store_call *c,
                                  void *data)
{
    const struct join *j = data;
    const struct host_row *host = c->failed ? NULL : join_stored(c);

    if (host) {
        fleet_put_host(a->fleet, host);
        if (a->heartbeat)
            heartbeat_on_joined(a->heartbeat, host->agent_id);
        a->counters.joined++;
        report_elsewhere(a, j, host);
        LOG(a->log, LOG_INFO, "an agent has joined", log_str("agent", host->agent_id),
            log_int("cloud_id", host->cloud_id), log_str("ip", host->ip),
            log_str("hostname", host->hostname), log_int("biz_id", host->biz_id));
    }
    if (!p)
        return;
    if (host) {
        send_joined(p, host, j->cert);
        peer_close(p);
    } else if (c->err.code == ERR_DENIED) {
        peer_deny(p, &denied, err_msg(&c->err));
    } else if (c->err.code == ERR_CONFLICT || c->err.code == ERR_NOT_FOUND) {
        /* Another join was faster: a new attempt finds another state. */
        peer_deny(p, &(struct refusal){ MESSAGE_JOIN, ERR_CONFLICT, retry_soon_ms() },
                  err_msg(&c->err));
    } else {
        deny_later(p, MESSAGE_JOIN, &c->err);
    }
}

/* Copies everything, because the first call is freed. */
static struct join *copy_join(const struct join *j, struct arena *arena)
{
    struct join *to = arena_alloc(arena, sizeof(*to));

    *to = *j;
    to->request = arena_strdup(arena, j->request);
    to->asked_id = arena_strdup(arena, j->asked_id);
    to->hostname = arena_strdup(arena, j->hostname);
    to->version = arena_strdup(arena, j->version);
    return to;
}

static void fill_host(struct join *j, const struct join_look *look, const struct host_row *known,
                      int64_t now_ms, struct arena *arena)
{
    const struct token_row *token = first_row(&look->token);
    bool is_free = look->named.n == 0 && may_have_id(j, token->cloud_id);

    j->host = (struct host_row){ .cloud_id = token->cloud_id,
                                 .ip = j->ip,
                                 .biz_id = token->biz_id,
                                 .hostname = j->hostname,
                                 .version = j->version,
                                 .cert_fingerprint = j->key_id,
                                 .joined_ms = known ? known->joined_ms : now_ms };
    j->host.agent_id = known     ? arena_strdup(arena, known->agent_id)
                       : is_free ? j->asked_id
                                 : make_id(arena);
}

static void agents_join_on_looked(struct agents *a, struct peer *p, struct store_call *c,
                                  void *data)
{
    const struct join_look *look = c->out;
    const struct host_row *known;
    struct store_call *next;
    struct join_ask *ask;
    struct cert_facts cert;
    struct err err = { 0 };
    struct join *j;

    if (!p)
        return;
    if (c->failed) {
        deny_later(p, MESSAGE_JOIN, &c->err);
        return;
    }
    if (!check_look(p, data, look, &known))
        return;
    next = ask_new(a, p, &store_join, agents_join_on_stored);
    j = copy_join(data, &next->arena);
    ask_set_data(next, j);
    fill_host(j, look, known, agents_wall_ms(a), &next->arena);
    if (sign_agent(a, j->request, j->host.agent_id, &next->arena, &j->cert, &cert, &err)) {
        store_call_free(next);
        deny_later(p, MESSAGE_JOIN, &err);
        return;
    }
    j->host.cert_serial = arena_strdup(&next->arena, cert.serial);
    ask = arena_alloc(&next->arena, sizeof(*ask));
    j->reports_elsewhere =
        is_elsewhere(j) && !((const struct token_row *)first_row(&look->token))->relay;
    *ask =
        (struct join_ask){ look->at.n ? "" : j->hash, agents_wall_ms(a), j->host, is_elsewhere(j) };
    next->in = ask;
    if (ask_submit(next, &err))
        deny_later(p, MESSAGE_JOIN, &err);
}

/* ---- the first call ---- */

static bool check_may_join(struct peer *p, const struct message_join *m)
{
    const struct refusal later = { MESSAGE_JOIN, ERR_LIMIT, 10 * 1000 + retry_soon_ms() };

    if (!version_check(p, MESSAGE_JOIN, m->version_min, m->version_max))
        return false;
    if (p->has_cert)
        peer_deny(p, &invalid,
                  MSG("an agent with a certificate says hello; it can not join again"));
    else if (net_check_blocked(p->agents, p->net))
        peer_deny(p, &later,
                  MSG("too many attempts to join failed from this network; it must wait"));
    else
        return true;
    return false;
}

void join_on_message(struct peer *p, const struct message_join *m)
{
    struct store_call *c;
    struct join_look_ask *ask;
    struct err err = { 0 };
    struct join *j;

    if (!check_may_join(p, m))
        return;
    c = ask_new(p->agents, p, &store_join_look, agents_join_on_looked);
    j = arena_alloc(&c->arena, sizeof(*j));
    ask_set_data(c, j);
    if (read_join(p, m, j, &c->arena, &err)) {
        store_call_free(c);
        net_note_failure(p->agents, p->net);
        peer_deny(p, &invalid, err_msg(&err));
        return;
    }
    ask = arena_alloc(&c->arena, sizeof(*ask));
    *ask = (struct join_look_ask){ j->hash, j->ip, j->asked_id };
    c->in = ask;
    p->stage = PEER_JOINING;
    if (ask_submit(c, &err))
        deny_later(p, MESSAGE_JOIN, &err);
}

/* ---- renewal ---- */

struct renewal {
    const char *cert;
};

static void on_renewed(struct agents *a, struct peer *p, struct store_call *c, void *data)
{
    const struct renewal *r = data;

    if (!p)
        return; /* the agent asks again */
    if (c->failed) {
        LOG(a->log, LOG_ERROR, "a renewed certificate is not stored",
            log_str("agent", p->cert.agent_id), log_err(&c->err));
        peer_refuse(p, &(struct refusal){ MESSAGE_RENEW, ERR_UNAVAILABLE, retry_soon_ms() },
                    MSG("the server can not store this now; ask again"));
        return;
    }
    LOG(a->log, LOG_INFO, "a certificate was renewed", log_str("agent", p->cert.agent_id));
    send_joined(p, join_stored(c), r->cert);
}

void join_host_row(const struct fleet_host *h, const char *serial, struct arena *arena,
                   struct host_row *ret)
{
    *ret = (struct host_row){ .agent_id = arena_strdup(arena, h->agent_id),
                              .cloud_id = h->cloud_id,
                              .ip = arena_strdup(arena, h->ip),
                              .biz_id = h->biz_id,
                              .hostname = arena_strdup(arena, h->hostname),
                              .version = arena_strdup(arena, h->version),
                              .cert_serial = arena_strdup(arena, serial),
                              .cert_fingerprint = arena_strdup(arena, h->cert_fingerprint),
                              .joined_ms = h->joined_ms };
}

static int check_renewal(const struct peer *p, const struct message_renew *m,
                         const struct fleet_host *host, struct err *err)
{
    char key_id[DIGEST_TEXT_SIZE];

    if (p->ask)
        return err_set(err, ERR_CONFLICT, "the request before has no answer yet");
    if (!host)
        return err_set(err, ERR_DENIED, "this host is not known any more");
    if (read_key_id(m->request, key_id, err))
        return -1;
    if (strcmp(key_id, p->cert.key_id) != 0)
        return err_set(err, ERR_DENIED,
                       "request: another key; a certificate is renewed for the key it has");
    return 0;
}

/* The old certificate stays valid until it expires: both are for the key of the host. */
void join_on_renew(struct peer *p, const struct message_renew *m)
{
    struct agents *a = p->agents;
    const struct fleet_host *host = fleet_find(a->fleet, p->cert.agent_id);
    struct store_call *c = ask_new(a, p, &store_join, on_renewed);
    struct renewal *r = arena_alloc(&c->arena, sizeof(*r));
    struct join_ask *ask = arena_alloc(&c->arena, sizeof(*ask));
    struct cert_facts cert;
    struct err err = { 0 };

    ask_set_data(c, r);
    if (check_renewal(p, m, host, &err) ||
        sign_agent(a, m->request, p->cert.agent_id, &c->arena, &r->cert, &cert, &err)) {
        store_call_free(c);
        peer_refuse(p, &(struct refusal){ MESSAGE_RENEW, err.code, retry_soon_ms() },
                    err_msg(&err));
        return;
    }
    ask->hash = "";
    ask->now_ms = agents_wall_ms(a);
    join_host_row(host, cert.serial, &c->arena, &ask->host);
    c->in = ask;
    if (ask_submit(c, &err))
        peer_refuse(p, &(struct refusal){ MESSAGE_RENEW, err.code, retry_soon_ms() },
                    err_msg(&err));
}
