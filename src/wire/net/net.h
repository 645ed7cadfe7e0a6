/* SPDX-License-Identifier: MIT */
/* net.h - networks in CIDR notation: "10.0.0.0/8", "fd00::/8"; a single address is a network of
 * one. */
#ifndef WIRE_NET_NET_H
#define WIRE_NET_NET_H

#include "wire/net/listen.h"

struct net {
    int family;              /* AF_INET or AF_INET6 */
    unsigned char bytes[16]; /* the address; IPv4 uses four bytes */
    unsigned bits;
};

int net_parse(const char *text, struct net *ret, struct err *err);

/* An IPv4 address of an IPv6 socket counts as IPv4; a unix socket is in no network. */
bool net_has(const struct net *n, const struct address *a);

#endif
