/* SPDX-License-Identifier: MIT */
/* cancel.h - that a command is not wanted any more: a message of message.h.
 *
 * The agent ends what it has not begun with 826, and says `taken` of what it has; either way
 * the result comes as that of any command. */
#ifndef LINK_CANCEL_H
#define LINK_CANCEL_H

#include "model/proc.h"

/* What the agent needs to remember that it is not to be done, should the command come later
 * than this. */
struct message_cancel {
    const char *task;
    int64_t item, deadline_ms; /* as the command's */
    struct proc_meta meta;
};

extern const struct shape message_cancel_shape;

#endif
