/* SPDX-License-Identifier: MIT */
/* settings.h - settings of the agent. */
#ifndef AGENT_SHELL_SETTINGS_H
#define AGENT_SHELL_SETTINGS_H

#include <stdint.h>

#include "agent/confine/policy.h"
#include "wire/json/config.h"

struct agent_server {
    const char *address; /* "host:port" */
};

struct agent_settings {
    const char *data_dir;
    struct list servers; /* struct agent_server */
    const char *join_token, *join_token_file;
    const char *ip, *agent_id;
    struct {
        const char *file;
        int64_t level; /* enum log_level */
    } log;
    struct {
        int64_t max_bytes;
    } output;
    struct {
        int64_t at_once;
    } operations;
    struct {
        int64_t interval_s, grace_s;
    } limits;
    struct policy policy;
    const char *proc_file;
    const char *specs;         /* a folder of specs; "": none */
    const char *pid_dir;       /* agent_piddir.h */
    const char *without;       /* facility.h */
    int64_t cgroups;           /* enum cgroup_use */
    struct list scope_by_name; /* struct proc_word */
    struct {
        const char *socket, *group;
    } local;
};

extern const struct config_spec agent_config;

#endif
