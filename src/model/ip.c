/* SPDX-License-Identifier: MIT */
/* ip.c - see ip.h. */
#include "model/ip.h"

#include <arpa/inet.h>
#include <assert.h>

static_assert(IP_TEXT_SIZE == INET6_ADDRSTRLEN, "room for the longest");

bool ip_read(const char *text, char to[IP_TEXT_SIZE])
{
    struct in6_addr v6;
    struct in_addr v4;

    if (inet_pton(AF_INET, text, &v4) == 1)
        return inet_ntop(AF_INET, &v4, to, IP_TEXT_SIZE);
    if (inet_pton(AF_INET6, text, &v6) != 1)
        return false;
    if (!IN6_IS_ADDR_V4MAPPED(&v6))
        return inet_ntop(AF_INET6, &v6, to, IP_TEXT_SIZE);
    return inet_ntop(AF_INET, &v6.s6_addr[12], to, IP_TEXT_SIZE);
}
