/* SPDX-License-Identifier: MIT */
/* extra.c - the shape of extra.h. */
#include "model/extra.h"

#include <signal.h>
#include <string.h>

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { ENV_MAX = 256, ENV_VALUE_MAX_BYTES = 16384, INSTANCES_MAX = 10000 };

static const char *check_env_name(const char *text)
{
    return strchr(text, '=') ? "must not contain \"=\"" : rule_line(text);
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

static const struct field fields[] = {
    { "stop_signal", .type = FIELD_ENUM, AT(proc_extra, stop_signal), .names = signal_names, .fallback = SIGTERM,
      .flags = FIELD_BY_NAME, .doc = "sent first where `stop_cmd` is empty; SIGKILL follows after `op_timeout`" },
    { "environment", .type = FIELD_MAP, AT(proc_extra, env), .max = ENV_MAX, .sub = &env_shape,
      .doc = "variables for every command of the process; they win over the user's" },
    { "keep_trying", .type = FIELD_BOOL, AT(proc_extra, keep_trying),
      .doc = "pull it up for ever, whatever `start_retries` says" },
    { "instances", .type = FIELD_INT, AT(proc_extra, instances), .max = INSTANCES_MAX, .flags = FIELD_OMIT_EMPTY,
      .doc = "how many processes are expected; a query lists those that fit, at most 101" },
    { 0 },
};
/* clang-format on */
const struct shape proc_extra_shape = { "holdfast", sizeof(struct proc_extra), fields,
                                        .doc = "What BlueKing's documents have no word for." };
