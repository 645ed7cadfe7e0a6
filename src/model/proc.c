/* SPDX-License-Identifier: MIT */
/* proc.c - the shapes of proc.h.  A new field is one line here. */
#include "model/proc.h"

#include <string.h>

#include "model/cron.h"
#include "model/operation.h"
#include "model/rules.h"

#define AT(type, member)  .offset = offsetof(struct type, member)
#define HAS(type, member) .has = offsetof(struct type, member)

/* clang-format off */
static const struct field label_fields[] = {
    { "key", .type = FIELD_STR, AT(proc_label, key), .max = NAME_MAX_BYTES },
    { "value", .type = FIELD_SCALAR, AT(proc_label, value), .flags = FIELD_AS_TEXT, .max = 1024 },
    { 0 },
};
const struct shape proc_label_shape = { "label", sizeof(struct proc_label), label_fields };

static const struct field meta_fields[] = {
    { "namespace", .type = FIELD_STR, AT(proc_meta, space), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "groups processes of one owner" },
    { "name", .type = FIELD_STR, AT(proc_meta, name), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_line, .doc = "unique within its namespace on a host" },
    { "labels", .type = FIELD_MAP, AT(proc_meta, labels), .max = PROC_LABELS_MAX, .sub = &proc_label_shape,
      .doc = "stored and returned, each value as a string: `7` as `\"7\"`, null as `\"\"`" },
    { 0 },
};
const struct shape proc_meta_shape = { "meta", sizeof(struct proc_meta), meta_fields,
      .doc = "Which process: `namespace` and `name` together, on one host." };

static const struct field host_fields[] = {
    { "ip", .type = FIELD_STR, AT(host_ref, ip), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .check = rule_line, .doc = "the host's address" },
    { "bk_cloud_id", .type = FIELD_INT, AT(host_ref, cloud_id), .flags = FIELD_REQUIRED, .max = INT32_MAX,
      .doc = "its cloud area; 0 is the direct one" },
    { "bk_supplier_id", .type = FIELD_INT, AT(host_ref, supplier_id), .doc = "echoed, never matched" },
    { 0 },
};
const struct shape host_ref_shape = { "host", sizeof(struct host_ref), host_fields };

/* Targets of a call: an invalid one (empty, too long, not a line) fails alone, not the whole
 * call. */
static const struct field target_host_fields[] = {
    { "ip", .type = FIELD_STR, AT(host_ref, ip), .flags = FIELD_REQUIRED, .max = ID_ASKED_MAX_BYTES,
      .doc = "the host's address" },
    { "bk_cloud_id", .type = FIELD_INT, AT(host_ref, cloud_id), .flags = FIELD_REQUIRED, .max = INT32_MAX,
      .doc = "its cloud area; 0 is the direct one" },
    { "bk_supplier_id", .type = FIELD_INT, AT(host_ref, supplier_id), .doc = "echoed, never matched" },
    { 0 },
};
const struct shape target_host_shape = { "target_host", sizeof(struct host_ref), target_host_fields };

static const struct field agent_fields[] = {
    { "agent_id", .type = FIELD_STR, AT(agent_ref, id), .max = ID_ASKED_MAX_BYTES },
    { 0 },
};
const struct shape agent_ref_shape = { "agent_id", sizeof(struct agent_ref), agent_fields, .bare = true };

#define NEEDED_BY_OPS "required to start, stop, host and kill (0, 1, 3, 9)"

/* A registration requires fields that the other calls leave to the operation. */
#define IDENTITY_ROWS(needed, least, needed_by) \
    { "index_key", .type = FIELD_STR, AT(proc_identity, index_key), .max = NAME_MAX_BYTES, .check = rule_line, \
      .doc = "replaces `namespace:name` as the agent's own key" }, \
    { "proc_name", .type = FIELD_STR, AT(proc_identity, proc_name), .flags = needed, .min = least, \
      .max = NAME_MAX_BYTES, .check = rule_line, .doc = "file name of the binary, by which its pid is recognized; " needed_by }, \
    { "setup_path", .type = FIELD_STR, AT(proc_identity, setup_path), .flags = needed, .min = least, \
      .max = PATH_MAX_BYTES, .check = rule_path, .doc = "commands run here; " needed_by }, \
    { "pid_path", .type = FIELD_STR, AT(proc_identity, pid_path), .flags = needed, .min = least, \
      .max = PATH_MAX_BYTES, .check = rule_path, .doc = "the pid file; " needed_by }, \
    { "config_path", .type = FIELD_STR, AT(proc_identity, config_path), .max = PATH_MAX_BYTES, .check = rule_path, \
      .doc = "stored and returned" }, \
    { "log_path", .type = FIELD_STR, AT(proc_identity, log_path), .max = PATH_MAX_BYTES, .check = rule_path, \
      .doc = "stored and returned; logs are read from nowhere else" }, \
    { "user", .type = FIELD_STR, AT(proc_identity, user), .flags = needed, .min = least, \
      .max = ID_MAX_BYTES, .check = rule_line, .doc = "the system account it runs as; " needed_by },
static const struct field identity_fields[] = { IDENTITY_ROWS(0, 0, NEEDED_BY_OPS) { 0 } };
const struct shape proc_identity_shape = { "identity", sizeof(struct proc_identity), identity_fields,
      .doc = "What is required to start, stop, host and kill (0, 1, 3, 9) is looked at before anything is done: without it the "
             "request is refused. To query and un-host (2, 4) nothing of it is. To restart and reload (7, 8) `proc_name`, "
             "`setup_path` and `user` are: without `proc_name` those of the host are taken, where it has started or hosted the "
             "process, or else its target gets 811." };
static const struct field registered_identity_fields[] = { IDENTITY_ROWS(FIELD_REQUIRED, 1, "never empty") { 0 } };
static const struct shape registered_identity_shape = { "registered_identity", sizeof(struct proc_identity),
                                                        registered_identity_fields };

static const struct field control_fields[] = {
    { "start_cmd", .type = FIELD_STR, AT(proc_control, start_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "starts it; required to start and host, and to restart without `restart_cmd`: else the target gets 827" },
    { "stop_cmd", .type = FIELD_STR, AT(proc_control, stop_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "stops it; empty: SIGTERM, then SIGKILL" },
    { "restart_cmd", .type = FIELD_STR, AT(proc_control, restart_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "restarts it; empty: stop, then start" },
    { "reload_cmd", .type = FIELD_STR, AT(proc_control, reload_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "makes it read its configuration again; required to reload: else the target gets 827" },
    { "kill_cmd", .type = FIELD_STR, AT(proc_control, kill_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "ends it at once; empty: SIGKILL" },
    { "version_cmd", .type = FIELD_STR, AT(proc_control, version_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "prints its version" },
    { "health_cmd", .type = FIELD_STR, AT(proc_control, health_cmd), .max = COMMAND_MAX_BYTES,
      .doc = "prints its health" },
    { 0 },
};
const struct shape proc_control_shape = { "control", sizeof(struct proc_control), control_fields,
      .doc = "Shell lines, run in `setup_path` as `user`." };

#define RESOURCE_ROWS(needed) \
    { "cpu", .type = FIELD_FLOAT, AT(proc_resource, cpu_percent), .flags = needed, .max = 100, \
      .doc = "percent of all cores together; 0: no limit" }, \
    { "mem", .type = FIELD_FLOAT, AT(proc_resource, mem_percent), .flags = needed, .max = 100, \
      .doc = "percent of physical memory; 0: no limit" }, \
    { "fd", .type = FIELD_INT, AT(proc_resource, fd), .doc = "stored only" }, \
    { "disk", .type = FIELD_INT, AT(proc_resource, disk), .doc = "stored only" }, \
    { "net", .type = FIELD_INT, AT(proc_resource, net), .doc = "stored only" },
static const struct field resource_fields[] = { RESOURCE_ROWS(0) { 0 } };
const struct shape proc_resource_shape = { "resource", sizeof(struct proc_resource), resource_fields };
static const struct field registered_resource_fields[] = { RESOURCE_ROWS(FIELD_REQUIRED) { 0 } };
static const struct shape registered_resource_shape = { "registered_resource", sizeof(struct proc_resource),
                                                        registered_resource_fields };

const struct enum_name proc_kind_names[] = {
    { PROC_PERIODIC, "periodic" }, { PROC_RESIDENT, "resident" }, { PROC_RUN_ONCE, "run_once" }, { 0 },
};

static const struct field policy_fields[] = {
#define AT_POLICY(member)  AT(proc_policy, member)
#define HAS_POLICY(member) HAS(proc_policy, member)
#include "model/policy_rows.h"
    { 0 },
};
const struct shape proc_policy_shape = { "policy", sizeof(struct proc_policy), policy_fields };

static const struct field warn_fields[] = {
    { "report_id", .type = FIELD_INT, AT(proc_warn, report_id), .max = INT64_MAX,
      .doc = "data id of its events; 0: the default" },
    { 0 },
};
const struct shape proc_warn_shape = { "warn_report_policy", sizeof(struct proc_warn), warn_fields };

static const struct field config_file_fields[] = {
    { "path", .type = FIELD_STR, AT(proc_config_file, path), .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "watched; empty: skipped" },
    { "md5", .type = FIELD_STR, AT(proc_config_file, md5), .max = 32, .doc = "what it should have" },
    { 0 },
};
const struct shape proc_config_file_shape = { "configmap", sizeof(struct proc_config_file),
                                                config_file_fields };

/* `needs_all` is for register_proc_info; the policy may have either of its names, so it is checked
 * later. */
#define SPEC_ROWS(needs_identity, needs_all, identity_kind, resource_kind) \
    { "identity", .type = FIELD_OBJ, AT(proc_spec, identity), HAS(proc_spec, has_identity), .flags = needs_identity, \
      .sub = &identity_kind, .doc = "what it is" }, \
    { "control", .type = FIELD_OBJ, AT(proc_spec, control), HAS(proc_spec, has_control), .flags = needs_all, \
      .sub = &proc_control_shape, .doc = "how to command it" }, \
    { "resource", .type = FIELD_OBJ, AT(proc_spec, resource), HAS(proc_spec, has_resource), .flags = needs_all, \
      .sub = &resource_kind, .doc = "what it may use" }, \
    { "monitor_policy", .type = FIELD_OBJ, AT(proc_spec, policy), HAS(proc_spec, has_policy), \
      .sub = &proc_policy_shape, .doc = "how it is kept alive" }, \
    { "alive_monitor_policy", .type = FIELD_OBJ, AT(proc_spec, alive_policy), HAS(proc_spec, has_alive_policy), \
      .sub = &proc_policy_shape, .doc = "the same; wins where both say something" }, \
    { "warn_report_policy", .type = FIELD_OBJ, AT(proc_spec, warn), HAS(proc_spec, has_warn), \
      .sub = &proc_warn_shape, .doc = "where its events go" }, \
    { "configmap", .type = FIELD_LIST, AT(proc_spec, config_files), .max = PROC_CONFIG_FILES_MAX, .sub = &proc_config_file_shape, \
      .doc = "files whose change is reported" }, \
    { "holdfast", .type = FIELD_OBJ, AT(proc_spec, extra), .sub = &proc_extra_shape, \
      .doc = "what the documents have no word for" },
static const struct field spec_fields[] = { SPEC_ROWS(0, 0, proc_identity_shape, proc_resource_shape) { 0 } };
const struct shape proc_spec_shape = { "spec", sizeof(struct proc_spec), spec_fields };
static const struct field updated_spec_fields[] = {
    SPEC_ROWS(FIELD_REQUIRED, 0, registered_identity_shape, proc_resource_shape) { 0 }
};
static const struct shape updated_spec_shape = { "updated_spec", sizeof(struct proc_spec), updated_spec_fields };
static const struct field registered_spec_fields[] = {
    SPEC_ROWS(FIELD_REQUIRED, FIELD_REQUIRED, registered_identity_shape, registered_resource_shape) { 0 }
};
static const struct shape registered_spec_shape = { "registered_spec", sizeof(struct proc_spec),
                                                    registered_spec_fields };

static const struct field operate_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_operate, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "op_type", .type = FIELD_INT, AT(proc_operate, op), .flags = FIELD_REQUIRED,
      .doc = OPERATIONS_DOC },
    { "hosts", .type = FIELD_LIST, AT(proc_operate, hosts), .max = TARGETS_MAX, .sub = &target_host_shape,
      .doc = "where; required, or `agent_id_list`" },
    { "agent_id_list", .type = FIELD_LIST, AT(proc_operate, agents), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "where, by agent id; given, `hosts` is ignored" },
    { "spec", .type = FIELD_OBJ, AT(proc_operate, spec), HAS(proc_operate, has_spec), .sub = &proc_spec_shape,
      .doc = "how it is run; without it, as it is registered at the server, else as the host itself has it; where there is none, "
             "its target gets 801, but a query says that nothing runs and an un-host succeeds" },
    { 0 },
};
const struct shape proc_operate_shape = { "operate", sizeof(struct proc_operate), operate_fields };

static const struct field batch_fields[] = {
    { "proc_operate_req", .type = FIELD_LIST, AT(proc_operate_batch, items), .flags = FIELD_REQUIRED, .min = 1,
      .max = TARGETS_MAX, .sub = &proc_operate_shape, .doc = "the operations" },
    { 0 },
};
const struct shape proc_operate_batch_shape = { "operate_batch", sizeof(struct proc_operate_batch),
                                                batch_fields };

static const struct field register_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_register, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "hosts", .type = FIELD_LIST, AT(proc_register, hosts), .flags = FIELD_REQUIRED, .min = 1,
      .max = TARGETS_MAX, .sub = &target_host_shape, .doc = "where" },
    { "spec", .type = FIELD_OBJ, AT(proc_register, spec), .flags = FIELD_REQUIRED, .sub = &registered_spec_shape,
      .doc = "how it is run" },
    { 0 },
};
const struct shape proc_register_shape = { "register", sizeof(struct proc_register), register_fields };

static const struct field update_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_register, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "hosts", .type = FIELD_LIST, AT(proc_register, hosts), .max = TARGETS_MAX, .sub = &target_host_shape,
      .doc = "where; required, or `agent_id_list`" },
    { "agent_id_list", .type = FIELD_LIST, AT(proc_register, agents), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "where, by agent id; given, `hosts` is ignored" },
    { "spec", .type = FIELD_OBJ, AT(proc_register, spec), .flags = FIELD_REQUIRED, .sub = &updated_spec_shape,
      .doc = "how it is run" },
    { 0 },
};
const struct shape proc_update_shape = { "update", sizeof(struct proc_register), update_fields };

static const struct field unregister_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_register, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "hosts", .type = FIELD_LIST, AT(proc_register, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &target_host_shape, .doc = "where" },
    { 0 },
};
const struct shape proc_unregister_shape = { "unregister", sizeof(struct proc_register), unregister_fields };

static const struct field operate_known_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(proc_operate, meta), .flags = FIELD_REQUIRED, .sub = &proc_meta_shape,
      .doc = "which process" },
    { "op_type", .type = FIELD_INT, AT(proc_operate, op), .doc = "as of `operate_proc_v2`; without it, start" },
    { "hosts", .type = FIELD_LIST, AT(proc_operate, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &target_host_shape, .doc = "where" },
    { 0 },
};
const struct shape proc_operate_known_shape = { "operate_known", sizeof(struct proc_operate), operate_known_fields };
/* clang-format on */

struct proc_policy proc_policy_of(const struct proc_spec *spec)
{
    struct proc_policy p = spec->policy;
    const struct proc_policy *a = &spec->alive_policy;

#define TAKE(member, has) (p.member = a->has == PRESENCE_GIVEN ? a->member : p.member)
    TAKE(kind, has_kind);
    TAKE(start_check_s, has_start_check);
    TAKE(stop_check_s, has_stop_check);
    TAKE(start_retries, has_retries);
    TAKE(start_interval_s, has_interval);
    TAKE(op_timeout_s, has_timeout);
    TAKE(cycle_s, has_cycle);
    TAKE(cron_rule, has_cron);
#undef TAKE
    return p;
}

int64_t proc_check_end_s(const struct proc_spec *spec)
{
    int64_t begin_s = proc_policy_of(spec).start_check_s;

    return spec->extra.job.check_end_s > begin_s ? spec->extra.job.check_end_s : begin_s;
}

struct labels {
    struct list list;
};
static const struct field labels_fields[] = {
    { "labels", .type = FIELD_MAP, .max = PROC_LABELS_MAX, .sub = &proc_label_shape },
    { 0 },
};
static const struct shape labels_shape = { "labels", sizeof(struct labels), labels_fields };

/* The map alone, taken from an object with this one member. */
void proc_labels_write(const struct list *labels, struct buf *to)
{
    const struct labels all = { *labels };
    struct buf json = { 0 };

    shape_write(&labels_shape, &all, &json);
    buf_truncate(&json, json.len - 1);
    buf_drop(&json, strlen("{\"labels\":"));
    buf_add(to, buf_data(&json), json.len);
    buf_free(&json);
}

int proc_labels_read(const char *text, struct arena *a, struct list *ret, struct err *err)
{
    struct labels all;
    struct buf json = { 0 };
    int failed;

    buf_printf(&json, "{\"labels\":%s}", text);
    failed = shape_read(&labels_shape, buf_data(&json), json.len, 0, a, &all, err);
    buf_free(&json);
    if (!failed)
        *ret = all.list;
    return failed;
}

const char *proc_labels_renew(const char *text, struct arena *a)
{
    struct list labels;
    struct buf json = { 0 };
    struct err ignored;
    const char *renewed;

    if (!text || proc_labels_read(text, a, &labels, &ignored))
        return text;
    proc_labels_write(&labels, &json);
    renewed = arena_memdup(a, buf_data(&json), json.len);
    buf_free(&json);
    return renewed;
}

void proc_spec_copy(const struct proc_spec *from, struct arena *a, struct proc_spec *ret)
{
    shape_copy(&proc_spec_shape, from, a, ret);
}
