/* SPDX-License-Identifier: MIT */
/* agent_queries.c - queries for agents of GSE and Job: by address, by agent id, by the host's
 * number.  Answered from memory.
 *
 * A host appears in the answer once, with the caller's spelling.  A host that the app may not see
 * counts as unknown. */
#include <stdlib.h>
#include <string.h>

#include "api/pipeline/api_state.h"
#include "api/pipeline/call.h"
#include "api/pipeline/handlers.h"
#include "api/pipeline/job_scope.h"
#include "api/pipeline/offline.h"
#include "model/agent_info.h"
#include "model/rules.h"
#include "model/translate.h"

enum { NOT_FOUND = 1011003 }; /* GSE's code for an unknown id */

struct query {
    struct call *call;
    struct map seen; /* spellings of hosts */
    struct buf *out;
    const char *between; /* separator of entries */
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

/* Equal spellings are the same host.  Returns whether this one is new. */
static bool add_spelling(struct query *q, const char *spelled)
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

static const struct fleet_host *visible_host(const struct call *c, const struct fleet_host *h)
{
    return h && call_may_see(c, h) ? h : NULL;
}

static const struct fleet_host *find_at(const struct call *c, const struct host_ref *ref)
{
    return visible_host(c, fleet_find_at(c->api->parts.fleet, ref->cloud_id, ref->ip));
}

static bool is_alive(const struct query *q, const struct fleet_host *h)
{
    return h && !offline_since_s(h, q->wall_ms);
}

static const char *spell(const struct query *q, const struct host_ref *ref)
{
    return arena_printf(q->call->arena, "%lld:%s", (long long)ref->cloud_id, ref->ip);
}

/* ---- by address: a map in ESB, a list in Job */

void agents_status(struct call *c)
{
    const struct agent_hosts_ask *ask = c->ask;
    const struct host_ref *refs = ask->hosts.items;
    struct query q = query_begin(c, '{');

    for (size_t i = 0; i < ask->hosts.n; i++) {
        const struct agent_alive entry = { refs[i].ip, refs[i].cloud_id,
                                           is_alive(&q, find_at(c, &refs[i])) };
        const char *key = spell(&q, &refs[i]);

        if (add_spelling(&q, key))
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

        if (h && add_spelling(&q, key))
            put_entry(&q, key, &agent_short_shape, &entry);
    }
    query_end(&q, '}');
}

/* Hosts outside the scope count as unknown. */
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

        if (add_spelling(&q, spell(&q, &refs[i])))
            put_entry(&q, NULL, &agent_alive_shape,
                      &(struct agent_alive){ refs[i].ip, refs[i].cloud_id, alive });
    }
    query_end(&q, ']');
}

/* ---- by agent id */

/* For an unknown id the cloud area is taken from the id itself: "2:10.0.0.1". */
static int64_t cloud_of(const struct fleet_host *h, const char *id)
{
    size_t digits = strspn(id, "0123456789");

    if (h)
        return h->cloud_id;
    return digits && digits < 10 && id[digits] == ':' ? strtoll(id, NULL, 10) : -1;
}

static int64_t agent_queries_status_of(const struct query *q, const struct fleet_host *h)
{
    if (!h)
        return AGENT_UNKNOWN;
    return is_alive(q, h) ? AGENT_RUNNING : AGENT_STOPPED;
}

/* The agent of an open session answered a moment ago, unless it is silent. */
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
        .status = agent_queries_status_of(q, h),
        .report_ms = heard_ms(q, h),
    };

    put_entry(q, NULL, &agent_state_shape, &entry);
}

static const char *status_word(int64_t status)
{
    return status == AGENT_RUNNING ? "running" : status == AGENT_STOPPED ? "stopped" : "unknown";
}

/* The previous status is not stored, but there are only two; before the first session it is
 * unknown. */
static int64_t status_before(int64_t status, const struct fleet_host *h)
{
    if (status == AGENT_UNKNOWN || fleet_is_new(h))
        return AGENT_UNKNOWN;
    return status == AGENT_RUNNING ? AGENT_STOPPED : AGENT_RUNNING;
}

static void put_full(struct query *q, const char *id, const struct fleet_host *h)
{
    static const struct fleet_host unknown = { .ip = "", .version = "", .hostname = "" };
    const struct fleet_host *known = h ? h : &unknown;
    int64_t status = agent_queries_status_of(q, h), before = status_before(status, h);
    const struct agent_full entry = {
        .code = h ? 0 : NOT_FOUND,
        .message = h ? "OK" : translate(MSG("no such agent"), call_lang(q->call), q->call->arena),
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

/* The distinct ids, in their order: some clients send one id per process. */
static const char **find_different(struct query *q, const struct list *asked, size_t *ret_n)
{
    const struct agent_ref *refs = asked->items;
    const char **ids = arena_alloc(q->call->arena, asked->n * sizeof(*ids));
    size_t n = 0;

    for (size_t i = 0; i < asked->n; i++) {
        if (add_spelling(q, refs[i].id))
            ids[n++] = refs[i].id;
    }
    map_free(&q->seen);
    *ret_n = n;
    return ids;
}

static void list_agents(struct call *c,
                        void (*put)(struct query *q, const char *id, const struct fleet_host *h))
{
    const struct agent_ids_ask *ask = c->ask;
    struct query different = { .call = c }, q;
    struct err err;
    size_t n;
    const char **ids = find_different(&different, &ask->agents, &n);

    if (n > TARGETS_MAX) {
        err_set(&err, ERR_INVALID, "agent_id_list: %zu different ids, %d at most", n, TARGETS_MAX);
        call_fail(c, &err);
        return;
    }
    q = query_begin(c, '[');
    for (size_t i = 0; i < n; i++)
        put(&q, ids[i], visible_host(c, fleet_find(c->api->parts.fleet, ids[i])));
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

/* ---- by host number */

void job_agents_info(struct call *c)
{
    const struct host_ids_ask *ask = c->ask;
    const struct host_number *ids = ask->ids.items;
    struct job_agent *entries = arena_alloc(c->arena, ask->ids.n * sizeof(*entries));
    struct query q = { .call = c, .wall_ms = clock_wall_ms(loop_clock(c->api->parts.loop)) };
    size_t n = 0;

    for (size_t i = 0; i < ask->ids.n; i++) {
        const struct fleet_host *h =
            visible_host(c, fleet_find_number(c->api->parts.fleet, ids[i].id));

        if (map_put(&q.seen, (const char *)&ids[i].id, sizeof(ids[i].id), c))
            continue;
        entries[n++] = (struct job_agent){ ids[i].id, is_alive(&q, h), h ? h->version : "" };
    }
    map_free(&q.seen);
    call_finish(c, &job_agents_shape, &(struct job_agents){ { entries, n } });
}
