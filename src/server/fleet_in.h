/* SPDX-License-Identifier: MIT */
/* fleet_in.h - what the sources of fleet.h share.  Not for others.
 *
 *   fleet.c        hosts and their processes in memory
 *   fleet_business.c   which hosts are in each business
 *   fleet_procs.c  one process, one host's list of them
 *   fleet_registry.c   what clients have registered
 *   fleet_spaces.c which hosts have how many processes of each namespace
 *   fleet_store.c  what has changed, on its way to the store; loading
 *   fleet_walk.c   the hosts of a part of it, one by one */
#ifndef SERVER_FLEET_IN_H
#define SERVER_FLEET_IN_H

#include <sys/queue.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/timers.h"
#include "server/by_id.h"
#include "server/errands.h"
#include "server/fleet_index.h"
#include "server/fleet_registry.h"
#include "store/store_procs.h"

/* A text that many processes have: specs and labels of a fan-out are kept once. */
struct shared_text {
    size_t refs;
    char text[];
};

/* One block of memory, its texts behind it, made anew when it changes. */
struct proc {
    struct fleet_proc pub; /* first: a fleet_proc of ours is a proc */
    int64_t told_wanted;   /* by the agent, whatever the view says for who was unregistered */
    int64_t booked_no;     /* fleet.bookings as of when its registration was last written anew */
    struct share *share;   /* that it is counted in; NULL: it is not among its host's yet */
    bool is_dirty;         /* not yet as it is in the store */
    bool is_unbooked;      /* nor what is registered of it */
    bool is_told; /* by its agent, or by an operation: else it is registered, and no more */
    bool is_seen; /* in a snapshot, while that is taken */
};

struct host {
    struct fleet_host pub; /* first: a fleet_host of ours is a host */
    struct fleet *fleet;
    struct business *business; /* that it is counted in */
    char *at;                  /* "cloud:ip" */
    struct arena texts;        /* of pub */
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
    struct roll all; /* hosts, 1 each */
    struct map by_id, by_at, by_number, texts, spaces, shares;
    struct by_id businesses; /* of struct business */
    struct fleet_totals totals;
    TAILQ_HEAD(, host) dirty;
    struct timer flush;
    fleet_behind_fn *on_behind; /* NULL: nobody */
    void *behind_arg;
    int64_t bookings, last_said_ms; /* written anew by us; of the last registration */
    bool is_failing;                /* the last write did; said once, however many fail */
};

/* fleet.c */
struct host *host_find(const struct fleet *f, const char *agent_id);

/* fleet_procs.c */
/* `facts` has what is not the agent's to say: labels, spec, registry ...; NULL: nothing. */
struct proc *proc_new(struct fleet *f, const struct proc_view *view,
                      const struct fleet_proc *facts);
struct proc *proc_remake(struct fleet *f, const struct proc *old, const struct proc_view *view);
void proc_free(struct fleet *f, struct proc *p);
struct proc *procs_find(const struct host *h, const char *space, const char *name);
void procs_put(struct host *h, struct proc *p); /* in place of the one of that name */
void procs_del(struct host *h, const char *space, const char *name);
void procs_add_page(struct host *h, struct proc *p);
void procs_drop_pages(struct host *h);
void procs_take_pages(struct host *h); /* they are all that there is */
void procs_clear(struct host *h);
void procs_count(struct host *h, int64_t by); /* all of them, in or out of the totals */
void procs_enter(struct host *h);             /* the shares of its business */
void procs_leave(struct host *h);             /* and out of them */

/* fleet_store.c */
struct loading {              /* page by page */
    struct proc_all_ask from; /* hosts have the agent alone */
    struct arena *arena;      /* of this page; `from` is in that of the one before */
    struct list rows;
};
struct written { /* or on its way: the host may be gone when it comes back */
    struct fleet *fleet;
    const char *agent, *space, *name; /* no name: all it has */
    bool is_registry;                 /* what is registered of it */
};
void host_is_dirty(struct host *h);
struct written *written_new(const struct host *h, const struct proc *p, struct arena *a);
int written_submit(struct written *w, struct store_call *c);
void written_done(void *written, struct store_call *c); /* to be the call's `done` */
bool fleet_is_full(const struct fleet *f);
void fleet_flush(void *fleet);

/* fleet_registry.c */
void registry_lay_over(const struct fleet_proc *facts, struct proc_view *view);
void registry_keep(struct host *h); /* those that a snapshot lacks */
void registry_look(struct host *h); /* whether its agent has to be told something */
int registry_write(struct host *h); /* as write_host() */
int registry_load(struct fleet *f, struct loading *l, struct err *err);

#endif
