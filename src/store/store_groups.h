/* SPDX-License-Identifier: MIT */
/* store_groups.h - what the processes of a namespace may use together on a host: verbs of
 * store.h. */
#ifndef STORE_STORE_GROUPS_H
#define STORE_STORE_GROUPS_H

#include "store/store.h"

struct group_row {
    const char *agent_id, *id; /* id: the namespace it is for */
    const char *space;         /* the one it was asked for by */
    const char *resource;      /* JSON of group_resource_shape */
    int64_t number;            /* of this value: a later one is another */
    bool is_taken;             /* by the agent */
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
