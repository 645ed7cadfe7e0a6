/* SPDX-License-Identifier: MIT */
/* client.c - see client.h.
 *
 * An attempt passes through the states in their order and falls back to WAITING from any of them.
 * The table `states` says which function handles the timer and a message in each state.  One timer
 * is enough because each state waits for one thing.  A function that calls the owner does so last,
 * because the owner may free the client. */
#include "link/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "link/identity.h"
#include "link/lookup.h"
#include "link/server_list.h"
#include "link/token.h"
#include "wire/tls/ca.h"

enum {
    ANSWER_MS =
        10 *
        1000, /* limit of a look-up, a hello and a join; conn.c has the same limit for connecting */
    RENEW_AGAIN_MS = 3600 * 1000, /* after a renewal that was refused or not answered */
    PING_MIN_MS = 100,
    PING_MAX_MS = 10 * 60 * 1000,
    PINGS_MISSED = 3,
    CODE_MAX = 65535,
    SYNS_AGAIN = 3, /* SYN retries: a dead host is given up after 15 s; a host with a full accept
                       queue has answered */
};

enum state {
    WAITING, /* until the next attempt */
    LOOKING, /* looking up the server's address */
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
    struct server_list server_list;
    char *ip, *asked_id;
    bool has_token;
    struct token token;

    struct identity *identity;
    struct tls *tls; /* NULL: not made from the identity yet */
    struct lookup *lookup;
    struct conn *conn;
    bool joins;                       /* this attempt is for a join, not for a session */
    char local_ip[ADDRESS_TEXT_SIZE]; /* of our end of the connection; "": a unix socket */
    enum state state;
    struct timer timer;
    int64_t silence_ms;    /* in state UP: how long the server may be silent */
    int64_t renew_ms;      /* earliest time of the next renewal */
    bool is_unwanted;      /* the last attempt ended with a permanent refusal */
    struct err last_error; /* error that the last message carried; code 0: it was no error */
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
        conn_end(c->conn); /* sends the goodbye as far as the socket accepts it */
        conn_free(c->conn);
    }
    c->conn = NULL;
}

static void end_attempt(struct client *c, const struct err *why, int64_t again_ms)
{
    hang_up(c);
    c->state = WAITING;
    timer_set(c->loop, &c->timer, again_ms);
    c->owner.on_down(c->arg, why, again_ms);
}

/* Ends the attempt or session.  After a lost session the same server is tried first, because it
 * knows this agent; after a failed attempt the next server is. */
static void fail_attempt(struct client *c, const struct err *why)
{
    struct err err = *why;

    err_wrap(&err, "server %s", server_list_server(&c->server_list));
    if (c->state != UP)
        server_list_next(&c->server_list, loop_now_ms(c->loop));
    c->is_unwanted = false;
    end_attempt(c, &err, server_list_fail(&c->server_list));
}

static void fail_attempt_text(struct client *c, int code, const char *text)
{
    struct err err = { 0 };

    err_set(&err, code, "%s", text);
    fail_attempt(c, &err);
}

/* Turns the server's error message into a struct err. */
static void read_error(const struct message_error *e, struct err *ret)
{
    int code = e->code > 0 && e->code <= CODE_MAX ? (int)e->code : ERR_DENIED;

    err_set(ret, code, "refused: %s", e->text);
}

/* A server with a wrong clock, or an old version, tells its whole fleet "never".  So the agent asks
 * again, but rarely. */
static int64_t refusal_wait_ms(const struct client *c, const struct message_error *e)
{
    if (e->retry_ms > 0)
        return e->retry_ms;
    return c->state == JOINING ? CLIENT_UNJOINED_MS : CLIENT_UNWANTED_MS;
}

/* A server that ends a session with a retry time is shutting down, with all its agents; the wait
 * keeps them from moving to another server all at once.  What one server refuses to this agent
 * alone, another server may accept. */
static void on_refused(struct client *c, const struct message_error *e)
{
    int64_t now_ms = loop_now_ms(c->loop);
    bool is_going = c->state == UP && e->retry_ms > 0;
    struct err err = { 0 };

    read_error(e, &err);
    if (e->retry_ms == 0) {
        fail_attempt(c, &err);
        return;
    }
    err_wrap(&err, "server %s", server_list_server(&c->server_list));
    c->is_unwanted = e->retry_ms < 0;
    if (is_going) {
        server_list_next(&c->server_list, now_ms);
        end_attempt(c, &err, server_list_wait_ms(e->retry_ms));
        return;
    }
    end_attempt(c, &err, server_list_refused(&c->server_list, refusal_wait_ms(c, e), now_ms));
}

static void on_unexpected(struct client *c, unsigned type)
{
    struct err err = { 0 };

    err_set(&err, ERR_CONFLICT, "it said %s, which is no answer here", message_name(type));
    fail_attempt(c, &err);
}

static void on_no_answer(struct client *c)
{
    fail_attempt_text(c, ERR_TIMEOUT,
                      c->state == LOOKING   ? MSG("its name was not found within 10 s")
                      : c->state == JOINING ? MSG("the join was not answered within 10 s")
                                            : MSG("the hello was not answered within 10 s"));
}

/* ---- the way up ---- */

/* Without a certificate the token is the only credential; with an expired one it is the last
 * resort. */
static bool must_join(const struct client *c)
{
    return !identity_has_cert(c->identity) ||
           (c->has_token && identity_is_over(c->identity, wall_ms(c)));
}

static void client_fill_hello(struct client *c, struct message_hello *hello)
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

    client_fill_hello(c, &hello);
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

static void client_on_ready(void *arg)
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
    client_fill_hello(c, &hello);
    conn_send(c->conn, MESSAGE_HELLO, &message_hello_shape, &hello);
}

/* The session is opened in the next turn of the loop; the join's connection ends there, where its
 * goodbye can be sent. */
static void client_on_joined(struct client *c, const struct message_joined *joined)
{
    struct err err = { 0 };

    if (identity_take(c->identity, joined, c->token.ca, &err)) {
        fail_attempt(c, &err);
        return;
    }
    tls_free(c->tls);
    c->tls = NULL;
    server_list_forgive(&c->server_list);
    c->state = WAITING;
    timer_set(c->loop, &c->timer, 0);
    if (c->owner.on_joined)
        c->owner.on_joined(c->arg, identity_agent_id(c->identity));
}

static void on_join_answer(struct client *c, unsigned type, const void *message)
{
    if (type == MESSAGE_JOINED)
        client_on_joined(c, message);
    else if (type == MESSAGE_ERROR)
        on_refused(c, message);
    else
        on_unexpected(c, type);
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
        fail_attempt_text(c, ERR_CONFLICT,
                          MSG("it speaks a version of the protocol that was not offered"));
        return;
    }
    ping_ms = ping_ms < PING_MIN_MS ? PING_MIN_MS : ping_ms;
    ping_ms = ping_ms > PING_MAX_MS ? PING_MAX_MS : ping_ms;
    c->silence_ms = PINGS_MISSED * ping_ms;
    c->is_unwanted = false;
    c->state = UP;
    timer_set(c->loop, &c->timer, c->silence_ms);
    renew_if_due(c);
    c->owner.on_up(c->arg, w);
}

static void on_hello_answer(struct client *c, unsigned type, const void *message)
{
    if (type == MESSAGE_WELCOME)
        on_welcome(c, message);
    else if (type == MESSAGE_ERROR)
        on_refused(c, message);
    else
        on_unexpected(c, type);
}

/* The old certificate is valid for some time yet, so a bad answer ends nothing: the renewal is
 * tried again later. */
static void on_renewed(struct client *c, const struct message_joined *joined)
{
    struct err err = { 0 };

    if (identity_take(c->identity, joined, NULL, &err)) {
        conn_refuse(c->conn, MESSAGE_JOINED, err.code, 0, err.text);
        return;
    }
    tls_free(c->tls); /* the open connection holds a reference of its own */
    c->tls = NULL;
}

/* Tells errors about the session as a whole from errors about one message. */
static bool is_about_session(const struct message_error *e)
{
    return e->type == 0 || e->type == MESSAGE_HELLO;
}

static void on_session_message(struct client *c, unsigned type, const void *message)
{
    c->last_error.code = 0;
    if (type == MESSAGE_JOINED) {
        on_renewed(c, message);
        return;
    }
    if (type == MESSAGE_PING) {
        server_list_forgive(&c->server_list);
        renew_if_due(c);
    }
    if (type == MESSAGE_ERROR && is_about_session(message)) {
        on_refused(c, message);
        return;
    }
    if (type == MESSAGE_ERROR)
        read_error(message, &c->last_error);
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
    fail_attempt(c, &err);
}

/* ---- connecting ---- */

static void client_on_message(void *arg, unsigned type, const void *message);
static void client_on_end(void *arg, const struct err *why);

static const struct conn_owner conn_owner = {
    .on_ready = client_on_ready,
    .on_message = client_on_message,
    .on_end = client_on_end,
};

/* The pinned context is for joining only: the agent verifies the server by the token's CA digest,
 * and has no certificate yet that it could present. */
static int client_make_tls(struct client *c, struct err *err)
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

/* The address is known as soon as connect() has started.  A unix socket has none; then the server
 * uses the address that the connection comes from. */
static void find_local_ip(struct client *c, int fd)
{
    struct address a = { .len = sizeof(a.u) };

    c->local_ip[0] = '\0';
    if (sys_getsockname(fd, &a.u.any, &a.len) == 0 && a.u.any.sa_family != AF_UNIX)
        address_print_host(&a, c->local_ip);
}

static int client_open_socket(const struct address *to, int *ret_fd, struct err *err)
{
    int fd = sys_socket(to->u.any.sa_family, SOCK_STREAM, 0);

    if (fd < 0)
        return err_sys(err, "socket");
    (void)sys_setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT,
                         SYNS_AGAIN); /* fails for a unix socket, which has no SYN */
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

    if (client_make_tls(c, err) || client_open_socket(to, &fd, err))
        return -1;
    find_local_ip(c, fd);
    if (conn_new(c->loop, fd, c->tls, CA_SERVER_NAME, &conn_owner, c, &c->conn, err)) {
        sys_close(fd);
        return -1;
    }
    c->last_error.code = 0;
    c->state = CONNECTING;
    timer_stop(c->loop, &c->timer); /* conn.c has a timer of its own */
    return 0;
}

static void client_on_found(void *arg, const struct address *found, size_t n, const struct err *why)
{
    struct client *c = arg;
    struct err err = { 0 };

    if (why) {
        fail_attempt(c, why);
        return;
    }
    if (dial(c, &found[server_list_place(&c->server_list, n)], &err)) {
        fail_attempt(c, &err);
        return;
    }
    lookup_free(c->lookup);
    c->lookup = NULL;
}

static void start_attempt(struct client *c)
{
    struct err err = { 0 };

    hang_up(c); /* ends the join's connection, if there is one */
    if (must_join(c) && c->owner.before_join)
        c->owner.before_join(c->arg);
    c->state = LOOKING;
    timer_set(c->loop, &c->timer, ANSWER_MS);
    if (lookup_new(c->loop, server_list_server(&c->server_list), client_on_found, c, &c->lookup,
                   &err))
        fail_attempt(c, &err);
}

/* ---- called by the loop ---- */

static const struct {
    void (*timer)(struct client *c);
    void (*message)(struct client *c, unsigned type, const void *message);
} states[STATES] = {
    /* clang-format off */
    [WAITING]    = { start_attempt, NULL },
    [LOOKING]    = { on_no_answer,  NULL },
    [CONNECTING] = { NULL,          NULL },
    [JOINING]    = { on_no_answer,  on_join_answer },
    [GREETING]   = { on_no_answer,  on_hello_answer },
    [UP]         = { check_silence, on_session_message },
    /* clang-format on */
};

static void client_on_timer(void *arg)
{
    struct client *c = arg;

    if (states[c->state].timer)
        states[c->state].timer(c);
}

static void client_on_message(void *arg, unsigned type, const void *message)
{
    struct client *c = arg;

    if (states[c->state].message)
        states[c->state].message(c, type, message);
}

/* An error message right before the end of the connection is the reason for the end. */
static void client_on_end(void *arg, const struct err *why)
{
    struct client *c = arg;

    if (c->state == WAITING)
        hang_up(c); /* the join's connection */
    else if (c->last_error.code)
        fail_attempt(c, &c->last_error);
    else if (why)
        fail_attempt(c, why);
    else
        fail_attempt_text(c, ERR_UNAVAILABLE, MSG("it has ended the connection"));
}

/* ---- settings ---- */

/* A token that is not needed may be invalid, or belong to another server by now. */
static int client_read_token(struct client *c, const char *text, struct err *err)
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
    timer_init(&c->timer, client_on_timer, c);
    if (server_list_init(&c->server_list, s->servers, err) ||
        identity_open(s->dir, &c->identity, err) ||
        client_read_token(c, s->token ? s->token : "", err)) {
        client_free(c);
        return -1;
    }
    timer_set(loop, &c->timer, 0);
    *ret = c;
    return 0;
}

/* A wait that a server asked for is dropped too, because that server may no longer be in the list.
 */
int client_set_servers(struct client *c, const char *const *servers, struct err *err)
{
    struct err why = { 0 };
    bool is_there;

    err_set(&why, ERR_UNAVAILABLE, "server %s is no longer in the settings",
            server_list_server(&c->server_list));
    if (server_list_set(&c->server_list, servers, &is_there, err))
        return -1;
    if (is_there)
        return 0;
    hang_up(c);
    server_list_forgive(&c->server_list);
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
    server_list_done(&c->server_list);
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

bool client_is_unwanted(const struct client *c)
{
    return c->is_unwanted;
}

int client_set_token(struct client *c, const char *token, struct err *err)
{
    struct token read;

    if (token_read(token, &read, err))
        return -1;
    c->token = read;
    c->has_token = true;
    return 0;
}

void client_send(struct client *c, unsigned type, const struct shape *s, const void *message)
{
    if (c->state == UP)
        conn_send(c->conn, type, s, message);
}

void client_drop(struct client *c)
{
    if (c->state == UP)
        fail_attempt_text(c, ERR_UNAVAILABLE, MSG("the session was dropped on purpose"));
}

void client_pause(struct client *c)
{
    if (c->conn)
        conn_pause(c->conn);
}
