/* SPDX-License-Identifier: MIT */
/* group.h - a group of processes, and what all of them together may use on a host.
 *
 * A group is a namespace.  What it may use is said for each host; when that is exceeded,
 * the process with the highest score is stopped. */
#ifndef MODEL_GROUP_H
#define MODEL_GROUP_H

#include <stdint.h>

#include "model/proc.h"
#include "wire/shape.h"

/* What a process's score is. */
enum group_weight {
    WEIGHT_USAGE = 0, /* what it uses */
    WEIGHT_SHARE = 1, /* that, as a share of its own limit: who may use more is spared longer */
};

struct group_resource {
    double cpu_percent, mem_percent; /* of the whole machine; 0: no limit */
    int64_t cpu_weight, mem_weight;  /* enum group_weight */
};

struct proc_group {
    const char *id; /* the namespace */
    struct group_resource resource;
};

/* As GSE writes them down: procgroupinfo.json. */
struct proc_group_file {
    struct list groups; /* struct proc_group */
};

/* GSE's set_process_group_info.  Of its meta the namespace is what counts. */
struct group_spec {
    struct list groups; /* struct proc_group */
};

struct group_set_ask {
    struct proc_meta meta;
    struct list hosts; /* struct host_ref */
    struct group_spec spec;
};

/* And get_process_group_info. */
struct group_get_ask {
    struct proc_meta meta;
    struct list hosts; /* struct host_ref */
};

struct group_info {
    struct proc_meta meta;
    struct host_ref host;
    const char *id;
    struct group_resource resource;
};

struct group_infos {
    struct list infos; /* struct group_info */
};

extern const struct shape group_resource_shape, proc_group_shape, proc_group_file_shape;
extern const struct shape group_set_shape, group_get_shape, group_infos_shape;

#endif
