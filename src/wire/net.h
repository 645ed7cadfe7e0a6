/* SPDX-License-Identifier: MIT */
/* net.h - networks as people write them: "10.0.0.0/8", "fd00::/8"; an address alone is a
 * network of one. */
#ifndef WIRE_NET_H
#define WIRE_NET_H

#include "wire/listen.h"

struct net {
    int family;              /* AF_INET or AF_INET6 */
    unsigned char bytes[16]; /* of the address; IPv4 has four */
    unsigned bits;
};

int net_parse(const char *text, struct net *ret, struct err *err);

/* An IPv4 address that came in by an IPv6 socket counts as what it is; a unix socket is in
 * no network. */
bool net_has(const struct net *n, const struct address *a);

#endif
