/* SPDX-License-Identifier: MIT */
/* group.h - a group of processes, and the limits that they share on a host.
 *
 * A group is a namespace.  The limits apply on each host; when they are exceeded, the process with
 * the highest score is stopped. */
#ifndef MODEL_GROUP_H
#define MODEL_GROUP_H

#include <stdint.h>

#include "model/proc.h"
#include "wire/json/shape.h"

/* How the score of a process is computed. */
enum group_weight {
    WEIGHT_USAGE = 0, /* its usage */
    WEIGHT_SHARE = 1, /* its usage as a share of its own limit, so that a process with a higher
                         limit is stopped later */
};

struct group_resource {
    double cpu_percent, mem_percent; /* of the whole machine; 0: no limit */
    int64_t cpu_weight, mem_weight;  /* enum group_weight */
};

struct proc_group {
    const char *id; /* the namespace */
    struct group_resource resource;
};

/* GSE's file of groups, procgroupinfo.json. */
struct proc_group_file {
    struct list groups; /* struct proc_group */
};

/* GSE's set_process_group_info.  Of its meta only the namespace matters. */
struct group_spec {
    struct list groups; /* struct proc_group */
};

struct group_set_ask {
    struct proc_meta meta;
    struct list hosts; /* struct host_ref */
    struct group_spec spec;
};

/* GSE's get_process_group_info. */
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
