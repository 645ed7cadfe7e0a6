/* SPDX-License-Identifier: MIT */
/* fleet_view.h - hosts and processes as the fleet shows them: plain data, read-only for others. */
#ifndef SERVER_FLEET_FLEET_VIEW_H
#define SERVER_FLEET_FLEET_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/view.h"

enum { FLEET_PROCS_MAX = 10000 }; /* per host: an agent must not fill our memory */

/* The registration of a process by clients, whatever its agent reports. */
enum fleet_registry {
    FLEET_KNOWN,        /* not registered: known from operations, or from its agent */
    FLEET_REGISTERED,   /* stays listed even if its agent does not know it */
    FLEET_UNREGISTERED, /* unregistered; its agent may still have it */
};

struct fleet_proc {
    const char *space, *name;
    struct proc_view view;
    const char *labels, *spec; /* JSON, as registered or last sent with op 0, 3 or 7; NULL: none */
    int64_t registry;          /* enum fleet_registry */
    int64_t registered_ms;     /* time of registration, if registered */
    int64_t spec_seq;    /* sequence number: a higher one means a newer spec or registration */
    bool needs_push;     /* the agent has, or may have, an older state (pushes.h) */
    const char *trouble; /* why a push failed for good; NULL: it did not */
};

/* Facts of a host, reported by its agent when it connects; in memory only. */
enum { FLEET_WORD_SIZE = 16 };
struct fleet_facts {
    char os[FLEET_WORD_SIZE], arch[FLEET_WORD_SIZE]; /* "": not reported */
    int64_t cpus, mem_bytes, start_s;                /* start_s: of the agent; 0: not reported */
};

struct fleet_host {
    const char *agent_id, *ip, *hostname, *version;
    int64_t cloud_id, biz_id, joined_ms;
    int64_t host_id;              /* in the CMDB; 0: none */
    const char *note, *addresses; /* as in host_row */
    const char *cert_fingerprint;
    int64_t epoch;    /* of the current session; 0: not connected */
    int64_t since_ms; /* wall time since which it is connected, or not connected */
    int64_t
        silent_ms; /* wall time of its last message, if it is connected and silent; 0: not silent */
    const char *digest; /* of its processes, as last reported; "": not since our start */
    const struct fleet_proc *const *procs;
    size_t n_procs;
    struct fleet_facts facts;
};

struct fleet_totals {
    int64_t hosts, online, procs, running, hosted; /* running: on online hosts only */
    int64_t silent, flapping;                      /* of and on the online hosts */
    int64_t unhealthy, checks_passing, checks_failing, checks_us; /* on the online hosts */
};

/* Whether the host has joined and was never connected. */
static inline bool fleet_is_new(const struct fleet_host *h)
{
    return !h->epoch && h->since_ms == h->joined_ms;
}

#endif
