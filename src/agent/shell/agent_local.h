/* SPDX-License-Identifier: MIT */
/* agent_local.h - local control over a unix socket; works without a server (protocol:
 * link/local.h).
 *
 * Access: root, the agent's own user, and members of the configured group. The socket file has mode
 * 0600, or 0660 with that group. Independently of the file mode every connection is checked by
 * SO_PEERCRED, and by SO_PEERGROUPS for the supplementary groups of the peer. This needs no
 * directory service, so it does not block. On kernels without SO_PEERGROUPS (before 4.13) the file
 * mode decides. Other peers get an error and are closed.
 *
 * Limits: connections in total and per user, size of a request, time for a request, unread bytes of
 * answers. So a client that stalls or floods does not affect others. A socket file left by a
 * previous agent is replaced; the lock of data_dir excludes a second agent. A socket that can not
 * be created is logged, and everything else works. */
#ifndef AGENT_SHELL_AGENT_LOCAL_H
#define AGENT_SHELL_AGENT_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/json/shape.h"

struct agent_base;
struct job_thread;
struct local;
struct output_reader;
struct samples;

/* State of the connection to the server, for local clients. */
struct agent_link {
    const char *servers, *agent_id; /* "": none */
    bool is_up;
    const char *trouble; /* reason of the last failure; NULL or "": unknown */
    int64_t again_ms;    /* until the next attempt */
};

/* What local control needs; all of it must live longer. */
struct local_parts {
    struct agent_base *agent;
    struct job_thread *lookups; /* of user names */
    struct output_reader *reader;
    struct samples *samples;
    void (*link)(void *arg, struct agent_link *ret); /* NULL: no server connection */
    void *arg;
};

/* `socket` NULL: no local control; "": default path. Both texts are copied. Never NULL. */
struct local *local_new(const struct local_parts *parts, const char *socket, const char *group);
void local_free(struct local *l); /* NULL is allowed */
void local_set(struct local *l, const char *socket, const char *group);

/* True: the message belongs to an operation of a local client and is not for a server. */
bool local_send(struct local *l, unsigned type, const struct shape *s, const void *message);

/* Answers those that wait for samples, if these are done. */
void local_settle(struct local *l);

/* For an upgrade in place: whether answers are still being sent. Connections that wait for the end
 * of an operation stay open over execve(), with their tasks in the environment, unless local_keep()
 * undoes that. local_new() of the next program resumes them. */
bool local_is_sending(const struct local *l);
void local_hand_over(const struct local *l);
void local_keep(void);

#endif
