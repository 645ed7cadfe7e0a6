/* SPDX-License-Identifier: MIT */
/* task.c - the shapes of task.h. */
#include "model/task.h"

#include "model/operation.h"
#include "model/rules.h"
#include "model/signal.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

enum {
    TEXT_MAX_BYTES = 16384,
    PAGE_MAX = 1000,
    PAGE_USUAL = 100,
    CURSOR_MAX_BYTES = 64,
    CODES_MAX = 100
};

/* clang-format off */
static const struct field host_fields[] = {
    { "host", .type = FIELD_STR, AT(agent_ref, id), .min = 1, .max = ID_MAX_BYTES, .check = rule_line },
    { 0 },
};
static const struct shape host_shape = { "host", sizeof(struct agent_ref), host_fields, .bare = true };

/* `WHERE(member)`: where a member of struct operation_ask is; `spec`: how a spec is read or written. */
#define OPERATION_ROWS(WHERE, GIVEN, ...) \
    { "operation", .type = FIELD_ENUM, WHERE(op), .names = operation_names, \
      .flags = FIELD_REQUIRED | FIELD_BY_NAME, .doc = "what to do" }, \
    { "namespace", .type = FIELD_STR, WHERE(space), .flags = FIELD_REQUIRED, .min = 1, \
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "with `name`: which process" }, \
    { "name", .type = FIELD_STR, WHERE(name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES, \
      .check = rule_line, .doc = "unique within its namespace on a host" }, \
    { "hosts", .type = FIELD_LIST, WHERE(hosts), .max = TARGETS_MAX, .sub = &host_shape, \
      .doc = "agent ids, `cloud:ip`, or addresses of cloud area 0; empty: all that have the process" }, \
    __VA_ARGS__ \
    { "expect", .type = FIELD_INT, WHERE(expect), GIVEN(has_expect), .min = 0, \
      .max = TARGETS_MAX, .doc = "do nothing unless it is for exactly so many targets" }, \
    { "dry_run", .type = FIELD_BOOL, WHERE(dry_run), .flags = FIELD_OMIT_EMPTY, \
      .doc = "do nothing, and say what it would be done to" }, \
    { "idempotent", .type = FIELD_BOOL, WHERE(idempotent), .flags = FIELD_OMIT_EMPTY, \
      .doc = "starting what runs (828) and stopping what does not (829) went well, with `changed` false" }, \
    { "signal", .type = FIELD_STR, WHERE(signal), .max = SIGNAL_NAME_MAX_BYTES, .check = signal_check, \
      .flags = FIELD_OMIT_EMPTY, .doc = "for the operation `signal`, which requires it: the signal to send, by name (`HUP`, `SIGUSR1`, " \
      "`RTMIN+1`) or as a number from 1 to 64" },

#define SPEC_DOC "how it is run; without it, as each host has it"
#define IN_ASK(member) AT(operation_ask, member)
#define GIVEN_IN_ASK(member) HAS(operation_ask, member)
static const struct field operation_fields[] = {
    OPERATION_ROWS(IN_ASK, GIVEN_IN_ASK, { "spec", .type = FIELD_OBJ, AT(operation_ask, spec),
        HAS(operation_ask, has_spec), .sub = &proc_spec_shape, .doc = SPEC_DOC },)
    { 0 },
};
const struct shape operation_ask_shape = { "operation_ask", sizeof(struct operation_ask), operation_fields };

#define IN_SHORT_ASK(member) AT(operation_short_ask, ask.member)
#define GIVEN_IN_SHORT_ASK(member) HAS(operation_short_ask, ask.member)
static const struct field operation_short_fields[] = {
    OPERATION_ROWS(IN_SHORT_ASK, GIVEN_IN_SHORT_ASK, { "spec", .type = FIELD_OBJ, AT(operation_short_ask, spec),
        HAS(operation_short_ask, ask.has_spec), .sub = &short_spec_shape, .doc = SPEC_DOC },)
    { 0 },
};
const struct shape operation_short_ask_shape = { "operation_ask", sizeof(struct operation_short_ask),
                                                 operation_short_fields };

static const struct field target_fields[] = {
    { "key", .type = FIELD_STR, AT(operation_target, key), .max = KEY_MAX_BYTES, .doc = "as that of its result" },
    { "agent_id", .type = FIELD_STR, AT(operation_target, agent_id), .max = ID_MAX_BYTES,
      .doc = "the host; empty: not known" },
    { "cloud_id", .type = FIELD_INT, AT(operation_target, cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(operation_target, ip), .max = ID_MAX_BYTES, .doc = "of the host; empty: not known" },
    { "online", .type = FIELD_BOOL, AT(operation_target, online), .doc = "its agent is connected" },
    { "code", .type = FIELD_INT, AT(operation_target, code),
      .doc = "0: it would be asked for, or was done; else it is refused with this" },
    { "text", .type = FIELD_STR, AT(operation_target, text), .max = TEXT_MAX_BYTES, .doc = "why" },
    { 0 },
};
const struct shape operation_target_shape = { "operation_target", sizeof(struct operation_target), target_fields };

static const struct field operation_view_fields[] = {
    { "task_id", .type = FIELD_STR, AT(operation_view, task_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES,
      .doc = "to ask for the results; empty: a dry run" },
    { "items", .type = FIELD_INT, AT(operation_view, items), .doc = "targets it is for" },
    { "deadline_ms", .type = FIELD_INT, AT(operation_view, deadline_ms), .flags = FIELD_OMIT_EMPTY,
      .doc = "epoch milliseconds by which every target has ended at the latest" },
    { "dry_run", .type = FIELD_BOOL, AT(operation_view, dry_run), .flags = FIELD_OMIT_EMPTY, .doc = "nothing is done" },
    { "targets", .type = FIELD_LIST, AT(operation_view, targets), .flags = FIELD_OMIT_EMPTY, .max = TARGETS_MAX,
      .sub = &operation_target_shape, .doc = "of a dry run: what it is for" },
    { 0 },
};
const struct shape operation_view_shape = { "operation_view", sizeof(struct operation_view), operation_view_fields };

static const struct field forget_fields[] = {
    { "namespace", .type = FIELD_STR, AT(forget_ask, space), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(forget_ask, name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "unique within its namespace on a host" },
    { "hosts", .type = FIELD_LIST, AT(forget_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &host_shape, .doc = "agent ids, `cloud:ip`, or addresses of cloud area 0" },
    { 0 },
};
const struct shape forget_ask_shape = { "forget_ask", sizeof(struct forget_ask), forget_fields };

static const struct field forget_view_fields[] = {
    { "targets", .type = FIELD_LIST, AT(forget_view, targets), .max = TARGETS_MAX, .sub = &operation_target_shape,
      .doc = "one for each host, as it was named" },
    { 0 },
};
const struct shape forget_view_shape = { "forget_view", sizeof(struct forget_view), forget_view_fields };

static const struct field item_fields[] = {
    { "key", .type = FIELD_STR, AT(task_item_view, key), .max = KEY_MAX_BYTES, .doc = "as BlueKing's result APIs have it" },
    { "agent_id", .type = FIELD_STR, AT(task_item_view, agent_id), .max = ID_MAX_BYTES, .doc = "the host; empty: not known" },
    { "cloud_id", .type = FIELD_INT, AT(task_item_view, cloud_id), .doc = "of the host" },
    { "ip", .type = FIELD_STR, AT(task_item_view, ip), .max = ID_MAX_BYTES, .doc = "of the host; empty: not known" },
    { "namespace", .type = FIELD_STR, AT(task_item_view, space), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "name", .type = FIELD_STR, AT(task_item_view, name), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "op_type", .type = FIELD_INT, AT(task_item_view, op), .doc = "BlueKing's number of the operation" },
    { "done", .type = FIELD_BOOL, AT(task_item_view, done), .doc = "it has ended, well or not" },
    { "changed", .type = FIELD_BOOL, AT(task_item_view, changed), .doc = "it went well, and something was done" },
    { "code", .type = FIELD_INT, AT(task_item_view, code), .doc = "0: it went well; 115: not done yet" },
    { "text", .type = FIELD_STR, AT(task_item_view, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "process", .type = FIELD_OBJ, AT(task_item_view, view), .sub = &proc_view_shape, .doc = "afterwards" },
    { 0 },
};
const struct shape task_item_view_shape = { "task_item", sizeof(struct task_item_view), item_fields };

static const struct field code_fields[] = {
    { "code", .type = FIELD_INT, AT(task_code_view, code), .flags = FIELD_REQUIRED, .doc = "as that of an item" },
    { "count", .type = FIELD_INT, AT(task_code_view, count), .doc = "items that have it" },
    { "name", .type = FIELD_STR, AT(task_code_view, name), .max = ID_MAX_BYTES, .doc = "of the code" },
    { "text", .type = FIELD_STR, AT(task_code_view, text), .max = TEXT_MAX_BYTES,
      .doc = "what it means, in the caller's language" },
    { 0 },
};
const struct shape task_code_view_shape = { "task_code", sizeof(struct task_code_view), code_fields };

static const struct field task_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_view, task_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES, .doc = "its id" },
    { "app", .type = FIELD_STR, AT(task_view, app), .max = ID_MAX_BYTES, .doc = "app that made the request" },
    { "user", .type = FIELD_STR, AT(task_view, user), .max = NAME_MAX_BYTES, .doc = "user named in the request" },
    { "created_ms", .type = FIELD_INT, AT(task_view, created_ms), .doc = "since 1970" },
    { "deadline_ms", .type = FIELD_INT, AT(task_view, deadline_ms), .doc = "by then all has ended at the latest" },
    { "total", .type = FIELD_INT, AT(task_view, total), .doc = "items" },
    { "left", .type = FIELD_INT, AT(task_view, left), .doc = "that have not ended" },
    { "failed", .type = FIELD_INT, AT(task_view, failed), .doc = "that ended with a code other than 0" },
    { "unchanged", .type = FIELD_INT, AT(task_view, unchanged), .doc = "that were so already, and it is no failure" },
    { "cancelled_ms", .type = FIELD_INT, AT(task_view, cancelled_ms), .doc = "since 1970; 0: not cancelled" },
    { "idempotent", .type = FIELD_BOOL, AT(task_view, idempotent), .doc = "as it was asked for" },
    { "codes", .type = FIELD_LIST, AT(task_view, codes), .max = CODES_MAX, .sub = &task_code_view_shape,
      .doc = "of all items, how often each" },
    { "items", .type = FIELD_LIST, AT(task_view, items), .max = TARGETS_MAX, .sub = &task_item_view_shape,
      .doc = "one a host; those that were asked for" },
    { "next", .type = FIELD_STR, AT(task_view, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape task_view_shape = { "task_view", sizeof(struct task_view), task_fields, .doc = "A task." };

static const struct enum_name items_names[] = {
    { TASK_ITEMS_ALL, "all" }, { TASK_ITEMS_FAILED, "failed" }, { TASK_ITEMS_OPEN, "open" }, { TASK_ITEMS_NONE, "none" },
    { 0 },
};

static const struct field look_fields[] = {
    { "items", .type = FIELD_ENUM, AT(task_look, only), .names = items_names, .flags = FIELD_BY_NAME,
      .doc = "which of them; what is counted does not depend on it" },
    { "after", .type = FIELD_INT, AT(task_look, after), .min = -1, .max = TARGETS_MAX, .fallback = -1,
      .doc = "`next` of the page before" },
    { "limit", .type = FIELD_INT, AT(task_look, limit), .min = 1, .max = TARGETS_MAX, .fallback = TARGETS_MAX,
      .doc = "at most so many items" },
    { 0 },
};
const struct shape task_look_shape = { "task_look", sizeof(struct task_look), look_fields };

static const struct field list_fields[] = {
    { "app", .type = FIELD_STR, AT(task_list_query, app), .max = ID_MAX_BYTES, .doc = "only of this one" },
    { "open", .type = FIELD_BOOL, AT(task_list_query, open), .doc = "only those that have not ended" },
    { "failed", .type = FIELD_BOOL, AT(task_list_query, failed), .doc = "only those of which something went wrong" },
    { "since_s", .type = FIELD_INT, AT(task_list_query, since_s), .min = 0, .max = INT64_C(1) << 40,
      .doc = "only those made then or later, epoch seconds" },
    { "after", .type = FIELD_STR, AT(task_list_query, after), .max = CURSOR_MAX_BYTES, .doc = "`next` of the page before" },
    { "limit", .type = FIELD_INT, AT(task_list_query, limit), .min = 1, .max = PAGE_MAX, .fallback = PAGE_USUAL,
      .doc = "at most so many" },
    { 0 },
};
const struct shape task_list_query_shape = { "task_list_query", sizeof(struct task_list_query), list_fields };

static const struct field line_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_line, task_id), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES, .doc = "its id" },
    { "app", .type = FIELD_STR, AT(task_line, app), .max = ID_MAX_BYTES, .doc = "app that made the request" },
    { "user", .type = FIELD_STR, AT(task_line, user), .max = NAME_MAX_BYTES, .doc = "user named in the request" },
    { "op_type", .type = FIELD_INT, AT(task_line, op), .doc = "BlueKing's number of the operation; of its first item, as what follows" },
    { "namespace", .type = FIELD_STR, AT(task_line, space), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "name", .type = FIELD_STR, AT(task_line, name), .max = NAME_MAX_BYTES, .doc = "of the process" },
    { "created_ms", .type = FIELD_INT, AT(task_line, created_ms), .doc = "since 1970" },
    { "finished_ms", .type = FIELD_INT, AT(task_line, finished_ms), .doc = "since 1970; 0: it has not ended" },
    { "cancelled_ms", .type = FIELD_INT, AT(task_line, cancelled_ms), .doc = "since 1970; 0: not cancelled" },
    { "total", .type = FIELD_INT, AT(task_line, total), .doc = "items" },
    { "left", .type = FIELD_INT, AT(task_line, left), .doc = "that have not ended" },
    { "failed", .type = FIELD_INT, AT(task_line, failed), .doc = "that went wrong" },
    { "cancelled", .type = FIELD_INT, AT(task_line, cancelled), .doc = "of these: that were cancelled before they were begun" },
    { 0 },
};
const struct shape task_line_shape = { "task_line", sizeof(struct task_line), line_fields };

static const struct field page_fields[] = {
    { "tasks", .type = FIELD_LIST, AT(task_page, tasks), .max = PAGE_MAX, .sub = &task_line_shape, .doc = "newest first" },
    { "next", .type = FIELD_STR, AT(task_page, next), .max = CURSOR_MAX_BYTES,
      .doc = "`after` of the next page; empty: this is the last" },
    { 0 },
};
const struct shape task_page_shape = { "task_page", sizeof(struct task_page), page_fields };

static const struct field ref_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_ref, task_id), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "by which results are asked for" },
    { 0 },
};
const struct shape task_ref_shape = { "task_ref", sizeof(struct task_ref), ref_fields };
/* clang-format on */
