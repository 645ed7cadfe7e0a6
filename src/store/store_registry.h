/* SPDX-License-Identifier: MIT */
/* store_registry.h - processes as clients have registered them: verbs of store.h.
 *
 * They are separate from store_procs.h, which has the reports of agents and is overwritten by them
 * at any time. */
#ifndef STORE_STORE_REGISTRY_H
#define STORE_STORE_REGISTRY_H

#include "store/store.h"
#include "store/store_procs.h"

enum { STORE_REGISTERED = 1, STORE_UNREGISTERED = 2 }; /* 2: the agent may still have it */

struct registry_row {
    const char *agent_id, *space, *name;
    int64_t state;
    const char *labels, *spec; /* JSON, or NULL */
    int64_t registered_ms;     /* when it was first registered */
    int64_t said_ms;           /* when this state and spec were requested */
    bool is_behind;            /* the agent does not have this state, or may not have it */
    const char *trouble;       /* why is_behind is permanent; "": it is not */
};

struct registry_ask {
    struct list rows; /* of registry_row */
};

struct registry_del_ask {
    struct list refs; /* of proc_ref_row */
};

/* registry_ask; list of agent_row where it was not registered before.  Existing rows stay
 * unchanged. Rows of unknown hosts are ignored, here and below. */
extern const struct store_verb store_registry_add;
/* registry_ask; nothing.  registered_ms of an existing row is kept. */
extern const struct store_verb store_registry_put;
/* registry_del_ask; nothing.  Deletes only unregistered rows. */
extern const struct store_verb store_registry_del;
extern const struct store_verb store_registry_of;  /* agent_row; list of registry_row */
extern const struct store_verb store_registry_all; /* proc_all_ask; list of registry_row */

#endif
