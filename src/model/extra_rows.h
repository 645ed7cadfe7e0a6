/* SPDX-License-Identifier: MIT */
/* extra_rows.h - the fields of struct proc_extra, for the block `holdfast` of a spec and for the
 * short form of specs, which has them at its top.  AT_EXTRA(member): where the member is. */
/* clang-format off */
    { "stop_signal", .type = FIELD_ENUM, AT_EXTRA(stop_signal), .names = proc_signal_names, .fallback = SIGTERM,
      .flags = FIELD_BY_NAME, .doc = "sent first where `stop_cmd` is empty; SIGKILL follows" },
    { "stop_wait", .type = FIELD_INT, AT_EXTRA(stop_wait_s), .max = DAY_S, .flags = FIELD_SECONDS | FIELD_OMIT_EMPTY,
      .doc = "seconds from that signal to SIGKILL; 0: `op_timeout`" },
    { "environment", .type = FIELD_MAP, AT_EXTRA(env), .max = PROC_ENV_MAX, .sub = &proc_env_shape,
      .doc = "variables for every command of the process; they take precedence over the user's" },
    { "env_file", .type = FIELD_STR, AT_EXTRA(env_file), .max = PATH_MAX_BYTES, .check = rule_path,
      .flags = FIELD_OMIT_EMPTY, .doc = "a file with more variables, `NAME=value` per line, read at each command; nothing is "
             "expanded, a value may be quoted, # starts a comment; it must belong to root or to the process's user, be "
             "readable by that user and have at most 64 KiB; `environment` takes precedence" },
    { "pre_start", .type = FIELD_STR, AT_EXTRA(pre_start), .max = COMMAND_MAX_BYTES, .flags = FIELD_OMIT_EMPTY,
      .doc = "a command that is run before each `start_cmd`, also when the agent restarts the process, by the same user in the same "
             "folder and environment; if it fails, or takes longer than `op_timeout`, the start has failed; not run before `restart_cmd`" },
    { "exit_codes", .type = FIELD_LIST, AT_EXTRA(exit_codes), .max = PROC_LIST_MAX, .sub = &proc_exit_code_shape,
      .flags = FIELD_OMIT_EMPTY,
      .doc = "a hosted process that exits with one of these has finished: it stays hosted and is not restarted until "
             "it is started or hosted again, or the host boots; a command or a run that exits so has succeeded, as "
             "with 0" },
    { "ready", .type = FIELD_OBJ, AT_EXTRA(ready), .sub = &proc_ready_shape, .doc = "when a start has succeeded" },
    { "keep_trying", .type = FIELD_BOOL, AT_EXTRA(keep_trying),
      .doc = "restart it forever, whatever `start_retries` is: after `start_interval`, then with exponential "
             "back-off" },
    { "max_interval", .type = FIELD_INT, AT_EXTRA(max_interval_s), .min = 1, .max = DAY_S, .fallback = 300,
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .doc = "cap of that back-off in seconds, if more than `start_interval`" },
    { "instances", .type = FIELD_INT, AT_EXTRA(instances), .max = INSTANCES_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "how many processes are expected; a query lists the matching ones, at most 101" },
    { "priority", .type = FIELD_INT, AT_EXTRA(priority), .min = -PROC_PRIORITY_MAX, .max = PROC_PRIORITY_MAX,
      .flags = FIELD_OMIT_EMPTY, .doc = "start order when the host boots: processes with a smaller value are started first; the others "
             "wait until those are up or have failed once, at most 2 minutes for each" },
    { "after", .type = FIELD_LIST, AT_EXTRA(after), .max = PROC_LIST_MAX, .sub = &proc_after_shape,
      .flags = FIELD_OMIT_EMPTY,
      .doc = "processes of this host, `name` or `namespace:name`, that have to be up before it is started by the "
             "agent; those that are not hosted are ignored, and the wait ends after 2 minutes; a cycle is refused" },
    { "health_interval", .type = FIELD_INT, AT_EXTRA(health_interval_s), .max = DAY_S,
      .flags = FIELD_SECONDS | FIELD_OMIT_EMPTY, .doc = "seconds between runs of `health_cmd` while it is hosted and runs; each may take 10, or "
             "`op_timeout` if that is less; 0: only on request" },
    { "checks", .type = FIELD_LIST, AT_EXTRA(checks), .max = CHECKS_MAX, .sub = &proc_check_shape,
      .flags = FIELD_OMIT_EMPTY, .doc = "what the agent looks at regularly while the process is hosted and runs; it is unhealthy while one fails" },
    { "unhealthy_restarts", .type = FIELD_INT, AT_EXTRA(unhealthy_restarts), .max = 1000,
      .flags = FIELD_OMIT_EMPTY, .doc = "restart it after so many failures of `health_cmd`, or of a failing check, in a row, by "
             "`restart_cmd` or a stop and a start; after `start_retries` of these without a success it stays as it is; 0: never" },
    { "log_max_bytes", .type = FIELD_INT, AT_EXTRA(log_max_bytes), .max = 256 << 20, .flags = FIELD_BYTES | FIELD_OMIT_EMPTY,
      .doc = "size of its output file, and again of the previous one; 0: the agent's setting" },
    { "output", .type = FIELD_ENUM, AT_EXTRA(output), .names = proc_output_names, .flags = FIELD_BY_NAME | FIELD_OMIT_EMPTY,
      .doc = "where whole lines of its output go besides its output file: `file`, nowhere else; `syslog`, to /dev/log with the identifier "
             "NAMESPACE.NAME; `journal`, to journald; at most 2,000 lines or 1 MiB in a second, a changed value counts from the next start on" },
    { "caps", .type = FIELD_OBJ, AT_EXTRA(caps), .sub = &proc_caps_shape,
      .doc = "bounds that the kernel enforces for all its processes, by cgroups (version 2 or 1); set at each start, "
             "so a changed value applies from the next start on; a start is refused if the host cannot enforce its caps" },
    { "nice", .type = FIELD_INT, AT_EXTRA(nice), .min = -20, .max = 19, .flags = FIELD_OMIT_EMPTY,
      .doc = "of its start and restart commands, and so of the process; 0: that of the agent" },
    { "rlimits", .type = FIELD_MAP, AT_EXTRA(rlimits), .max = PROC_LIST_MAX, .sub = &proc_rlimit_shape,
      .flags = FIELD_OMIT_EMPTY, .doc = "of its start and restart commands, soft and hard, by name: as, core, cpu, "
             "data, fsize, memlock, nofile, nproc, stack; -1: unlimited" },
    { "scope", .type = FIELD_ENUM, AT_EXTRA(scope), .names = proc_scope_names, .flags = FIELD_BY_NAME | FIELD_OMIT_EMPTY,
      .doc = "which processes are ended with the main process, by a stop or kill and before a restart: `family`, what descends "
             "from it and what its own start command still runs; `process`, no other; `start`, also what the start command "
             "has started besides it, which needs cgroups; empty: `family`, unless the agent's setting "
             "`scope_by_name` has its `proc_name`" },
    { "watch", .type = FIELD_LIST, AT_EXTRA(watch), .max = PROC_WATCH_MAX, .sub = &proc_watch_shape, .flags = FIELD_OMIT_EMPTY,
      .doc = "files whose new content restarts or reloads it while it is hosted and runs, or is reported; a change has to last 2 seconds, "
             "there is at most one restart or reload in 30, and a file that is gone is only reported" },
    { "limit_memory", .type = FIELD_INT, AT_EXTRA(limit_memory), .max = INT64_MAX, .flags = FIELD_BYTES | FIELD_OMIT_EMPTY,
      .doc = "bytes of memory of the process and its descendants; above it in three samples in a row it is stopped and, if it is hosted, "
             "started again, as with `resource.mem`; 0: no limit" },
    { "source", .type = FIELD_STR, AT_EXTRA(source), .max = PATH_MAX_BYTES, .check = rule_path,
      .flags = FIELD_OMIT_EMPTY, .doc = "the folder of specs that it came from, set by `holdfast --local apply` and by the agent" },
/* clang-format on */
#undef AT_EXTRA
