/* SPDX-License-Identifier: MIT */
/* agent_check.c - see agent_check.h. */
#include "agent/shell/agent_check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "agent/identify/listener.h"
#include "agent/shell/agent_base.h"
#include "agent/shell/agent_family.h"
#include "agent/supervise/core.h"
#include "agent/supervise/core_net.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "wire/http/http_reply.h"

enum { ADDRESSES = 2, READ_BYTES = 4096 };

/* Time to find whose listener it is, of a check that needs to know it. */
enum { OWNER_MS = 5000 };

struct try;

/* A connection to one address. */
struct check_end {
    struct try *of;
    int fd; /* -1: none, or refused */
    struct watch *watch;
    struct sockaddr_in6 to; /* IPv4 too */
};

struct
try {
    TAILQ_ENTRY(try) link;
    struct checker *all;
    struct arena arena;
    uint64_t id;
    bool has_begun, is_urgent, needs_owner;
    struct proc_check check; /* texts are in the arena */
    struct check_place place;
    struct core_family family;
    struct proc_identity identity; /* of the family's spec, as far as needed */
    int64_t timeout_ms, begun_us;
    struct check_end ends[ADDRESSES];
    bool is_starved; /* this host has no socket for it */
    const char *request;
    size_t request_n, sent;
    struct http_reply *reply;
    struct owner_ask *owner; /* NULL: nothing is asked */
    struct core_checked got;
    struct timer timer; /* the deadline; then reports the result */
    bool is_done;
};

TAILQ_HEAD(try_list, try);

struct checker {
    struct agent_base *agent;
    struct families *families;
    struct try_list waiting, begun;
    size_t n_begun[2]; /* [1]: urgent ones */
};

/* ---- the end of a try */

static void close_end(struct check_end *e)
{
    watch_free(e->watch);
    sys_close(e->fd);
    e->watch = NULL;
    e->fd = -1;
}

static void free_try(struct try *t)
{
    struct checker *c = t->all;

    for (int i = 0; i < ADDRESSES; i++)
        close_end(&t->ends[i]);
    owner_forget(t->owner);
    timer_stop(c->agent->loop, &t->timer);
    TAILQ_REMOVE(t->has_begun ? &c->begun : &c->waiting, t, link);
    c->n_begun[t->is_urgent] -= t->has_begun;
    free(t->reply);
    arena_free(&t->arena);
    free(t);
}

/* The result is reported by the timer: never from within the request itself. */
static void try_end(struct try *t, enum core_check_outcome outcome, const char *text)
{
    if (t->is_done)
        return;
    t->is_done = true;
    t->got.outcome = outcome;
    t->got.text = text;
    if (t->got.latency_ms <= 0)
        t->got.latency_ms = (double)(loop_now_us(t->all->agent->loop) - t->begun_us) / 1000;
    for (int i = 0; i < ADDRESSES; i++)
        close_end(&t->ends[i]);
    timer_set(t->all->agent->loop, &t->timer, 0);
}

static const char *no_connection(struct try *t)
{
    struct arena *a = &t->arena;

    if (t->request)
        return arena_msg(a, "%s takes no connections",
                         arena_memdup(a, t->place.host_text, t->place.host_len));
    if (!*t->place.host)
        return arena_msg(a, "port %lld takes no connections", (long long)t->place.port);
    return arena_msg(a, "%s takes no connections", t->check.tcp);
}

static bool is_connecting(const struct try *t)
{
    return !t->got.latency_ms && !t->sent && !t->reply;
}

/* The deadline has passed, and whose listener it is has not been found. */
static void end_without_owner(struct try *t)
{
    if (t->needs_owner)
        try_end(t, CHECK_NOT_DONE,
                arena_msg(&t->arena, "whose port %lld is was not found in time",
                          (long long)t->place.port));
    else
        try_end(t, CHECK_OK, "");
}

static void on_deadline(struct try *t)
{
    if (!t->has_begun)
        try_end(t, CHECK_NOT_DONE, "");
    else if (t->owner)
        end_without_owner(t);
    else if (is_connecting(t))
        try_end(t, CHECK_FAILED, no_connection(t));
    else
        try_end(t, CHECK_FAILED,
                arena_msg(&t->arena, "no complete answer within %lld s",
                          (long long)t->timeout_ms / 1000));
}

static void begin_next(struct checker *c);

static void try_on_time(void *try)
{
    struct try *t = try;
    struct checker *c = t->all;
    struct agent_base *a = c->agent;

    if (!t->is_done) {
        on_deadline(t);
        return;
    }
    core_on_check(a->core, t->id, &t->got, agent_now_ms(a));
    free_try(t);
    begin_next(c);
    agent_wake(a);
}

/* ---- whose listener it is */

static void on_owner(void *try, const struct listener *found)
{
    struct try *t = try;

    t->owner = NULL;
    if (found->owner != LISTENER_OTHER)
        try_end(t, CHECK_OK, "");
    else
        try_end(t, CHECK_FOREIGN,
                arena_msg(&t->arena, "port %lld is held by %s (%lld), which does not belong to it",
                          (long long)t->place.port, found->program, (long long)found->pid));
}

/* Connections within a host have the same address at both ends. */
static bool is_within_host(const struct check_end *e)
{
    struct sockaddr_in6 own;
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&own,
                             *to = (const struct sockaddr_in *)(const void *)&e->to;
    socklen_t n = sizeof(own);

    if (sys_getsockname(e->fd, (struct sockaddr *)&own, &n))
        return false;
    if (own.sin6_family == AF_INET)
        return four->sin_addr.s_addr == to->sin_addr.s_addr ||
               ntohl(to->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return !memcmp(&own.sin6_addr, &e->to.sin6_addr, sizeof(own.sin6_addr));
}

static void ask_owner(struct try *t, const struct check_end *e)
{
    bool is_local = is_within_host(e);

    t->got.latency_ms = (double)(loop_now_us(t->all->agent->loop) - t->begun_us) / 1000;
    if (t->got.latency_ms <= 0)
        t->got.latency_ms = 0.001;
    for (int i = 0; i < ADDRESSES; i++)
        close_end(&t->ends[i]);
    if (t->check.any_owner || !is_local) {
        try_end(t, CHECK_OK, "");
        return;
    }
    t->owner = families_ask_owner(t->all->families, &t->family, &t->identity, t->place.host,
                                  t->place.port, on_owner, t);
    if (t->needs_owner && t->timeout_ms < OWNER_MS)
        timer_set(t->all->agent->loop, &t->timer, OWNER_MS);
    agent_wake(t->all->agent);
}

/* ---- http */

static void judge_reply(struct try *t)
{
    int64_t wanted = t->check.status;
    int status = t->reply->status;
    bool is_expected = wanted ? status == wanted : status >= 200 && status < 400;

    if (!is_expected && wanted)
        try_end(
            t, CHECK_FAILED,
            arena_msg(&t->arena, "it answers with status %d, not %lld", status, (long long)wanted));
    else if (!is_expected)
        try_end(t, CHECK_FAILED, arena_msg(&t->arena, "it answers with status %d", status));
    else if (t->reply->text && !t->reply->has_text)
        try_end(t, CHECK_FAILED,
                arena_msg(&t->arena, "its answer does not contain \"%s\"", t->reply->text));
    else
        try_end(t, CHECK_OK, "");
}

static void on_bytes(struct try *t, const char *bytes, ssize_t n)
{
    struct err err;

    if (n > 0 ? http_reply_read(t->reply, bytes, (size_t)n, &err) : http_reply_end(t->reply, &err))
        try_end(t, CHECK_FAILED, arena_strdup(&t->arena, err_msg(&err)));
    else if (t->reply->state == REPLY_DONE)
        judge_reply(t);
}

/* Once per turn: a fast server does not keep the loop busy. */
static void read_reply(struct try *t, struct check_end *e)
{
    char bytes[READ_BYTES];
    ssize_t n = sys_recv(e->fd, bytes, sizeof(bytes));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0)
        try_end(t, CHECK_FAILED,
                arena_msg(&t->arena, "the connection was broken: %s", strerror(errno)));
    else
        on_bytes(t, bytes, n);
}

static void send_request(struct try *t, struct check_end *e)
{
    struct err ignored;
    ssize_t n = sys_send(e->fd, t->request + t->sent, t->request_n - t->sent);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        try_end(t, CHECK_FAILED,
                arena_msg(&t->arena, "the connection was broken: %s", strerror(errno)));
    if (n > 0)
        t->sent += (size_t)n;
    if (!t->is_done && t->sent == t->request_n && watch_want(e->watch, WATCH_READ, &ignored))
        try_end(t, CHECK_NOT_DONE, "");
}

static void begin_http(struct try *t, struct check_end *e)
{
    t->reply = xalloc(sizeof(*t->reply));
    t->reply->text = *t->check.body ? t->check.body : NULL;
    for (int i = 0; i < ADDRESSES; i++) {
        if (&t->ends[i] != e)
            close_end(&t->ends[i]);
    }
    send_request(t, e);
}

/* ---- connections */

/* A connection to an ephemeral port may get that port as its own source port: the socket is then
 * connected to itself. */
static bool is_ourselves(const struct check_end *e)
{
    struct sockaddr_in6 own;
    socklen_t n = sizeof(own);

    return is_within_host(e) && !sys_getsockname(e->fd, (struct sockaddr *)&own, &n) &&
           own.sin6_port == e->to.sin6_port;
}

static void end_failed(struct check_end *e)
{
    struct try *t = e->of;

    close_end(e);
    for (int i = 0; i < ADDRESSES; i++) {
        if (t->ends[i].fd >= 0)
            return; /* the other address is still connecting */
    }
    if (t->is_starved)
        try_end(t, CHECK_NOT_DONE, "");
    else
        try_end(t, CHECK_FAILED, no_connection(t));
}

static void check_on_ready(void *end, unsigned ready)
{
    struct check_end *e = end;
    struct try *t = e->of;
    int error = 0;

    if (t->reply) {
        if (ready & WATCH_READ)
            read_reply(t, e);
        else
            send_request(t, e);
        return;
    }
    if (sys_getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error) || error || is_ourselves(e))
        end_failed(e);
    else if (t->request)
        begin_http(t, e);
    else
        ask_owner(t, e);
}

/* The host lacks what a connection needs, so this says nothing about the process. */
static bool is_lack(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS ||
           error == EADDRNOTAVAIL || error == EAGAIN;
}

static int end_begin(struct try *t, struct check_end *e, const char *host)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)&e->to;
    struct err ignored; /* on failure this address does not count */
    socklen_t n = sizeof(*four);

    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)t->place.port);
    if (inet_pton(AF_INET, host, &four->sin_addr) != 1) {
        e->to = (struct sockaddr_in6){ .sin6_family = AF_INET6,
                                       .sin6_port = htons((uint16_t)t->place.port) };
        n = sizeof(e->to);
        if (inet_pton(AF_INET6, host, &e->to.sin6_addr) != 1)
            return -1;
    }
    e->fd = sys_socket(e->to.sin6_family, SOCK_STREAM, 0);
    if (e->fd < 0 || (sys_connect(e->fd, (struct sockaddr *)&e->to, n) && errno != EINPROGRESS)) {
        t->is_starved |= is_lack(errno);
        return -1;
    }
    return watch_new(t->all->agent->loop, e->fd, check_on_ready, e, &e->watch, &ignored) ||
                   watch_want(e->watch, WATCH_WRITE, &ignored)
               ? -1
               : 0;
}

static void try_begin(struct try *t)
{
    struct checker *c = t->all;
    bool is_any = !*t->place.host;
    int failed;

    TAILQ_REMOVE(&c->waiting, t, link);
    TAILQ_INSERT_TAIL(&c->begun, t, link);
    c->n_begun[t->is_urgent]++;
    t->has_begun = true;
    t->begun_us = loop_now_us(c->agent->loop);
    timer_set(c->agent->loop, &t->timer, t->timeout_ms);
    failed = end_begin(t, &t->ends[0], is_any ? "127.0.0.1" : t->place.host);
    if (failed)
        close_end(&t->ends[0]);
    if (is_any && end_begin(t, &t->ends[1], "::1"))
        close_end(&t->ends[1]);
    if (t->ends[0].fd < 0 && t->ends[1].fd < 0)
        end_failed(&t->ends[0]);
}

static bool has_share(const struct try *t)
{
    const struct try *other;
    int n = 0;

    TAILQ_FOREACH(other, &t->all->begun, link) {
        n += !other->is_urgent && !strcmp(other->family.name, t->family.name) &&
             !strcmp(other->family.space, t->family.space);
    }
    return n < CHECKER_PER_PROCESS;
}

static bool may_begin(const struct try *t)
{
    if (t->is_done || t->all->n_begun[t->is_urgent] >= CHECKER_AT_ONCE)
        return false;
    return t->is_urgent || has_share(t);
}

static bool is_full(const struct checker *c)
{
    return c->n_begun[0] >= CHECKER_AT_ONCE && c->n_begun[1] >= CHECKER_AT_ONCE;
}

static void begin_next(struct checker *c)
{
    struct try *t, *next;

    for (t = TAILQ_FIRST(&c->waiting); t && !is_full(c); t = next) {
        next = TAILQ_NEXT(t, link);
        if (may_begin(t))
            try_begin(t);
    }
}

/* ---- requests */

static void write_request(struct try *t)
{
    const char *path = t->place.path;

    t->request =
        arena_printf(&t->arena,
                     "GET %s%s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: holdfast-agent\r\n"
                     "Accept: */*\r\nConnection: close\r\n\r\n",
                     *path == '/' ? "" : "/", path, (int)t->place.host_len, t->place.host_text);
    t->request_n = strlen(t->request);
}

static void copy_family(struct try *t, const struct core_family *from)
{
    struct arena *a = &t->arena;
    const struct proc_identity *i = &from->spec->identity;

    t->family = *from;
    t->family.spec = NULL; /* what is needed of it is in `identity` */
    t->family.space = arena_strdup(a, from->space);
    t->family.name = arena_strdup(a, from->name);
    t->family.siblings = arena_strdup(a, from->siblings);
    t->identity = (struct proc_identity){
        .index_key = "",
        .proc_name = arena_strdup(a, i->proc_name),
        .setup_path = arena_strdup(a, i->setup_path),
        .pid_path = arena_strdup(a, i->pid_path),
        .config_path = "",
        .log_path = "",
        .user = arena_strdup(a, i->user),
    };
}

void checker_add(struct checker *c, const struct core_check *check)
{
    struct try *t = xalloc(sizeof(*t));
    const char *wrong;

    t->all = c;
    t->id = check->id;
    t->timeout_ms = check->timeout_ms;
    t->is_urgent = check->is_urgent;
    t->needs_owner = check->needs_owner;
    t->begun_us = loop_now_us(c->agent->loop);
    for (int i = 0; i < ADDRESSES; i++)
        t->ends[i] = (struct check_end){ .of = t, .fd = -1 };
    shape_copy(&proc_check_shape, check->check, &t->arena, &t->check);
    timer_init(&t->timer, try_on_time, t);
    timer_set(c->agent->loop, &t->timer, t->timeout_ms);
    TAILQ_INSERT_TAIL(&c->waiting, t, link);
    wrong = *t->check.http ? check_read_url(t->check.http, &t->place)
                           : check_read_tcp(t->check.tcp, &t->place);
    if (*t->check.http)
        write_request(t);
    copy_family(t, &check->family);
    if (wrong)
        try_end(t, CHECK_NOT_DONE, ""); /* it has been refused: core_rules.c */
    else
        begin_next(c);
}

static struct try *find_try(struct try_list *list, uint64_t id)
{
    struct try *t;

    TAILQ_FOREACH(t, list, link) {
        if (t->id == id)
            return t;
    }
    return NULL;
}

void checker_drop(struct checker *c, uint64_t id)
{
    struct try *t = find_try(&c->begun, id);

    if (!t)
        t = find_try(&c->waiting, id);
    if (!t)
        return;
    free_try(t);
    begin_next(c);
}

struct checker *checker_new(struct agent_base *a, struct families *families)
{
    struct checker *c = xalloc(sizeof(*c));

    c->agent = a;
    c->families = families;
    TAILQ_INIT(&c->waiting);
    TAILQ_INIT(&c->begun);
    return c;
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    while (!TAILQ_EMPTY(&c->begun))
        free_try(TAILQ_FIRST(&c->begun));
    while (!TAILQ_EMPTY(&c->waiting))
        free_try(TAILQ_FIRST(&c->waiting));
    free(c);
}
