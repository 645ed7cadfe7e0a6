/* SPDX-License-Identifier: MIT */
/* group.h - messages with the limits that all processes of a namespace on a host share; their
 * message types are in message.h.
 *
 * The server repeats `group` until the agent has it in its journal.  The last message counts; one
 * without any limit removes the limits. */
#ifndef LINK_GROUP_H
#define LINK_GROUP_H

#include "model/group.h"

struct message_group {
    int64_t id; /* repeated in the answer */
    struct proc_group group;
};

struct message_group_ref {
    int64_t id;
};

extern const struct shape message_group_shape, message_group_ref_shape;

#endif
