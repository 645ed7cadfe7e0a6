/* SPDX-License-Identifier: MIT */
/* extra.c - the shape of extra.h. */
#include "model/extra.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem/mem.h"
#include "base/text/msg.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { ENV_VALUE_MAX_BYTES = 16384 };

static const char *check_env_name(const char *text)
{
    return strchr(text, '=') ? MSG("must not contain \"=\"") : rule_line(text);
}

/* clang-format off */
static const struct { const char *name; int number; } rlimits[] = {
    { "as", RLIMIT_AS }, { "core", RLIMIT_CORE }, { "cpu", RLIMIT_CPU }, { "data", RLIMIT_DATA },
    { "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK }, { "nofile", RLIMIT_NOFILE },
    { "nproc", RLIMIT_NPROC }, { "stack", RLIMIT_STACK },
};
/* clang-format on */

int proc_rlimit_number(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rlimits); i++) {
        if (!strcmp(rlimits[i].name, name))
            return rlimits[i].number;
    }
    return -1;
}

bool proc_exit_is_expected(const struct proc_extra *x, int status)
{
    const struct proc_number *codes = x->exit_codes.items;

    for (size_t i = 0; i < x->exit_codes.n; i++) {
        if (codes[i].number == status)
            return true;
    }
    return false;
}

bool proc_exit_is_good(const struct proc_extra *x, int status)
{
    return status == 0 || proc_exit_is_expected(x, status);
}

static const char *check_rlimit(const char *name)
{
    return proc_rlimit_number(name) < 0
               ? MSG("must be as, core, cpu, data, fsize, memlock, nofile, nproc or stack")
               : NULL;
}

/* clang-format off */
const struct enum_name proc_signal_names[] = {
    { SIGTERM, "TERM" }, { SIGINT, "INT" }, { SIGQUIT, "QUIT" }, { SIGHUP, "HUP" }, { SIGUSR1, "USR1" },
    { SIGUSR2, "USR2" }, { SIGKILL, "KILL" }, { 0 },
};

static const struct field env_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_env, key), .min = 1, .max = NAME_MAX_BYTES, .check = check_env_name },
    { "value", .type = FIELD_STR, AT(proc_env, value), .max = ENV_VALUE_MAX_BYTES },
    { 0 },
};
const struct shape proc_env_shape = { "environment", sizeof(struct proc_env), env_fields };

static const struct field exit_code_fields[] = {
    { "exit_code", .type = FIELD_INT, AT(proc_number, number), .max = 255 },
    { 0 },
};
const struct shape proc_exit_code_shape = { "exit_code", sizeof(struct proc_number), exit_code_fields, .bare = true };

static const struct field after_fields[] = {
    { "process", .type = FIELD_STR, AT(proc_word, text), .min = 1, .max = 2 * NAME_MAX_BYTES + 1, .check = rule_line },
    { 0 },
};
const struct shape proc_after_shape = { "after", sizeof(struct proc_word), after_fields, .bare = true };

const struct enum_name proc_ready_names[] = {
    { READY_ALIVE, "alive" }, { READY_NOTIFY, "notify" }, { READY_PID_FILE, "pid_file" }, { READY_PORT, "port" },
    { READY_HEALTH, "health" }, { 0 },
};

static const struct field ready_fields[] = {
    { "when", .type = FIELD_ENUM, AT(proc_ready, kind), .names = proc_ready_names, .flags = FIELD_BY_NAME,
      .doc = "`alive`: it has run for `start_check_secs`, as with BlueKing; `notify`: it sends READY=1 to "
             "$NOTIFY_SOCKET, as for systemd; `pid_file`: the pid file has its pid; `port`: the port accepts connections, and the "
             "listener belongs to its family; `health`: `health_cmd` exits with 0, and all `checks` pass.  The start succeeds at that moment; a process that is not ready in time "
             "fails with 836 and is left running" },
    { "port", .type = FIELD_INT, AT(proc_ready, port), .max = 65535, .flags = FIELD_OMIT_EMPTY,
      .doc = "of TCP, on 127.0.0.1 or ::1, for `port`" },
    { "timeout", .type = FIELD_INT, AT(proc_ready, timeout_s), .max = DAY_S, .flags = FIELD_SECONDS | FIELD_OMIT_EMPTY,
      .doc = "seconds after which the start has failed; 0: `op_timeout`" },
    { "any_owner", .type = FIELD_BOOL, AT(proc_ready, any_owner), .flags = FIELD_OMIT_EMPTY,
      .doc = "for `port`: the listener may belong to any process, as with docker-proxy or socket activation" },
    { 0 },
};
const struct shape proc_ready_shape = { "ready", sizeof(struct proc_ready), ready_fields };

static const struct field caps_fields[] = {
    { "cpu", .type = FIELD_FLOAT, AT(proc_caps, cpu_percent), .max = 100, .flags = FIELD_OMIT_EMPTY,
      .doc = "percent of all cores together, enforced (cpu.max); 0: no bound" },
    { "mem_bytes", .type = FIELD_INT, AT(proc_caps, mem_bytes), .max = INT64_MAX, .flags = FIELD_BYTES | FIELD_OMIT_EMPTY,
      .doc = "memory without swap; above it the kernel kills one of its processes (memory.max); "
             "0: no bound" },
    { "processes", .type = FIELD_INT, AT(proc_caps, processes), .max = INT32_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "processes and threads; above it fork fails (pids.max); 0: no bound" },
    { 0 },
};
const struct shape proc_caps_shape = { "caps", sizeof(struct proc_caps), caps_fields };

static const struct field rlimit_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_rlimit, name), .min = 1, .max = 16, .check = check_rlimit },
    { "value", .type = FIELD_INT, AT(proc_rlimit, value), .min = -1, .max = INT64_MAX },
    { 0 },
};
const struct shape proc_rlimit_shape = { "rlimit", sizeof(struct proc_rlimit), rlimit_fields };

static const struct field job_fields[] = {
    { "owner", .type = FIELD_STR, AT(proc_job, owner), .max = NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "the person responsible; `contact` in `.proc`" },
    { "func_id", .type = FIELD_STR, AT(proc_job, func_id), .max = NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "echoed in `content`" },
    { "instance_id", .type = FIELD_STR, AT(proc_job, instance_id), .max = NAME_MAX_BYTES, .check = rule_line,
      .flags = FIELD_OMIT_EMPTY, .doc = "echoed in `content`" },
    { "start_check_end", .type = FIELD_INT, AT(proc_job, check_end_s), .max = HOUR_S, .flags = FIELD_OMIT_EMPTY,
      .doc = "end of the check after a start, in seconds; from start_check_secs until then it has to be seen alive once" },
    { 0 },
};
static const struct shape job_shape = { "job", sizeof(struct proc_job), job_fields,
      .doc = "Further fields of BlueKing Job." };

static const struct enum_name on_change_names[] = {
    { ON_CHANGE_REPORT, "report" }, { ON_CHANGE_RELOAD, "reload" }, { ON_CHANGE_RESTART, "restart" }, { 0 },
};

static const struct field watch_fields[] = {
    { "path", .type = FIELD_STR, AT(proc_watch, path), .flags = FIELD_REQUIRED, .min = 1, .max = PATH_MAX_BYTES, .check = rule_path,
      .doc = "of a file; a folder is not watched" },
    { "on_change", .type = FIELD_ENUM, AT(proc_watch, on_change), .names = on_change_names, .flags = FIELD_BY_NAME,
      .doc = "`restart`, `reload`, which needs `reload_cmd`, or `report`, an event alone" },
    { 0 },
};
const struct shape proc_watch_shape = { "watch", sizeof(struct proc_watch), watch_fields };

const struct enum_name proc_scope_names[] = {
    { SCOPE_FAMILY, "family" }, { SCOPE_PROCESS, "process" }, { SCOPE_START, "start" }, { SCOPE_DEFAULT, "" }, { 0 },
};

const struct enum_name proc_output_names[] = {
    { OUTPUT_FILE, "file" }, { OUTPUT_SYSLOG, "syslog" }, { OUTPUT_JOURNAL, "journal" }, { 0 },
};

static const struct field fields[] = {
#define AT_EXTRA(member) AT(proc_extra, member)
#include "model/extra_rows.h"
    { "job", .type = FIELD_OBJ, AT(proc_extra, job), .has = offsetof(struct proc_extra, has_job), .sub = &job_shape,
      .doc = "fields that only Job has" },
    { 0 },
};
/* clang-format on */
const struct shape proc_extra_shape = { "holdfast", sizeof(struct proc_extra), fields,
                                        .doc = "Settings that BlueKing's documents do not have." };
