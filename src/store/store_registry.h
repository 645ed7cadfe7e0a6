/* SPDX-License-Identifier: MIT */
/* store_registry.h - what clients have registered of processes, whatever their agents say:
 * verbs of store.h.
 *
 * It stands apart from store_procs.h, which is what agents tell and is written over by
 * them at any time. */
#ifndef STORE_STORE_REGISTRY_H
#define STORE_STORE_REGISTRY_H

#include "store/store.h"
#include "store/store_procs.h"

enum { STORE_REGISTERED = 1, STORE_UNREGISTERED = 2 }; /* unregistered: its agent may not know */

struct registry_row {
    const char *agent_id, *space, *name;
    int64_t state;
    const char *labels, *spec; /* JSON, or NULL */
    int64_t registered_ms;     /* since when */
    int64_t said_ms;           /* when this state and spec were asked for */
    bool is_behind;            /* the agent has, or may have, something else */
    const char *trouble;       /* why it will stay so; "" */
};

struct registry_ask {
    struct list rows; /* of registry_row */
};

struct registry_del_ask {
    struct list refs; /* of proc_ref_row */
};

/* registry_ask; list of agent_row: those where it was not registered before.  The others
 * are left as they are.  Of hosts that there are not, nothing is taken, here and below. */
extern const struct store_verb store_registry_add;
/* registry_ask; nothing.  What was registered stays so since when it was. */
extern const struct store_verb store_registry_put;
/* registry_del_ask; nothing.  Only what is unregistered goes. */
extern const struct store_verb store_registry_del;
extern const struct store_verb store_registry_of;  /* agent_row; list of registry_row */
extern const struct store_verb store_registry_all; /* proc_all_ask; list of registry_row */

#endif
