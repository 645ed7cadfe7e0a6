/* SPDX-License-Identifier: MIT */
/* listen.c - see listen.h. */
#include "wire/net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/mem.h"
#include "base/os/sys.h"
#include "base/os/sys_unix.h"

enum {
    BACKLOG = 4096, /* the kernel reduces it to its own limit */
    TURN_MAX = 64,  /* accepted per wake-up, so that other events get their turn */
    REST_MS = 100,
    PATH_MAX_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
};

/* ---- addresses ---- */

static int parse_port(const char *text, const char *digits, in_port_t *ret, struct err *err)
{
    size_t n = strspn(digits, "0123456789");
    long port = n > 0 && n <= 5 && !digits[n] ? strtol(digits, NULL, 10) : -1;

    if (port < 0 || port > 65535)
        return err_set(err, ERR_INVALID, "%s: the port must be 0 to 65535", text);
    *ret = htons((uint16_t)port);
    return 0;
}

static int parse_unix(const char *text, const char *path, struct address *ret, struct err *err)
{
    size_t n = strlen(path);

    if (path[0] != '/')
        return err_set(err, ERR_INVALID, "%s: the path must begin with /", text);
    if (n > PATH_MAX_BYTES)
        return err_set(err, ERR_INVALID, "%s: the path of a socket must not be over %d bytes", text,
                       PATH_MAX_BYTES);
    *ret = (struct address){ .u.un.sun_family = AF_UNIX };
    memcpy(ret->u.un.sun_path, path, n);
    ret->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    return 0;
}

static void set_v4(struct address *a, struct in_addr host, in_port_t port)
{
    *a = (struct address){ .u.v4 = { AF_INET, port, host, { 0 } }, .len = sizeof(a->u.v4) };
}

/* An IPv4 client of a dual-stack socket has a mapped IPv6 address; it must look the same as on
 * an IPv4 socket. */
static void unmap(struct address *a)
{
    const struct in6_addr *host = &a->u.v6.sin6_addr;
    struct in_addr v4;

    if (a->u.any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(host))
        return;
    memcpy(&v4, host->s6_addr + 12, sizeof(v4));
    set_v4(a, v4, a->u.v6.sin6_port);
}

static int parse_host(const char *text, const char *host, bool in_brackets, in_port_t port,
                      struct address *ret, struct err *err)
{
    struct address a = { .u.v6 = { .sin6_family = AF_INET6, .sin6_port = port },
                         .len = sizeof(a.u.v6) };
    struct in_addr v4;

    if (in_brackets && inet_pton(AF_INET6, host, &a.u.v6.sin6_addr) != 1)
        return err_set(err, ERR_INVALID, "%s: '%s' is not an IPv6 address", text, host);
    if (in_brackets || !*host) { /* no host: the address of all zeroes, which means all addresses */
        unmap(&a);
        *ret = a;
        return 0;
    }
    if (strchr(host, ':'))
        return err_set(err, ERR_INVALID, "%s: an IPv6 address stands in brackets, as in [::1]:7020",
                       text);
    if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &v4) != 1)
        return err_set(err, ERR_INVALID, "%s: '%s' is not a numeric address", text, host);
    set_v4(ret, v4, port);
    return 0;
}

int address_parse(const char *text, struct address *ret, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN];
    bool in_brackets = text[0] == '[';
    size_t n;
    in_port_t port = 0;

    if (!strncmp(text, "unix:", 5))
        return parse_unix(text, text + 5, ret, err);
    if (!colon || (in_brackets && (colon == text + 1 || colon[-1] != ']')))
        return err_set(err, ERR_INVALID, "%s: no address and port, as in 127.0.0.1:7020", text);
    if (parse_port(text, colon + 1, &port, err))
        return -1;
    n = (size_t)(colon - text) - (in_brackets ? 2 : 0);
    if (n >= sizeof(host))
        return err_set(err, ERR_INVALID, "%s: not a numeric address", text);
    memcpy(host, text + (in_brackets ? 1 : 0), n);
    host[n] = '\0';
    return parse_host(text, host, in_brackets, port, ret, err);
}

/* The kernel may omit the NUL, and the socket of a peer usually has no name. */
static void print_unix(const struct address *a, char to[ADDRESS_TEXT_SIZE])
{
    size_t head = offsetof(struct sockaddr_un, sun_path);
    size_t n = a->len > head ? strnlen(a->u.un.sun_path, a->len - head) : 0;

    snprintf(to, ADDRESS_TEXT_SIZE, "unix:%.*s", (int)n, a->u.un.sun_path);
}

void address_print(const struct address *a, char to[ADDRESS_TEXT_SIZE])
{
    struct address plain = *a;
    char host[ADDRESS_TEXT_SIZE];

    unmap(&plain);
    if (plain.u.any.sa_family == AF_UNIX) {
        print_unix(&plain, to);
        return;
    }
    address_print_host(&plain, host);
    if (plain.u.any.sa_family == AF_INET)
        snprintf(to, ADDRESS_TEXT_SIZE, "%.64s:%u", host, ntohs(plain.u.v4.sin_port));
    else if (IN6_IS_ADDR_UNSPECIFIED(&plain.u.v6.sin6_addr))
        snprintf(to, ADDRESS_TEXT_SIZE, ":%u", ntohs(plain.u.v6.sin6_port));
    else
        snprintf(to, ADDRESS_TEXT_SIZE, "[%.64s]:%u", host, ntohs(plain.u.v6.sin6_port));
}

void address_print_host(const struct address *a, char to[ADDRESS_TEXT_SIZE])
{
    struct address plain = *a;

    unmap(&plain);
    if (plain.u.any.sa_family == AF_INET)
        inet_ntop(AF_INET, &plain.u.v4.sin_addr, to, ADDRESS_TEXT_SIZE);
    else if (plain.u.any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &plain.u.v6.sin6_addr, to, ADDRESS_TEXT_SIZE);
    else
        print_unix(&plain, to);
}

void address_print_net(const struct address *a, char to[ADDRESS_TEXT_SIZE])
{
    struct address plain = *a;

    unmap(&plain);
    if (plain.u.any.sa_family == AF_INET6)
        memset(&plain.u.v6.sin6_addr.s6_addr[8], 0, 8);
    address_print_host(&plain, to);
}

bool address_is_loopback(const struct address *a)
{
    struct address plain = *a;

    unmap(&plain);
    if (plain.u.any.sa_family == AF_INET)
        return ntohl(plain.u.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (plain.u.any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&plain.u.v6.sin6_addr);
    return plain.u.any.sa_family == AF_UNIX;
}

/* ---- the listener ---- */

struct listener {
    struct loop *loop;
    struct watch *watch;
    const struct listener_owner *owner;
    void *arg;
    struct address at;
    struct timer rest;
    dev_t file_dev; /* identify the file of the unix socket */
    ino_t file_ino;
    int fd;
    bool has_file;
    bool troubled; /* on_trouble() was called, and since then not all waiting connections were
                      accepted */
    bool paused;   /* by listener_pause() */
    bool busy;     /* in a callback of the owner: listener_free() is deferred */
    bool dead;
};

static bool is_all_addresses(const struct address *a)
{
    return a->u.any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->u.v6.sin6_addr);
}

/* Creates and binds the socket; -1 with errno set. */
static int bind_socket(const struct address *at, mode_t file_mode)
{
    int family = at->u.any.sa_family, fd = sys_socket(family, SOCK_STREAM, 0);
    int saved;

    if (fd < 0)
        return -1;
    if (family != AF_UNIX && sys_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, 1))
        goto fail;
    if (family == AF_INET6 &&
        sys_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, is_all_addresses(at) ? 0 : 1))
        goto fail;
    if (family == AF_UNIX && file_mode &&
        sys_fchmod(fd, file_mode)) /* what bind() gives the file */
        goto fail;
    if (sys_bind(fd, &at->u.any, at->len))
        goto fail;
    if (family == AF_UNIX)
        (void)sys_refuse_descriptors(fd); /* if the kernel can: no code here accepts descriptors */
    return fd;
fail:
    saved = errno;
    sys_close(fd);
    errno = saved;
    return -1;
}

/* On a host without IPv6, "all addresses" means those of IPv4. */
static int bind_inet(const struct address *at)
{
    int fd = bind_socket(at, 0);
    struct address v4;

    if (fd >= 0 || !is_all_addresses(at) || (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL))
        return fd;
    set_v4(&v4, (struct in_addr){ INADDR_ANY }, at->u.v6.sin6_port);
    return bind_socket(&v4, 0);
}

/* Whether the file of a unix socket was left by a process that has ended. */
static int check_stale(const struct address *at, bool *ret, struct err *err)
{
    int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0), failed, saved;

    if (fd < 0)
        return err_sys(err, "try the socket that is there");
    failed = sys_connect(fd, &at->u.any, at->len);
    saved = errno;
    sys_close(fd);
    errno = saved;
    if (failed && errno != ECONNREFUSED && !sys_again())
        return err_sys(err, "try the socket that is there");
    *ret = failed && errno == ECONNREFUSED;
    return 0;
}

/* Removes the file of a socket on which no process listens any more.  Two processes that start
 * at the same time could remove each other's file; the caller's lock must prevent a second
 * instance. */
static int clear_stale(const struct address *at, struct err *err)
{
    const char *path = at->u.un.sun_path;
    struct stat st;
    bool stale = false;

    if (sys_lstat(AT_FDCWD, path, &st))
        return err_sys(err, "look at the file that is there");
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_CONFLICT, "a file that is not a socket is there; move it away");
    if (check_stale(at, &stale, err))
        return -1;
    if (!stale)
        return err_set(err, ERR_CONFLICT, "another process listens there");
    return sys_unlink(path) ? err_sys(err, "remove the old socket") : 0;
}

static int open_unix(struct listener *l, const char *text, struct err *err)
{
    struct stat st;

    l->fd = bind_socket(&l->at, l->owner->file_mode);
    if (l->fd < 0 && errno == EADDRINUSE) {
        if (clear_stale(&l->at, err))
            return err_wrap(err, "listen on %s", text);
        l->fd = bind_socket(&l->at, l->owner->file_mode);
    }
    if (l->fd < 0 || sys_lstat(AT_FDCWD, l->at.u.un.sun_path, &st))
        return err_sys(err, "listen on %s", text);
    l->has_file = true;
    l->file_dev = st.st_dev;
    l->file_ino = st.st_ino;
    return 0;
}

static int listen_open_socket(struct listener *l, struct err *err)
{
    char text[ADDRESS_TEXT_SIZE];

    address_print(&l->at, text);
    if (l->at.u.any.sa_family == AF_UNIX) {
        if (open_unix(l, text, err))
            return -1;
    } else {
        l->fd = bind_inet(&l->at);
    }
    if (l->fd < 0 || sys_listen(l->fd, BACKLOG))
        return err_sys(err, "listen on %s", text);
    l->at.len = sizeof(l->at.u);
    if (sys_getsockname(l->fd, &l->at.u.any, &l->at.len))
        return err_sys(err, "listen on %s", text);
    return 0;
}

/* Errors of a single connection, not of the listener: accept(2) reports network errors of the
 * new socket. */
static bool listen_is_passing(int error)
{
    static const int passing[] = {
        ECONNABORTED, EPROTO,     ENETDOWN,    ENOPROTOOPT, EHOSTDOWN, ENONET,
        EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT,   EPERM,
    };

    for (size_t i = 0; i < ARRAY_LEN(passing); i++) {
        if (passing[i] == error)
            return true;
    }
    return false;
}

/* If there is no descriptor or memory for a connection, it stays in the queue and the socket
 * stays readable: watching it would only use CPU time. */
static void begin_rest(struct listener *l)
{
    struct err err, ignored;
    char text[ADDRESS_TEXT_SIZE];
    bool known = l->troubled;

    address_print(&l->at, text);
    err_sys(&err, "accept on %s", text);
    (void)watch_want(l->watch, 0, &ignored); /* removing interest cannot fail */
    timer_set(l->loop, &l->rest, REST_MS);
    l->troubled = true;
    if (!known && l->owner->on_trouble)
        l->owner->on_trouble(l->arg, &err);
}

static void on_rested(void *arg)
{
    struct listener *l = arg;
    struct err ignored;

    if (watch_want(l->watch, WATCH_READ, &ignored))
        timer_set(l->loop, &l->rest, REST_MS); /* still out of memory, so try again later */
}

/* Returns false if there is nothing more to accept for now. */
static bool accept_one(struct listener *l)
{
    struct address peer = { .len = sizeof(peer.u) };
    int fd = sys_accept(l->fd, &peer.u.any, &peer.len);

    if (fd >= 0) {
        unmap(&peer);
        l->owner->on_accept(l->arg, fd, &peer);
        return !l->dead && !l->paused;
    }
    if (sys_again())
        l->troubled = false; /* all waiting connections are accepted */
    else if (listen_is_passing(errno))
        return true;
    else
        begin_rest(l);
    return false;
}

static void on_waiting(void *arg, unsigned ready)
{
    struct listener *l = arg;

    (void)ready;
    l->busy = true;
    for (int i = 0; i < TURN_MAX && accept_one(l); i++)
        ;
    l->busy = false;
    if (l->dead)
        listener_free(l);
}

int listener_new(struct loop *loop, const struct address *at, const struct listener_owner *owner,
                 void *arg, struct listener **ret, struct err *err)
{
    struct listener *l = xalloc(sizeof(*l));

    *l = (struct listener){ .loop = loop, .owner = owner, .arg = arg, .at = *at, .fd = -1 };
    timer_init(&l->rest, on_rested, l);
    if (listen_open_socket(l, err) || watch_new(loop, l->fd, on_waiting, l, &l->watch, err) ||
        watch_want(l->watch, WATCH_READ, err)) {
        listener_free(l);
        return -1;
    }
    *ret = l;
    return 0;
}

void listener_address(const struct listener *l, struct address *ret)
{
    *ret = l->at;
}

void listener_pause(struct listener *l)
{
    struct err ignored;

    l->paused = true;
    timer_stop(l->loop, &l->rest);
    (void)watch_want(l->watch, 0, &ignored); /* removing interest cannot fail */
}

void listener_resume(struct listener *l)
{
    if (!l->paused)
        return;
    l->paused = false;
    on_rested(l);
}

/* Removes the file only if it is still ours: another process may have replaced it. */
static void remove_file(const struct listener *l)
{
    const char *path = l->at.u.un.sun_path;
    struct stat st;

    if (sys_lstat(AT_FDCWD, path, &st) == 0 && st.st_dev == l->file_dev && st.st_ino == l->file_ino)
        (void)sys_unlink(path); /* if it stays, the next start finds it stale */
}

void listener_free(struct listener *l)
{
    if (!l)
        return;
    l->dead = true;
    if (l->busy)
        return;
    timer_stop(l->loop, &l->rest);
    watch_free(l->watch);
    if (l->has_file)
        remove_file(l);
    sys_close(l->fd);
    free(l);
}
