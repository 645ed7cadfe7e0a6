/* SPDX-License-Identifier: MIT */
/* store_hosts.h - hosts, and which node has each agent's connection: verbs of store.h. */
#ifndef STORE_STORE_HOSTS_H
#define STORE_STORE_HOSTS_H

#include "store/store.h"

struct host_row {
    const char *agent_id;
    int64_t cloud_id;
    const char *ip;
    int64_t biz_id;
    const char *hostname, *version, *cert_serial, *cert_fingerprint;
    int64_t joined_ms;
    int64_t host_id;       /* id in the CMDB (bk_host_id); 0: none */
    const char *note;      /* free text of an operator */
    const char *addresses; /* all that its agent reported, separated by blanks */
};

struct host_ask {
    const char *agent_id;
};

struct host_find_at_ask {
    int64_t cloud_id;
    const char *ip;
};

/* host_row; nothing.  ERR_CONFLICT if another agent has the address. */
extern const struct store_verb store_host_put;
extern const struct store_verb store_host_find;    /* host_ask; list of host_row, at most one */
extern const struct store_verb store_host_find_at; /* host_find_at_ask; the same */
extern const struct store_verb store_host_list;    /* store_page; list of host_row by agent id */

/* Deletes a host and its processes: host_ask; list of host_row that were deleted. */
extern const struct store_verb store_host_del;

/* Facts that operators enter are in store_inventory.h. */

/* A session is one connection of an agent.  Its epoch rises with each session and never falls, not
 * even when the host is removed: the node with the highest epoch owns the agent.  A month after the
 * removal the epoch is deleted (store_retention.h). */
struct session_row {
    const char *agent_id, *node;
    int64_t epoch;
    bool is_open;
    int64_t since_ms; /* when it was opened or closed */
};

struct session_open_ask {
    const char *agent_id, *node;
    int64_t since_ms;
};

struct session_close_ask {
    const char *agent_id;
    int64_t epoch, since_ms;
};

struct session_end_ask {
    const char *node;
    int64_t since_ms;
};

extern const struct store_verb store_session_open; /* session_open_ask; list of session_row, one */

/* session_close_ask; list of session_row, empty if a later one is open or it was closed before. */
extern const struct store_verb store_session_close;

/* Closes all sessions that a node left open when it died: session_end_ask; list of session_row. */
extern const struct store_verb store_session_end;
extern const struct store_verb store_session_list; /* store_page; list of session_row by agent id */

#endif
