/* SPDX-License-Identifier: MIT */
/* fleet_business.h - the hosts of each business. */
#ifndef SERVER_FLEET_FLEET_BUSINESS_H
#define SERVER_FLEET_FLEET_BUSINESS_H

#include "server/fleet/fleet_state.h"

struct business *business_find(const struct fleet *f, int64_t biz_id);
void business_enter(struct host *h); /* the business pub.biz_id */
void business_leave(struct host *h); /* after its processes have left */
void businesses_free(struct fleet *f);

#endif
