/* SPDX-License-Identifier: MIT */
/* agent_queries.c - agents, for those who ask about them as GSE and Job let them: by address,
 * by agent id, by the host's number.  From memory.
 *
 * Who is asked for is named in the answer as the caller named him, once.  A host that is not
 * the app's is one that nobody knows. */
#include <stdlib.h>
#include <string.h>

#include "api/api_in.h"
#include "api/away.h"
#include "api/handlers.h"
#include "api/job_scope.h"
#include "model/agent_info.h"
#include "model/wording.h"

enum { NOT_FOUND = 1011003 }; /* GSE's code for an id that it does not know */

struct query {
    struct call *call;
    struct map seen; /* how hosts were spelled */
    struct buf *out;
    const char *between; /* two entries */
    int64_t wall_ms;
};

static struct query query_begin(struct call *c, char opening)
{
    struct query q = { .call = c, .out = call_data(c), .between = "" };

    q.wall_ms = clock_wall_ms(loop_clock(c->api->parts.loop));
    buf_addc(q.out, opening);
    return q;
}

static void query_end(struct query *q, char closing)
{
    buf_addc(q->out, closing);
    map_free(&q->seen);
    call_end(q->call);
}

/* The same words again are the same host. */
static bool is_new(struct query *q, const char *spelled)
{
    return !map_put_str(&q->seen, spelled, q);
}

static void put_entry(struct query *q, const char *key, const struct shape *s, const void *entry)
{
    buf_puts(q->out, q->between);
    q->between = ",";
    if (key) {
        buf_quote(q->out, key, strlen(key));
        buf_addc(q->out, ':');
    }
    shape_write(s, entry, q->out);
}

static const struct fleet_host *seen_by(const struct call *c, const struct fleet_host *h)
{
    return h && call_may_see(c, h) ? h : NULL;
}

static const struct fleet_host *find_at(const struct call *c, const struct host_ref *ref)
{
    return seen_by(c, fleet_find_at(c->api->parts.fleet, ref->cloud_id, ref->ip));
}

static bool is_alive(const struct query *q, const struct fleet_host *h)
{
    return h && !away_since_s(h, q->wall_ms);
}

static const char *spell(const struct query *q, const struct host_ref *ref)
{
    return arena_printf(q->call->arena, "%lld:%s", (long long)ref->cloud_id, ref->ip);
}

/* ---- by address: ESB has a map, Job a list */

void agents_status(struct call *c)
{
    const struct agent_hosts_ask *ask = c->ask;
    const struct host_ref *refs = ask->hosts.items;
    struct query q = query_begin(c, '{');

    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct agent_alive entry = { refs[i].ip, refs[i].cloud_id,
                                           is_alive(&q, find_at(c, &refs[i])) };
        const char *key = spell(&q, &refs[i]);

        if (is_new(&q, key))
            put_entry(&q, key, &agent_alive_shape, &entry);
    }
    query_end(&q, '}');
}

void agents_info(struct call *c)
{
    const struct agent_hosts_ask *ask = c->ask;
    const struct host_ref *refs = ask->hosts.items;
    struct query q = query_begin(c, '{');

    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct fleet_host *h = find_at(c, &refs[i]);
        const struct agent_short entry = { refs[i].ip, h ? h->version : "", refs[i].cloud_id, "",
                                           0 };
        const char *key = spell(&q, &refs[i]);

        if (h && is_new(&q, key))
            put_entry(&q, key, &agent_short_shape, &entry);
    }
    query_end(&q, '}');
}

/* Hosts that the scope does not have are as those that nobody knows. */
void job_agents_status(struct call *c)
{
    const struct job_agents_ask *ask = c->ask;
    const struct host_ref *refs = ask->hosts.items;
    struct job_found scope;
    struct query q;
    struct err err;

    if (job_scope_find(c, &ask->scope, &scope, &err)) {
        call_fail(c, &err);
        return;
    }
    q = query_begin(c, '[');
    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct fleet_host *h = find_at(c, &refs[i]);
        bool alive = h && job_scope_has(c, &scope, h) && is_alive(&q, h);

        if (is_new(&q, spell(&q, &refs[i])))
            put_entry(&q, NULL, &agent_alive_shape,
                      &(struct agent_alive){ refs[i].ip, refs[i].cloud_id, alive });
    }
    query_end(&q, ']');
}

/* ---- by agent id */

/* Of an id that nobody knows only what it says itself: "2:10.0.0.1". */
static int64_t cloud_of(const struct fleet_host *h, const char *id)
{
    size_t digits = strspn(id, "0123456789");

    if (h)
        return h->cloud_id;
    return digits && digits < 10 && id[digits] == ':' ? strtoll(id, NULL, 10) : -1;
}

static int64_t status_of(const struct query *q, const struct fleet_host *h)
{
    if (!h)
        return AGENT_UNKNOWN;
    return is_alive(q, h) ? AGENT_RUNNING : AGENT_STOPPED;
}

/* A session is heard of at every ping, so that of one that is open is now, unless it has missed
 * some. */
static int64_t heard_ms(const struct query *q, const struct fleet_host *h)
{
    if (!h)
        return 0;
    return h->silent_ms ? h->silent_ms : h->epoch ? q->wall_ms : h->since_ms;
}

static void put_state(struct query *q, const char *id, const struct fleet_host *h)
{
    const struct agent_state entry = {
        .agent_id = id,
        .cloud_id = cloud_of(h, id),
        .version = h ? h->version : "",
        .mode = AGENT_MODE_AGENT,
        .status = status_of(q, h),
        .report_ms = heard_ms(q, h),
    };

    put_entry(q, NULL, &agent_state_shape, &entry);
}

static const char *status_word(int64_t status)
{
    return status == AGENT_RUNNING ? "running" : status == AGENT_STOPPED ? "stopped" : "unknown";
}

/* What was before is not kept, but there are only two ways to be; before the first session there
 * was nothing. */
static int64_t status_before(int64_t status, const struct fleet_host *h)
{
    if (status == AGENT_UNKNOWN || fleet_is_new(h))
        return AGENT_UNKNOWN;
    return status == AGENT_RUNNING ? AGENT_STOPPED : AGENT_RUNNING;
}

static void put_full(struct query *q, const char *id, const struct fleet_host *h)
{
    static const struct fleet_host nobody = { .ip = "", .version = "", .hostname = "" };
    const struct fleet_host *known = h ? h : &nobody;
    int64_t status = status_of(q, h), before = status_before(status, h);
    const struct agent_full entry = {
        .code = h ? 0 : NOT_FOUND,
        .message = h ? "OK" : wording_in("no such agent", call_lang(q->call), q->call->arena),
        .agent_id = id,
        .cloud_id = cloud_of(h, id),
        .ip = known->ip,
        .os = known->facts.os,
        .arch = known->facts.arch,
        .parent_ip = "",
        .report_ms = heard_ms(q, h),
        .version = known->version,
        .cpus = known->facts.cpus,
        .mem_bytes = known->facts.mem_bytes,
        .start_s = known->facts.start_s,
        .work_ms = heard_ms(q, h),
        .cycle = "",
        .mode = AGENT_MODE_AGENT,
        .status = status,
        .status_text = status_word(status),
        .last_status = before,
        .last_status_text = status_word(before),
        .remark = known->hostname,
    };

    put_entry(q, NULL, &agent_full_shape, &entry);
}

static void list_agents(struct call *c,
                        void (*put)(struct query *q, const char *id, const struct fleet_host *h))
{
    const struct agent_ids_ask *ask = c->ask;
    const struct agent_ref *refs = ask->agents.items;
    struct query q = query_begin(c, '[');

    for (size_t i = 0; i < ask->agents.n; i++) {
        if (is_new(&q, refs[i].id))
            put(&q, refs[i].id, seen_by(c, fleet_find(c->api->parts.fleet, refs[i].id)));
    }
    query_end(&q, ']');
}

void agents_list_state(struct call *c)
{
    list_agents(c, put_state);
}

void agents_list_info(struct call *c)
{
    list_agents(c, put_full);
}

/* ---- by the host's number */

void job_agents_info(struct call *c)
{
    const struct host_ids_ask *ask = c->ask;
    const struct host_number *ids = ask->ids.items;
    struct job_agent *entries = arena_alloc(c->arena, ask->ids.n * sizeof(*entries));
    struct query q = { .call = c, .wall_ms = clock_wall_ms(loop_clock(c->api->parts.loop)) };
    size_t n = 0;

    for (size_t i = 0; i < ask->ids.n; i++) {
        const struct fleet_host *h = seen_by(c, fleet_find_number(c->api->parts.fleet, ids[i].id));

        if (map_put(&q.seen, (const char *)&ids[i].id, sizeof(ids[i].id), c))
            continue;
        entries[n++] = (struct job_agent){ ids[i].id, is_alive(&q, h), h ? h->version : "" };
    }
    map_free(&q.seen);
    call_finish(c, &job_agents_shape, &(struct job_agents){ { entries, n } });
}
