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

enum {
    ENV_MAX = 256,
    ENV_VALUE_MAX_BYTES = 16384,
    LIST_MAX = 64,
    PRIORITY_MAX = 1000,
    WATCH_MAX = 16
};

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
static const struct enum_name signal_names[] = {
    { SIGTERM, "TERM" }, { SIGINT, "INT" }, { SIGQUIT, "QUIT" }, { SIGHUP, "HUP" }, { SIGUSR1, "USR1" },
    { SIGUSR2, "USR2" }, { SIGKILL, "KILL" }, { 0 },
};

static const struct field env_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_env, key), .min = 1, .max = NAME_MAX_BYTES, .check = check_env_name },
    { "value", .type = FIELD_STR, AT(proc_env, value), .max = ENV_VALUE_MAX_BYTES },
    { 0 },
};
static const struct shape env_shape = { "environment", sizeof(struct proc_env), env_fields };

static const struct field exit_code_fields[] = {
    { "exit_code", .type = FIELD_INT, AT(proc_number, number), .max = 255 },
    { 0 },
};
static const struct shape exit_code_shape = { "exit_code", sizeof(struct proc_number), exit_code_fields, .bare = true };

static const struct field after_fields[] = {
    { "process", .type = FIELD_STR, AT(proc_word, text), .min = 1, .max = 2 * NAME_MAX_BYTES + 1, .check = rule_line },
    { 0 },
};
static const struct shape after_shape = { "after", sizeof(struct proc_word), after_fields, .bare = true };

const struct enum_name proc_ready_names[] = {
    { READY_ALIVE, "alive" }, { READY_NOTIFY, "notify" }, { READY_PID_FILE, "pid_file" }, { READY_PORT, "port" },
    { READY_HEALTH, "health" }, { 0 },
};

static const struct field ready_fields[] = {
    { "when", .type = FIELD_ENUM, AT(proc_ready, kind), .names = proc_ready_names, .flags = FIELD_BY_NAME,
      .doc = "`alive`: it has run for `start_check_secs`, as with BlueKing; `notify`: it sends READY=1 to "
             "$NOTIFY_SOCKET, as for systemd; `pid_file`: the pid file has its pid; `port`: the port accepts connections; "
             "`health`: `health_cmd` exits with 0.  The start succeeds at that moment; a process that is not ready in time "
             "fails with 836 and is left running" },
    { "port", .type = FIELD_INT, AT(proc_ready, port), .max = 65535, .flags = FIELD_OMIT_EMPTY,
      .doc = "of TCP, on 127.0.0.1 or ::1, for `port`" },
    { "timeout", .type = FIELD_INT, AT(proc_ready, timeout_s), .max = DAY_S, .flags = FIELD_OMIT_EMPTY,
      .doc = "seconds after which the start has failed; 0: `op_timeout`" },
    { 0 },
};
static const struct shape ready_shape = { "ready", sizeof(struct proc_ready), ready_fields };

static const struct field caps_fields[] = {
    { "cpu", .type = FIELD_FLOAT, AT(proc_caps, cpu_percent), .max = 100, .flags = FIELD_OMIT_EMPTY,
      .doc = "percent of all cores together, enforced (cpu.max); 0: no bound" },
    { "mem_bytes", .type = FIELD_INT, AT(proc_caps, mem_bytes), .max = INT64_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "memory without swap; above it the kernel kills one of its processes (memory.max); "
             "0: no bound" },
    { "processes", .type = FIELD_INT, AT(proc_caps, processes), .max = INT32_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "processes and threads; above it fork fails (pids.max); 0: no bound" },
    { 0 },
};
static const struct shape caps_shape = { "caps", sizeof(struct proc_caps), caps_fields };

static const struct field rlimit_fields[] = {
    { "name", .type = FIELD_STR, AT(proc_rlimit, name), .min = 1, .max = 16, .check = check_rlimit },
    { "value", .type = FIELD_INT, AT(proc_rlimit, value), .min = -1, .max = INT64_MAX },
    { 0 },
};
static const struct shape rlimit_shape = { "rlimit", sizeof(struct proc_rlimit), rlimit_fields };

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
static const struct shape watch_shape = { "watch", sizeof(struct proc_watch), watch_fields };

static const struct enum_name scope_names[] = {
    { SCOPE_FAMILY, "family" }, { SCOPE_PROCESS, "process" }, { SCOPE_START, "start" }, { SCOPE_DEFAULT, "" }, { 0 },
};

static const struct field fields[] = {
    { "stop_signal", .type = FIELD_ENUM, AT(proc_extra, stop_signal), .names = signal_names, .fallback = SIGTERM,
      .flags = FIELD_BY_NAME, .doc = "sent first where `stop_cmd` is empty; SIGKILL follows" },
    { "stop_wait", .type = FIELD_INT, AT(proc_extra, stop_wait_s), .max = DAY_S, .flags = FIELD_OMIT_EMPTY,
      .doc = "seconds from that signal to SIGKILL; 0: `op_timeout`" },
    { "environment", .type = FIELD_MAP, AT(proc_extra, env), .max = ENV_MAX, .sub = &env_shape,
      .doc = "variables for every command of the process; they take precedence over the user's" },
    { "env_file", .type = FIELD_STR, AT(proc_extra, env_file), .max = PATH_MAX_BYTES, .check = rule_path,
      .flags = FIELD_OMIT_EMPTY, .doc = "a file with more variables, `NAME=value` per line, read at each command; nothing is "
             "expanded, a value may be quoted, # starts a comment; it must belong to root or to the process's user, be "
             "readable by that user and have at most 64 KiB; `environment` takes precedence" },
    { "pre_start", .type = FIELD_STR, AT(proc_extra, pre_start), .max = COMMAND_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "a command that is run before each `start_cmd`, also when the agent restarts the process, by the same user in the same "
             "folder and environment; if it fails, or takes longer than `op_timeout`, the start has failed; not run before `restart_cmd`" },
    { "exit_codes", .type = FIELD_LIST, AT(proc_extra, exit_codes), .max = LIST_MAX, .sub = &exit_code_shape,
      .flags = FIELD_OMIT_EMPTY,
      .doc = "a hosted process that exits with one of these has finished: it stays hosted and is not restarted until "
             "it is started or hosted again, or the host boots; a command or a run that exits so has succeeded, as "
             "with 0" },
    { "ready", .type = FIELD_OBJ, AT(proc_extra, ready), .sub = &ready_shape, .doc = "when a start has succeeded" },
    { "keep_trying", .type = FIELD_BOOL, AT(proc_extra, keep_trying),
      .doc = "restart it forever, whatever `start_retries` is: after `start_interval`, then with exponential "
             "back-off" },
    { "max_interval", .type = FIELD_INT, AT(proc_extra, max_interval_s), .min = 1, .max = DAY_S, .fallback = 300,
      .flags = FIELD_ZERO_UNSET, .doc = "cap of that back-off in seconds, if more than `start_interval`" },
    { "instances", .type = FIELD_INT, AT(proc_extra, instances), .max = INSTANCES_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "how many processes are expected; a query lists the matching ones, at most 101" },
    { "priority", .type = FIELD_INT, AT(proc_extra, priority), .min = -PRIORITY_MAX, .max = PRIORITY_MAX,
      .flags = FIELD_OMIT_EMPTY, .doc = "start order when the host boots: processes with a smaller value are started first; the others "
             "wait until those are up or have failed once, at most 2 minutes for each" },
    { "after", .type = FIELD_LIST, AT(proc_extra, after), .max = LIST_MAX, .sub = &after_shape,
      .flags = FIELD_OMIT_EMPTY,
      .doc = "processes of this host, `name` or `namespace:name`, that have to be up before it is started by the "
             "agent; those that are not hosted are ignored, and the wait ends after 2 minutes; a cycle is refused" },
    { "health_interval", .type = FIELD_INT, AT(proc_extra, health_interval_s), .max = DAY_S,
      .flags = FIELD_OMIT_EMPTY, .doc = "seconds between runs of `health_cmd` while it is hosted and runs; each may take 10, or "
             "`op_timeout` if that is less; 0: only on request" },
    { "unhealthy_restarts", .type = FIELD_INT, AT(proc_extra, unhealthy_restarts), .max = 1000,
      .flags = FIELD_OMIT_EMPTY, .doc = "restart it after so many failures of `health_cmd` in a row, by "
             "`restart_cmd` or a stop and a start; after `start_retries` of these without a success it stays as it is; 0: never" },
    { "log_max_bytes", .type = FIELD_INT, AT(proc_extra, log_max_bytes), .max = 256 << 20, .flags = FIELD_OMIT_EMPTY,
      .doc = "size of its output file, and again of the previous one; 0: the agent's setting" },
    { "caps", .type = FIELD_OBJ, AT(proc_extra, caps), .sub = &caps_shape,
      .doc = "bounds that the kernel enforces for all its processes, by cgroups (version 2 or 1); set at each start, "
             "so a changed value applies from the next start on; a start is refused if the host cannot enforce its caps" },
    { "nice", .type = FIELD_INT, AT(proc_extra, nice), .min = -20, .max = 19, .flags = FIELD_OMIT_EMPTY,
      .doc = "of its start and restart commands, and so of the process; 0: that of the agent" },
    { "rlimits", .type = FIELD_MAP, AT(proc_extra, rlimits), .max = LIST_MAX, .sub = &rlimit_shape,
      .flags = FIELD_OMIT_EMPTY, .doc = "of its start and restart commands, soft and hard, by name: as, core, cpu, "
             "data, fsize, memlock, nofile, nproc, stack; -1: unlimited" },
    { "scope", .type = FIELD_ENUM, AT(proc_extra, scope), .names = scope_names, .flags = FIELD_BY_NAME | FIELD_OMIT_EMPTY,
      .doc = "which processes are ended with the main process, by a stop or kill and before a restart: `family`, what descends "
             "from it and what its own start command still runs; `process`, no other; `start`, also what the start command "
             "has started besides it, which needs cgroups; empty: `family`, unless the agent's setting "
             "`scope_by_name` has its `proc_name`" },
    { "watch", .type = FIELD_LIST, AT(proc_extra, watch), .max = WATCH_MAX, .sub = &watch_shape, .flags = FIELD_OMIT_EMPTY,
      .doc = "files whose new content restarts or reloads it while it is hosted and runs, or is reported; a change has to last 2 seconds, "
             "there is at most one restart or reload in 30, and a file that is gone is only reported" },
    { "limit_memory", .type = FIELD_INT, AT(proc_extra, limit_memory), .max = INT64_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "bytes of memory of the process and its descendants; above it in three samples in a row it is stopped and, if it is hosted, "
             "started again, as with `resource.mem`; 0: no limit" },
    { "job", .type = FIELD_OBJ, AT(proc_extra, job), .has = offsetof(struct proc_extra, has_job), .sub = &job_shape,
      .doc = "fields that only Job has" },
    { 0 },
};
/* clang-format on */
const struct shape proc_extra_shape = { "holdfast", sizeof(struct proc_extra), fields,
                                        .doc = "Settings that BlueKing's documents do not have." };
