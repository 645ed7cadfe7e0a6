/* SPDX-License-Identifier: MIT */
/* fleet_store.h - writing changes of the fleet to the store.
 *
 * A host with changes is in the dirty list.  It is written a moment later, so that changes are
 * batched: as a whole after a snapshot, otherwise process by process.  After a failure it is
 * dirty again and written in its then current state. */
#ifndef SERVER_FLEET_FLEET_STORE_H
#define SERVER_FLEET_FLEET_STORE_H

#include "server/fleet/fleet_state.h"

void host_mark_dirty(struct host *h);
void fleet_flush(void *fleet); /* of the timer `flush`: writes dirty hosts */

#endif
