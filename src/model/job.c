/* SPDX-License-Identifier: MIT */
/* job.c - see job.h. */
#include "model/job.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/mem/buf.h"
#include "base/text/msg.h"
#include "model/operation.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

static const char *check_ipv4(const char *text)
{
    struct in_addr ignored;

    return inet_pton(AF_INET, text, &ignored) == 1 ? NULL : MSG("must be an IPv4 address");
}

static const char *check_extension(const char *text)
{
    return !*text || !strcmp(text, "sh") || !strcmp(text, "bat") || !strcmp(text, "ps1")
               ? NULL
               : MSG("must be sh, bat or ps1");
}

static const char *check_task(const char *text)
{
    return text[strspn(text, " \t")] ? rule_line(text) : MSG("must not be blank");
}

/* clang-format off */
static const struct field host_fields[] = {
    { "ip", .type = FIELD_STR, AT(host_ref, ip), .flags = FIELD_REQUIRED, .min = 1, .max = ID_MAX_BYTES,
      .check = check_ipv4, .doc = "the host's address" },
    { "bk_cloud_id", .type = FIELD_INT, AT(host_ref, cloud_id), .flags = FIELD_REQUIRED, .max = INT32_MAX,
      .doc = "its cloud area; 0 is the direct one" },
    { 0 },
};
const struct shape job_host_shape = { "job_host", sizeof(struct host_ref), host_fields };

#define TEXT(owner, field_name, member, limit, rule, text) \
    { field_name, .type = FIELD_STR, AT(owner, member), .max = limit, .check = rule, .doc = text }
#define JOB_TEXT(field_name, member, limit, rule, text) TEXT(job_process, field_name, member, limit, rule, text)
#define JOB_INT(field_name, member, most, text) \
    { field_name, .type = FIELD_INT, AT(job_process, member), .max = most, .doc = text }
#define HOSTS(owner) \
    { "ip_list", .type = FIELD_LIST, AT(owner, hosts), .flags = FIELD_REQUIRED, .min = 1, \
      .max = TARGETS_MAX, .sub = &job_host_shape, .doc = "where" }
#define ACCOUNT(owner) \
    { "account", .type = FIELD_STR, AT(owner, user), .max = ID_MAX_BYTES, .check = rule_line, \
      .fallback_text = "root", .doc = "the system account it runs as" }

static const struct field process_fields[] = {
    JOB_TEXT("setup_path", setup_path, PATH_MAX_BYTES, rule_path, "commands run here; empty: in `/`"),
    JOB_TEXT("proc_name", proc_name, NAME_MAX_BYTES, rule_line, "file name of the binary; required, but to un-host by `value_key`"),
    JOB_TEXT("pid_path", pid_path, PATH_MAX_BYTES, rule_path, "the pid file; empty: the process that was started here, else the only one of that name and user"),
    JOB_TEXT("cfg_path", config_path, PATH_MAX_BYTES, rule_path, "stored and returned"),
    JOB_TEXT("log_path", log_path, PATH_MAX_BYTES, rule_path, "stored and returned"),
    { "proc_owner", "contact", .type = FIELD_STR, AT(job_process, owner), .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "the person responsible; `contact` in `.proc`" },
    ACCOUNT(job_process),
    JOB_TEXT("start_cmd", control.start_cmd, COMMAND_MAX_BYTES, NULL, "starts it"),
    JOB_TEXT("stop_cmd", control.stop_cmd, COMMAND_MAX_BYTES, NULL, "stops it"),
    JOB_TEXT("restart_cmd", control.restart_cmd, COMMAND_MAX_BYTES, NULL, "restarts it"),
    JOB_TEXT("reload_cmd", control.reload_cmd, COMMAND_MAX_BYTES, NULL, "makes it read its configuration again"),
    JOB_TEXT("kill_cmd", control.kill_cmd, COMMAND_MAX_BYTES, NULL, "ends it at once"),
    JOB_TEXT("func_id", func_id, NAME_MAX_BYTES, rule_line, "echoed in `content`"),
    JOB_TEXT("instance_id", instance_id, NAME_MAX_BYTES, rule_line, "echoed in `content`"),
    JOB_TEXT("value_key", value_key, NAME_MAX_BYTES, rule_line, "its name; else setup_path and proc_name"),
    { "type", .type = FIELD_ENUM, AT(job_process, kind), .names = proc_kind_names, .doc = "whether the agent restarts it" },
    { "cpu_lmt", .type = FIELD_INT, AT(job_process, cpu_limit), .doc = "percent; out of 0 to 100: no limit" },
    { "mem_lmt", .type = FIELD_INT, AT(job_process, mem_limit), .doc = "percent; out of 0 to 100: no limit" },
    JOB_INT("cycle_time", cycle_s, 366 * DAY_S, "seconds between the runs of a periodic one; 0: it is run only when asked"),
    JOB_INT("instance_num", instances, INSTANCES_MAX, "how many processes are expected"),
    JOB_INT("op_timeout", op_timeout_s, DAY_S, "seconds a command may run; 0: 60"),
    JOB_INT("start_check_begin_time", check_begin_s, HOUR_S, "when checking begins after a start; 0: 5"),
    JOB_INT("start_check_end_time", check_end_s, HOUR_S, "until when the check is repeated"),
    HOSTS(job_process),
    { 0 },
};
static const struct shape process_shape = { "process_info", sizeof(struct job_process), process_fields };

#define PROCESSES(owner, kind) \
    { "process_infos", .type = FIELD_LIST, AT(owner, processes), .flags = FIELD_REQUIRED, .min = 1, \
      .max = TARGETS_MAX, .sub = &kind, .doc = "the processes" }

static const struct field manage_fields[] = {
    JOB_SCOPE_FIELDS(job_operate),
    { "op_type", .type = FIELD_INT, AT(job_operate, op), .flags = FIELD_REQUIRED, .min = JOB_HOST, .max = JOB_UNHOST,
      .doc = "1 host, 2 un-host" },
    PROCESSES(job_operate, process_shape),
    { 0 },
};
const struct shape job_manage_shape = { "job_manage", sizeof(struct job_operate), manage_fields };

static const struct field operate_fields[] = {
    JOB_SCOPE_FIELDS(job_operate),
    { "op_type", .type = FIELD_INT, AT(job_operate, op), .flags = FIELD_REQUIRED, .doc = OPERATIONS_DOC },
    PROCESSES(job_operate, process_shape),
    { 0 },
};
const struct shape job_operate_shape = { "job_operate", sizeof(struct job_operate), operate_fields };

static const struct field script_fields[] = {
    TEXT(job_script_process, "setup_path", setup_path, PATH_MAX_BYTES, rule_path, "where its scripts are; required but to un-host"),
    TEXT(job_script_process, "proc_name", proc_name, NAME_MAX_BYTES, rule_line, "file name of the binary; required"),
    TEXT(job_script_process, "pid_path", pid_path, PATH_MAX_BYTES, rule_path, "the pid file; required but to un-host"),
    ACCOUNT(job_script_process),
    TEXT(job_script_process, "cmd_shell_ext", extension, 8, check_extension,
         "of its scripts start, stop, restart and reload: `sh`, or `bat` and `ps1`, which no host here can run"),
    { "cpu_lmt", .type = FIELD_INT, AT(job_script_process, cpu_limit), .doc = "percent; out of 0 to 100: 50" },
    { "mem_lmt", .type = FIELD_INT, AT(job_script_process, mem_limit), .doc = "percent; out of 0 to 100: 30" },
    HOSTS(job_script_process),
    { 0 },
};
static const struct shape script_shape = { "script_process_info", sizeof(struct job_script_process), script_fields };

static const struct field script_operate_fields[] = {
    JOB_SCOPE_FIELDS(job_script_operate),
    { "op_type", .type = FIELD_INT, AT(job_script_operate, op), .flags = FIELD_REQUIRED, .doc = OPERATIONS_DOC },
    PROCESSES(job_script_operate, script_shape),
    { 0 },
};
const struct shape job_script_operate_shape = { "job_script_operate", sizeof(struct job_script_operate),
                                                script_operate_fields };

static const struct field task_ref_fields[] = {
    { "bk_gse_taskid", .type = FIELD_STR, AT(job_task_ref, task_id), .flags = FIELD_REQUIRED, .min = 1,
      .max = ID_MAX_BYTES, .check = rule_line, .doc = "the task to ask for" },
    { 0 },
};
const struct shape job_task_ref_shape = { "job_task_ref", sizeof(struct job_task_ref), task_ref_fields };

static const struct field result_fields[] = {
    JOB_SCOPE_FIELDS(job_result_ask),
    { "bk_gse_taskid", .type = FIELD_STR, AT(job_result_ask, task_id), .flags = FIELD_REQUIRED, .min = 1,
      .max = ID_MAX_BYTES, .check = check_task, .doc = "the task" },
    { 0 },
};
const struct shape job_result_ask_shape = { "job_result_ask", sizeof(struct job_result_ask), result_fields };

static const struct field entry_fields[] = {
    { "error_code", .type = FIELD_INT, AT(job_entry, code), .doc = "0: it went well; 115: it waits" },
    { "error_msg", .type = FIELD_STR, AT(job_entry, text), .max = COMMAND_MAX_BYTES, .doc = "what went wrong" },
    { "content", .type = FIELD_RAW, AT(job_entry, content), .max = 65536,
      .doc = "an object, as GSE has it in a string; \"\" while it waits" },
    { 0 },
};
static const struct shape entry_shape = { "job_entry", sizeof(struct job_entry), entry_fields };

static const struct field entry_at_fields[] = {
    { "key", .type = FIELD_STR, AT(job_entry_at, key), .max = 1024 },
    { "value", .type = FIELD_OBJ, AT(job_entry_at, value), .sub = &entry_shape },
    { 0 },
};
static const struct shape entry_at_shape = { "job_entry_at", sizeof(struct job_entry_at), entry_at_fields };

static const struct field answer_fields[] = {
    { "status", .type = FIELD_INT, AT(job_result, status), .max = 115, .doc = "115 while any entry waits, else 0" },
    { "result", .type = FIELD_MAP, AT(job_result, entries), .max = TARGETS_MAX, .sub = &entry_at_shape,
      .doc = "the results by key: `value_key`, or `setup_path` and `proc_name`, then cloud area and address" },
    { 0 },
};
const struct shape job_result_shape = { "job_result", sizeof(struct job_result), answer_fields };
/* clang-format on */

/* ---- name */

const char *job_process_name(const struct job_process *p, struct arena *a)
{
    const char *name = p->proc_name + strspn(p->proc_name, "/");
    size_t n = strlen(p->setup_path);

    if (*p->value_key)
        return p->value_key;
    if (!*name)
        return name;
    while (n && p->setup_path[n - 1] == '/')
        n--;
    return arena_printf(a, "%.*s/%s", (int)n, p->setup_path, name);
}

/* ---- spec */

/* Sets a value unless it is 0, which is the default here. */
#define GIVE(policy, member, has_member, value)                                                    \
    do {                                                                                           \
        if (value) {                                                                               \
            (policy)->member = (value);                                                            \
            (policy)->has_member = PRESENCE_GIVEN;                                                 \
        }                                                                                          \
    } while (0)

static void fill_policy(const struct job_process *p, struct proc_policy *to)
{
    to->kind = p->kind;
    to->has_kind = PRESENCE_GIVEN;
    GIVE(to, start_check_s, has_start_check, p->check_begin_s);
    GIVE(to, op_timeout_s, has_timeout, p->op_timeout_s);
    if (p->kind == PROC_PERIODIC)
        GIVE(to, cycle_s, has_cycle, p->cycle_s);
}

void job_process_spec(const struct job_process *p, struct proc_spec *ret)
{
    shape_defaults(&proc_spec_shape, ret);
    ret->identity = (struct proc_identity){ "",          p->proc_name,   p->setup_path,
                                            p->pid_path, p->config_path, p->log_path,
                                            p->user };
    ret->control = p->control;
    ret->control.version_cmd = ret->control.health_cmd = "";
    ret->resource.cpu_percent = (double)p->cpu_limit;
    ret->resource.mem_percent = (double)p->mem_limit;
    fill_policy(p, &ret->policy);
    ret->extra.instances = p->instances;
    ret->extra.job = (struct proc_job){ p->owner, p->func_id, p->instance_id, p->check_end_s };
    ret->has_identity = ret->has_control = ret->has_resource = ret->has_policy =
        ret->extra.has_job = PRESENCE_GIVEN;
}

/* ---- scripts */

/* Quotes the text for a shell if that is needed.  Other texts stay bare, as in the documents. */
static const char *shell_word(const char *text, struct arena *a)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./-+,:=@%";
    struct buf word = { 0 };
    const char *quoted;

    if (!text[strspn(text, plain)])
        return text;
    buf_addc(&word, '\'');
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            buf_puts(&word, "'\\''");
        else
            buf_addc(&word, *at);
    }
    buf_addc(&word, '\'');
    quoted = arena_memdup(a, buf_data(&word), word.len);
    buf_free(&word);
    return quoted;
}

static const char *script(const struct job_script_process *p, const char *what, struct arena *a)
{
    return arena_printf(a, "cd %s && ./%s.sh %s &", shell_word(p->setup_path, a), what,
                        shell_word(p->proc_name, a));
}

static int64_t limit_or(int64_t percent, int64_t other)
{
    return percent >= 0 && percent <= 100 ? percent : other;
}

/* The numbers are Job's. */
void job_process_of_script(const struct job_script_process *from, struct arena *a,
                           struct job_process *ret)
{
    *ret = (struct job_process){
        .proc_name = from->proc_name,
        .setup_path = from->setup_path,
        .pid_path = from->pid_path,
        .config_path = "",
        .log_path = "",
        .owner = "",
        .user = from->user,
        .control = { script(from, "start", a), script(from, "stop", a), script(from, "restart", a),
                     script(from, "reload", a), "", "", "" },
        .func_id = "",
        .instance_id = "",
        .value_key = "",
        .kind = PROC_RESIDENT,
        .cpu_limit = limit_or(from->cpu_limit, 50),
        .mem_limit = limit_or(from->mem_limit, 30),
        .instances = 1,
        .op_timeout_s = 10,
        .check_begin_s = 5,
        .check_end_s = 1,
        .hosts = from->hosts,
    };
}
