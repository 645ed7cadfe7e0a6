/* SPDX-License-Identifier: MIT */
/* agent_info.c - the shapes of agent_info.h. */
#include "model/agent_info.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

/* clang-format off */
static const struct field hosts_ask_fields[] = {
    { "hosts", .type = FIELD_LIST, AT(agent_hosts_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &target_host_shape, .doc = "which" },
    { 0 },
};
const struct shape agent_hosts_ask_shape = { "agent_hosts_ask", sizeof(struct agent_hosts_ask), hosts_ask_fields };

static const struct field ids_ask_fields[] = {
    { "agent_id_list", .type = FIELD_LIST, AT(agent_ids_ask, agents), .flags = FIELD_REQUIRED, .min = 1,
      .max = AGENTS_NAMED_MAX, .sub = &agent_ref_shape,
      .doc = "agent ids, or `cloud:ip`; at most 50000 different ones, each is answered once; an invalid id is not found" },
    { 0 },
};
const struct shape agent_ids_ask_shape = { "agent_ids_ask", sizeof(struct agent_ids_ask), ids_ask_fields };

static const struct field job_ask_fields[] = {
    JOB_SCOPE_FIELDS(job_agents_ask),
    { "ip_list", .type = FIELD_LIST, AT(job_agents_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &job_host_shape, .doc = "which hosts" },
    { 0 },
};
const struct shape job_agents_ask_shape = { "job_agents_ask", sizeof(struct job_agents_ask), job_ask_fields };

static const struct field number_fields[] = {
    { "bk_host_id", .type = FIELD_INT, AT(host_number, id), .min = 1, .max = INT64_MAX },
    { 0 },
};
static const struct shape number_shape = { "bk_host_id", sizeof(struct host_number), number_fields, .bare = true };

static const struct field host_ids_fields[] = {
    { "host_id_list", .type = FIELD_LIST, AT(host_ids_ask, ids), .flags = FIELD_REQUIRED, .min = 1,
      .max = AGENTS_ASK_MAX, .sub = &number_shape, .doc = "ids of hosts in the inventory" },
    { 0 },
};
const struct shape host_ids_ask_shape = { "host_ids_ask", sizeof(struct host_ids_ask), host_ids_fields };

static const struct field alive_fields[] = {
    { "ip", .type = FIELD_STR, AT(agent_alive, ip), .max = ID_ASKED_MAX_BYTES, .doc = "as in the request" },
    { "bk_cloud_id", .type = FIELD_INT, AT(agent_alive, cloud_id), .doc = "the same" },
    { "bk_agent_alive", .type = FIELD_INT, AT(agent_alive, alive), .doc = "1: its agent is connected; 0: it is not, or there is none" },
    { 0 },
};
const struct shape agent_alive_shape = { "agent_alive", sizeof(struct agent_alive), alive_fields };

static const struct field short_fields[] = {
    { "ip", .type = FIELD_STR, AT(agent_short, ip), .max = ID_MAX_BYTES, .doc = "as in the request" },
    { "version", .type = FIELD_STR, AT(agent_short, version), .max = ID_MAX_BYTES, .doc = "of the agent" },
    { "bk_cloud_id", .type = FIELD_INT, AT(agent_short, cloud_id), .doc = "as in the request" },
    { "parent_ip", .type = FIELD_STR, AT(agent_short, parent_ip), .max = ID_MAX_BYTES, .doc = "empty: no proxy" },
    { "parent_port", .type = FIELD_INT, AT(agent_short, parent_port), .doc = "0: no proxy" },
    { 0 },
};
const struct shape agent_short_shape = { "agent_short", sizeof(struct agent_short), short_fields };

static const struct field state_fields[] = {
    { "bk_agent_id", .type = FIELD_STR, AT(agent_state, agent_id), .max = ID_MAX_BYTES, .doc = "as in the request" },
    { "bk_cloud_id", .type = FIELD_INT, AT(agent_state, cloud_id), .doc = "-1: not known" },
    { "version", .type = FIELD_STR, AT(agent_state, version), .max = ID_MAX_BYTES, .doc = "of the agent" },
    { "run_mode", .type = FIELD_INT, AT(agent_state, mode), .doc = "1: an agent" },
    { "status_code", .type = FIELD_INT, AT(agent_state, status), .doc = "2 running, 6 not connected, -2 not known" },
    { "report_time", .type = FIELD_INT, AT(agent_state, report_ms), .doc = "last heard of, epoch milliseconds; 0: never" },
    { 0 },
};
const struct shape agent_state_shape = { "agent_state", sizeof(struct agent_state), state_fields };

static const struct field full_fields[] = {
    { "code", .type = FIELD_INT, AT(agent_full, code), .doc = "0, or why the rest is empty" },
    { "message", .type = FIELD_STR, AT(agent_full, message), .max = NAME_MAX_BYTES, .doc = "the same, for people" },
    { "bk_agent_id", .type = FIELD_STR, AT(agent_full, agent_id), .max = ID_MAX_BYTES, .doc = "as in the request" },
    { "bk_cloud_id", .type = FIELD_INT, AT(agent_full, cloud_id), .doc = "-1: not known" },
    { "bk_host_ip", .type = FIELD_STR, AT(agent_full, ip), .max = ID_MAX_BYTES, .doc = "the host's address" },
    { "bk_os_type", .type = FIELD_STR, AT(agent_full, os), .max = ID_MAX_BYTES, .doc = "`linux`" },
    { "bk_cpu_architecture", .type = FIELD_STR, AT(agent_full, arch), .max = ID_MAX_BYTES, .doc = "`x86_64` and the like" },
    { "parent_ip", .type = FIELD_STR, AT(agent_full, parent_ip), .max = ID_MAX_BYTES, .doc = "empty: no proxy" },
    { "parent_port", .type = FIELD_INT, AT(agent_full, parent_port), .doc = "0: no proxy" },
    { "report_time", .type = FIELD_INT, AT(agent_full, report_ms), .doc = "last heard of, epoch milliseconds; 0: never" },
    { "version", .type = FIELD_STR, AT(agent_full, version), .max = ID_MAX_BYTES, .doc = "of the agent" },
    { "cpu_rate", .type = FIELD_FLOAT, AT(agent_full, cpu_percent), .doc = "0: not measured" },
    { "mem_rate", .type = FIELD_FLOAT, AT(agent_full, mem_percent), .doc = "0: not measured" },
    { "cpu_num", .type = FIELD_INT, AT(agent_full, cpus), .doc = "processors of the host; 0: not known" },
    { "mem_size", .type = FIELD_INT, AT(agent_full, mem_bytes), .doc = "bytes of memory; 0: not known" },
    { "start_time", .type = FIELD_INT, AT(agent_full, start_s), .doc = "when the agent started, epoch seconds; 0: not known" },
    { "last_work_time", .type = FIELD_INT, AT(agent_full, work_ms), .doc = "last heard of, epoch milliseconds" },
    { "conn_cycle_time", .type = FIELD_STR, AT(agent_full, cycle), .max = ID_MAX_BYTES, .doc = "always empty" },
    { "run_mode", .type = FIELD_INT, AT(agent_full, mode), .doc = "1: an agent" },
    { "status_code", .type = FIELD_INT, AT(agent_full, status), .doc = "2 running, 6 not connected, -2 not known" },
    { "status", .type = FIELD_STR, AT(agent_full, status_text), .max = ID_MAX_BYTES, .doc = "the same in a word" },
    { "last_status_code", .type = FIELD_INT, AT(agent_full, last_status), .doc = "the previous status" },
    { "last_status", .type = FIELD_STR, AT(agent_full, last_status_text), .max = ID_MAX_BYTES, .doc = "the same in a word" },
    { "remark", .type = FIELD_STR, AT(agent_full, remark), .max = NAME_MAX_BYTES, .doc = "the name of the host" },
    { 0 },
};
const struct shape agent_full_shape = { "agent_full", sizeof(struct agent_full), full_fields };

static const struct field job_agent_fields[] = {
    { "bk_host_id", .type = FIELD_INT, AT(job_agent, host_id), .doc = "as in the request" },
    { "status", .type = FIELD_INT, AT(job_agent, alive), .doc = "1: its agent is connected; 0: it is not, or there is none" },
    { "version", .type = FIELD_STR, AT(job_agent, version), .max = ID_MAX_BYTES, .doc = "of the agent" },
    { 0 },
};
static const struct shape job_agent_shape = { "job_agent", sizeof(struct job_agent), job_agent_fields };

static const struct field job_agents_fields[] = {
    { "agent_info_list", .type = FIELD_LIST, AT(job_agents, list), .max = AGENTS_ASK_MAX, .sub = &job_agent_shape,
      .doc = "one for each id, in the order of the request" },
    { 0 },
};
const struct shape job_agents_shape = { "job_agents", sizeof(struct job_agents), job_agents_fields };

static const struct field task_ask_fields[] = {
    { "task_id", .type = FIELD_STR, AT(task_state_ask, task_id), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .doc = "of an operate call" },
    { "agent_id_list", .type = FIELD_LIST, AT(task_state_ask, agents), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "only these agents; empty: all agents of the task" },
    { 0 },
};
const struct shape task_state_ask_shape = { "task_state_ask", sizeof(struct task_state_ask), task_ask_fields };

#define AGENTS(name, member, text) { name, .type = FIELD_LIST, AT(task_state, member), .max = TARGETS_MAX, \
      .sub = &agent_ref_shape, .doc = text }
static const struct field task_state_fields[] = {
    { "state", .type = FIELD_STR, AT(task_state, state), .max = ID_MAX_BYTES,
      .doc = "`pending`, `executing`, `timeout`, `failed` or `successed`" },
    AGENTS("successed_agents", done, "all went well there"),
    AGENTS("timeout_agents", timed_out, "something took too long there"),
    AGENTS("failed_agents", failed, "something failed there, or the task has nothing for it"),
    AGENTS("pending_agents", pending, "something has not ended there"),
    AGENTS("offline_agents", offline, "not connected, or not known"),
    AGENTS("restarted_agents", restarted, "always empty: an agent that restarts says what came of its commands"),
    { 0 },
};
static const struct shape task_state_shape = { "task_state", sizeof(struct task_state), task_state_fields };

static const struct field task_view_fields[] = {
    { "result", .type = FIELD_OBJ, AT(task_state_view, result), .sub = &task_state_shape, .doc = "the state of the task" },
    { 0 },
};
const struct shape task_state_view_shape = { "task_state_view", sizeof(struct task_state_view), task_view_fields };
/* clang-format on */
