/* SPDX-License-Identifier: MIT */
/* fleet_in.h - what the sources of fleet.h share.  Not for others.
 *
 *   fleet.c        hosts and their processes in memory
 *   fleet_procs.c  one process, one host's list of them
 *   fleet_store.c  what has changed, on its way to the store; loading */
#ifndef SERVER_FLEET_IN_H
#define SERVER_FLEET_IN_H

#include <sys/queue.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/timers.h"
#include "server/errands.h"
#include "server/fleet.h"
#include "store/store_procs.h"

/* A text that many processes have: specs and labels of a fan-out are kept once. */
struct shared_text {
    size_t refs;
    char text[];
};

/* One block of memory, its texts behind it, made anew when it changes. */
struct proc {
    struct fleet_proc pub; /* first: a fleet_proc of ours is a proc */
    bool is_dirty;         /* not yet as it is in the store */
};

struct host {
    struct fleet_host pub; /* first: a fleet_host of ours is a host */
    struct fleet *fleet;
    char *at;           /* "cloud:ip" */
    struct arena texts; /* of pub */
    char *digest;
    struct proc **procs; /* pub.procs, by namespace and name */
    size_t cap;
    struct proc **pages; /* of a snapshot that is not whole */
    size_t n_pages, pages_cap;
    bool is_dirty, is_replaced; /* replaced: the store's list as a whole is another one */
    TAILQ_ENTRY(host) link;     /* of the dirty ones, if is_dirty */
};

struct fleet {
    struct loop *loop;
    struct log *log;
    struct store *store;
    struct errands *errands;
    struct host **hosts; /* by agent id */
    size_t n, cap;
    struct map by_id, by_at, texts;
    struct fleet_totals totals;
    TAILQ_HEAD(, host) dirty;
    struct timer flush;
    bool is_failing; /* the last write did; said once, however many fail */
};

/* fleet.c */
void host_put(struct fleet *f, const struct host_row *row);
struct host *host_find(const struct fleet *f, const char *agent_id);

/* fleet_procs.c */
struct proc *proc_new(struct fleet *f, const struct proc_view *view, const char *labels,
                      const char *spec);
void proc_free(struct fleet *f, struct proc *p);
struct proc *procs_find(const struct host *h, const char *space, const char *name);
void procs_put(struct host *h, struct proc *p); /* in place of the one of that name */
void procs_add_page(struct host *h, struct proc *p);
void procs_drop_pages(struct host *h);
void procs_take_pages(struct host *h); /* they are all that there is */
void procs_clear(struct host *h);

/* fleet_store.c */
void host_is_dirty(struct host *h);
void fleet_flush(void *fleet);

#endif
