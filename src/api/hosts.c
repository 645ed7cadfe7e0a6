/* SPDX-License-Identifier: MIT */
/* hosts.c - see hosts.h. */
#include "api/hosts.h"

#include "api/api_in.h"

const struct fleet_host *hosts_find(const struct call *c, const char *text)
{
    const struct fleet *f = c->api->parts.fleet;
    const struct fleet_host *h = fleet_find(f, text);

    return h ? h : fleet_find_at(f, 0, text);
}

const struct fleet_host *hosts_next(const struct call *c, const char *after)
{
    const struct fleet_host *h = fleet_next(c->api->parts.fleet, after);

    while (h && !call_may_see(c, h))
        h = fleet_next(c->api->parts.fleet, h->agent_id);
    return h;
}

void hosts_fail(struct call *c, const char *field, const char *text)
{
    struct err err;

    err_set(&err, ERR_NOT_FOUND,
            "%s: %s is no host that we know: an agent id, CLOUD:IP, or an address of cloud area 0",
            field, text);
    call_fail(c, &err);
}
