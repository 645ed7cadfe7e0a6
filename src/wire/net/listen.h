/* SPDX-License-Identifier: MIT */
/* listen.h - addresses, and listening sockets.
 *
 * An address is written "127.0.0.1:7020", "[::1]:7020", ":7020" (all addresses, both families if
 * the host has them) or "unix:/path".  A listener passes every accepted socket to its owner.
 * Running out of descriptors is not fatal: it pauses for a moment, reports it to the owner once,
 * and continues. */
#ifndef WIRE_NET_LISTEN_H
#define WIRE_NET_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/io/loop.h"
#include "base/text/err.h"

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un un;
    } u;
    socklen_t len;
};

enum { ADDRESS_TEXT_SIZE = 128 };

int address_parse(const char *text, struct address *ret, struct err *err);
void address_print(const struct address *a, char to[ADDRESS_TEXT_SIZE]);
bool address_is_loopback(const struct address *a); /* true for a unix socket */
/* The host without the port. */
void address_print_host(const struct address *a, char to[ADDRESS_TEXT_SIZE]);
/* The key of limits per address: the host, for IPv6 its /64, because one client usually has a
 * whole /64. */
void address_print_net(const struct address *a, char to[ADDRESS_TEXT_SIZE]);

struct listener;

struct listener_owner {
    void (*on_accept)(void *arg, int fd, const struct address *peer); /* the owner gets the fd */
    void (*on_trouble)(void *arg,
                       const struct err *err); /* accept() fails; the listener continues */
    mode_t file_mode; /* mode of a unix socket's file, from its creation on; 0: by umask */
};

int listener_new(struct loop *loop, const struct address *at, const struct listener_owner *owner,
                 void *arg, struct listener **ret, struct err *err);
/* With the port that was assigned. */
void listener_address(const struct listener *l, struct address *ret);

/* Between these two calls nothing is accepted; new connections wait in the kernel's queue. */
void listener_pause(struct listener *l); /* allowed in on_accept(): no further call follows then */
void listener_resume(struct listener *l);
void listener_free(struct listener *l); /* NULL is allowed */

#endif
