/* SPDX-License-Identifier: MIT */
/* store_groups.h - the limits that the processes of a namespace share on a host: verbs of
 * store.h. */
#ifndef STORE_STORE_GROUPS_H
#define STORE_STORE_GROUPS_H

#include "store/store.h"

struct group_row {
    const char *agent_id, *id; /* id: the namespace that the limits apply to */
    const char *space;         /* the namespace of the request */
    const char *resource;      /* JSON of group_resource_shape */
    int64_t number;            /* identifies this value; a newer value has another */
    bool is_taken;             /* acknowledged by the agent */
};

struct group_put_ask {
    struct list rows; /* of group_row */
};

struct group_taken_ask {
    const char *agent_id;
    int64_t number;
};

extern const struct store_verb store_group_put;   /* group_put_ask; nothing */
extern const struct store_verb store_group_taken; /* group_taken_ask; nothing */
extern const struct store_verb store_group_all;   /* nothing; list of group_row, by agent */

#endif
