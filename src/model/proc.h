/* SPDX-License-Identifier: MIT */
/* proc.h - the nouns of process management, as every part of the system knows
 * them, and the shape each has on the wire. */
#ifndef MODEL_PROC_H
#define MODEL_PROC_H

#include <stdint.h>

#include "model/extra.h"
#include "wire/shape.h"

enum proc_op {
    PROC_OP_START = 0,
    PROC_OP_STOP = 1,
    PROC_OP_QUERY = 2,
    PROC_OP_HOST = 3,
    PROC_OP_UNHOST = 4,
    PROC_OP_RESTART = 7,
    PROC_OP_RELOAD = 8,
    PROC_OP_KILL = 9,
};

enum proc_kind { PROC_PERIODIC = 0, PROC_RESIDENT = 1, PROC_RUN_ONCE = 2 };

struct proc_label {
    const char *key;
    struct scalar value;
};

struct proc_meta {
    const char *space, *name; /* together they name a process on a host */
    struct list labels;       /* struct proc_label */
};

struct host_ref {
    const char *ip;
    int64_t cloud_id, supplier_id;
};

struct agent_ref {
    const char *id;
};

struct proc_identity {
    const char *index_key, *proc_name, *setup_path, *pid_path, *config_path, *log_path, *user;
};

struct proc_control {
    const char *start_cmd, *stop_cmd, *restart_cmd, *reload_cmd, *kill_cmd, *version_cmd,
        *health_cmd;
};

struct proc_resource {
    double cpu_percent, mem_percent; /* of the whole machine; 0: no limit */
    int64_t fd, disk, net;           /* stored only */
};

/* Two blocks of this kind may come with one request, so each value says whether
 * it was given. */
struct proc_policy {
    int64_t kind; /* enum proc_kind */
    int64_t start_check_s, stop_check_s, start_retries, start_interval_s, op_timeout_s, cycle_s;
    const char *cron_rule; /* cron.h; "" and cycle_s 0: a periodic one is run only when asked */
    enum presence has_kind, has_start_check, has_stop_check, has_retries, has_interval, has_timeout,
        has_cycle, has_cron;
};

struct proc_warn {
    int64_t report_id;
};

struct proc_config_file {
    const char *path, *md5;
};

struct proc_spec {
    struct proc_identity identity;
    struct proc_control control;
    struct proc_resource resource;
    struct proc_policy policy, alive_policy;
    struct proc_warn warn;
    struct list config_files; /* struct proc_config_file */
    struct proc_extra extra;
    enum presence has_identity, has_control, has_resource, has_policy, has_alive_policy, has_warn;
};

struct proc_operate {
    struct proc_meta meta;
    int64_t op;         /* any number: one that is no enum proc_op fails target by target */
    struct list hosts;  /* struct host_ref */
    struct list agents; /* struct agent_ref; given, they win over hosts */
    struct proc_spec spec;
};

struct proc_operate_batch {
    struct list items; /* struct proc_operate */
};

/* Of the two blocks of a spec, with defaults: alive_monitor_policy wins where both say
 * something. */
struct proc_policy proc_policy_of(const struct proc_spec *spec);
int64_t proc_check_end_s(const struct proc_spec *spec); /* never less than start_check_s */
void proc_spec_copy(const struct proc_spec *from, struct arena *a, struct proc_spec *ret);

extern const struct shape proc_operate_shape, proc_operate_batch_shape, proc_operate_known_shape;
extern const struct shape proc_meta_shape, proc_spec_shape, host_ref_shape, proc_label_shape,
    agent_ref_shape;
extern const struct enum_name proc_kind_names[];

#endif
