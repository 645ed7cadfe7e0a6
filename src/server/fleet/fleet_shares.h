/* SPDX-License-Identifier: MIT */
/* fleet_shares.h - processes of each namespace, counted by host, for all hosts and per business. */
#ifndef SERVER_FLEET_FLEET_SHARES_H
#define SERVER_FLEET_FLEET_SHARES_H

#include "server/fleet/fleet_state.h"

struct space *space_find(const struct fleet *f, const char *name);
struct share *share_find(const struct fleet *f, struct space *s, int64_t biz_id);
struct share *share_enter(struct host *h, const char *space); /* adds one process */
void share_leave(struct host *h, struct share *s);            /* may free the share */

#endif
