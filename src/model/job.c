/* SPDX-License-Identifier: MIT */
/* job.c - the shapes of job.h. */
#include "model/job.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)
/* clang-format off */
#define JOB_TEXT(field_name, member, limit, rule, text) \
    { field_name, .type = FIELD_STR, AT(job_process, member), .max = limit, .check = rule, .doc = text }
#define JOB_INT(field_name, member, text) \
    { field_name, .type = FIELD_INT, AT(job_process, member), .doc = text }

static const struct field job_process_fields[] = {
    JOB_TEXT("setup_path", setup_path, PATH_MAX_BYTES, rule_path, "commands run here"),
    JOB_TEXT("proc_name", proc_name, NAME_MAX_BYTES, rule_line, "file name of the binary"),
    JOB_TEXT("pid_path", pid_path, PATH_MAX_BYTES, rule_path, "the pid file"),
    JOB_TEXT("cfg_path", config_path, PATH_MAX_BYTES, rule_path, "stored and returned"),
    JOB_TEXT("log_path", log_path, PATH_MAX_BYTES, rule_path, "stored and returned"),
    { "proc_owner", "contact", .type = FIELD_STR, AT(job_process, owner), .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "whom to ask about it" },
    { "account", .type = FIELD_STR, AT(job_process, user), .max = ID_MAX_BYTES, .check = rule_line,
      .fallback_text = "root", .doc = "the system account it runs as" },
    JOB_TEXT("start_cmd", control.start_cmd, COMMAND_MAX_BYTES, NULL, "starts it"),
    JOB_TEXT("stop_cmd", control.stop_cmd, COMMAND_MAX_BYTES, NULL, "stops it"),
    JOB_TEXT("restart_cmd", control.restart_cmd, COMMAND_MAX_BYTES, NULL, "restarts it"),
    JOB_TEXT("reload_cmd", control.reload_cmd, COMMAND_MAX_BYTES, NULL, "makes it read its configuration again"),
    JOB_TEXT("kill_cmd", control.kill_cmd, COMMAND_MAX_BYTES, NULL, "ends it at once"),
    JOB_TEXT("func_id", func_id, NAME_MAX_BYTES, rule_line, "echoed"),
    JOB_TEXT("instance_id", instance_id, NAME_MAX_BYTES, rule_line, "echoed"),
    JOB_TEXT("value_key", value_key, NAME_MAX_BYTES, rule_line, "its name; else setup_path and proc_name"),
    { "type", .type = FIELD_ENUM, AT(job_process, kind), .names = proc_kind_names, .doc = "how it is kept" },
    JOB_INT("cpu_lmt", cpu_limit, "percent; out of 0 to 100: no limit"),
    JOB_INT("mem_lmt", mem_limit, "percent; out of 0 to 100: no limit"),
    JOB_INT("cycle_time", cycle_s, "seconds between the runs of a periodic one"),
    JOB_INT("instance_num", instances, "how many processes are expected"),
    JOB_INT("op_timeout", op_timeout_s, "seconds a command may run; 0: 60"),
    JOB_INT("start_check_begin_time", check_begin_s, "when checking begins after a start; 0: 5"),
    JOB_INT("start_check_end_time", check_end_s, "until when the check is repeated"),
    { "ip_list", .type = FIELD_LIST, AT(job_process, hosts), .flags = FIELD_REQUIRED, .min = 1,
      .max = TARGETS_MAX, .sub = &host_ref_shape, .doc = "where" },
    { 0 },
};
static const struct shape job_process_shape = { "process_info", sizeof(struct job_process),
                                                job_process_fields };

static const struct field job_fields[] = {
    { "bk_scope_type", .type = FIELD_STR, AT(job_operate, scope_type), .max = 16,
      .doc = "`biz` or `biz_set`" },
    { "bk_scope_id", .type = FIELD_STR, AT(job_operate, scope_id), .max = 32, .check = rule_line,
      .doc = "id of the business or business set" },
    { "bk_biz_id", .type = FIELD_INT, AT(job_operate, biz_id), .doc = "the older form of the scope" },
    { "op_type", .type = FIELD_INT, AT(job_operate, op), .flags = FIELD_REQUIRED,
      .doc = "the API says what it means" },
    { "process_infos", .type = FIELD_LIST, AT(job_operate, processes), .flags = FIELD_REQUIRED, .min = 1,
      .max = TARGETS_MAX, .sub = &job_process_shape, .doc = "the processes" },
    { 0 },
};
const struct shape job_operate_shape = { "job_operate", sizeof(struct job_operate), job_fields };
/* clang-format on */
