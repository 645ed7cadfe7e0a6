/* SPDX-License-Identifier: MIT */
/* listen.h - addresses, and sockets that wait for others.
 *
 * An address is written "127.0.0.1:7020", "[::1]:7020", ":7020" (all addresses,
 * both families where the host has them) or "unix:/path".  A listener hands every
 * accepted socket to its owner.  Out of descriptors is not fatal: it rests for a
 * moment, tells the owner once, and goes on. */
#ifndef WIRE_LISTEN_H
#define WIRE_LISTEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"
#include "base/loop.h"

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
bool address_is_loopback(const struct address *a); /* a unix socket is */
/* The host part only, without the port. */
void address_print_host(const struct address *a, char to[ADDRESS_TEXT_SIZE]);
/* What a cap per address counts by: the host, or of IPv6 its /64, which is what one
 * client usually has. */
void address_print_net(const struct address *a, char to[ADDRESS_TEXT_SIZE]);

struct listener;

struct listener_owner {
    void (*on_accept)(void *arg, int fd, const struct address *peer); /* the fd is the owner's */
    void (*on_trouble)(void *arg, const struct err *err);             /* accept fails; it goes on */
};

int listener_new(struct loop *loop, const struct address *at, const struct listener_owner *owner,
                 void *arg, struct listener **ret, struct err *err);
void listener_address(const struct listener *l, struct address *ret); /* with the real port */

/* Nobody is accepted from the one to the other; who comes waits with the kernel. */
void listener_pause(struct listener *l); /* in on_accept() too: it was the last then */
void listener_resume(struct listener *l);
void listener_free(struct listener *l); /* NULL is fine */

#endif
