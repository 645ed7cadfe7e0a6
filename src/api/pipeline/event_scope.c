/* SPDX-License-Identifier: MIT */
/* event_scope.c - see event_scope.h. */
#include "api/pipeline/event_scope.h"

#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/hosts.h"

enum { NO_BUSINESS = -1 };

bool event_scope_init(struct call *c, const struct event_filter *f, struct event_scope *ret)
{
    const struct fleet_host *h = *f->host ? hosts_find(c, f->host) : NULL;
    struct err err;

    if (*f->host && !(h && call_may_see(c, h))) {
        hosts_fail(c, "host", f->host);
        return false;
    }
    if (*f->space && !app_may_space(&c->app->permissions, f->space)) {
        err_set(&err, ERR_DENIED, "namespace: this app may not see processes of %s", f->space);
        call_fail(c, &err);
        return false;
    }
    *ret = (struct event_scope){ c, h ? arena_strdup(c->arena, h->agent_id) : "", f->space, f->name,
                                 f->event };
    return true;
}

static bool event_scope_fits(const char *wanted, const char *text)
{
    return !*wanted || !strcmp(wanted, text);
}

static bool may_see(const struct call *c, const struct event_row *row)
{
    const struct fleet_host *h = fleet_find(c->api->parts.fleet, row->agent_id);

    if (!*row->agent_id)
        return !app_has_limits(&c->app->permissions);
    if (*row->space && !app_may_space(&c->app->permissions, row->space))
        return false;
    return h ? call_may_see(c, h) : call_may_business(c, NO_BUSINESS);
}

bool event_scope_has(const struct event_scope *s, const struct event_row *row)
{
    return event_scope_fits(s->agent_id, row->agent_id) && event_scope_fits(s->space, row->space) &&
           event_scope_fits(s->name, row->proc) && event_scope_fits(s->event, row->name) &&
           may_see(s->call, row);
}

struct event_view event_scope_view(const struct event_row *row)
{
    return (struct event_view){
        .id = row->seq,
        .time_ms = row->wall_ms,
        .taken_ms = row->taken_ms,
        .event = row->name,
        .text = row->message,
        .agent_id = row->agent_id,
        .ip = row->ip,
        .cloud_id = row->cloud_id,
        .biz_id = row->biz_id,
        .space = row->space,
        .name = row->proc,
        .proc_name = row->proc_name,
    };
}
