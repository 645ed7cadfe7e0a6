/* SPDX-License-Identifier: MIT */
/* local.c - the shapes of local.h. */
#include "link/local.h"

#include "base/mem/mem.h"
#include "model/rules.h"
#include "model/signal.h"

#define AT(type, member) .offset = offsetof(struct local_##type, member)

enum { PAGE_MAX = 1000, FACTS_MAX = 64, TEXT_MAX_BYTES = 8192 };

/* clang-format off */
static const struct field operate_fields[] = {
    { "op", .type = FIELD_INT, AT(operate, op), .flags = FIELD_REQUIRED, .doc = "what to do" },
    { "meta", .type = FIELD_OBJ, AT(operate, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "spec", .type = FIELD_OBJ, AT(operate, spec), .sub = &proc_spec_shape, .doc = "how it is run" },
    { "idempotent", .type = FIELD_BOOL, AT(operate, idempotent), .flags = FIELD_OMIT_EMPTY,
      .doc = "of a start: if it runs already and the spec is another, store the spec for its next start and succeed" },
    { "signal", .type = FIELD_STR, AT(operate, signal), .max = SIGNAL_NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "of a signal: which one, by name (`HUP`)" },
    { 0 },
};
const struct shape local_operate_shape = { "local operation", sizeof(struct local_operate), operate_fields };

static const struct field ask_fields[] = {
    { "namespace", .type = FIELD_STR, AT(ask, space), .max = NAME_MAX_BYTES, .doc = "only this namespace; empty: all" },
    { "name", .type = FIELD_STR, AT(ask, name), .max = NAME_MAX_BYTES, .doc = "only this process; empty: all" },
    { "wants_use", .type = FIELD_BOOL, AT(ask, wants_use), .flags = FIELD_OMIT_EMPTY,
      .doc = "CPU and memory at most some seconds old" },
    { 0 },
};
const struct shape local_ask_shape = { "local question", sizeof(struct local_ask), ask_fields };

static const struct field processes_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(processes, agent_id), .max = ID_MAX_BYTES, .doc = "empty: it has none yet" },
    { "is_last", .type = FIELD_BOOL, AT(processes, is_last), .doc = "the last page" },
    { "list", .type = FIELD_LIST, AT(processes, list), .max = PAGE_MAX, .sub = &proc_view_shape,
      .doc = "the processes" },
    { 0 },
};
const struct shape local_processes_shape = { "local processes", sizeof(struct local_processes), processes_fields };

static const struct field spec_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(spec, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape, .doc = "which process" },
    { "spec", .type = FIELD_OBJ, AT(spec, spec), .sub = &proc_spec_shape, .doc = "how it is run" },
    { "hosted", .type = FIELD_BOOL, AT(spec, hosted), .doc = "the agent restarts it" },
    { "running", .type = FIELD_BOOL, AT(spec, running), .doc = "as far as the agent knows" },
    { 0 },
};
static const struct shape spec_shape = { "local spec", sizeof(struct local_spec), spec_fields };

static const struct field specs_fields[] = {
    { "is_last", .type = FIELD_BOOL, AT(specs, is_last), .doc = "the last page" },
    { "list", .type = FIELD_LIST, AT(specs, list), .max = PAGE_MAX, .sub = &spec_shape, .doc = "the processes" },
    { 0 },
};
const struct shape local_specs_shape = { "local specs", sizeof(struct local_specs), specs_fields };

static const struct field events_ask_fields[] = {
    { "after", .type = FIELD_INT, AT(events_ask, after), .max = INT64_MAX, .doc = "only events with a greater id" },
    { 0 },
};
const struct shape local_events_ask_shape = { "local events ask", sizeof(struct local_events_ask), events_ask_fields };

static const struct field events_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(events, agent_id), .max = ID_MAX_BYTES, .doc = "empty: it has none yet" },
    { "is_last", .type = FIELD_BOOL, AT(events, is_last), .doc = "the last page" },
    { "list", .type = FIELD_LIST, AT(events, list), .max = PAGE_MAX, .sub = &message_event_shape, .doc = "the events" },
    { 0 },
};
const struct shape local_events_shape = { "local events", sizeof(struct local_events), events_fields };

static const struct field fact_fields[] = {
    { "name", .type = FIELD_STR, AT(fact, name), .max = ID_MAX_BYTES, .doc = "name of the facility" },
    { "used", .type = FIELD_BOOL, AT(fact, used), .doc = "it exists and is used" },
    { "why", .type = FIELD_STR, AT(fact, why), .max = TEXT_MAX_BYTES, .doc = "why it is not used" },
    { "why_msg", .type = FIELD_STR, AT(fact, why), .max = 2 * TEXT_MAX_BYTES, .flags = FIELD_MSG,
      .doc = "the same with its format and arguments apart, for other languages; absent if it has none" },
    { "instead", .type = FIELD_STR, AT(fact, instead), .max = TEXT_MAX_BYTES, .doc = "what is done in its place" },
    { "instead_msg", .type = FIELD_STR, AT(fact, instead), .max = 2 * TEXT_MAX_BYTES, .flags = FIELD_MSG,
      .doc = "the same with its format and arguments apart, for other languages; absent if it has none" },
    { 0 },
};
static const struct shape fact_shape = { "fact", sizeof(struct local_fact), fact_fields };

static const struct field facts_fields[] = {
    { "agent_version", .type = FIELD_STR, AT(facts, agent_version), .max = ID_MAX_BYTES, .doc = "of the program" },
    { "agent_id", .type = FIELD_STR, AT(facts, agent_id), .max = ID_MAX_BYTES, .doc = "empty: it has none yet" },
    { "pid", .type = FIELD_INT, AT(facts, pid), .doc = "of the agent" },
    { "data_dir", .type = FIELD_STR, AT(facts, data_dir), .max = PATH_MAX_BYTES, .doc = "where its data is" },
    { "pid_dir", .type = FIELD_STR, AT(facts, pid_dir), .max = PATH_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "where it keeps pid files" },
    { "boot_id", .type = FIELD_STR, AT(facts, boot_id), .max = ID_MAX_BYTES, .doc = "of the kernel" },
    { "servers", .type = FIELD_STR, AT(facts, servers), .max = TEXT_MAX_BYTES, .doc = "empty: it has none" },
    { "is_linked", .type = FIELD_BOOL, AT(facts, is_linked), .doc = "a session with one of them is open" },
    { "trouble", .type = FIELD_STR, AT(facts, trouble), .max = TEXT_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "why not: the result of the last attempt" },
    { "trouble_msg", .type = FIELD_STR, AT(facts, trouble), .max = 2 * TEXT_MAX_BYTES, .flags = FIELD_MSG,
      .doc = "the same with its format and arguments apart, for other languages; absent if it has none" },
    { "again_s", .type = FIELD_INT, AT(facts, again_s), .flags = FIELD_OMIT_EMPTY,
      .doc = "seconds until the next attempt" },
    { "processes", .type = FIELD_INT, AT(facts, processes), .doc = "number of processes" },
    { "running", .type = FIELD_INT, AT(facts, running), .doc = "of them" },
    { "hosted", .type = FIELD_INT, AT(facts, hosted), .doc = "of them" },
    { "operations", .type = FIELD_INT, AT(facts, operations), .doc = "in progress" },
    { "events", .type = FIELD_INT, AT(facts, events), .doc = "not acknowledged by the server yet" },
    { "facts", .type = FIELD_LIST, AT(facts, facts), .max = FACTS_MAX, .sub = &fact_shape,
      .doc = "facilities of the kernel" },
    { 0 },
};
const struct shape local_facts_shape = { "local facts", sizeof(struct local_facts), facts_fields };
/* clang-format on */

const struct shape *local_shape(unsigned type)
{
    switch (type) {
    case LOCAL_OPERATE: return &local_operate_shape;
    case LOCAL_LIST: return &local_ask_shape;
    case LOCAL_FACTS: return &local_ask_shape;
    case LOCAL_PROCESSES: return &local_processes_shape;
    case LOCAL_FACTS_ARE: return &local_facts_shape;
    case LOCAL_SPECS: return &local_ask_shape;
    case LOCAL_SPECS_ARE: return &local_specs_shape;
    case LOCAL_FORGET: return &local_ask_shape;
    case LOCAL_EVENTS: return &local_events_ask_shape;
    case LOCAL_EVENTS_ARE: return &local_events_shape;
    case MESSAGE_TAKEN:
    case MESSAGE_RESULT:
    case MESSAGE_ERROR:
    case MESSAGE_LOG_ASK:
    case MESSAGE_LOG: return message_shape(type);
    }
    return NULL;
}
