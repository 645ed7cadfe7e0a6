/* SPDX-License-Identifier: MIT */
/* proc_info.c - the shapes of proc_info.h. */
#include "model/proc_info.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { MESSAGE_MAX_BYTES = 16384, LABELS_MAX_BYTES = 128 * 1024 };

/* clang-format off */
static const struct field status_ask_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_status_ask, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "hosts", .type = FIELD_LIST, AT(proc_status_ask, hosts), .max = TARGETS_MAX, .sub = &target_host_shape,
      .doc = "where; required, or `agent_id_list`" },
    { "agent_id_list", .type = FIELD_LIST, AT(proc_status_ask, agents), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "where, by agent id; given, `hosts` is ignored" },
    { 0 },
};
const struct shape proc_status_ask_shape = { "proc_status_ask", sizeof(struct proc_status_ask), status_ask_fields };

static const struct field hosts_ask_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_status_ask, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "hosts", .type = FIELD_LIST, AT(proc_status_ask, hosts), .flags = FIELD_REQUIRED, .min = 1,
      .max = TARGETS_MAX, .sub = &target_host_shape, .doc = "where" },
    { 0 },
};
const struct shape proc_hosts_ask_shape = { "proc_hosts_ask", sizeof(struct proc_status_ask), hosts_ask_fields };

static const struct field sync_meta_fields[] = {
    { "namespace", .type = FIELD_STR, AT(proc_sync_meta, space), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "all of its processes" },
    { 0 },
};
static const struct shape sync_meta_shape = { "sync_meta", sizeof(struct proc_sync_meta), sync_meta_fields };

static const struct field sync_page_fields[] = {
    { "start", .type = FIELD_INT, AT(proc_sync_page, start), .flags = FIELD_REQUIRED, .max = INT64_MAX,
      .doc = "how many to skip" },
    { "limit", .type = FIELD_INT, AT(proc_sync_page, limit), .flags = FIELD_REQUIRED, .min = 1, .max = INT64_MAX,
      .doc = "maximum number of items, up to 1000" },
    { 0 },
};
static const struct shape sync_page_shape = { "sync_page", sizeof(struct proc_sync_page), sync_page_fields };

static const struct field sync_ask_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_sync_ask, meta), .flags = FIELD_REQUIRED, .sub = &sync_meta_shape,
      .doc = "which namespace" },
    { "page", .type = FIELD_OBJ, AT(proc_sync_ask, page), .flags = FIELD_REQUIRED, .sub = &sync_page_shape,
      .doc = "which part of them" },
    { 0 },
};
const struct shape proc_sync_ask_shape = { "proc_sync_ask", sizeof(struct proc_sync_ask), sync_ask_fields };

static const struct field info_meta_fields[] = {
    { "namespace", .type = FIELD_STR, AT(proc_info_meta, space), .max = NAME_MAX_BYTES,
      .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(proc_info_meta, name), .max = NAME_MAX_BYTES,
      .doc = "unique within its namespace on a host" },
    { "labels", .type = FIELD_RAW, AT(proc_info_meta, labels), .max = LABELS_MAX_BYTES,
      .doc = "as last registered" },
    { 0 },
};
static const struct shape info_meta_shape = { "proc_info_meta", sizeof(struct proc_info_meta), info_meta_fields };

static const struct field info_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_info, meta), .sub = &info_meta_shape, .doc = "which process" },
    { "host", .type = FIELD_OBJ, AT(proc_info, host), .sub = &host_ref_shape, .doc = "the host, as in the request" },
    { "bk_agent_id", .type = FIELD_STR, AT(proc_info, agent_id), .max = ID_MAX_BYTES, .doc = "the same" },
    { "flag", .type = FIELD_INT, AT(proc_info, wanted), .doc = "the wanted state: 0 unregistered, 1 running, 2 stopped" },
    { "status", .type = FIELD_INT, AT(proc_info, status),
      .doc = "the actual state: the same; 0 also while its agent is not connected" },
    { "isauto", .type = FIELD_BOOL, AT(proc_info, hosted), .doc = "the agent keeps it alive" },
    { "message", .type = FIELD_STR, AT(proc_info, message), .max = MESSAGE_MAX_BYTES,
      .doc = "one sentence: its state, and the reason" },
    { "pid", .type = FIELD_INT, AT(proc_info, pid), .doc = "-1: not running, or not known" },
    { "version", .type = FIELD_STR, AT(proc_info, version), .max = 1024, .doc = "output of version_cmd" },
    { "register_time", .type = FIELD_INT, AT(proc_info, register_s), .doc = "known since, epoch seconds" },
    { "last_start_time", .type = FIELD_INT, AT(proc_info, last_start_s), .doc = "last started at" },
    { "report_time", .type = FIELD_INT, AT(proc_info, report_s), .doc = "when its agent last reported it: at every change, and about once a minute while it runs" },
    { "cpu_usage", .type = FIELD_FLOAT, AT(proc_info, cpu_percent), 
      .doc = "percent of the machine, of it and its descendants; 0 also: not measured, as in its first minutes; `op_type` 2 "
             "measures at once" },
    { "mem_usage", .type = FIELD_FLOAT, AT(proc_info, mem_percent), .doc = "percent of the memory; the same" },
    { "fd", .type = FIELD_INT, AT(proc_info, fd), .doc = "always 0: not measured" },
    { "disk", .type = FIELD_INT, AT(proc_info, disk), .doc = "always 0: not measured" },
    { "net", .type = FIELD_INT, AT(proc_info, net), .doc = "always 0: not measured" },
    { 0 },
};
static const struct shape info_shape = { "proc_info", sizeof(struct proc_info), info_fields,
                                         .doc = "A process on a host." };

static const struct field infos_fields[] = {
    { "proc_infos", .type = FIELD_LIST, AT(proc_infos, list), .max = TARGETS_MAX, .sub = &info_shape,
      .doc = "one for each requested host that has the process, in the order of the request" },
    { 0 },
};
const struct shape proc_infos_shape = { "proc_infos", sizeof(struct proc_infos), infos_fields };

static const struct field sync_fields[] = {
    { "count", .type = FIELD_INT, AT(proc_sync, count), .doc = "how many there are in all" },
    { "proc_infos", .type = FIELD_LIST, AT(proc_sync, list), .max = PROC_SYNC_MAX, .sub = &info_shape,
      .doc = "by agent id and name" },
    { 0 },
};
const struct shape proc_sync_shape = { "proc_sync", sizeof(struct proc_sync), sync_fields };
/* clang-format on */
