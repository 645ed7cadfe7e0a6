/* SPDX-License-Identifier: MIT */
/* client.c - see client.h.
 *
 * An attempt goes through the states in their order, and falls back to WAITING from
 * any of them; the table `states` says who is called in which.  One timer is enough,
 * because each state waits for one thing.  Whatever calls the owner does so last, for
 * the client may be gone after it. */
#include "link/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sys.h"
#include "link/identity.h"
#include "link/lookup.h"
#include "link/rota.h"
#include "link/token.h"
#include "wire/ca.h"

enum {
    ANSWER_MS = 10 * 1000, /* for a look-up, a hello, a join; connecting has its own as long */
    RENEW_AGAIN_MS = 3600 * 1000, /* if it was not answered, or refused */
    PING_MIN_MS = 100,
    PING_MAX_MS = 10 * 60 * 1000,
    PINGS_MISSED = 3,
    CODE_MAX = 65535,
    SYNS_AGAIN = 3, /* who is gone is given up after 15 s; who lets us stand in line has answered */
};

enum state {
    WAITING, /* for the next attempt */
    LOOKING, /* for the server's address */
    CONNECTING,
    JOINING,  /* join is sent */
    GREETING, /* hello is sent */
    UP,
    STATES
};

struct client {
    struct loop *loop;
    struct client_owner owner;
    void *arg;
    struct rota rota;
    char *ip, *asked_id;
    bool has_token;
    struct token token;

    struct identity *identity;
    struct tls *tls; /* NULL: to be made from the identity */
    struct lookup *lookup;
    struct conn *conn;
    bool joins;                       /* what this attempt is for */
    char local_ip[ADDRESS_TEXT_SIZE]; /* of our end of the connection */
    enum state state;
    struct timer timer;
    int64_t silence_ms; /* UP: how long the server may be silent */
    int64_t renew_ms;   /* not asked before this */
    struct err said;    /* the last message was this error; code 0: it was not one */
};

static int64_t wall_ms(const struct client *c)
{
    return clock_wall_ms(loop_clock(c->loop));
}

/* ---- down ---- */

static void hang_up(struct client *c)
{
    lookup_free(c->lookup);
    c->lookup = NULL;
    if (c->conn) {
        conn_end(c->conn); /* the goodbye, as far as the socket takes it */
        conn_free(c->conn);
    }
    c->conn = NULL;
}

/* Ends what there is.  A server that a session was lost to is tried again first, for it
 * knows us; one that gave none is not. */
static void fall_back(struct client *c, const struct err *why, int64_t again_ms)
{
    struct err err = *why;

    err_wrap(&err, "server %s", rota_server(&c->rota));
    hang_up(c);
    if (c->state != UP)
        rota_next(&c->rota);
    c->state = WAITING;
    timer_set(c->loop, &c->timer, again_ms);
    c->owner.on_down(c->arg, &err, again_ms);
}

static void fail(struct client *c, const struct err *why)
{
    fall_back(c, why, rota_fail(&c->rota));
}

static void fail_text(struct client *c, int code, const char *text)
{
    struct err err = { 0 };

    err_set(&err, code, "%s", text);
    fail(c, &err);
}

/* The server's words as an error of ours. */
static void read_error(const struct message_error *e, struct err *ret)
{
    int code = e->code > 0 && e->code <= CODE_MAX ? (int)e->code : ERR_DENIED;

    err_set(ret, code, "refused: %s", e->text);
}

/* "Never" is what a server with a wrong clock, or one that was not yet upgraded, says to its
 * whole fleet; so it is asked again, but seldom. */
static void refused(struct client *c, const struct message_error *e)
{
    struct err err = { 0 };

    read_error(e, &err);
    if (c->state == UP && e->retry_ms > 0)
        rota_next(&c->rota); /* it is going; another may be there */
    if (e->retry_ms == 0)
        fail(c, &err);
    else
        fall_back(c, &err, rota_told(e->retry_ms < 0 ? CLIENT_UNWANTED_MS : e->retry_ms));
}

static void unexpected(struct client *c, unsigned type)
{
    struct err err = { 0 };

    err_set(&err, ERR_CONFLICT, "it said %s, which is no answer here", message_name(type));
    fail(c, &err);
}

static void unanswered(struct client *c)
{
    fail_text(c, ERR_TIMEOUT,
              c->state == LOOKING   ? "its name was not found within 10 s"
              : c->state == JOINING ? "the join was not answered within 10 s"
                                    : "the hello was not answered within 10 s");
}

/* ---- the way up ---- */

/* Without a certificate there is only the token; with one that is over it is the last
 * chance. */
static bool must_join(const struct client *c)
{
    return !identity_has_cert(c->identity) ||
           (c->has_token && identity_is_over(c->identity, wall_ms(c)));
}

static void fill_hello(struct client *c, struct message_hello *hello)
{
    shape_defaults(&message_hello_shape, hello);
    hello->agent_ms = clock_mono_ms(loop_clock(c->loop));
    c->owner.fill_hello(c->arg, hello);
    hello->version_min = LINK_VERSION;
    hello->version_max = LINK_VERSION;
    hello->agent_id = identity_agent_id(c->identity);
}

static void send_join(struct client *c)
{
    const char *old_id = identity_agent_id(c->identity);
    struct buf request = { 0 };
    struct message_hello hello;

    fill_hello(c, &hello);
    identity_request(c->identity, &request);
    const struct message_join join = {
        .version_min = LINK_VERSION,
        .version_max = LINK_VERSION,
        .secret = c->token.secret,
        .request = buf_text(&request),
        .ip = *c->ip ? c->ip : c->local_ip,
        .agent_id = *old_id ? old_id : c->asked_id,
        .hostname = hello.hostname,
        .agent_version = hello.agent_version,
    };
    conn_send(c->conn, MESSAGE_JOIN, &message_join_shape, &join);
    buf_free(&request);
}

static void on_ready(void *arg)
{
    struct client *c = arg;
    struct message_hello hello;

    timer_set(c->loop, &c->timer, ANSWER_MS);
    if (c->joins) {
        c->state = JOINING;
        send_join(c);
        return;
    }
    c->state = GREETING;
    fill_hello(c, &hello);
    conn_send(c->conn, MESSAGE_HELLO, &message_hello_shape, &hello);
}

/* Now that there is something to connect with, it is done in the next turn; this
 * connection ends there, where its goodbye can be said. */
static void on_joined(struct client *c, const struct message_joined *joined)
{
    struct err err = { 0 };

    if (identity_take(c->identity, joined, c->token.ca, &err)) {
        fail(c, &err);
        return;
    }
    tls_free(c->tls);
    c->tls = NULL;
    rota_forgive(&c->rota);
    c->state = WAITING;
    timer_set(c->loop, &c->timer, 0);
    if (c->owner.on_joined)
        c->owner.on_joined(c->arg, identity_agent_id(c->identity));
}

static void answer_to_join(struct client *c, unsigned type, const void *message)
{
    if (type == MESSAGE_JOINED)
        on_joined(c, message);
    else if (type == MESSAGE_ERROR)
        refused(c, message);
    else
        unexpected(c, type);
}

/* ---- up ---- */

static void renew_if_due(struct client *c)
{
    struct buf request = { 0 };
    struct message_renew renew;

    if (loop_now_ms(c->loop) < c->renew_ms || !identity_is_due(c->identity, wall_ms(c)))
        return;
    c->renew_ms = loop_now_ms(c->loop) + RENEW_AGAIN_MS;
    identity_request(c->identity, &request);
    renew.request = buf_text(&request);
    conn_send(c->conn, MESSAGE_RENEW, &message_renew_shape, &renew);
    buf_free(&request);
}

static void on_welcome(struct client *c, const struct message_welcome *w)
{
    int64_t ping_ms = w->ping_ms;

    if (w->version != LINK_VERSION) {
        fail_text(c, ERR_CONFLICT, "it speaks a version of the protocol that was not offered");
        return;
    }
    ping_ms = ping_ms < PING_MIN_MS ? PING_MIN_MS : ping_ms;
    ping_ms = ping_ms > PING_MAX_MS ? PING_MAX_MS : ping_ms;
    c->silence_ms = PINGS_MISSED * ping_ms;
    c->state = UP;
    timer_set(c->loop, &c->timer, c->silence_ms);
    renew_if_due(c);
    c->owner.on_up(c->arg, w);
}

static void answer_to_hello(struct client *c, unsigned type, const void *message)
{
    if (type == MESSAGE_WELCOME)
        on_welcome(c, message);
    else if (type == MESSAGE_ERROR)
        refused(c, message);
    else
        unexpected(c, type);
}

/* The old certificate is good for a while yet, so a bad answer ends nothing: it is
 * asked for again later. */
static void on_renewed(struct client *c, const struct message_joined *joined)
{
    struct err err = { 0 };

    if (identity_take(c->identity, joined, NULL, &err)) {
        conn_refuse(c->conn, MESSAGE_JOINED, err.code, 0, err.text);
        return;
    }
    tls_free(c->tls); /* the open connection keeps it as long as it needs it */
    c->tls = NULL;
}

/* About the session as a whole, or about one message in it? */
static bool is_about_session(const struct message_error *e)
{
    return e->type == 0 || e->type == MESSAGE_HELLO;
}

static void session_message(struct client *c, unsigned type, const void *message)
{
    c->said.code = 0;
    if (type == MESSAGE_JOINED) {
        on_renewed(c, message);
        return;
    }
    if (type == MESSAGE_PING) {
        rota_forgive(&c->rota);
        renew_if_due(c);
    }
    if (type == MESSAGE_ERROR && is_about_session(message)) {
        refused(c, message);
        return;
    }
    if (type == MESSAGE_ERROR)
        read_error(message, &c->said);
    c->owner.on_message(c->arg, type, message);
}

static void check_silence(struct client *c)
{
    int64_t left_ms = conn_heard_ms(c->conn) + c->silence_ms - loop_now_ms(c->loop);
    struct err err = { 0 };

    if (left_ms > 0) {
        timer_set(c->loop, &c->timer, left_ms);
        return;
    }
    err_set(&err, ERR_TIMEOUT, "silent for %lld ms", (long long)c->silence_ms);
    fail(c, &err);
}

/* ---- connecting ---- */

static void on_message(void *arg, unsigned type, const void *message);
static void on_end(void *arg, const struct err *why);

static const struct conn_owner conn_owner = {
    .on_ready = on_ready,
    .on_message = on_message,
    .on_end = on_end,
};

/* The pinned one is for joining alone: it believes the server, and nothing is known yet
 * that the server could believe. */
static int make_tls(struct client *c, struct err *err)
{
    const struct tls_config pinned = { .ca_pin = c->token.ca, .only_1_3 = true };

    c->joins = must_join(c);
    if (c->joins) {
        tls_free(c->tls);
        c->tls = NULL;
        return tls_client_new(&pinned, &c->tls, err);
    }
    return c->tls ? 0 : identity_tls(c->identity, &c->tls, err);
}

/* Known as soon as connecting has begun.  What has none (a unix socket) leaves the
 * server to see where we come from. */
static void find_local_ip(struct client *c, int fd)
{
    struct address a = { .len = sizeof(a.u) };

    c->local_ip[0] = '\0';
    if (sys_getsockname(fd, &a.u.any, &a.len) == 0 && a.u.any.sa_family != AF_UNIX)
        address_print_host(&a, c->local_ip);
}

static int open_socket(const struct address *to, int *ret_fd, struct err *err)
{
    int fd = sys_socket(to->u.any.sa_family, SOCK_STREAM, 0);

    if (fd < 0)
        return err_sys(err, "socket");
    (void)sys_setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, SYNS_AGAIN); /* a unix socket has none */
    if (sys_connect(fd, &to->u.any, to->len) && errno != EINPROGRESS) {
        err_sys(err, "connect");
        sys_close(fd);
        return -1;
    }
    *ret_fd = fd;
    return 0;
}

static int dial(struct client *c, const struct address *to, struct err *err)
{
    int fd = -1;

    if (make_tls(c, err) || open_socket(to, &fd, err))
        return -1;
    find_local_ip(c, fd);
    if (conn_new(c->loop, fd, c->tls, CA_SERVER_NAME, &conn_owner, c, &c->conn, err)) {
        sys_close(fd);
        return -1;
    }
    c->said.code = 0;
    c->state = CONNECTING;
    timer_stop(c->loop, &c->timer); /* the conn has its own */
    return 0;
}

static void on_found(void *arg, const struct address *found, size_t n, const struct err *why)
{
    struct client *c = arg;
    struct err err = { 0 };

    if (why) {
        fail(c, why);
        return;
    }
    if (dial(c, &found[rota_place(&c->rota, n)], &err)) {
        fail(c, &err);
        return;
    }
    lookup_free(c->lookup);
    c->lookup = NULL;
}

static void attempt(struct client *c)
{
    struct err err = { 0 };

    hang_up(c); /* the join's, if it has just ended */
    c->state = LOOKING;
    timer_set(c->loop, &c->timer, ANSWER_MS);
    if (lookup_new(c->loop, rota_server(&c->rota), on_found, c, &c->lookup, &err))
        fail(c, &err);
}

/* ---- what the loop tells ---- */

static const struct {
    void (*timer)(struct client *c);
    void (*message)(struct client *c, unsigned type, const void *message);
} states[STATES] = {
    /* clang-format off */
    [WAITING]    = { attempt,       NULL },
    [LOOKING]    = { unanswered,    NULL },
    [CONNECTING] = { NULL,          NULL },
    [JOINING]    = { unanswered,    answer_to_join },
    [GREETING]   = { unanswered,    answer_to_hello },
    [UP]         = { check_silence, session_message },
    /* clang-format on */
};

static void on_timer(void *arg)
{
    struct client *c = arg;

    if (states[c->state].timer)
        states[c->state].timer(c);
}

static void on_message(void *arg, unsigned type, const void *message)
{
    struct client *c = arg;

    if (states[c->state].message)
        states[c->state].message(c, type, message);
}

/* A server that says what is wrong and then ends has said why it ended. */
static void on_end(void *arg, const struct err *why)
{
    struct client *c = arg;

    if (c->state == WAITING)
        hang_up(c); /* the join's */
    else if (c->said.code)
        fail(c, &c->said);
    else if (why)
        fail(c, why);
    else
        fail_text(c, ERR_UNAVAILABLE, "it has ended the connection");
}

/* ---- settings ---- */

/* One that is not needed may be spoilt, or for another server by now. */
static int read_token(struct client *c, const char *text, struct err *err)
{
    struct err why = { 0 };

    c->has_token = *text && token_read(text, &c->token, &why) == 0;
    if (c->has_token || identity_has_cert(c->identity))
        return 0;
    if (*text) {
        *err = why;
        return -1;
    }
    return err_set(err, ERR_INVALID,
                   "no certificate yet and no join token: make one with 'holdfast token create'");
}

int client_new(struct loop *loop, const struct client_settings *s, const struct client_owner *owner,
               void *arg, struct client **ret, struct err *err)
{
    struct client *c = xalloc(sizeof(*c));

    *c = (struct client){ .loop = loop, .owner = *owner, .arg = arg };
    c->ip = xstrdup(s->ip ? s->ip : "");
    c->asked_id = xstrdup(s->agent_id ? s->agent_id : "");
    timer_init(&c->timer, on_timer, c);
    if (rota_init(&c->rota, s->servers, err) || identity_open(s->dir, &c->identity, err) ||
        read_token(c, s->token ? s->token : "", err)) {
        client_free(c);
        return -1;
    }
    timer_set(loop, &c->timer, 0);
    *ret = c;
    return 0;
}

/* Who was told to wait was told so by a server that need not be among them any more. */
int client_set_servers(struct client *c, const char *const *servers, struct err *err)
{
    struct err why = { 0 };
    bool is_there;

    err_set(&why, ERR_UNAVAILABLE, "server %s is no longer in the settings", rota_server(&c->rota));
    if (rota_set(&c->rota, servers, &is_there, err))
        return -1;
    if (is_there)
        return 0;
    hang_up(c);
    rota_forgive(&c->rota);
    c->state = WAITING;
    timer_set(c->loop, &c->timer, 0);
    c->owner.on_down(c->arg, &why, 0);
    return 0;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    hang_up(c);
    timer_stop(c->loop, &c->timer);
    tls_free(c->tls);
    identity_free(c->identity);
    rota_done(&c->rota);
    free(c->ip);
    free(c->asked_id);
    explicit_bzero(&c->token, sizeof(c->token));
    free(c);
}

const char *client_agent_id(const struct client *c)
{
    return identity_agent_id(c->identity);
}

bool client_is_up(const struct client *c)
{
    return c->state == UP;
}

void client_send(struct client *c, unsigned type, const struct shape *s, const void *message)
{
    if (c->state == UP)
        conn_send(c->conn, type, s, message);
}

void client_drop(struct client *c)
{
    if (c->state == UP)
        fail_text(c, ERR_UNAVAILABLE, "the session was dropped on purpose");
}

void client_pause(struct client *c)
{
    if (c->conn)
        conn_pause(c->conn);
}
