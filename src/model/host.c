/* SPDX-License-Identifier: MIT */
/* host.c - the shapes of host.h. */
#include "model/host.h"

#include "model/proc.h"
#include "model/rules.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

enum {
    PAGE_MAX = 1000,
    PAGE_USUAL = 100,
    CURSOR_MAX_BYTES = 1024,
    ADDRESSES_MAX = 257,
    TEXT_MAX = 128
};

/* clang-format off */
static const struct field address_fields[] = {
    { "address", .type = FIELD_STR, AT(host_address, text), .max = ID_MAX_BYTES },
    { 0 },
};
static const struct shape address_shape = { "address", sizeof(struct host_address), address_fields, .bare = true };

const struct enum_name host_state_names[] = {
    { HOST_OFFLINE, "offline" }, { HOST_ONLINE, "online" }, { HOST_AWAITED, "expected" },
    { HOST_SILENT, "silent" }, { 0 },
};

static const struct field host_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(host_view, agent_id), .max = ID_MAX_BYTES,
      .doc = "identifies it everywhere; empty: it is expected and has not joined" },
    { "cloud_id", .type = FIELD_INT, AT(host_view, cloud_id), .doc = "the cloud area it is in" },
    { "ip", .type = FIELD_STR, AT(host_view, ip), .max = ID_MAX_BYTES, .doc = "its address there" },
    { "addresses", .type = FIELD_LIST, AT(host_view, addresses), .max = ADDRESSES_MAX, .sub = &address_shape,
      .doc = "all that its agent reports, `ip` first" },
    { "biz_id", .type = FIELD_INT, AT(host_view, biz_id), .doc = "the business it belongs to" },
    { "host_id", .type = FIELD_INT, AT(host_view, host_id), .doc = "its number in the CMDB; 0: none" },
    { "note", .type = FIELD_STR, AT(host_view, note), .max = 1024, .doc = "for people" },
    { "hostname", .type = FIELD_STR, AT(host_view, hostname), .max = NAME_MAX_BYTES, .doc = "its host name" },
    { "version", .type = FIELD_STR, AT(host_view, version), .max = ID_MAX_BYTES, .doc = "of its agent" },
    { "state", .type = FIELD_ENUM, AT(host_view, state), .names = host_state_names, .flags = FIELD_BY_NAME,
      .doc = "`online`, `offline`, `silent`: online, but its agent answers nothing; or `expected`: what is said of it "
             "waits until it joins" },
    { "online", .type = FIELD_BOOL, AT(host_view, online), .doc = "its agent is connected" },
    { "since_s", .type = FIELD_INT, AT(host_view, since_s), .doc = "since when, epoch seconds" },
    { "silent_since_s", .type = FIELD_INT, AT(host_view, silent_since_s),
      .doc = "it is connected but has been silent since then, epoch seconds; 0: it answers" },
    { "joined_s", .type = FIELD_INT, AT(host_view, joined_s), .doc = "known since" },
    { "processes", .type = FIELD_INT, AT(host_view, processes), .doc = "processes on it that the app may see" },
    { "running", .type = FIELD_INT, AT(host_view, running), .doc = "running processes of them, while it is online" },
    { 0 },
};
const struct shape host_view_shape = { "host_view", sizeof(struct host_view), host_fields, .doc = "A host." };

static const struct field remove_fields[] = {
    { "host", .type = FIELD_STR, AT(host_remove_ask, host), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .check = rule_line, .doc = "an agent id, `cloud:ip` or an address of cloud area 0" },
    { 0 },
};
const struct shape host_remove_ask_shape = { "host_remove_ask", sizeof(struct host_remove_ask), remove_fields };

static const struct field host_page_fields[] = {
    { "hosts", .type = FIELD_LIST, AT(host_page, hosts), .max = PAGE_MAX, .sub = &host_view_shape,
      .doc = "by agent id; then expected hosts, by cloud area and address" },
    { "next", .type = FIELD_STR, AT(host_page, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape host_page_shape = { "host_page", sizeof(struct host_page), host_page_fields };

static const struct field process_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(process_view, agent_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES,
      .doc = "the host it is on" },
    { "cloud_id", .type = FIELD_INT, AT(process_view, cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(process_view, ip), .max = ID_MAX_BYTES, .doc = "of the host" },
    { "online", .type = FIELD_BOOL, AT(process_view, online),
      .doc = "the host's agent is connected; otherwise this is the last known state" },
    { "biz_id", .type = FIELD_INT, AT(process_view, biz_id), .doc = "of the host" },
    { "unknown_since_s", .type = FIELD_INT, AT(process_view, unknown_since_s),
      .doc = "the state is stale since then, epoch seconds; 0: it is current" },
    { "process", .type = FIELD_OBJ, AT(process_view, view), .flags = FIELD_REQUIRED, .sub = &proc_view_shape,
      .doc = "the process" },
    { 0 },
};
const struct shape process_view_shape = { "process_view", sizeof(struct process_view), process_fields,
                                          .doc = "A process and the host it is on." };

static const struct field process_page_fields[] = {
    { "processes", .type = FIELD_LIST, AT(process_page, processes), .max = PAGE_MAX, .sub = &process_view_shape,
      .doc = "by agent id, namespace and name" },
    { "next", .type = FIELD_STR, AT(process_page, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape process_page_shape = { "process_page", sizeof(struct process_page), process_page_fields };

static const struct field host_list_ask_fields[] = {
    { "business", "biz_id", FIELD_INT, AT(host_list_ask, biz_id), HAS(host_list_ask, has_biz_id), .max = INT32_MAX,
      .doc = "only hosts of this business; 0: only hosts without one" },
    { "cloud", "cloud_id", FIELD_INT, AT(host_list_ask, cloud_id), HAS(host_list_ask, has_cloud_id),
      .max = INT32_MAX, .doc = "only of this cloud area" },
    { "state", .type = FIELD_ENUM, AT(host_list_ask, state), HAS(host_list_ask, has_state), .names = host_state_names,
      .flags = FIELD_BY_NAME, .doc = "only these: `online`, `offline`, `expected`, or `silent`, which are online, too" },
    { "text", .type = FIELD_STR, AT(host_list_ask, text), .max = TEXT_MAX, .check = rule_line,
      .doc = "only hosts with this text in an address, their name, agent id or note" },
    { "after", .type = FIELD_STR, AT(host_list_ask, after), .max = CURSOR_MAX_BYTES,
      .doc = "`next` of the previous page" },
    { "limit", .type = FIELD_INT, AT(host_list_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "maximum number of items; a page may have fewer and still have a `next`" },
    { 0 },
};
const struct shape host_list_ask_shape = { "host_list_ask", sizeof(struct host_list_ask), host_list_ask_fields };

const struct enum_name process_state_names[] = {
    { PROCESS_UNREGISTERED, "unregistered" }, { PROCESS_RUNNING, "running" }, { PROCESS_STOPPED, "stopped" },
    { PROCESS_UNKNOWN, "unknown" }, { PROCESS_SCHEDULED, "scheduled" }, { 0 },
};

enum process_state process_state_of(const struct proc_view *v, bool is_unknown)
{
    if (is_unknown)
        return PROCESS_UNKNOWN;
    if (v->cause.is_periodic && v->hosted && v->status != PROC_RUNNING)
        return v->cause.doing == PROC_OP_START ? PROCESS_RUNNING : PROCESS_SCHEDULED;
    return v->status == PROC_RUNNING   ? PROCESS_RUNNING
           : v->status == PROC_STOPPED ? PROCESS_STOPPED
                                       : PROCESS_UNREGISTERED;
}

static const struct field process_ask_fields[] = {
    { "namespace", .type = FIELD_STR, AT(process_ask, space), .max = NAME_MAX_BYTES, .doc = "only of this one" },
    { "name", .type = FIELD_STR, AT(process_ask, name), .max = NAME_MAX_BYTES, .doc = "only of this name" },
    { "host", .type = FIELD_STR, AT(process_ask, host), .max = ID_MAX_BYTES,
      .doc = "only on this host: an agent id, `cloud:ip` or an address of cloud area 0" },
    { "business", "biz_id", FIELD_INT, AT(process_ask, biz_id), HAS(process_ask, has_biz_id), .max = INT32_MAX,
      .doc = "only on hosts of this business" },
    { "status", .type = FIELD_ENUM, AT(process_ask, status), HAS(process_ask, has_status),
      .names = process_state_names, .flags = FIELD_BY_NAME,
      .doc = "only these: `running`, `stopped`, `unregistered`, `scheduled`: periodic processes between two runs, or `unknown`: processes of offline hosts" },
    { "hosted", .type = FIELD_BOOL, AT(process_ask, hosted), HAS(process_ask, has_hosted),
      .doc = "only hosted processes, or only others" },
    { "text", .type = FIELD_STR, AT(process_ask, text), .flags = FIELD_OMIT_EMPTY, .max = TEXT_MAX, .check = rule_line,
      .doc = "only processes with this text in namespace or name, or in an address, the name, agent id or note of their host" },
    { "after", .type = FIELD_STR, AT(process_ask, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the previous page" },
    { "limit", .type = FIELD_INT, AT(process_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "maximum number of items; a page may have fewer and still have a `next`" },
    { 0 },
};
const struct shape process_ask_shape = { "process_ask", sizeof(struct process_ask), process_ask_fields };

static const struct field page_ask_fields[] = {
    { "after", .type = FIELD_STR, AT(page_ask, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the previous page" },
    { "limit", .type = FIELD_INT, AT(page_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "maximum number of items" },
    { 0 },
};
const struct shape page_ask_shape = { "page_ask", sizeof(struct page_ask), page_ask_fields };

static const struct enum_name wrong_kind_names[] = {
    { WRONG_STORE, "store" }, { WRONG_PROCESS, "process" }, { WRONG_OFFLINE, "offline" }, { WRONG_SILENT, "silent" },
    { WRONG_LINK, "link" }, { 0 },
};

static const struct field wrong_fields[] = {
    { "kind", .type = FIELD_ENUM, AT(status_wrong, kind), .names = wrong_kind_names, .flags = FIELD_BY_NAME,
      .doc = "`store`: the server cannot write; `process`: not as wanted; `offline`, `silent`: a host; `link`, of `holdfast --local`: the agent is not connected" },
    { "agent_id", .type = FIELD_STR, AT(status_wrong, agent_id), .max = ID_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the host" },
    { "namespace", .type = FIELD_STR, AT(status_wrong, space), .max = ID_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the process" },
    { "name", .type = FIELD_STR, AT(status_wrong, name), .max = ID_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the process" },
    { "text", .type = FIELD_STR, AT(status_wrong, text), .max = 4096, .doc = "for people" },
    { 0 },
};
const struct shape status_wrong_shape = { "status_wrong", sizeof(struct status_wrong), wrong_fields,
                                          .doc = "A problem." };

static const struct field status_fields[] = {
    { "version", .type = FIELD_STR, AT(status_view, version), .max = 32, .doc = "of the server" },
    { "uptime_s", .type = FIELD_INT, AT(status_view, uptime_s), .doc = "seconds since its start" },
    { "hosts", .type = FIELD_INT, AT(status_view, hosts), .doc = "hosts that have joined and that the app may see" },
    { "online", .type = FIELD_INT, AT(status_view, online), .doc = "of these hosts, connected" },
    { "silent", .type = FIELD_INT, AT(status_view, silent), .doc = "of these, without an answer at the moment" },
    { "processes", .type = FIELD_INT, AT(status_view, processes), .doc = "processes on them" },
    { "running", .type = FIELD_INT, AT(status_view, running), .doc = "running processes of them, on online hosts" },
    { "hosted", .type = FIELD_INT, AT(status_view, hosted), .doc = "hosted processes of them" },
    { "open_tasks", .type = FIELD_INT, AT(status_view, open_tasks), .doc = "tasks of all apps that have not ended" },
    { "wrong", .type = FIELD_LIST, AT(status_view, wrong), .max = PAGE_MAX, .sub = &status_wrong_shape,
      .doc = "what is wrong with the server; `holdfast status --json` adds hosts and processes" },
    { 0 },
};
const struct shape status_view_shape = { "status_view", sizeof(struct status_view), status_fields };
/* clang-format on */
