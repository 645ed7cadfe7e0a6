/* SPDX-License-Identifier: MIT */
/* net.c - see net.h. */
#include "wire/net/net.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { V4_BITS = 32, V6_BITS = 128 };

static bool read_bits(const char *text, unsigned max, unsigned *ret)
{
    size_t n = strspn(text, "0123456789");
    unsigned long bits = n && n <= 3 && !text[n] ? strtoul(text, NULL, 10) : max + 1;

    *ret = (unsigned)bits;
    return bits <= max;
}

/* Whether the first `bits` bits are equal. */
static bool begins_with(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return !memcmp(a, b, whole) && (!rest || !((a[whole] ^ b[whole]) >> (8 - rest)));
}

/* Host bits that are not 0 are a typing error, and the intended network is unknown. */
static bool is_clean(const struct net *n, unsigned max)
{
    for (unsigned i = n->bits; i < max; i++) {
        if (n->bytes[i / 8] >> (7 - i % 8) & 1)
            return false;
    }
    return true;
}

int net_parse(const char *text, struct net *ret, struct err *err)
{
    size_t n = strcspn(text, "/");
    char address[INET6_ADDRSTRLEN];
    struct net net = { .family = AF_UNSPEC };
    unsigned max;

    if (n < sizeof(address)) {
        memcpy(address, text, n);
        address[n] = '\0';
        net.family = strchr(address, ':') ? AF_INET6 : AF_INET;
        if (inet_pton(net.family, address, net.bytes) != 1)
            net.family = AF_UNSPEC;
    }
    max = net.family == AF_INET ? V4_BITS : V6_BITS;
    net.bits = max;
    if (net.family == AF_UNSPEC || (text[n] && !read_bits(text + n + 1, max, &net.bits)))
        return err_set(err, ERR_INVALID, "%s: must be an address or a network, as 10.0.0.0/8",
                       text);
    if (!is_clean(&net, max))
        return err_set(err, ERR_INVALID, "%s: the address has more bits than /%u", text, net.bits);
    *ret = net;
    return 0;
}

bool net_has(const struct net *n, const struct address *a)
{
    int family = a->u.any.sa_family;
    const unsigned char *bytes;

    if (family == AF_INET6) {
        const struct in6_addr *v6 = &a->u.v6.sin6_addr;

        bytes = v6->s6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6)) {
            family = AF_INET;
            bytes += 12;
        }
    } else if (family == AF_INET) {
        bytes = (const unsigned char *)&a->u.v4.sin_addr;
    } else {
        return false;
    }
    return n->family == family && begins_with(n->bytes, bytes, n->bits);
}
