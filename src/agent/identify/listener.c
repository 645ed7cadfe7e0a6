/* SPDX-License-Identifier: MIT */
/* listener.c - see listener.h. */
#include "agent/identify/listener.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/sys.h"

enum {
    SOCKETS_MAX = 64, /* listeners on one port: as many may share it */
    STATE_LISTEN = 0x0A,
    LINE_SIZE = 512,
    TABLE_BYTES = 16384,
};

/* Listeners on the port, and how well the address of each fits. */
struct sockets {
    int64_t inodes[SOCKETS_MAX];
    size_t n;
    int rank;
};

/* ---- the tables of sockets */

/* Hex digits, of which each group of eight is a number in the order of this machine. */
static bool read_address(const char *hex, size_t words, unsigned char *to)
{
    char word[9] = "";

    for (size_t i = 0; i < words; i++) {
        uint32_t value;
        char *end;

        memcpy(word, hex + 8 * i, 8);
        value = (uint32_t)strtoul(word, &end, 16);
        if (end != word + 8)
            return false;
        memcpy(to + 4 * i, &value, sizeof(value));
    }
    return true;
}

/* "  12: 0100007F:1F90 00000000:0000 0A ..." */
bool listener_read_line(const char *line, bool is_v4, struct listener_line *ret)
{
    size_t words = is_v4 ? 1 : 4, n = 8 * words;
    const char *local = strchr(line, ':'), *rest;
    unsigned port, state;
    int taken = 0;

    *ret = (struct listener_line){ .is_v4 = is_v4 };
    if (!local || local[1] != ' ' || strspn(local + 2, "0123456789ABCDEFabcdef") != n)
        return false;
    local += 2;
    rest = local + n;
    if (is_v4)
        memcpy(ret->address + 10, "\xff\xff", 2);
    if (!read_address(local, words, ret->address + (is_v4 ? 12 : 0)) ||
        sscanf(rest, ":%4x %*[0-9A-Fa-f]:%*x %2x %*x:%*x %*x:%*x %*x %*u %*d %" SCNd64 "%n", &port,
               &state, &ret->inode, &taken) != 3 ||
        !taken)
        return false;
    ret->port = port;
    ret->is_listening = state == STATE_LISTEN;
    return true;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

/* 0: it does not accept connections to this address; otherwise the kernel prefers the highest. */
static int rank_of(const struct listener_line *l, const unsigned char wanted[16])
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    bool is_v4 = !memcmp(wanted, mapped, sizeof(mapped));

    if (!memcmp(l->address, wanted, 16))
        return 3;
    if (l->is_v4)
        return is_v4 && is_zero(l->address + 12, 4) ? 2 : 0;
    return is_zero(l->address, 16) ? 1 : 0;
}

static void add_socket(struct sockets *s, const struct listener_line *l, int rank)
{
    if (!rank || rank < s->rank || !l->inode)
        return;
    if (rank > s->rank)
        s->n = 0;
    s->rank = rank;
    if (s->n < SOCKETS_MAX)
        s->inodes[s->n++] = l->inode;
}

/* Lines of a table, read in pieces. */
struct table_reader {
    int fd;
    char bytes[TABLE_BYTES];
    size_t at, n;
};

/* False: there are no more lines; one that does not fit ends the table. */
static bool next_line(struct table_reader *r, char to[LINE_SIZE])
{
    size_t n = 0;

    while (n < LINE_SIZE - 1) {
        if (r->at == r->n) {
            ssize_t got = sys_read(r->fd, r->bytes, sizeof(r->bytes));

            if (got <= 0)
                return false;
            r->at = 0;
            r->n = (size_t)got;
        }
        to[n] = r->bytes[r->at++];
        if (to[n] == '\n') {
            to[n] = '\0';
            return true;
        }
        n++;
    }
    return false;
}

static void read_table(const char *path, bool is_v4, const unsigned char wanted[16], int64_t port,
                       struct sockets *s)
{
    struct table_reader r = { .fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0) };
    struct listener_line l;
    char line[LINE_SIZE];

    if (r.fd < 0)
        return;
    if (next_line(&r, line)) { /* the heading */
        while (next_line(&r, line) && listener_read_line(line, is_v4, &l) && l.is_listening) {
            if (l.port == port)
                add_socket(s, &l, rank_of(&l, wanted));
        }
    }
    sys_close(r.fd);
}

static void find_sockets(const char *host, int64_t port, struct sockets *ret)
{
    unsigned char wanted[16] = { [10] = 0xff, [11] = 0xff };

    *ret = (struct sockets){ 0 };
    if (inet_pton(AF_INET, host, wanted + 12) != 1 && inet_pton(AF_INET6, host, wanted) != 1)
        return;
    read_table("/proc/thread-self/net/tcp", true, wanted, port, ret);
    read_table("/proc/thread-self/net/tcp6", false, wanted, port, ret);
}

static void add_all(struct sockets *to, const struct sockets *from)
{
    for (size_t i = 0; i < from->n && to->n < SOCKETS_MAX; i++)
        to->inodes[to->n++] = from->inodes[i];
}

/* ---- descriptors */

static bool is_one_of(const struct sockets *s, const char *link)
{
    static const char prefix[] = "socket:[";
    int64_t inode;

    if (strncmp(link, prefix, strlen(prefix)) != 0)
        return false;
    inode = strtoll(link + strlen(prefix), NULL, 10);
    for (size_t i = 0; i < s->n; i++) {
        if (s->inodes[i] == inode)
            return true;
    }
    return false;
}

/* ret_denied is set if its descriptors may not be read; it is not changed otherwise. */
static bool has_socket(int64_t pid, const struct sockets *s, bool *ret_denied)
{
    char path[64], link[64];
    struct dirent *entry;
    bool has = false;
    int fd;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
    fd = sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    d = fd < 0 ? NULL : sys_fdopendir(fd);
    if (!d) {
        *ret_denied |= errno == EACCES || errno == EPERM;
        sys_close(fd);
        return false;
    }
    while (!has && (entry = readdir(d))) {
        ssize_t n = sys_readlinkat(dirfd(d), entry->d_name, link, sizeof(link) - 1);

        if (n < 0 && (errno == EACCES || errno == EPERM))
            *ret_denied = true;
        if (n <= 0)
            continue;
        link[n] = '\0';
        has = is_one_of(s, link);
    }
    closedir(d);
    return has;
}

/* ---- owners */

struct owner_search {
    const struct listener_want *want;
    const struct sockets *sockets;
    struct listener *found;
};

/* The service manager holds the sockets of services that it activates: any other is preferred. */
static bool owner_on_process(void *search, pid_t pid)
{
    struct owner_search *s = search;
    bool ignored = false;

    for (size_t i = 0; i < s->want->n; i++) {
        if (s->want->family[i] == pid)
            return true;
    }
    if (!has_socket(pid, s->sockets, &ignored))
        return true;
    s->found->owner = LISTENER_OTHER;
    s->found->pid = pid;
    return pid == 1;
}

static void name_owner(struct listener *found)
{
    struct procfs_stat st;
    struct err gone;

    if (procfs_stat((pid_t)found->pid, &st, &gone)) {
        found->owner = LISTENER_UNKNOWN;
        return;
    }
    memcpy(found->program, st.comm, sizeof(found->program));
    procfs_clean(found->program);
}

/* Its own listeners are not reached from here, and those that are may be made for it. */
static bool is_in_other_network(int64_t pid)
{
    char path[64];
    struct stat own, its;

    snprintf(path, sizeof(path), "/proc/%lld/ns/net", (long long)pid);
    return !sys_stat("/proc/thread-self/ns/net", &own) && !sys_stat(path, &its) &&
           own.st_ino != its.st_ino;
}

void listener_find(const struct listener_want *w, struct listener *ret)
{
    struct owner_search search = { .want = w, .found = ret };
    struct sockets sockets, six;
    bool is_blind = false;
    struct err failure;

    *ret = (struct listener){ 0 };
    find_sockets(*w->host ? w->host : "127.0.0.1", w->port, &sockets);
    if (!*w->host) {
        find_sockets("::1", w->port, &six);
        add_all(&sockets, &six);
    }
    if (!sockets.n || (w->main && is_in_other_network(w->main)))
        return;
    for (size_t i = 0; i < w->n; i++) {
        if (has_socket(w->family[i], &sockets, &is_blind)) {
            ret->owner = LISTENER_FAMILY;
            return;
        }
    }
    if (w->is_brief)
        return;
    search.sockets = &sockets;
    if (is_blind || procfs_each(owner_on_process, &search, &failure))
        *ret = (struct listener){ 0 };
    if (ret->owner == LISTENER_OTHER)
        name_owner(ret);
}
