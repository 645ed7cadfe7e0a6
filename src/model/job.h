/* SPDX-License-Identifier: MIT */
/* job.h - processes as BlueKing Job speaks of them: the facts of proc.h under
 * other names, several to a request. */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include "model/proc.h"

/* In whose name: a business or a set of them.  The first two win; what they mean is for
 * whoever knows the businesses to say (api/job_scope.h). */
struct job_scope {
    const char *type, *id;
    int64_t biz_id; /* 0: not given */
};

enum { JOB_SCOPE_MAX_BYTES = 32 };

/* Its rows in the table of a struct that has one as `scope`. */
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

enum { JOB_HOST = 1, JOB_UNHOST = 2 }; /* manage_proc's own numbers */

/* manage_proc and operate_process. */
struct job_operate {
    struct job_scope scope;
    int64_t op;            /* the API says which numbers */
    struct list processes; /* struct job_process */
};

/* operate_proc, whose commands are scripts of fixed names. */
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

/* What all three answer with, and get_proc_result asks for. */
struct job_task_ref {
    const char *task_id;
};

struct job_result_ask {
    struct job_scope scope;
    const char *task_id;
};

/* What became of it: one entry for each key. */
struct job_entry {
    int64_t code;
    const char *text, *content; /* content is JSON: an object, or "" while it waits */
};

struct job_entry_at {
    const char *key;
    struct job_entry value;
};

struct job_result {
    int64_t status;      /* 115 while any entry waits, else 0 */
    struct list entries; /* struct job_entry_at */
};

/* The name under which we know it, which is also how its result is found: value_key, or
 * setup_path and proc_name with exactly one "/" between them; "" if it has neither. */
const char *job_process_name(const struct job_process *p, struct arena *a);

/* How it is run.  Texts stay those of the process.  The limits must be from 0 to 100. */
void job_process_spec(const struct job_process *p, struct proc_spec *ret);

/* The same with the commands that its scripts make. */
void job_process_of_script(const struct job_script_process *from, struct arena *a,
                           struct job_process *ret);

extern const struct shape job_manage_shape, job_operate_shape, job_script_operate_shape,
    job_task_ref_shape, job_result_ask_shape, job_result_shape;

#endif
