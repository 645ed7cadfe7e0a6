/* SPDX-License-Identifier: MIT */
/* listener.h - which process listens on a TCP port of this host.
 *
 * The kernel's tables of sockets (/proc/net/tcp, tcp6) have the number of the listening socket, and
 * the descriptors of a process (/proc/PID/fd) those of its sockets.  Listening sockets come first
 * in the tables, so only those are read.  The descriptors of all processes are read only if the
 * socket is in none of the family.
 *
 * The owner is not always to be determined: the port may be of another host or network namespace,
 * or the agent may lack the right to read descriptors.  On any thread. */
#ifndef AGENT_IDENTIFY_LISTENER_H
#define AGENT_IDENTIFY_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/identify/procfs.h"

enum listener_owner {
    LISTENER_UNKNOWN, /* not to be determined */
    LISTENER_FAMILY,
    LISTENER_OTHER,
};

struct listener_want {
    const char *host; /* numeric; "": 127.0.0.1 or ::1 */
    int64_t port;
    int64_t main;          /* the main process; 0: unknown */
    const int64_t *family; /* pids of all that belong to it, including the main process */
    size_t n;
    bool is_brief; /* other processes are not searched: LISTENER_FAMILY or LISTENER_UNKNOWN */
};

struct listener {
    enum listener_owner owner;
    int64_t pid; /* LISTENER_OTHER */
    char program[PROCFS_COMM_SIZE];
};

void listener_find(const struct listener_want *w, struct listener *ret);

/* ---- for tests: a line of /proc/net/tcp or tcp6 */

struct listener_line {
    unsigned char address[16]; /* IPv4 addresses mapped to IPv6 */
    int64_t port, inode;
    bool is_v4, is_listening;
};

bool listener_read_line(const char *line, bool is_v4, struct listener_line *ret);

#endif
