/* SPDX-License-Identifier: MIT */
/* hub_copy.h - a copy of an item in the arena of its task.  Private to the hub.
 *
 * Agent, namespace and name of the copy are contiguous: together they are its process's key. */
#ifndef SERVER_DISPATCH_HUB_COPY_H
#define SERVER_DISPATCH_HUB_COPY_H

#include <string.h>

#include "base/mem/map.h"
#include "server/dispatch/hub.h"

/* `specs` maps pointers of specs that are copied already to their copies; `from` must live as long
 * as the map. */
void hub_item_copy(struct hub_item *to, const struct hub_item *from, struct map *specs,
                   struct arena *a);

static inline size_t hub_item_key_len(const struct hub_item *kept) /* starts at kept->agent */
{
    return (size_t)(kept->meta.name - kept->agent) + strlen(kept->meta.name);
}

#endif
