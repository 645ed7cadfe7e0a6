/* SPDX-License-Identifier: MIT */
/* policy_rows.h - the fields of struct proc_policy, for the blocks of a spec and for its short
 * form, which has them at its top.  AT_POLICY(member) and HAS_POLICY(member): where they are. */
/* clang-format off */
    { "auto_type", .type = FIELD_ENUM, AT_POLICY(kind), HAS_POLICY(has_kind), .names = proc_kind_names,
      .fallback = PROC_RESIDENT, .doc = "how it is kept" },
    { "start_check_secs", .type = FIELD_INT, AT_POLICY(start_check_s), HAS_POLICY(has_start_check),
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .min = 1, .max = HOUR_S, .fallback = 5,
      .doc = "it must live this long to count as started" },
    { "stop_check_secs", .type = FIELD_INT, AT_POLICY(stop_check_s), HAS_POLICY(has_stop_check),
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .min = 1, .max = HOUR_S, .fallback = 5,
      .doc = "it must be gone this long after the stop command" },
    { "start_retries", .type = FIELD_INT, AT_POLICY(start_retries), HAS_POLICY(has_retries),
      .max = 1000, .fallback = 4, .doc = "tries in a row that may fail before hosting ends, besides the first five of a process that was up once; 0: it is never restarted" },
    { "start_interval", .type = FIELD_INT, AT_POLICY(start_interval_s), HAS_POLICY(has_interval),
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .min = 1, .max = DAY_S, .fallback = 10, .doc = "seconds from the begin of one of those tries to the next" },
    { "crontab_rule", "crotab_rule", .type = FIELD_STR, AT_POLICY(cron_rule), HAS_POLICY(has_cron),
      .max = NAME_MAX_BYTES, .check = cron_check,
      .doc = "when a periodic one runs: the five fields of cron, or `@daily` and the like, in the host's time zone" },
    { "cycle_time", .type = FIELD_INT, AT_POLICY(cycle_s), HAS_POLICY(has_cycle),
      .max = 366 * DAY_S, .flags = FIELD_SECONDS, .doc = "or, without a rule, every so many seconds; 0: not so" },
    { "op_timeout", .type = FIELD_INT, AT_POLICY(op_timeout_s), HAS_POLICY(has_timeout),
      .flags = FIELD_SECONDS | FIELD_ZERO_UNSET, .min = 1, .max = DAY_S, .fallback = 60, .doc = "seconds a command may run" },
/* clang-format on */
#undef AT_POLICY
#undef HAS_POLICY
