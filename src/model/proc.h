/* SPDX-License-Identifier: MIT */
/* proc.h - the nouns of process management that all parts share, and their shapes. */
#ifndef MODEL_PROC_H
#define MODEL_PROC_H

#include <stdint.h>

#include "model/extra.h"
#include "model/operation.h"
#include "wire/json/shape.h"

enum proc_kind { PROC_PERIODIC = 0, PROC_RESIDENT = 1, PROC_RUN_ONCE = 2 };

struct proc_label {
    const char *key;
    struct scalar value;
};

struct proc_meta {
    const char *space, *name; /* together they identify a process on a host */
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

struct proc_resource {
    double cpu_percent, mem_percent; /* of the whole machine; 0: no limit */
    int64_t fd, disk, net;           /* stored, but not enforced */
};

/* A request may have two blocks of this kind, so each value records whether it was given. */
struct proc_policy {
    int64_t kind; /* enum proc_kind */
    int64_t start_check_s, stop_check_s, start_retries, start_interval_s, op_timeout_s, cycle_s;
    const char *cron_rule; /* cron.h; "" and cycle_s 0: a periodic process runs on request */
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
    int64_t op;         /* any number; an unknown one fails for each target */
    struct list hosts;  /* struct host_ref */
    struct list agents; /* struct agent_ref; if given, hosts are ignored */
    struct proc_spec spec;
    enum presence has_spec; /* without a spec the registered one is used */
};

struct proc_operate_batch {
    struct list items; /* struct proc_operate */
};

/* GSE's register_proc_info, update_proc_info and, without a spec, unregister_proc_info. */
struct proc_register {
    struct proc_meta meta;
    struct list hosts;  /* struct host_ref */
    struct list agents; /* struct agent_ref; in an update, if given, hosts are ignored */
    struct proc_spec spec;
};

/* The effective policy, with defaults: alive_monitor_policy takes precedence where both blocks have
 * a value. */
struct proc_policy proc_policy_of(const struct proc_spec *spec);
int64_t proc_check_end_s(const struct proc_spec *spec); /* never less than start_check_s */
/* A map of labels as JSON, {"key":"value"}.  Values are strings; a number that an older version
 * stored is read as text, and proc_labels_renew() converts such a map to the current form. */
void proc_labels_write(const struct list *labels, struct buf *to);
int proc_labels_read(const char *text, struct arena *a, struct list *ret, struct err *err);
const char *proc_labels_renew(const char *text, struct arena *a); /* NULL for NULL */
void proc_spec_copy(const struct proc_spec *from, struct arena *a, struct proc_spec *ret);

extern const struct shape proc_operate_shape, proc_operate_batch_shape, proc_operate_known_shape;
extern const struct shape proc_register_shape, proc_update_shape, proc_unregister_shape;
extern const struct shape proc_meta_shape, proc_spec_shape, host_ref_shape, target_host_shape,
    proc_label_shape, agent_ref_shape;
extern const struct shape proc_identity_shape, proc_control_shape, proc_resource_shape,
    proc_policy_shape, proc_warn_shape, proc_config_file_shape; /* the blocks of a spec */
extern const struct enum_name proc_kind_names[];

enum { PROC_LABELS_MAX = 64, PROC_CONFIG_FILES_MAX = 64 };

#endif
