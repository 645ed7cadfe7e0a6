/* SPDX-License-Identifier: MIT */
/* message.c - the shapes of message.h. */
#include "link/message.h"

#include "base/mem/mem.h"
#include "link/group.h"
#include "model/app.h"
#include "model/log.h"
#include "model/rules.h"
#include "model/signal.h"

#define AT(type, member) .offset = offsetof(struct message_##type, member)

#define MSG_DOC                                                                                    \
    "`text` with its format and arguments apart, for other languages; absent if it has none"

enum {
    TASK_MAX_BYTES = 64,
    TEXT_MAX_BYTES = 16384,
    MSG_MAX_BYTES = 2 * TEXT_MAX_BYTES,
    ADDRESSES_MAX = 256,
    PAGE_MAX = 1000
};
enum { LOG_LINES_MAX = 100000, LOG_MIN_BYTES = 1024, LOG_TEXT_MAX_BYTES = 3 * LOG_MAX_BYTES };

/* clang-format off */
static const struct field text_fields[] = {
    { "text", .type = FIELD_STR, AT(text, text), .max = ID_MAX_BYTES },
    { 0 },
};
static const struct shape text_shape = { "address", sizeof(struct message_text), text_fields, .bare = true };

static const struct field hello_fields[] = {
    { "version_min", .type = FIELD_INT, AT(hello, version_min), .flags = FIELD_REQUIRED, .doc = "oldest protocol spoken" },
    { "version_max", .type = FIELD_INT, AT(hello, version_max), .flags = FIELD_REQUIRED, .doc = "newest protocol spoken" },
    { "agent_id", .type = FIELD_STR, AT(hello, agent_id), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .check = rule_line, .doc = "as in its certificate" },
    { "agent_version", .type = FIELD_STR, AT(hello, agent_version), .max = ID_MAX_BYTES, .doc = "of the program" },
    { "hostname", .type = FIELD_STR, AT(hello, hostname), .max = NAME_MAX_BYTES, .check = rule_line, .doc = "of the host" },
    { "boot_id", .type = FIELD_STR, AT(hello, boot_id), .max = ID_MAX_BYTES, .doc = "of the kernel" },
    { "addresses", .type = FIELD_LIST, AT(hello, addresses), .max = ADDRESSES_MAX, .sub = &text_shape,
      .doc = "of the host" },
    { "digest", .type = FIELD_STR, AT(hello, digest), .max = ID_MAX_BYTES, .doc = "of all its processes" },
    { "agent_ms", .type = FIELD_INT, AT(hello, agent_ms), .doc = "its monotonic clock" },
    { "os", .type = FIELD_STR, AT(hello, os), .max = ID_MAX_BYTES, .check = rule_line, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the host, `linux`" },
    { "arch", .type = FIELD_STR, AT(hello, arch), .max = ID_MAX_BYTES, .check = rule_line, .flags = FIELD_OMIT_EMPTY,
      .doc = "of the host, `x86_64` and the like" },
    { "cpus", .type = FIELD_INT, AT(hello, cpus), .max = INT32_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "processors of the host" },
    { "mem_bytes", .type = FIELD_INT, AT(hello, mem_bytes), .max = INT64_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "memory of the host" },
    { "started_s", .type = FIELD_INT, AT(hello, started_s), .max = INT64_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "when the agent started, seconds since 1970" },
    { 0 },
};
const struct shape message_hello_shape = { "hello", sizeof(struct message_hello), hello_fields };

static const struct field welcome_fields[] = {
    { "version", .type = FIELD_INT, AT(welcome, version), .flags = FIELD_REQUIRED, .doc = "the protocol to speak" },
    { "epoch", .type = FIELD_INT, AT(welcome, epoch), .flags = FIELD_REQUIRED, .doc = "rises with every session" },
    { "ping_ms", .type = FIELD_INT, AT(welcome, ping_ms), .flags = FIELD_REQUIRED, .doc = "time between pings" },
    { "agent_ms", .type = FIELD_INT, AT(welcome, agent_ms), .doc = "as in hello" },
    { "server_ms", .type = FIELD_INT, AT(welcome, server_ms), .doc = "the server's monotonic clock" },
    { "wants_processes", .type = FIELD_BOOL, AT(welcome, wants_processes), .doc = "send all of them" },
    { 0 },
};
const struct shape message_welcome_shape = { "welcome", sizeof(struct message_welcome), welcome_fields };

static const struct field ping_fields[] = {
    { "server_ms", .type = FIELD_INT, AT(ping, server_ms), .doc = "the server's monotonic clock" },
    { "agent_ms", .type = FIELD_INT, AT(ping, agent_ms), .doc = "not set by a server" },
    { 0 },
};
const struct shape message_ping_shape = { "ping", sizeof(struct message_ping), ping_fields };

/* The maximum keeps a sum over a whole fleet within an int64_t. */
#define FIGURE(member) .type = FIELD_INT, AT(agent_stats, member), .max = INT64_C(1) << 46, .flags = FIELD_OMIT_EMPTY
static const struct field figures_fields[] = {
    { "rss_bytes", FIGURE(rss_bytes), .doc = "memory of the agent" },
    { "cpu_ms", FIGURE(cpu_ms), .doc = "processor time of the agent since its start" },
    { "journal_bytes", FIGURE(journal_bytes), .doc = "of its journal" },
    { "processes", FIGURE(processes), .doc = "processes that it has" },
    { "running", FIGURE(running), .doc = "running processes of them" },
    { "restarts", FIGURE(restarts), .doc = "automatic restarts of processes since its start" },
    { "operations", FIGURE(operations), .doc = "in progress or queued" },
    { "events", FIGURE(events), .doc = "not acknowledged by the server yet" },
    { "unexpected", FIGURE(unexpected), .doc = "events that its life-cycle tables do not have" },
    { 0 },
};
const struct shape message_figures_shape = { "figures", sizeof(struct message_agent_stats), figures_fields,
                                             .doc = "Figures of an agent." };

static const struct field pong_fields[] = {
    { "server_ms", .type = FIELD_INT, AT(pong, server_ms), .doc = "as in ping" },
    { "agent_ms", .type = FIELD_INT, AT(pong, agent_ms), .doc = "the agent's monotonic clock" },
    { "figures", .type = FIELD_OBJ, AT(pong, agent_stats), .sub = &message_figures_shape,
      .doc = "of the agent; an older version sends none" },
    { 0 },
};
const struct shape message_pong_shape = { "pong", sizeof(struct message_pong), pong_fields };

static const struct field command_fields[] = {
    { "task", .type = FIELD_STR, AT(command, task), .flags = FIELD_REQUIRED, .min = 1, .max = TASK_MAX_BYTES,
      .check = rule_line, .doc = "with `item`: which command" },
    { "item", .type = FIELD_INT, AT(command, item), .flags = FIELD_REQUIRED, .doc = "number within the task" },
    { "op", .type = FIELD_INT, AT(command, op), .flags = FIELD_REQUIRED, .doc = "what to do" },
    { "deadline_ms", .type = FIELD_INT, AT(command, deadline_ms), .flags = FIELD_REQUIRED,
      .doc = "on the server's clock; later it is refused" },
    { "meta", .type = FIELD_OBJ, AT(command, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "spec", .type = FIELD_OBJ, AT(command, spec), .sub = &proc_spec_shape, .doc = "how it is run" },
    { "only_if_hosted", .type = FIELD_BOOL, AT(command, only_if_hosted), .flags = FIELD_OMIT_EMPTY,
      .doc = "if it is hosted, host it with this spec; otherwise change nothing" },
    { "forgets", .type = FIELD_BOOL, AT(command, forgets), .flags = FIELD_OMIT_EMPTY,
      .doc = "stop hosting it and, if it does not run, delete its definition" },
    { "stores_spec", .type = FIELD_BOOL, AT(command, stores_spec), .flags = FIELD_OMIT_EMPTY,
      .doc = "of a start: if it runs already and the spec is another, store the spec for its next start and succeed; and as hosts_running" },
    { "hosts_running", .type = FIELD_BOOL, AT(command, hosts_running), .flags = FIELD_OMIT_EMPTY,
      .doc = "of a start: if it runs already and is not hosted, host it with the spec and succeed" },
    { "ends_tries", .type = FIELD_BOOL, AT(command, ends_tries), .flags = FIELD_OMIT_EMPTY,
      .doc = "of a stop or kill: if it is down but a restart was planned, succeed" },
    { "look", .type = FIELD_INT, AT(command, look), .max = LOOK_UNCHECKED, .flags = FIELD_OMIT_EMPTY,
      .doc = "of a query: 1: run no command; 2: also do not trust the identity, which is used only if the agent has no spec" },
    { "may_host", .type = FIELD_INT, AT(command, may_host), .max = MAY_HOST_ALL, .flags = FIELD_OMIT_EMPTY,
      .doc = "other names that the caller may host: 1: those of the namespace; 2: all; hosting of a running process moves from these to this name" },
    { "signal", .type = FIELD_STR, AT(command, signal), .max = SIGNAL_NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "of a signal: which one, by name (`HUP`)" },
    { 0 },
};
const struct shape message_command_shape = { "command", sizeof(struct message_command), command_fields };

static const struct field cancel_fields[] = {
    { "task", .type = FIELD_STR, AT(cancel, task), .flags = FIELD_REQUIRED, .min = 1, .max = TASK_MAX_BYTES,
      .check = rule_line, .doc = "with `item`: which command" },
    { "item", .type = FIELD_INT, AT(cancel, item), .flags = FIELD_REQUIRED, .doc = "number within the task" },
    { "deadline_ms", .type = FIELD_INT, AT(cancel, deadline_ms), .flags = FIELD_REQUIRED,
      .doc = "of the command, on the server's clock" },
    { "meta", .type = FIELD_OBJ, AT(cancel, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { 0 },
};
const struct shape message_cancel_shape = { "cancel", sizeof(struct message_cancel), cancel_fields };

static const struct field ref_fields[] = {
    { "task", .type = FIELD_STR, AT(ref, task), .flags = FIELD_REQUIRED, .min = 1, .max = TASK_MAX_BYTES,
      .check = rule_line, .doc = "with `item`: which command" },
    { "item", .type = FIELD_INT, AT(ref, item), .flags = FIELD_REQUIRED, .doc = "number within the task" },
    { 0 },
};
const struct shape message_ref_shape = { "ref", sizeof(struct message_ref), ref_fields };

static const struct field result_fields[] = {
    { "task", .type = FIELD_STR, AT(result, task), .flags = FIELD_REQUIRED, .min = 1, .max = TASK_MAX_BYTES,
      .check = rule_line, .doc = "with `item`: which command" },
    { "item", .type = FIELD_INT, AT(result, item), .flags = FIELD_REQUIRED, .doc = "number within the task" },
    { "code", .type = FIELD_INT, AT(result, code), .flags = FIELD_REQUIRED, .doc = "0, or what went wrong" },
    { "text", .type = FIELD_STR, AT(result, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "text_msg", .type = FIELD_STR, AT(result, text), .max = MSG_MAX_BYTES, .flags = FIELD_MSG, .doc = MSG_DOC },
    { "view", .type = FIELD_OBJ, AT(result, view), .flags = FIELD_REQUIRED, .sub = &proc_view_shape,
      .doc = "the process afterwards" },
    { 0 },
};
const struct shape message_result_shape = { "result", sizeof(struct message_result), result_fields };

static const struct field processes_fields[] = {
    { "is_snapshot", .type = FIELD_BOOL, AT(processes, is_snapshot), .doc = "a page of all of them" },
    { "is_last", .type = FIELD_BOOL, AT(processes, is_last), .doc = "the last page" },
    { "list", .type = FIELD_LIST, AT(processes, list), .max = PAGE_MAX, .sub = &proc_view_shape, .doc = "the processes" },
    { "digest", .type = FIELD_STR, AT(processes, digest), .max = ID_MAX_BYTES, .doc = "of all, after these" },
    { 0 },
};
const struct shape message_processes_shape = { "processes", sizeof(struct message_processes), processes_fields };

static const struct field event_fields[] = {
    { "id", .type = FIELD_INT, AT(event, id), .flags = FIELD_REQUIRED, .doc = "counts up on an agent" },
    { "after", .type = FIELD_INT, AT(event, after), .min = -1, .max = INT64_MAX, .fallback = -1,
      .doc = "id of the one before; 0: there is none; -1: the agent waits for no `event_stored`" },
    { "event", .type = FIELD_STR, AT(event, name), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .doc = "what kind" },
    { "text", .type = FIELD_STR, AT(event, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "text_msg", .type = FIELD_STR, AT(event, text), .max = MSG_MAX_BYTES, .flags = FIELD_MSG, .doc = MSG_DOC },
    { "namespace", .type = FIELD_STR, AT(event, space), .max = NAME_MAX_BYTES, .doc = "of which process" },
    { "name", .type = FIELD_STR, AT(event, proc), .max = NAME_MAX_BYTES, .doc = "of which process" },
    { "proc_name", .type = FIELD_STR, AT(event, proc_name), .max = NAME_MAX_BYTES, .doc = "its binary" },
    { "wall_ms", .type = FIELD_INT, AT(event, wall_ms), .doc = "when, since 1970" },
    { "report_id", .type = FIELD_INT, AT(event, report_id), .doc = "the requested data id; 0: the default" },
    { 0 },
};
const struct shape message_event_shape = { "event", sizeof(struct message_event), event_fields };

static const struct field event_ref_fields[] = {
    { "id", .type = FIELD_INT, AT(event_ref, id), .flags = FIELD_REQUIRED, .doc = "of the event" },
    { 0 },
};
const struct shape message_event_ref_shape = { "event_ref", sizeof(struct message_event_ref), event_ref_fields };

static const struct field log_ask_fields[] = {
    { "id", .type = FIELD_INT, AT(log_ask, id), .flags = FIELD_REQUIRED, .doc = "repeated in the answer" },
    { "namespace", .type = FIELD_STR, AT(log_ask, space), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .doc = "of which process" },
    { "name", .type = FIELD_STR, AT(log_ask, name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .doc = "of which process" },
    { "what", .type = FIELD_STR, AT(log_ask, what), .max = ID_MAX_BYTES,
      .doc = "output of this command; empty: of the process" },
    { "lines", .type = FIELD_INT, AT(log_ask, lines), .max = LOG_LINES_MAX, .doc = "the last ones; 0: as many as fit" },
    { "at", .type = FIELD_INT, AT(log_ask, at), .min = -1, .max = INT64_MAX, .fallback = -1,
      .doc = "start at this `next` of an earlier answer; -1: at the end" },
    { "max_bytes", .type = FIELD_INT, AT(log_ask, max_bytes), .min = LOG_MIN_BYTES, .max = LOG_MAX_BYTES,
      .fallback = LOG_MAX_BYTES, .doc = "maximum size, before invalid UTF-8 is replaced" },
    { "age_s", .type = FIELD_INT, AT(log_ask, age_s), .max = LOG_AGE_MAX_S, .flags = FIELD_OMIT_EMPTY,
      .doc = "without `at`: only output of the last so many seconds, as far as the agent knows; 0: any" },
    { 0 },
};
const struct shape message_log_ask_shape = { "log_ask", sizeof(struct message_log_ask), log_ask_fields };

static const struct field log_fields[] = {
    { "id", .type = FIELD_INT, AT(log, id), .flags = FIELD_REQUIRED, .doc = "of the question" },
    { "code", .type = FIELD_INT, AT(log, code), .doc = "0, or why there is no output" },
    { "text", .type = FIELD_STR, AT(log, text), .max = TEXT_MAX_BYTES, .doc = "explanation if code is not 0" },
    { "text_msg", .type = FIELD_STR, AT(log, text), .max = MSG_MAX_BYTES, .flags = FIELD_MSG, .doc = MSG_DOC },
    { "output", .type = FIELD_STR, AT(log, output), .max = LOG_TEXT_MAX_BYTES, .doc = "the output" },
    { "next", .type = FIELD_INT, AT(log, next), .doc = "position for the next request" },
    { "has_gap", .type = FIELD_BOOL, AT(log, has_gap), .doc = "the requested position is gone" },
    { "gap_bytes", .type = FIELD_INT, AT(log, gap_bytes), .flags = FIELD_OMIT_EMPTY,
      .doc = "size of the gap; 0: not known" },
    { 0 },
};
const struct shape message_log_shape = { "log", sizeof(struct message_log), log_fields };

static const struct field error_fields[] = {
    { "type", .type = FIELD_INT, AT(error, type), .doc = "type of the refused message" },
    { "code", .type = FIELD_INT, AT(error, code), .doc = "what is wrong" },
    { "text", .type = FIELD_STR, AT(error, text), .max = TEXT_MAX_BYTES, .doc = "for people" },
    { "text_msg", .type = FIELD_STR, AT(error, text), .max = MSG_MAX_BYTES, .flags = FIELD_MSG, .doc = MSG_DOC },
    { "retry_ms", .type = FIELD_INT, AT(error, retry_ms), .doc = "try again after this time; -1: refused permanently" },
    { 0 },
};
const struct shape message_error_shape = { "error", sizeof(struct message_error), error_fields };

static const struct field join_fields[] = {
    { "version_min", .type = FIELD_INT, AT(join, version_min), .flags = FIELD_REQUIRED, .doc = "oldest protocol spoken" },
    { "version_max", .type = FIELD_INT, AT(join, version_max), .flags = FIELD_REQUIRED, .doc = "newest protocol spoken" },
    { "secret", .type = FIELD_STR, AT(join, secret), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .doc = "of the join token" },
    { "request", .type = FIELD_STR, AT(join, request), .flags = FIELD_REQUIRED, .min = 1, .max = TEXT_MAX_BYTES,
      .doc = "for a certificate, PEM" },
    { "ip", .type = FIELD_STR, AT(join, ip), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "of the host; empty: the source address of the connection" },
    { "agent_id", .type = FIELD_STR, AT(join, agent_id), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "the requested id; empty: any" },
    { "hostname", .type = FIELD_STR, AT(join, hostname), .max = NAME_MAX_BYTES, .check = rule_line, .doc = "of the host" },
    { "agent_version", .type = FIELD_STR, AT(join, agent_version), .max = ID_MAX_BYTES, .doc = "of the program" },
    { 0 },
};
const struct shape message_join_shape = { "join", sizeof(struct message_join), join_fields };

static const struct field joined_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(joined, agent_id), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .check = rule_line, .doc = "as in its certificate" },
    { "cert", .type = FIELD_STR, AT(joined, cert), .flags = FIELD_REQUIRED, .min = 1, .max = TEXT_MAX_BYTES,
      .doc = "its certificate, PEM" },
    { "ca", .type = FIELD_STR, AT(joined, ca), .flags = FIELD_REQUIRED, .min = 1, .max = TEXT_MAX_BYTES,
      .doc = "the CA's, PEM" },
    { "cloud_id", .type = FIELD_INT, AT(joined, cloud_id), .doc = "the cloud area it is in" },
    { "biz_id", .type = FIELD_INT, AT(joined, biz_id), .doc = "the business it belongs to" },
    { "ip", .type = FIELD_STR, AT(joined, ip), .max = ID_MAX_BYTES, .doc = "the address that the server has stored" },
    { 0 },
};
const struct shape message_joined_shape = { "joined", sizeof(struct message_joined), joined_fields };

static const struct field renew_fields[] = {
    { "request", .type = FIELD_STR, AT(renew, request), .flags = FIELD_REQUIRED, .min = 1, .max = TEXT_MAX_BYTES,
      .doc = "for a certificate, PEM" },
    { 0 },
};
const struct shape message_renew_shape = { "renew", sizeof(struct message_renew), renew_fields };

static const struct {
    const char *name;
    const struct shape *shape;
} messages[] = {
    [MESSAGE_HELLO]     = { "hello",     &message_hello_shape },
    [MESSAGE_WELCOME]   = { "welcome",   &message_welcome_shape },
    [MESSAGE_PING]      = { "ping",      &message_ping_shape },
    [MESSAGE_PONG]      = { "pong",      &message_pong_shape },
    [MESSAGE_COMMAND]   = { "command",   &message_command_shape },
    [MESSAGE_TAKEN]     = { "taken",     &message_ref_shape },
    [MESSAGE_RESULT]    = { "result",    &message_result_shape },
    [MESSAGE_STORED]    = { "stored",    &message_ref_shape },
    [MESSAGE_PROCESSES] = { "processes", &message_processes_shape },
    [MESSAGE_EVENT]     = { "event",     &message_event_shape },
    [MESSAGE_ERROR]     = { "error",     &message_error_shape },
    [MESSAGE_JOIN]      = { "join",      &message_join_shape },
    [MESSAGE_JOINED]    = { "joined",    &message_joined_shape },
    [MESSAGE_RENEW]     = { "renew",     &message_renew_shape },
    [MESSAGE_EVENT_STORED] = { "event_stored", &message_event_ref_shape },
    [MESSAGE_LOG_ASK]   = { "log_ask",   &message_log_ask_shape },
    [MESSAGE_LOG]       = { "log",       &message_log_shape },
    [MESSAGE_GROUP]     = { "group",     &message_group_shape },
    [MESSAGE_GROUP_TAKEN] = { "group_taken", &message_group_ref_shape },
    [MESSAGE_CANCEL]    = { "cancel",    &message_cancel_shape },
};
/* clang-format on */

const struct shape *message_shape(unsigned type)
{
    return type < ARRAY_LEN(messages) ? messages[type].shape : NULL;
}

const char *message_name(unsigned type)
{
    return type < ARRAY_LEN(messages) ? messages[type].name : NULL;
}
