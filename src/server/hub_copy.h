/* SPDX-License-Identifier: MIT */
/* hub_copy.h - an item that the hub keeps, in an arena of its own.  Not for others.
 *
 * Its agent, namespace and name stand one behind the other: so they are the key by which its
 * process is found. */
#ifndef SERVER_HUB_COPY_H
#define SERVER_HUB_COPY_H

#include <string.h>

#include "base/map.h"
#include "server/hub.h"

/* `specs`: those of the task that are copied already, by their pointers; `from` must
 * live as long as that map. */
void hub_item_copy(struct hub_item *to, const struct hub_item *from, struct map *specs,
                   struct arena *a);

static inline size_t hub_item_key_len(const struct hub_item *kept) /* the key is kept->agent */
{
    return (size_t)(kept->meta.name - kept->agent) + strlen(kept->meta.name);
}

#endif
