/* SPDX-License-Identifier: MIT */
/* hub_copy.h - an item that the hub keeps, in an arena of its own.  Not for others. */
#ifndef SERVER_HUB_COPY_H
#define SERVER_HUB_COPY_H

#include "base/map.h"
#include "server/hub.h"

/* `specs`: those of the task that are copied already, by their pointers; `from` must
 * live as long as that map. */
void hub_item_copy(struct hub_item *to, const struct hub_item *from, struct map *specs,
                   struct arena *a);

#endif
