/* SPDX-License-Identifier: MIT */
/* task.c - the shapes of task.h. */
#include "model/task.h"

#include "model/rules.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

enum { TEXT_MAX_BYTES = 16384 };

/* clang-format off */
const struct enum_name proc_op_names[] = {
    { PROC_OP_START, "start" }, { PROC_OP_STOP, "stop" }, { PROC_OP_QUERY, "query" }, { PROC_OP_HOST, "host" },
    { PROC_OP_UNHOST, "unhost" }, { PROC_OP_RESTART, "restart" }, { PROC_OP_RELOAD, "reload" },
    { PROC_OP_KILL, "kill" }, { 0 },
};

static const struct field host_fields[] = {
    { "host", .type = FIELD_STR, AT(agent_ref, id), .min = 1, .max = ID_MAX_BYTES, .check = rule_line },
    { 0 },
};
static const struct shape host_shape = { "host", sizeof(struct agent_ref), host_fields, .bare = true };

static const struct field operation_fields[] = {
    { "operation", .type = FIELD_ENUM, AT(operation_ask, op), .names = proc_op_names,
      .flags = FIELD_REQUIRED | FIELD_BY_NAME, .doc = "what to do" },
    { "namespace", .type = FIELD_STR, AT(operation_ask, space), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(operation_ask, name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "unique within its namespace on a host" },
    { "hosts", .type = FIELD_LIST, AT(operation_ask, hosts), .max = TARGETS_MAX, .sub = &host_shape,
      .doc = "agent ids, `cloud:ip`, or addresses of cloud area 0; empty: all that have the process" },
    { "spec", .type = FIELD_OBJ, AT(operation_ask, spec), HAS(operation_ask, has_spec), .sub = &proc_spec_shape,
      .doc = "how it is run; without it, as each host has it" },
    { 0 },
};
const struct shape operation_ask_shape = { "operation_ask", sizeof(struct operation_ask), operation_fields };

static const struct field operation_view_fields[] = {
    { "task_id", .type = FIELD_STR, AT(operation_view, task_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES,
      .doc = "to ask for the results" },
    { "items", .type = FIELD_INT, AT(operation_view, items), .doc = "hosts it is for" },
    { 0 },
};
const struct shape operation_view_shape = { "operation_view", sizeof(struct operation_view), operation_view_fields };

static const struct field item_fields[] = {
    { "key", .type = FIELD_STR, AT(task_item_view, key), .max = PATH_MAX_BYTES, .doc = "as BlueKing's result APIs have it" },
    { "agent_id", .type = FIELD_STR, AT(task_item_view, agent_id), .max = ID_MAX_BYTES, .doc = "the host; empty: not known" },
    { "cloud_id", .type = FIELD_INT, AT(task_item_view, cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(task_item_view, ip), .max = ID_MAX_BYTES, .doc = "of the host; empty: not known" },
    { "namespace", .type = FIELD_STR, AT(task_item_view, space), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "name", .type = FIELD_STR, AT(task_item_view, name), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "op_type", .type = FIELD_INT, AT(task_item_view, op), .doc = "BlueKing's number of the operation" },
    { "done", .type = FIELD_BOOL, AT(task_item_view, done), .doc = "it has ended, well or not" },
    { "code", .type = FIELD_INT, AT(task_item_view, code), .doc = "0: it went well; 115: not done yet" },
    { "text", .type = FIELD_STR, AT(task_item_view, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "process", .type = FIELD_OBJ, AT(task_item_view, view), .sub = &proc_view_shape, .doc = "afterwards" },
    { 0 },
};
const struct shape task_item_view_shape = { "task_item", sizeof(struct task_item_view), item_fields };

static const struct field task_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_view, task_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES, .doc = "its id" },
    { "app", .type = FIELD_STR, AT(task_view, app), .max = ID_MAX_BYTES, .doc = "who asked for it" },
    { "user", .type = FIELD_STR, AT(task_view, user), .max = NAME_MAX_BYTES, .doc = "for whom" },
    { "created_ms", .type = FIELD_INT, AT(task_view, created_ms), .doc = "since 1970" },
    { "deadline_ms", .type = FIELD_INT, AT(task_view, deadline_ms), .doc = "by then all has ended" },
    { "total", .type = FIELD_INT, AT(task_view, total), .doc = "items" },
    { "left", .type = FIELD_INT, AT(task_view, left), .doc = "that have not ended" },
    { "failed", .type = FIELD_INT, AT(task_view, failed), .doc = "that ended with a code other than 0" },
    { "items", .type = FIELD_LIST, AT(task_view, items), .max = TARGETS_MAX, .sub = &task_item_view_shape,
      .doc = "one a host" },
    { 0 },
};
const struct shape task_view_shape = { "task_view", sizeof(struct task_view), task_fields, .doc = "A task." };

static const struct field ref_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_ref, task_id), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "by which results are asked for" },
    { 0 },
};
const struct shape task_ref_shape = { "task_ref", sizeof(struct task_ref), ref_fields };
/* clang-format on */
