/* SPDX-License-Identifier: MIT */
/* agent_hello.c - what the agent says of itself and its host. */
#include <arpa/inet.h>
#include <ctype.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/agent_in.h"
#include "base/self.h"
#include "link/pong.h"

enum { ADDRESSES_MAX = 64 };

static const char *hostname(struct arena *a)
{
    char name[256] = "";

    if (gethostname(name, sizeof(name) - 1))
        return "";
    return arena_strdup(a, name);
}

/* Those that others can reach; NULL for what is not an address of that kind. */
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
        return list; /* only for people to read */
    for (const struct ifaddrs *i = all; i && list.n < ADDRESSES_MAX; i = i->ifa_next) {
        const char *text = address_text(i, a);

        if (text)
            texts[list.n++].text = text;
    }
    freeifaddrs(all);
    return list;
}

/* "Linux" is how the kernel calls itself; BlueKing writes it small. */
static const char *small(struct arena *a, const char *word)
{
    char *copy = arena_strdup(a, word);

    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* What the system does not tell stays unsaid. */
static void fill_host(struct agent *a, struct message_hello *hello)
{
    int64_t cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    struct utsname system;

    if (uname(&system) == 0) {
        hello->os = small(&a->hello, system.sysname);
        hello->arch = arena_strdup(&a->hello, system.machine);
    }
    hello->cpus = cpus > 0 ? cpus : 0;
    hello->mem_bytes = pages > 0 ? pages * sysconf(_SC_PAGESIZE) : 0;
    hello->started_s = a->started_s;
}

void agent_fill_hello(struct agent *a, struct message_hello *hello)
{
    arena_reset(&a->hello);
    core_digest(a->core, a->digest);
    hello->agent_version = HOLDFAST_VERSION;
    hello->hostname = hostname(&a->hello);
    hello->boot_id = a->boot_id;
    hello->addresses = addresses(&a->hello);
    hello->digest = a->digest;
    hello->agent_ms = agent_now_ms(a);
    fill_host(a, hello);
}

void hand_figures(void *agent, struct message_figures *to)
{
    struct agent *a = agent;
    struct self_use use;

    self_use(&use);
    to->rss_bytes = use.rss_bytes;
    to->cpu_ms = use.cpu_us / 1000;
    to->journal_bytes = a->disk.journal ? (int64_t)journal_size_bytes(a->disk.journal) : 0;
}
