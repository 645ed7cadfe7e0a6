/* SPDX-License-Identifier: MIT */
/* groups.h - limits on what the processes of a namespace may use together on a host
 * (model/group.h), as set by clients.
 *
 * A group is in the store before its request is answered, and in memory for queries.  It is sent
 * to a connected agent, and repeated in this and later sessions until the agent has it in its
 * journal. */
#ifndef SERVER_REGISTRY_GROUPS_H
#define SERVER_REGISTRY_GROUPS_H

#include "base/io/log.h"
#include "base/io/loop.h"
#include "link/group.h"
#include "model/group.h"
#include "server/fleet/fleet.h"
#include "store/store.h"

struct groups;

/* As agents_send(). */
typedef void groups_send_fn(void *arg, const char *agent, int64_t epoch, unsigned type,
                            const struct shape *s, const void *message);

struct groups *groups_new(struct loop *loop, struct log *log, struct store *store,
                          const struct fleet *fleet, groups_send_fn *send, void *arg);
void groups_free(struct groups *g); /* NULL is allowed; before the store is closed */
int groups_load(struct groups *g, struct err *err); /* blocks; once, before the loop runs */

enum { GROUPS_HOST_MAX = 256 }; /* per host */

struct groups_agent {
    const char *id;
};

struct groups_ask {
    const char *space;  /* the namespace that queries use */
    struct list groups; /* struct proc_group, each id once */
    struct list agents; /* struct groups_agent, each once */
};

/* `fn` is called once, later, unless the groups are freed first; with a failure nothing was set.
 * The contents of the ask are copied. */
typedef void groups_set_fn(void *arg, const struct err *failure);
void groups_set(struct groups *g, const struct groups_ask *ask, groups_set_fn *fn, void *arg);

/* Whether the host has room for these as well (struct proc_group, each id once). */
bool groups_fit(const struct groups *g, const char *agent, const struct list *groups);

/* The groups of a host that were set under this namespace; in the arena. */
struct list groups_of(const struct groups *g, const char *agent, const char *space,
                      struct arena *a);

void groups_forget(struct groups *g,
                   const char *agent); /* the host was removed; g NULL is allowed */

/* Called by the sessions, after the fleet. */
void groups_on_session(struct groups *g, const char *agent);
void groups_on_taken(struct groups *g, const char *agent, const struct message_group_ref *m);

#endif
