/* SPDX-License-Identifier: MIT */
/* job.h - processes as BlueKing Job speaks of them: the facts of proc.h under
 * other names, several to a request. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model/proc.h"

struct job_process {
    const char *proc_name, *setup_path, *pid_path, *config_path, *log_path, *owner, *user;
    struct proc_control control;
    const char *func_id, *instance_id, *value_key;
    int64_t kind, cpu_limit, mem_limit, cycle_s, instances, op_timeout_s, check_begin_s,
        check_end_s;
    struct list hosts; /* struct host_ref */
};

struct job_operate {
    const char *scope_type, *scope_id;
    int64_t biz_id, op;
    struct list processes; /* struct job_process */
};

extern const struct shape job_operate_shape;

#endif
