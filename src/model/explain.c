/* SPDX-License-Identifier: MIT */
/* explain.c - the shapes of explain.h. */
#include "model/explain.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { TEXT_MAX_BYTES = 16384, PAGE_MAX = 100, OPERATIONS_MAX = 100 };

/* clang-format off */
static const struct field ask_fields[] = {
    { "namespace", .type = FIELD_STR, AT(explain_ask, space), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(explain_ask, name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .doc = "unique within its namespace on a host" },
    { "host", .type = FIELD_STR, AT(explain_ask, host), .max = ID_MAX_BYTES,
      .doc = "only on this host: an agent id, `cloud:ip` or an address of cloud area 0" },
    { "after", .type = FIELD_STR, AT(explain_ask, after), .max = ID_MAX_BYTES, .doc = "`next` of the previous page" },
    { "limit", .type = FIELD_INT, AT(explain_ask, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_MAX,
      .doc = "maximum number of items; a page may have fewer and still have a `next`" },
    { 0 },
};
const struct shape explain_ask_shape = { "explain_ask", sizeof(struct explain_ask), ask_fields };

static const struct field policy_fields[] = {
    { "kind", .type = FIELD_ENUM, AT(proc_policy, kind), .names = proc_kind_names, .flags = FIELD_BY_NAME,
      .doc = "what kind of process it is" },
    { "start_check_s", .type = FIELD_INT, AT(proc_policy, start_check_s), .doc = "seconds after the start command until it is checked" },
    { "stop_check_s", .type = FIELD_INT, AT(proc_policy, stop_check_s), .doc = "seconds after the stop command until it is checked" },
    { "start_retries", .type = FIELD_INT, AT(proc_policy, start_retries), .min = -1, .max = INT64_MAX,
      .doc = "automatic restarts; -1: unlimited" },
    { "start_interval_s", .type = FIELD_INT, AT(proc_policy, start_interval_s), .doc = "seconds between two restarts" },
    { "op_timeout_s", .type = FIELD_INT, AT(proc_policy, op_timeout_s), .doc = "time limit of a command" },
    { "cycle_s", .type = FIELD_INT, AT(proc_policy, cycle_s), .doc = "of a periodic process; 0: none" },
    { "crontab_rule", .type = FIELD_STR, AT(proc_policy, cron_rule), .max = NAME_MAX_BYTES, .doc = "of a periodic process" },
    { 0 },
};
const struct shape explain_policy_shape = { "explain_policy", sizeof(struct proc_policy), policy_fields };

static const struct field operation_fields[] = {
    { "task_id", .type = FIELD_STR, AT(explain_operation, task_id), .max = ID_MAX_BYTES, .doc = "the task of the operation" },
    { "app", .type = FIELD_STR, AT(explain_operation, app), .max = ID_MAX_BYTES, .doc = "the app" },
    { "user", .type = FIELD_STR, AT(explain_operation, user), .max = NAME_MAX_BYTES, .doc = "the user on whose behalf" },
    { "op_type", .type = FIELD_INT, AT(explain_operation, op), .doc = "BlueKing's number of the operation" },
    { "created_ms", .type = FIELD_INT, AT(explain_operation, created_ms), .doc = "since 1970" },
    { "done_ms", .type = FIELD_INT, AT(explain_operation, done_ms), .doc = "since 1970; 0: it has not ended" },
    { "code", .type = FIELD_INT, AT(explain_operation, code), .doc = "0: it went well; 115: not done yet" },
    { "text", .type = FIELD_STR, AT(explain_operation, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { 0 },
};
const struct shape explain_operation_shape = { "explain_operation", sizeof(struct explain_operation), operation_fields };

static const struct field fields[] = {
    { "agent_id", .type = FIELD_STR, AT(explanation, process.agent_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES,
      .doc = "the host it is on" },
    { "cloud_id", .type = FIELD_INT, AT(explanation, process.cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(explanation, process.ip), .max = ID_MAX_BYTES, .doc = "of the host" },
    { "online", .type = FIELD_BOOL, AT(explanation, process.online),
      .doc = "the host's agent is connected; otherwise this is the last known state" },
    { "since_s", .type = FIELD_INT, AT(explanation, since_s), .doc = "since when, epoch seconds" },
    { "unknown_since_s", .type = FIELD_INT, AT(explanation, process.unknown_since_s),
      .doc = "the state is stale since then, epoch seconds; 0: it is current" },
    { "why_en", .type = FIELD_STR, AT(explanation, why[LANG_EN]), .max = TEXT_MAX_BYTES, .doc = "one sentence, in English" },
    { "why_zh", .type = FIELD_STR, AT(explanation, why[LANG_ZH]), .max = TEXT_MAX_BYTES, .doc = "the same in Chinese" },
    { "is_trouble", .type = FIELD_BOOL, AT(explanation, is_trouble), .doc = "it needs attention" },
    { "process", .type = FIELD_OBJ, AT(explanation, process.view), .flags = FIELD_REQUIRED, .sub = &proc_view_shape,
      .doc = "the process; `cause` has the facts, the next try among them" },
    { "policy", .type = FIELD_OBJ, AT(explanation, policy), .has = offsetof(struct explanation, has_policy),
      .sub = &explain_policy_shape, .doc = "its restart policy; null: the spec is not known" },
    { "operations", .type = FIELD_LIST, AT(explanation, operations), .max = OPERATIONS_MAX,
      .sub = &explain_operation_shape, .doc = "the last operations on it, newest first" },
    { 0 },
};
const struct shape explanation_shape = { "explanation", sizeof(struct explanation), fields,
                                         .doc = "Why a process of a host is in its state." };

static const struct field page_fields[] = {
    { "processes", .type = FIELD_LIST, AT(explain_page, processes), .max = PAGE_MAX, .sub = &explanation_shape,
      .doc = "by agent id" },
    { "next", .type = FIELD_STR, AT(explain_page, next), .max = ID_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape explain_page_shape = { "explain_page", sizeof(struct explain_page), page_fields };
/* clang-format on */
