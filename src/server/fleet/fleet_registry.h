/* SPDX-License-Identifier: MIT */
/* fleet_registry.h - registrations of processes by clients, beside the reports of agents.
 *
 * A process is registered when the server has its spec, from a registration or from an operation.
 * A registration is in the store before it is in the fleet, and in the fleet before the request is
 * answered.  It does not need the agent, and a snapshot of the agent does not end it.  For a
 * process that the agent does not have, flag and status are "stopped"; for an unregistered one the
 * flag is "not registered", whatever its agent does.
 *
 * A change that the agent must get (the spec of a hosted process, the end of hosting) is marked
 * needs_push until fleet_settle(), in the store too. */
#ifndef SERVER_FLEET_FLEET_REGISTRY_H
#define SERVER_FLEET_FLEET_REGISTRY_H

#include "server/fleet/fleet.h"

enum registering_kind { REGISTERING_NEW, REGISTERING_UPDATE, REGISTERING_END };

struct registering_target {
    const char *agent; /* agent id; each once */
    int64_t code;      /* of model/code.h; a target whose code is set before is skipped */
    const char *text;
};

struct registering {
    enum registering_kind kind;
    struct proc_meta meta;
    const struct proc_spec *spec; /* ignored by REGISTERING_END */
    struct registering_target *targets;
    size_t n;
};

/* `fn` is called once, perhaps before this returns, unless the fleet is freed first; every target
 * then has its code.  With a failure nothing was registered.  What `r` points to must live until
 * then. */
typedef void fleet_registered_fn(void *arg, const struct err *failure);
void fleet_register(struct fleet *f, struct registering *r, fleet_registered_fn *fn, void *arg);

/* Called when a process of a connected agent needs a push, and again with each session.  It must
 * not change the fleet. */
typedef void fleet_needs_push_fn(void *arg, const struct fleet_host *h, const struct fleet_proc *p);
void fleet_on_needs_push(struct fleet *f, fleet_needs_push_fn *fn,
                         void *arg); /* NULL: no callback */

/* Draws a sequence number for a request: higher than all before, whatever the clock says and across
 * restarts.  Of two specs the one with the higher number is newer.  fleet_note_seq() makes known a
 * number that was drawn before a restart. */
int64_t fleet_draw_seq(struct fleet *f);
void fleet_note_seq(struct fleet *f, int64_t spec_seq);

/* The push of this number succeeded, or failed for good for the reason in `trouble`. */
void fleet_settle(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t spec_seq, const char *trouble);

/* The agent applied the spec of this number although there is a newer one: push again. */
void fleet_took_older(struct fleet *f, const char *agent, const char *space, const char *name,
                      int64_t spec_seq);

/* The agent no longer has the process that was unregistered; remove it here too. */
void fleet_forget(struct fleet *f, const char *agent, const char *space, const char *name,
                  int64_t spec_seq);

/* An operation that stores a spec succeeded: the spec is current from now on, unless something was
 * registered after its number was drawn (fleet_draw_seq()). */
void fleet_put_spec(struct fleet *f, const char *agent_id, const struct proc_meta *meta,
                    const struct proc_spec *spec, int64_t spec_seq);

#endif
