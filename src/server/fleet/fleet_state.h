/* SPDX-License-Identifier: MIT */
/* fleet_state.h - private state of the fleet.  Only the sources of server/fleet include it:
 *
 *   fleet_business.h       the hosts of each business
 *   fleet_shares.h         processes of each namespace, counted by host
 *   fleet_procs.h          one process, and the list of a host
 *   fleet_store.h          writing changes to the store
 *   fleet_registrations.h  registrations in memory
 *   fleet.h                hosts and their processes
 *   fleet_registry.h       requests of clients to register
 *   fleet_spaces.h         totals, pages and iteration
 *   fleet_load.c           loading at start
 *
 * Each may use those before it.
 *
 * A share counts the processes of one namespace on hosts of one business.  Every process belongs
 * to one share and its host to one business, so a change updates exactly these. */
#ifndef SERVER_FLEET_FLEET_STATE_H
#define SERVER_FLEET_FLEET_STATE_H

#include <sys/queue.h>

#include "base/io/log.h"
#include "base/io/loop.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"
#include "server/fleet/by_id.h"
#include "server/fleet/fleet_view.h"
#include "server/fleet/host_index.h"
#include "server/fleet/pending_calls.h"

struct business {
    int64_t id;                   /* first, for by_id.h */
    struct host_index host_index; /* its hosts, count 1 each */
    struct fleet_totals totals;
};

struct space {
    struct host_index host_index; /* hosts with their number of processes of this namespace */
    struct fleet_totals totals;   /* only of processes, as in a share */
    char name[];
};

struct share {
    struct share_key {
        struct space *space;
        int64_t biz_id;
    } key;
    struct host_index host_index;
    struct fleet_totals totals;
};

/* A text shared by many processes: specs and labels of a task with many targets exist once. */
struct shared_text {
    size_t refs;
    char text[];
};

/* One block of memory followed by its texts; replaced as a whole when it changes. */
struct proc {
    struct fleet_proc pub;     /* first, so that a fleet_proc can be cast to a proc */
    int64_t reported_wanted;   /* as reported by the agent; the view may show another value */
    int64_t registry_write_no; /* fleet.registry_writes at the last write of its registration */
    struct share *share;       /* counts it; NULL: not in its host's list yet */
    bool is_dirty;             /* differs from the store */
    bool is_registry_dirty;    /* its registration differs from the store */
    bool is_reported; /* reported by its agent or by an operation; false: only registered */
    bool is_seen;     /* seen in the current snapshot */
};

struct host {
    struct fleet_host pub; /* first, so that a fleet_host can be cast to a host */
    struct fleet *fleet;
    struct business *business; /* counts it */
    char *at;                  /* "cloud:ip" */
    struct arena texts;        /* of pub */
    char *digest;
    struct proc **procs; /* pub.procs, by namespace and name */
    size_t cap;
    struct proc **pages; /* of an incomplete snapshot */
    size_t n_pages, pages_cap;
    bool is_dirty, is_replaced; /* replaced: the whole list in the store must be replaced */
    TAILQ_ENTRY(host) link;     /* in fleet.dirty, if is_dirty */
};

struct fleet {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct pending_calls *pending_calls;
    struct host_index all; /* hosts, 1 each */
    struct map by_id, by_at, by_number, texts, spaces, shares;
    struct by_id businesses; /* of struct business */
    struct fleet_totals totals;
    TAILQ_HEAD(, host) dirty;
    struct timer flush;
    void (*on_needs_push)(void *arg, const struct fleet_host *h,
                          const struct fleet_proc *p); /* NULL: no callback */
    void *needs_push_arg;
    int64_t registry_writes, last_spec_seq; /* changes of registrations; the last sequence number */
    bool is_failing;                        /* the last write failed; logged once per series */
};

static inline struct host *host_find(const struct fleet *f, const char *agent_id)
{
    return map_find_str(&f->by_id, agent_id);
}

#endif
