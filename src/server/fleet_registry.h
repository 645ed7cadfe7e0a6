/* SPDX-License-Identifier: MIT */
/* fleet_registry.h - what clients register of processes, beside what agents tell of them.
 *
 * Registered is a process whose spec the server knows, from a registration or from an
 * operation that brought one.  A registration is in the store before it is in the fleet, and
 * in the fleet before its caller hears of it; it does not need the agent, and a snapshot of
 * the agent does not end it.  Of a process that the agent has not got, flag and status are
 * "stopped"; the flag of one that was unregistered is "not registered", whatever its agent
 * does with it.
 *
 * What an agent must be told of it (the spec of a process that it hosts, the end of hosting)
 * is is_behind until fleet_settle(), in the store too. */
#ifndef SERVER_FLEET_REGISTRY_H
#define SERVER_FLEET_REGISTRY_H

#include "server/fleet.h"

enum registering_kind { REGISTERING_NEW, REGISTERING_UPDATE, REGISTERING_END };

struct registering_target {
    const char *agent; /* its id; each once */
    int64_t code;      /* of model/code.h; not 0 before: it is passed over */
    const char *text;
};

struct registering {
    enum registering_kind kind;
    struct proc_meta meta;
    const struct proc_spec *spec; /* not looked at at the end */
    struct registering_target *targets;
    size_t n;
};

/* `fn` is called once, perhaps before this returns, unless the fleet is freed first: then
 * every target has its code.  With a failure nothing was registered.  What `r` points to must
 * be there until then. */
typedef void fleet_registered_fn(void *arg, const struct err *failure);
void fleet_register(struct fleet *f, struct registering *r, fleet_registered_fn *fn, void *arg);

/* Whom to call when an agent that is connected has to be told of a process; nothing is to be
 * changed from there.  It is called again with each session. */
typedef void fleet_behind_fn(void *arg, const struct fleet_host *h, const struct fleet_proc *p);
void fleet_on_behind(struct fleet *f, fleet_behind_fn *fn, void *arg); /* NULL: nobody */

/* The agent was told what was said then; or, for the reason in `trouble`, will not be. */
void fleet_settle(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t said_ms, const char *trouble);

/* The agent knows nothing any more of what was unregistered then, and so neither do we. */
void fleet_forget(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t said_ms);

#endif
