/* SPDX-License-Identifier: MIT */
/* group.h - what the processes of a namespace may use together on this host; messages like
 * those of message.h, which has their types.
 *
 * The server says it again until the agent has it in its journal.  The last one counts; one
 * without any limit ends it. */
#ifndef LINK_GROUP_H
#define LINK_GROUP_H

#include "model/group.h"

struct message_group {
    int64_t id; /* comes back with the answer */
    struct proc_group group;
};

struct message_group_ref {
    int64_t id;
};

extern const struct shape message_group_shape, message_group_ref_shape;

#endif
