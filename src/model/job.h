/* SPDX-License-Identifier: MIT */
/* job.h - processes in the requests of BlueKing Job: the same facts as in proc.h under other names,
 * several to a request. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model/proc.h"

/* The business or business set on whose behalf a request is made.  type and id take precedence;
 * api/pipeline/job_scope.h resolves them. */
struct job_scope {
    const char *type, *id;
    int64_t biz_id; /* 0: not given */
};

enum { JOB_SCOPE_MAX_BYTES = 32 };

/* Rows for the field table of a struct with a member `scope`. */
/* clang-format off */
#define JOB_SCOPE_FIELDS(owner) \
    { "bk_scope_type", .type = FIELD_STR, .offset = offsetof(struct owner, scope.type), \
      .max = JOB_SCOPE_MAX_BYTES, .doc = "`biz` or `biz_set`; required with `bk_scope_id`, or else `bk_biz_id` is" }, \
    { "bk_scope_id", .type = FIELD_STR, .offset = offsetof(struct owner, scope.id), \
      .max = JOB_SCOPE_MAX_BYTES, .doc = "id of the business or business set" }, \
    { "bk_biz_id", .type = FIELD_INT, .offset = offsetof(struct owner, scope.biz_id), \
      .doc = "the older form of both; from 8000000 to 9999999 it is a business set" }
/* clang-format on */

struct job_process {
    const char *proc_name, *setup_path, *pid_path, *config_path, *log_path, *owner, *user;
    struct proc_control control;
    const char *func_id, *instance_id, *value_key;
    int64_t kind, cpu_limit, mem_limit, cycle_s, instances, op_timeout_s, check_begin_s,
        check_end_s;
    struct list hosts; /* struct host_ref */
};

enum { JOB_HOST = 1, JOB_UNHOST = 2 }; /* op_type of manage_proc */

/* manage_proc and operate_process. */
struct job_operate {
    struct job_scope scope;
    int64_t op;            /* numbers depend on the API */
    struct list processes; /* struct job_process */
};

/* operate_proc, whose commands are scripts with fixed names. */
struct job_script_process {
    const char *proc_name, *setup_path, *pid_path, *user, *extension;
    int64_t cpu_limit, mem_limit;
    struct list hosts; /* struct host_ref */
};

struct job_script_operate {
    struct job_scope scope;
    int64_t op;
    struct list processes; /* struct job_script_process */
};

/* The answer to all three, and the request of get_proc_result. */
struct job_task_ref {
    const char *task_id;
};

struct job_result_ask {
    struct job_scope scope;
    const char *task_id;
};

/* The result of one key. */
struct job_entry {
    int64_t code;
    const char *text, *content; /* content is JSON: an object, or "" while the entry is pending */
};

struct job_entry_at {
    const char *key;
    struct job_entry value;
};

struct job_result {
    int64_t status;      /* 115 while any entry is pending, else 0 */
    struct list entries; /* struct job_entry_at */
};

/* The name of the process in this product, and the key of its result: value_key, or setup_path and
 * proc_name with exactly one "/" between them; "" if it has neither. */
const char *job_process_name(const struct job_process *p, struct arena *a);

/* Fills in the spec.  Texts are shared with the process.  The limits must be from 0 to 100. */
void job_process_spec(const struct job_process *p, struct proc_spec *ret);

/* The process with the commands that its scripts make. */
void job_process_of_script(const struct job_script_process *from, struct arena *a,
                           struct job_process *ret);

extern const struct shape job_host_shape; /* struct host_ref, by its IPv4 address */
extern const struct shape job_manage_shape, job_operate_shape, job_script_operate_shape,
    job_task_ref_shape, job_result_ask_shape, job_result_shape;

#endif
