/* SPDX-License-Identifier: MIT */
/* fleet.h - the hosts we know and what runs on them, in memory.
 *
 * The store has it all; this is what answers without asking it.  fleet_load() reads
 * the store at start; from then on every change is made here and, by fleet itself,
 * submitted to the store.  A store that fails is logged, and tried again with what
 * the fleet says then: what is in memory is the truth of this server while it runs.
 *
 * Hosts stand in the order of their ids, processes of a host in the order of
 * namespace and name, so a walk is a stable list.  Pointers are good until the next
 * call that changes something. */
#ifndef SERVER_FLEET_H
#define SERVER_FLEET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/loop.h"
#include "link/message.h"
#include "model/proc.h"
#include "model/view.h"
#include "store/store.h"
#include "store/store_hosts.h"

struct fleet;

enum { FLEET_PROCS_MAX = 10000 }; /* of one host: an agent is not trusted with our memory */

/* What clients have said of a process, whatever its agent says. */
enum fleet_registry {
    FLEET_KNOWN,        /* nothing: it is known from operations, or from its agent */
    FLEET_REGISTERED,   /* it stays, though its agent does not know it */
    FLEET_UNREGISTERED, /* wanted by nobody; its agent may still have it */
};

struct fleet_proc {
    const char *space, *name;
    struct proc_view view;
    const char *labels, *spec; /* JSON, as registered or last sent with op 0, 3 or 7; NULL: none */
    int64_t registry;          /* enum fleet_registry */
    int64_t registered_ms;     /* since when, if it is */
    int64_t said_ms;           /* when spec and registry were asked for */
    bool is_behind;            /* its agent has, or may have, something else (pushes.h) */
    const char *trouble;       /* why that will stay so; NULL */
};

/* What an agent says of its host when it connects; in memory only. */
enum { FLEET_WORD_SIZE = 16 };
struct fleet_facts {
    char os[FLEET_WORD_SIZE], arch[FLEET_WORD_SIZE]; /* "": it has not said */
    int64_t cpus, mem_bytes, start_s;                /* of the agent; 0: it has not said */
};

struct fleet_host {
    const char *agent_id, *ip, *hostname, *version;
    int64_t cloud_id, biz_id, joined_ms;
    int64_t host_id;              /* in the CMDB; 0: none */
    const char *note, *addresses; /* as host_row has them */
    const char *cert_fingerprint;
    int64_t epoch;      /* of its session; 0: it is not connected */
    int64_t since_ms;   /* wall time: it has been connected, or not */
    int64_t silent_ms;  /* wall time: it is connected, and has said nothing since; 0: it speaks */
    const char *digest; /* of its processes, as it last said; "": not since our start */
    const struct fleet_proc *const *procs;
    size_t n_procs;
    struct fleet_facts facts;
};

struct fleet_totals {
    int64_t hosts, online, procs, running, hosted; /* running: of those online */
    int64_t silent;                                /* of those online */
};

struct fleet *fleet_new(struct loop *loop, struct log *log, struct store *store);
void fleet_free(struct fleet *f);                 /* NULL is fine */
int fleet_load(struct fleet *f, struct err *err); /* blocks; once, before the loop runs */

/* By its id or, spelled as one, by "cloud:ip"; NULL if there is none. */
const struct fleet_host *fleet_find(const struct fleet *f, const char *agent_id);
const struct fleet_host *fleet_find_at(const struct fleet *f, int64_t cloud_id, const char *ip);
const struct fleet_host *fleet_find_number(const struct fleet *f, int64_t host_id);
const struct fleet_proc *fleet_proc(const struct fleet_host *h, const char *space,
                                    const char *name);
/* The first host whose id is greater than `after` ("": the first of all); NULL: no more. */
const struct fleet_host *fleet_next(const struct fleet *f, const char *after);
const struct fleet_totals *fleet_totals(const struct fleet *f);

/* It has joined, and was never connected. */
static inline bool fleet_is_new(const struct fleet_host *h)
{
    return !h->epoch && h->since_ms == h->joined_ms;
}

/* How many hosts are in a business; the next business that any is in, by number, 0: none. */
size_t fleet_in_business(const struct fleet *f, int64_t biz_id);
int64_t fleet_next_business(const struct fleet *f, int64_t after);

/* A host has joined, or says other things of itself.  The row is copied.  The store
 * is the caller's affair (joining waits for it); the fleet submits nothing here. */
void fleet_put_host(struct fleet *f, const struct host_row *row);
void fleet_del_host(struct fleet *f, const char *agent_id);
void fleet_set_facts(struct fleet *f, const char *agent_id, const struct fleet_facts *facts);
void fleet_set_session(struct fleet *f, const char *agent_id, int64_t epoch, int64_t wall_ms);
void fleet_set_silent(struct fleet *f, const char *agent_id, int64_t since_ms); /* 0: it speaks */

/* What an agent says of its processes: changes, or all of them page by page (what is
 * not among them is gone with the last page).  Fails with ERR_LIMIT where they would be
 * too many; those before it count. */
int fleet_on_processes(struct fleet *f, const char *agent_id, const struct message_processes *m,
                       struct err *err);

/* An operation that makes a process known was done: its spec is the one from now on, unless
 * something was registered since it was asked for. */
void fleet_put_spec(struct fleet *f, const char *agent_id, const struct proc_meta *meta,
                    const struct proc_spec *spec, int64_t asked_ms);

#endif
