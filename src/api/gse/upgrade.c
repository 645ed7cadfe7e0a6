/* SPDX-License-Identifier: MIT */
/* upgrade.c - GSE's upgrade_to_agent_id.  Our records are by agent id from the start, so it only
 * tells whether the caller's ids match ours. */
#include "model/upgrade.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "base/mem/map.h"
#include "model/proc.h"

static bool upgrade_is_known(const struct call *c, const struct upgrade_host *host)
{
    const struct fleet_host *h = fleet_find_at(c->api->parts.fleet, host->cloud_id, host->ip);

    return h && call_may_see(c, h) && !strcmp(h->agent_id, host->agent_id);
}

static void add_place(struct list *to, const char *at)
{
    ((struct agent_ref *)to->items)[to->n++].id = at;
}

void upgrade_to_agent_id(struct call *c)
{
    const struct upgrade_ask *ask = c->ask;
    const struct upgrade_host *hosts = ask->hosts.items;
    size_t size = ask->hosts.n * sizeof(struct agent_ref);
    struct upgrade_view view = { { arena_alloc(c->arena, size), 0 },
                                 { arena_alloc(c->arena, size), 0 } };
    struct map seen = { 0 };

    for (size_t i = 0; i < ask->hosts.n; i++) {
        const char *at =
            arena_printf(c->arena, "%lld:%s", (long long)hosts[i].cloud_id, hosts[i].ip);

        if (!map_put_str(&seen, at, (void *)&hosts[i]))
            add_place(upgrade_is_known(c, &hosts[i]) ? &view.success : &view.failed, at);
    }
    map_free(&seen);
    call_finish(c, &upgrade_view_shape, &view);
}
