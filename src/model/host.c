/* SPDX-License-Identifier: MIT */
/* host.c - the shapes of host.h. */
#include "model/host.h"

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
      .doc = "names it everywhere; empty: it is expected, and has not joined" },
    { "cloud_id", .type = FIELD_INT, AT(host_view, cloud_id), .doc = "the cloud area it is in" },
    { "ip", .type = FIELD_STR, AT(host_view, ip), .max = ID_MAX_BYTES, .doc = "its address there" },
    { "addresses", .type = FIELD_LIST, AT(host_view, addresses), .max = ADDRESSES_MAX, .sub = &address_shape,
      .doc = "all that its agent tells of, `ip` first" },
    { "biz_id", .type = FIELD_INT, AT(host_view, biz_id), .doc = "the business it belongs to" },
    { "host_id", .type = FIELD_INT, AT(host_view, host_id), .doc = "its number in the CMDB; 0: none" },
    { "note", .type = FIELD_STR, AT(host_view, note), .max = 1024, .doc = "for people" },
    { "hostname", .type = FIELD_STR, AT(host_view, hostname), .max = NAME_MAX_BYTES, .doc = "what it calls itself" },
    { "version", .type = FIELD_STR, AT(host_view, version), .max = ID_MAX_BYTES, .doc = "of its agent" },
    { "state", .type = FIELD_ENUM, AT(host_view, state), .names = host_state_names, .flags = FIELD_BY_NAME,
      .doc = "`online`, `offline`, `silent`: online, but its agent answers nothing; or `expected`: what is said of it "
             "waits until it joins" },
    { "online", .type = FIELD_BOOL, AT(host_view, online), .doc = "its agent is connected" },
    { "since_s", .type = FIELD_INT, AT(host_view, since_s), .doc = "it has been so since, epoch seconds" },
    { "silent_since_s", .type = FIELD_INT, AT(host_view, silent_since_s),
      .doc = "it is connected, and nothing was heard of it since, epoch seconds; 0: it answers" },
    { "joined_s", .type = FIELD_INT, AT(host_view, joined_s), .doc = "known since" },
    { "processes", .type = FIELD_INT, AT(host_view, processes), .doc = "that we know on it and the app may see" },
    { "running", .type = FIELD_INT, AT(host_view, running), .doc = "of them, while it is online" },
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
      .doc = "by agent id; then those that are expected, by cloud area and address" },
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
      .doc = "the host's agent is connected; else this is what was last heard" },
    { "biz_id", .type = FIELD_INT, AT(process_view, biz_id), .doc = "of the host" },
    { "unknown_since_s", .type = FIELD_INT, AT(process_view, unknown_since_s),
      .doc = "nothing was heard of the host since, epoch seconds; 0: what is said here is fresh" },
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
      .doc = "only of this one; 0: only those of none" },
    { "cloud", "cloud_id", FIELD_INT, AT(host_list_ask, cloud_id), HAS(host_list_ask, has_cloud_id),
      .max = INT32_MAX, .doc = "only of this cloud area" },
    { "state", .type = FIELD_ENUM, AT(host_list_ask, state), HAS(host_list_ask, has_state), .names = host_state_names,
      .flags = FIELD_BY_NAME, .doc = "only these: `online`, `offline`, `expected`, or `silent`, which are online, too" },
    { "text", .type = FIELD_STR, AT(host_list_ask, text), .max = TEXT_MAX, .check = rule_line,
      .doc = "only those that have it in an address, their name, agent id or note" },
    { "after", .type = FIELD_STR, AT(host_list_ask, after), .max = CURSOR_MAX_BYTES,
      .doc = "`next` of the page before" },
    { "limit", .type = FIELD_INT, AT(host_list_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "at most so many; a page of few out of many may have less, and a `next`" },
    { 0 },
};
const struct shape host_list_ask_shape = { "host_list_ask", sizeof(struct host_list_ask), host_list_ask_fields };

const struct enum_name process_state_names[] = {
    { PROCESS_UNREGISTERED, "unregistered" }, { PROCESS_RUNNING, "running" }, { PROCESS_STOPPED, "stopped" },
    { PROCESS_UNKNOWN, "unknown" }, { 0 },
};

static const struct field process_ask_fields[] = {
    { "namespace", .type = FIELD_STR, AT(process_ask, space), .max = NAME_MAX_BYTES, .doc = "only of this one" },
    { "name", .type = FIELD_STR, AT(process_ask, name), .max = NAME_MAX_BYTES, .doc = "only of this name" },
    { "host", .type = FIELD_STR, AT(process_ask, host), .max = ID_MAX_BYTES,
      .doc = "only on this one: an agent id, `cloud:ip` or an address of cloud area 0" },
    { "business", "biz_id", FIELD_INT, AT(process_ask, biz_id), HAS(process_ask, has_biz_id), .max = INT32_MAX,
      .doc = "only on hosts of this one" },
    { "status", .type = FIELD_ENUM, AT(process_ask, status), HAS(process_ask, has_status),
      .names = process_state_names, .flags = FIELD_BY_NAME,
      .doc = "only these: `running`, `stopped`, `unregistered`, or `unknown`: those of hosts that are away" },
    { "hosted", .type = FIELD_BOOL, AT(process_ask, hosted), HAS(process_ask, has_hosted),
      .doc = "only those that are kept alive, or are not" },
    { "text", .type = FIELD_STR, AT(process_ask, text), .flags = FIELD_OMIT_EMPTY, .max = TEXT_MAX, .check = rule_line,
      .doc = "only those that have it in namespace or name, or in an address, the name, agent id or note of their host" },
    { "after", .type = FIELD_STR, AT(process_ask, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the page before" },
    { "limit", .type = FIELD_INT, AT(process_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "at most so many; a page of few out of many may have less, and a `next`" },
    { 0 },
};
const struct shape process_ask_shape = { "process_ask", sizeof(struct process_ask), process_ask_fields };

static const struct field page_ask_fields[] = {
    { "after", .type = FIELD_STR, AT(page_ask, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the page before" },
    { "limit", .type = FIELD_INT, AT(page_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "at most so many" },
    { 0 },
};
const struct shape page_ask_shape = { "page_ask", sizeof(struct page_ask), page_ask_fields };

static const struct field status_fields[] = {
    { "version", .type = FIELD_STR, AT(status_view, version), .max = 32, .doc = "of the server" },
    { "uptime_s", .type = FIELD_INT, AT(status_view, uptime_s), .doc = "seconds since its start" },
    { "hosts", .type = FIELD_INT, AT(status_view, hosts), .doc = "that have joined and the app may see" },
    { "online", .type = FIELD_INT, AT(status_view, online), .doc = "of them connected" },
    { "silent", .type = FIELD_INT, AT(status_view, silent), .doc = "of those, that answer nothing at the moment" },
    { "processes", .type = FIELD_INT, AT(status_view, processes), .doc = "known on them" },
    { "running", .type = FIELD_INT, AT(status_view, running), .doc = "of them, on hosts that are online" },
    { "hosted", .type = FIELD_INT, AT(status_view, hosted), .doc = "of them kept alive" },
    { "open_tasks", .type = FIELD_INT, AT(status_view, open_tasks), .doc = "of all apps, that have not ended" },
    { 0 },
};
const struct shape status_view_shape = { "status_view", sizeof(struct status_view), status_fields };
/* clang-format on */
