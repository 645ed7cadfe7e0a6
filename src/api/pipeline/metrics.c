/* SPDX-License-Identifier: MIT */
/* metrics.c - the table of metrics, and the values of labels; see metrics.h. */
#include "api/pipeline/metrics.h"

#include <stdio.h>

#include "api/pipeline/call_counts.h"
#include "api/pipeline/routes.h"
#include "base/mem/mem.h"
#include "model/code.h"
#include "model/event.h"
#include "model/operation.h"
#include "model/task.h"
#include "server/dispatch/task_counts.h"
#include "server/sessions/agents.h"
#include "wire/http/http.h"

/* ---- labels */

static void put_label(struct buf *out, const char *name, const char *value)
{
    size_t n = out->len;

    buf_printf(out, "%s%s=\"", n && buf_data(out)[n - 1] == '"' ? "," : "", name);
    metrics_escape(value, true, out);
    buf_addc(out, '"');
}

static size_t one(void)
{
    return 1;
}

static bool put_build(const void *first, size_t i, struct buf *out)
{
    (void)i;
    put_label(out, "version", ((const struct metrics_server *)first)->version);
    return true;
}

static size_t http_reasons(void)
{
    return HTTP_REASONS;
}

static bool put_http_reason(const void *first, size_t i, struct buf *out)
{
    (void)first;
    put_label(out, "reason", http_reason_name((enum http_reason)i));
    return true;
}

static const char *const dialect_names[DIALECTS] = {
    [DIALECT_ESB] = "esb",         [DIALECT_GATEWAY] = "gateway", [DIALECT_JOB] = "job",
    [DIALECT_BACKEND] = "backend", [DIALECT_V1] = "v1",
};

static size_t dialect_count(void)
{
    return DIALECTS;
}

static bool put_dialect(const void *first, size_t i, struct buf *out)
{
    (void)first;
    put_label(out, "dialect", dialect_names[i]);
    return true;
}

static size_t route_outcomes(void)
{
    return call_counts_rows() * DIALECTS * CALL_OUTCOMES;
}

/* Rows that share a path differ in their method; others have any. */
static const char *route_method(const struct route *r)
{
    return __builtin_popcount(r->methods) == 1 ? method_name(r->methods) : "any";
}

static bool put_route(const void *first, size_t i, struct buf *out)
{
    const struct route *r = &routes[i / CALL_OUTCOMES / DIALECTS]; /* the last has no path */

    (void)first;
    put_label(out, "dialect", dialect_names[i / CALL_OUTCOMES % DIALECTS]);
    put_label(out, "route", r->path ? r->path : "none");
    put_label(out, "method", route_method(r));
    put_label(out, "outcome", call_outcome_name((enum call_outcome)(i % CALL_OUTCOMES)));
    return true;
}

static size_t version_count(void)
{
    return VERSIONS_MAX;
}

static bool put_version(const void *first, size_t i, struct buf *out)
{
    put_label(out, "version", ((const struct version *)first)[i].text);
    return true;
}

static size_t handshake_count(void)
{
    return 2;
}

static bool put_handshake(const void *first, size_t i, struct buf *out)
{
    (void)first;
    put_label(out, "kind", i ? "resumed" : "full");
    return true;
}

static size_t agents_reasons(void)
{
    return AGENTS_REASONS;
}

static bool put_agents_reason(const void *first, size_t i, struct buf *out)
{
    (void)first;
    put_label(out, "reason", agents_reason_name((enum agents_reason)i));
    return true;
}

static size_t frame_types(void)
{
    return (size_t)CONN_WAYS * CONN_TYPES;
}

static bool put_frame_type(const void *first, size_t i, struct buf *out)
{
    size_t type = i % CONN_TYPES;
    const char *name = type ? message_name((unsigned)type) : "unknown";

    (void)first;
    if (!name)
        return false;
    put_label(out, "direction", i / CONN_TYPES == CONN_IN ? "in" : "out");
    put_label(out, "type", name);
    return true;
}

static size_t op_count(void)
{
    return TASK_OPS;
}

static bool put_op(const void *first, size_t i, struct buf *out)
{
    const char *name = operation_name((int64_t)i);

    (void)first;
    if (!name)
        return false;
    put_label(out, "operation", name);
    return true;
}

static size_t result_count(void)
{
    return (size_t)TASK_OPS * TASK_CODES;
}

static bool put_result(const void *first, size_t i, struct buf *out)
{
    char code[16];

    if (!put_op(first, i / TASK_CODES, out))
        return false;
    snprintf(code, sizeof(code), "%d", code_table[i % TASK_CODES].number);
    put_label(out, "code", code);
    return true;
}

static size_t modes(void)
{
    return 2;
}

static bool put_mode(const void *first, size_t i, struct buf *out)
{
    (void)first;
    put_label(out, "mode", i ? "write" : "read");
    return true;
}

static size_t event_kind_count(void)
{
    return EVENT_KINDS_MAX;
}

static bool put_event_kind(const void *first, size_t i, struct buf *out)
{
    size_t n = 0;

    (void)first;
    while (event_kinds[n].name)
        n++;
    if (i >= n && i + 1 < EVENT_KINDS_MAX)
        return false;
    put_label(out, "event", i < n ? event_kinds[i].name : "other");
    return true;
}

/* clang-format off */
static const struct metric_labels
    of_build = { "version", one, put_build },
    of_http_reason = { "reason", http_reasons, put_http_reason },
    of_dialect = { "dialect", dialect_count, put_dialect },
    of_route = { "dialect, route, method, outcome", route_outcomes, put_route, .is_sparse = true },
    of_version = { "version", version_count, put_version, .is_sparse = true,
                   .stride = sizeof(struct version) },
    of_handshake = { "kind", handshake_count, put_handshake },
    of_agents_reason = { "reason", agents_reasons, put_agents_reason },
    of_frame_type = { "direction, type", frame_types, put_frame_type },
    of_op = { "operation", op_count, put_op },
    of_result = { "operation, code", result_count, put_result, .is_sparse = true },
    of_mode = { "mode", modes, put_mode },
    of_event_kind = { "event", event_kind_count, put_event_kind };

#define SERVER(member) FROM_SERVER, offsetof(struct metrics_server, member)
#define HTTP(member) FROM_HTTP, offsetof(struct http_counters, member)
#define FLEET(member) FROM_FLEET, offsetof(struct fleet_totals, member)
#define AGENTS(member) FROM_AGENTS, offsetof(struct agents_counters, member)
#define FIGURES(member) FROM_FIGURES, offsetof(struct agent_stats_now, member)
#define TASKS(member) FROM_TASKS, offsetof(struct task_counts, member)
#define STORE(member) FROM_STORE, offsetof(struct store_counters, member)
#define EVENTS(member) FROM_EVENTS, offsetof(struct events_counters, member)

const struct metric metrics[] = {
    { "holdfast_build_info", METRIC_GAUGE, "Always 1; the label has the version.", SERVER(one), 0, &of_build },
    { "process_start_time_seconds", METRIC_GAUGE, "Start time of the server, seconds since 1970.", SERVER(start_ms), 1000 },
    { "process_cpu_seconds_total", METRIC_COUNTER, "Processor time of the server.", SERVER(cpu_us), 1000000 },
    { "process_resident_memory_bytes", METRIC_GAUGE, "Memory of the server.", SERVER(rss_bytes) },
    { "process_virtual_memory_bytes", METRIC_GAUGE, "Address space of the server.", SERVER(size_bytes) },
    { "process_open_fds", METRIC_GAUGE, "Open descriptors.", SERVER(fds) },
    { "process_max_fds", METRIC_GAUGE, "Limit of open descriptors; 0: unknown.", SERVER(fds_max) },

    { "holdfast_http_connections", METRIC_GAUGE, "Open connections of clients.", HTTP(connections) },
    { "holdfast_http_shaking_connections", METRIC_GAUGE, "Connections of clients in their TLS handshake.", HTTP(shaking) },
    { "holdfast_http_accepted_connections_total", METRIC_COUNTER, "Accepted connections of clients.", HTTP(accepted) },
    { "holdfast_http_requests_total", METRIC_COUNTER, "Requests to any path, including this one.", HTTP(requests) },
    { "holdfast_http_open_requests", METRIC_GAUGE, "Requests being read or in progress.", HTTP(open_requests) },
    { "holdfast_http_received_bytes_total", METRIC_COUNTER, "Bytes from clients, before TLS.", HTTP(bytes_in) },
    { "holdfast_http_sent_bytes_total", METRIC_COUNTER, "Bytes to clients, before TLS.", HTTP(bytes_out) },
    { "holdfast_http_body_bytes", METRIC_GAUGE, "Bodies of requests in memory; bounded by `http.body_bytes_total`.", HTTP(body_bytes) },
    { "holdfast_http_answer_bytes", METRIC_GAUGE, "Answers in memory that are not sent yet.", HTTP(answer_bytes) },
    { "holdfast_http_refused_total", METRIC_COUNTER, "Requests and connections refused before they reached the API.", HTTP(refused), 0, &of_http_reason },

    { "holdfast_api_requests_total", METRIC_COUNTER, "Finished calls of the API, by outcome.", FROM_ROUTES, 0, 0, &of_route },
    { "holdfast_api_request_duration_seconds", METRIC_HISTOGRAM, "Time from the complete request to its answer.",
      FROM_CALLS, offsetof(struct call_counts, took), 0, &of_dialect },

    { "holdfast_agents_known", METRIC_GAUGE, "Hosts that have joined.", FLEET(hosts) },
    { "holdfast_agents_connected", METRIC_GAUGE, "Agents with a session.", AGENTS(sessions) },
    { "holdfast_agents_connected_by_version", METRIC_GAUGE, "Agents with a session, by version; versions beyond the limit of labels are `other`.",
      AGENTS(versions.all), 0, &of_version },
    { "holdfast_link_connections", METRIC_GAUGE, "Connections of agents, including those without a session.", AGENTS(connections) },
    { "holdfast_link_shaking_connections", METRIC_GAUGE, "Connections in their TLS handshake.", AGENTS(shaking) },
    { "holdfast_link_strange_connections", METRIC_GAUGE, "Connections that are not authenticated yet, including those in their handshake.", AGENTS(strangers) },
    { "holdfast_link_waiting_connections", METRIC_GAUGE, "Accepted connections that wait for the handshakes of others in their network.", AGENTS(parked) },
    { "holdfast_link_waiting_bytes", METRIC_GAUGE, "Bytes waiting to be sent to agents, as of the last ping or message to each.", AGENTS(waiting) },
    { "holdfast_link_held_back_total", METRIC_COUNTER, "Messages that were not sent because too much waits for the agent already; they are repeated later.", AGENTS(held_back) },
    { "holdfast_link_handshakes_total", METRIC_COUNTER, "Successful TLS handshakes; `resumed` ones are cheap.", AGENTS(handshakes), 0, &of_handshake },
    { "holdfast_link_refused_total", METRIC_COUNTER, "Refused connections; `handshake`, `crowded`, `silent` and `broken` before authentication, others by the code they were sent.",
      AGENTS(refused_by), 0, &of_agents_reason },
    { "holdfast_link_joined_total", METRIC_COUNTER, "Hosts that have joined with a token.", AGENTS(joined) },
    { "holdfast_link_frames_total", METRIC_COUNTER, "Messages between agents and this server.", AGENTS(frames.frames), 0, &of_frame_type },
    { "holdfast_link_frame_bytes_total", METRIC_COUNTER, "Bytes of messages between agents and this server, before TLS.", AGENTS(frames.bytes), 0, &of_frame_type },

    { "holdfast_processes_known", METRIC_GAUGE, "Known processes of all hosts.", FLEET(procs) },
    { "holdfast_processes_running", METRIC_GAUGE, "Running processes of connected hosts.", FLEET(running) },
    { "holdfast_processes_hosted", METRIC_GAUGE, "Hosted processes.", FLEET(hosted) },
    { "holdfast_processes_unhealthy", METRIC_GAUGE, "Running processes of connected hosts whose health command or one of whose checks fails.", FLEET(unhealthy) },
    { "holdfast_checks_passing", METRIC_GAUGE, "Checks of running processes of connected hosts that pass.", FLEET(checks_passing) },
    { "holdfast_checks_failing", METRIC_GAUGE, "Checks of running processes of connected hosts that fail.", FLEET(checks_failing) },
    { "holdfast_checks_latency_seconds", METRIC_GAUGE, "Latencies of these checks, added up; divided by their number, the mean.", FLEET(checks_us), 1000000 },
    { "holdfast_processes_flapping", METRIC_GAUGE, "Processes of connected hosts that were restarted 5 times or more in 10 minutes, the last time less than 10 minutes ago.", FLEET(flapping) },

    { "holdfast_tasks_accepted_total", METRIC_COUNTER, "Tasks that were stored and have an id.", TASKS(accepted) },
    { "holdfast_tasks_open", METRIC_GAUGE, "Unfinished tasks.", TASKS(open) },
    { "holdfast_tasks_in_memory", METRIC_GAUGE, "Tasks in memory: unfinished and recently finished ones.", TASKS(in_memory) },
    { "holdfast_targets_open", METRIC_GAUGE, "Unfinished targets of tasks.", TASKS(items) },
    { "holdfast_operation_results_total", METRIC_COUNTER, "Finished targets, by operation and result code.", TASKS(results), 0, &of_result },
    { "holdfast_operation_duration_seconds", METRIC_HISTOGRAM, "Time from the request of a task until the result of a target is stored.",
      TASKS(took), 0, &of_op },
    { "holdfast_pushes_waiting", METRIC_GAUGE, "Registrations that are not pushed yet to their connected agent.", FROM_PUSHES, 0 },

    { "holdfast_store_calls_open", METRIC_GAUGE, "Store calls in progress; 4,096 is the limit.", STORE(on_their_way) },
    { "holdfast_store_calls_total", METRIC_COUNTER, "Finished store calls.", STORE(by_mode), 0, &of_mode },
    { "holdfast_store_failed_calls_total", METRIC_COUNTER, "Failed store calls.", STORE(failed) },
    { "holdfast_store_refused_calls_total", METRIC_COUNTER, "Store calls refused because too many were in progress.", STORE(refused) },
    { "holdfast_store_commit_duration_seconds", METRIC_HISTOGRAM, "Write transactions, from begin until they are on the disk.", STORE(commit) },

    { "holdfast_events_total", METRIC_COUNTER, "Stored events, by kind; kinds unknown to this server are `other`.", EVENTS(by_kind), 0, &of_event_kind },
    { "holdfast_events_waiting", METRIC_GAUGE, "Events that wait to be stored.", EVENTS(waiting) },

    { "holdfast_agents_reporting", METRIC_GAUGE, "Connected agents that report their resource usage, which the following metrics sum up.", FIGURES(agents) },
    { "holdfast_agents_memory_bytes", METRIC_GAUGE, "Memory of all agents.", FIGURES(sum.rss_bytes) },
    { "holdfast_agents_memory_max_bytes", METRIC_GAUGE, "Memory of the largest agent.", FIGURES(max.rss_bytes) },
    { "holdfast_agents_cpu_seconds_total", METRIC_COUNTER, "Processor time used by agents while connected.", AGENTS(grown.cpu_ms), 1000 },
    { "holdfast_agents_cpu_max_ratio", METRIC_GAUGE, "Processor use of the busiest agent; 1 is one processor.", FIGURES(cpu_max_thousandths), 1000 },
    { "holdfast_agents_journal_bytes", METRIC_GAUGE, "Journals of all agents.", FIGURES(sum.journal_bytes) },
    { "holdfast_agents_journal_max_bytes", METRIC_GAUGE, "The largest journal of an agent.", FIGURES(max.journal_bytes) },
    { "holdfast_agents_processes", METRIC_GAUGE, "Processes known to agents.", FIGURES(sum.processes) },
    { "holdfast_agents_processes_max", METRIC_GAUGE, "Processes of the agent with the most.", FIGURES(max.processes) },
    { "holdfast_agents_watched_processes", METRIC_GAUGE, "Running processes that agents watch.", FIGURES(sum.running) },
    { "holdfast_agents_restarts_total", METRIC_COUNTER, "Automatic restarts by agents while connected.", AGENTS(grown.restarts) },
    { "holdfast_agents_unexpected_total", METRIC_COUNTER, "Events that the life-cycle tables of agents do not have, which are faults of the agents, while connected.", AGENTS(grown.unexpected) },
    { "holdfast_agents_operations", METRIC_GAUGE, "Operations in progress or waiting on hosts.", FIGURES(sum.operations) },
    { "holdfast_agents_operations_max", METRIC_GAUGE, "Operations on the host with the most.", FIGURES(max.operations) },
    { "holdfast_agents_events_waiting", METRIC_GAUGE, "Events that agents hold until they are stored.", FIGURES(sum.events) },
    { "holdfast_agents_events_waiting_max", METRIC_GAUGE, "Events of the host with the most.", FIGURES(max.events) },
    { 0 },
};
/* clang-format on */

const char *metric_type_name(enum metric_type type)
{
    static const char *const names[] = { "counter", "gauge", "histogram" };

    return names[type];
}
