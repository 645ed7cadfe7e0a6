/* SPDX-License-Identifier: MIT */
/* agent_hello.c - see agent_hello.h. */
#include "agent/shell/agent_hello.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/shell/agent_base.h"
#include "agent/supervise/core.h"

enum { ADDRESSES_MAX = 64 };

static const char *hostname(struct arena *a)
{
    char name[256] = "";

    if (gethostname(name, sizeof(name) - 1))
        return "";
    return arena_strdup(a, name);
}

/* Addresses reachable from other hosts; NULL: not an address of that kind. */
static const char *address_text(const struct ifaddrs *i, struct arena *a)
{
    char text[INET6_ADDRSTRLEN] = "";
    const void *at;

    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
        return NULL;
    if (i->ifa_addr->sa_family == AF_INET)
        at = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
    else if (i->ifa_addr->sa_family == AF_INET6)
        at = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr;
    else
        return NULL;
    if (i->ifa_addr->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)at))
        return NULL;
    return inet_ntop(i->ifa_addr->sa_family, at, text, sizeof(text)) ? arena_strdup(a, text) : NULL;
}

static struct list addresses(struct arena *a)
{
    struct message_text *texts = arena_alloc(a, ADDRESSES_MAX * sizeof(*texts));
    struct list list = { texts, 0 };
    struct ifaddrs *all;

    if (getifaddrs(&all))
        return list; /* informational only */
    for (const struct ifaddrs *i = all; i && list.n < ADDRESSES_MAX; i = i->ifa_next) {
        const char *text = address_text(i, a);

        if (text)
            texts[list.n++].text = text;
    }
    freeifaddrs(all);
    return list;
}

/* Lower case: the kernel says "Linux", BlueKing writes "linux". */
static const char *small(struct arena *a, const char *word)
{
    char *copy = arena_strdup(a, word);

    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* Values that the system does not report are left out. */
static void fill_host(struct arena *a, struct message_hello *hello)
{
    int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    struct utsname system;

    if (uname(&system) == 0) {
        hello->os = small(a, system.sysname);
        hello->arch = arena_strdup(a, system.machine);
    }
    hello->cpus = cpus > 0 ? cpus : 0;
    hello->mem_bytes = pages > 0 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void agent_hello_fill(struct agent_hello *h, struct agent_base *a, struct message_hello *ret)
{
    arena_reset(&h->texts);
    core_digest(a->core, h->digest);
    ret->agent_version = HOLDFAST_VERSION;
    ret->hostname = hostname(&h->texts);
    ret->boot_id = a->boot_id;
    ret->addresses = addresses(&h->texts);
    ret->digest = h->digest;
    ret->agent_ms = agent_now_ms(a);
    ret->started_s = h->started_s;
    fill_host(&h->texts, ret);
}

void agent_hello_done(struct agent_hello *h)
{
    arena_free(&h->texts);
}
