/* SPDX-License-Identifier: MIT */
/* link_world.h - a client and a scripted server over loopback, in one loop; each has its folder,
 * and both record what they receive. */
#ifndef TESTS_UNIT_LINK_WORLD_H
#define TESTS_UNIT_LINK_WORLD_H

#include <errno.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/client.h"
#include "link/message.h"
#include "link/token.h"
#include "tests/lib/folder.h"
#include "tests/lib/rig.h"
#include "wire/net/listen.h"
#include "wire/tls/ca.h"

enum answer {
    ANSWER_WELL,
    ANSWER_NOT,
    ANSWER_ERROR,   /* with retry_ms */
    ANSWER_ODDLY,   /* with an unexpected message */
    ANSWER_WRONG,   /* join: certificate for another key; hello: another version */
    ANSWER_HANG_UP, /* closes in order */
};

enum deed_at { FREE_NEVER, FREE_IN_UP, FREE_IN_MESSAGE, FREE_IN_DOWN, FREE_IN_JOINED };

struct peer {
    struct link_world *w;
    struct conn *c; /* NULL: freed */
    struct peer *next;
};

struct link_world {
    struct rig rig;
    struct folder dir, ca_dir;
    struct ca *ca;

    /* the server */
    struct tls *tls;
    struct listener *listener;
    char at[ADDRESS_TEXT_SIZE];
    struct peer *peers; /* newest first */
    int accepts, readies, joins, hellos, renews, pongs, errors;
    enum answer on_join, on_hello, on_renew;
    int64_t retry_ms, ping_ms;
    int days; /* lifetime of its certificates */
    char secret[64], join_ip[64], join_id[80], hostname[64], hello_id[80];
    struct cert_facts shown; /* certificate of the last hello */

    /* the client */
    struct client *client;
    char token[TOKEN_TEXT_SIZE];
    struct token plain;
    const char *servers[4];
    struct client_settings settings;
    int ups, downs, messages, joined;
    unsigned last_type;
    int64_t last_ping_ms, again_ms;
    char joined_id[80];
    struct err why;
    enum deed_at free_at;
};

/* ---- the server ---- */

static inline void world_sign(struct link_world *w, struct conn *c, const char *request,
                              const char *agent_id, enum answer how)
{
    struct buf cert = { 0 }, other = { 0 };
    struct cert_key *key = cert_key_new();
    struct err err = { 0 };
    struct message_joined joined = { .agent_id = agent_id, .ca = ca_cert(w->ca), .ip = "" };

    cert_request_write(key, &other);
    if (ca_sign_agent(w->ca, how == ANSWER_WRONG ? buf_text(&other) : request, agent_id, w->days,
                      w->rig.clock.wall, &cert, &err))
        fail_msg("%s", err.text);
    joined.cert = buf_text(&cert);
    conn_send(c, MESSAGE_JOINED, &message_joined_shape, &joined);
    cert_key_free(key);
    buf_free(&cert);
    buf_free(&other);
}

static inline void world_ping(struct link_world *w)
{
    const struct message_ping ping = { w->rig.clock.mono, 0 };

    conn_send(w->peers->c, MESSAGE_PING, &message_ping_shape, &ping);
}

static inline void peer_on_join(struct peer *p, const struct message_join *m)
{
    struct link_world *w = p->w;

    w->joins++;
    snprintf(w->secret, sizeof(w->secret), "%s", m->secret);
    snprintf(w->join_ip, sizeof(w->join_ip), "%s", m->ip);
    snprintf(w->join_id, sizeof(w->join_id), "%s", m->agent_id);
    snprintf(w->hostname, sizeof(w->hostname), "%s", m->hostname);
    if (w->on_join == ANSWER_WELL || w->on_join == ANSWER_WRONG)
        world_sign(w, p->c, m->request, *m->agent_id ? m->agent_id : "made-1", w->on_join);
    else if (w->on_join == ANSWER_ERROR)
        conn_refuse(p->c, MESSAGE_JOIN, ERR_DENIED, w->retry_ms, "this token is not good");
}

static inline void world_welcome(struct link_world *w, struct conn *c, int64_t version)
{
    const struct message_welcome welcome = { version, 7, w->ping_ms, 0, w->rig.clock.mono, true };

    conn_send(c, MESSAGE_WELCOME, &message_welcome_shape, &welcome);
}

static inline void peer_on_hello(struct peer *p, const struct message_hello *m)
{
    struct link_world *w = p->w;
    struct err err = { 0 };

    w->hellos++;
    snprintf(w->hello_id, sizeof(w->hello_id), "%s", m->agent_id);
    assert_int_equal(m->version_min, LINK_VERSION);
    assert_int_equal(m->version_max, LINK_VERSION);
    assert_string_equal(m->boot_id, "boot");
    if (conn_peer(p->c, &w->shown, &err))
        fail_msg("%s", err.text);
    if (w->on_hello == ANSWER_WELL || w->on_hello == ANSWER_WRONG)
        world_welcome(w, p->c, w->on_hello == ANSWER_WELL ? LINK_VERSION : LINK_VERSION + 1);
    else if (w->on_hello == ANSWER_ERROR)
        conn_refuse(p->c, MESSAGE_HELLO, ERR_CONFLICT, w->retry_ms, "come later");
}

static inline void peer_on_renew(struct peer *p, const struct message_renew *m)
{
    struct link_world *w = p->w;

    w->renews++;
    if (w->on_renew == ANSWER_ERROR)
        conn_refuse(p->c, MESSAGE_RENEW, ERR_DENIED, 0, "not now");
    else if (w->on_renew != ANSWER_NOT)
        world_sign(w, p->c, m->request, w->hello_id, w->on_renew);
}

static inline void peer_on_message(void *arg, unsigned type, const void *message)
{
    struct peer *p = arg;
    enum answer how = type == MESSAGE_JOIN ? p->w->on_join : p->w->on_hello;

    if (type == MESSAGE_JOIN)
        peer_on_join(p, message);
    else if (type == MESSAGE_HELLO)
        peer_on_hello(p, message);
    else if (type == MESSAGE_RENEW)
        peer_on_renew(p, message);
    else if (type == MESSAGE_PONG)
        p->w->pongs++;
    else if (type == MESSAGE_ERROR)
        p->w->errors++;
    if (type != MESSAGE_JOIN && type != MESSAGE_HELLO)
        return;
    if (how == ANSWER_ODDLY)
        conn_send(p->c, MESSAGE_PING, &message_ping_shape, &(struct message_ping){ 0 });
    if (how == ANSWER_HANG_UP) {
        conn_end(p->c);
        p->c = NULL;
    }
}

static inline void peer_on_ready(void *arg)
{
    ((struct peer *)arg)->w->readies++;
}

static inline void peer_on_end(void *arg, const struct err *why)
{
    struct peer *p = arg;

    (void)why;
    conn_free(p->c);
    p->c = NULL;
}

static const struct conn_owner peer_owner = { peer_on_ready, peer_on_message, peer_on_end, NULL };

static inline void world_on_accept(void *arg, int fd, const struct address *from)
{
    struct link_world *w = arg;
    struct peer *p = xalloc(sizeof(*p));
    struct err err = { 0 };

    (void)from;
    w->accepts++;
    *p = (struct peer){ .w = w, .next = w->peers };
    if (conn_new(w->rig.loop, fd, w->tls, NULL, &peer_owner, p, &p->c, &err)) {
        close(fd);
        free(p);
        return;
    }
    w->peers = p;
}

static inline void world_on_trouble(void *arg, const struct err *err)
{
    (void)arg;
    (void)err;
}

static const struct listener_owner world_listener = { world_on_accept, world_on_trouble };

/* Listens with a certificate of `ca`; if called again, at the same address. */
static inline void world_listen(struct link_world *w, const struct ca *ca)
{
    static const char *const no_names[] = { NULL };
    struct buf own = { 0 };
    struct tls_config config = { .ca_pem = ca_cert(ca),
                                 .only_1_3 = true,
                                 .client_cert_optional = true };
    struct address at;
    struct err err = { 0 };

    if (ca_issue_server(ca, no_names, 1, w->rig.clock.wall, &own, &err))
        fail_msg("%s", err.text);
    config.own_pem = buf_text(&own);
    if (tls_server_new(&config, &w->tls, &err) ||
        address_parse(*w->at ? w->at : "127.0.0.1:0", &at, &err) ||
        listener_new(w->rig.loop, &at, &world_listener, w, &w->listener, &err))
        fail_msg("%s", err.text);
    listener_address(w->listener, &at);
    address_print(&at, w->at);
    buf_free(&own);
}

static inline void world_drop_peers(struct link_world *w)
{
    while (w->peers) {
        struct peer *p = w->peers;

        w->peers = p->next;
        conn_free(p->c);
        free(p);
    }
}

static inline void world_deaf(struct link_world *w)
{
    listener_free(w->listener);
    w->listener = NULL;
    world_drop_peers(w);
    tls_free(w->tls);
    w->tls = NULL;
}

/* ---- the client ---- */

static inline void world_do(struct link_world *w, enum deed_at at)
{
    struct client *c = w->client;

    assert_non_null(c); /* no callback after it was freed */
    if (w->free_at != at)
        return;
    w->client = NULL;
    client_free(c);
}

static inline void client_fill_hello(void *arg, struct message_hello *hello)
{
    (void)arg;
    assert_string_equal(hello->digest, ""); /* every field has its default */
    hello->hostname = "host-7";
    hello->boot_id = "boot";
    hello->agent_version = "1.2.3";
}

static inline void client_on_up(void *arg, const struct message_welcome *welcome)
{
    struct link_world *w = arg;

    w->ups++;
    assert_true(client_is_up(w->client));
    assert_int_equal(welcome->epoch, 7);
    assert_true(welcome->wants_processes);
    world_do(w, FREE_IN_UP);
}

/* Answers pings, like an agent. */
static inline void client_on_message(void *arg, unsigned type, const void *message)
{
    struct link_world *w = arg;

    w->messages++;
    w->last_type = type;
    if (type == MESSAGE_PING) {
        w->last_ping_ms = ((const struct message_ping *)message)->server_ms;
        client_send(w->client, MESSAGE_PONG, &message_ping_shape, message);
    }
    world_do(w, FREE_IN_MESSAGE);
}

static inline void client_on_down(void *arg, const struct err *why, int64_t again_ms)
{
    struct link_world *w = arg;

    w->downs++;
    w->why = *why;
    w->again_ms = again_ms;
    assert_false(client_is_up(w->client));
    world_do(w, FREE_IN_DOWN);
}

static inline void client_on_joined(void *arg, const char *agent_id)
{
    struct link_world *w = arg;

    w->joined++;
    snprintf(w->joined_id, sizeof(w->joined_id), "%s", agent_id);
    world_do(w, FREE_IN_JOINED);
}

static const struct client_owner world_client = { client_fill_hello, client_on_up,
                                                  client_on_message, client_on_down,
                                                  client_on_joined };

static inline void world_start(struct link_world *w)
{
    struct err err = { 0 };

    if (!w->servers[0])
        w->servers[0] = w->at;
    if (client_new(w->rig.loop, &w->settings, &world_client, w, &w->client, &err))
        fail_msg("%s", err.text);
    assert_false(client_is_up(w->client));
}

static inline void world_stop(struct link_world *w)
{
    client_free(w->client);
    w->client = NULL;
}

static inline void world_up(struct link_world *w)
{
    world_start(w);
    TURN_UNTIL(&w->rig, w->ups == 1);
}

/* ---- for cmocka ---- */

static inline int world_setup(void **state)
{
    struct link_world *w = xalloc(sizeof(*w));
    struct err err = { 0 };
    bool made;

    rig_init(&w->rig);
    w->rig.clock.wall = clock_wall_ms(&clock_system); /* TLS uses the real clock */
    folder_init(&w->dir);
    folder_init(&w->ca_dir);
    if (ca_open(w->ca_dir.path, w->rig.clock.wall, &made, &w->ca, &err))
        fail_msg("%s", err.text);
    token_new(ca_fingerprint(w->ca), &w->plain);
    token_write(&w->plain, w->token);
    w->settings = (struct client_settings){ w->dir.path, w->servers, w->token, "", "" };
    w->ping_ms = 1000;
    w->days = 30;
    world_listen(w, w->ca);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct link_world *w = *state;

    sys_fault("any", 0, 0);
    client_free(w->client);
    world_deaf(w);
    rig_pass_ms(&w->rig, 10 * 1000); /* ended connections are gone by then */
    rig_pass_ms(&w->rig, 10 * 1000);
    ca_free(w->ca);
    folder_done(&w->dir);
    folder_done(&w->ca_dir);
    rig_done(&w->rig);
    free(w);
    return 0;
}

#endif
