/* SPDX-License-Identifier: MIT */
/* group.c - the shapes of group.h. */
#include "model/group.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { GROUPS_MAX = 10000 };

/* clang-format off */
static const struct field resource_fields[] = {
    { "cpu_pool_limit", .type = FIELD_FLOAT, AT(group_resource, cpu_percent), .flags = FIELD_REQUIRED, .max = 100,
      .doc = "percent of all cores together, for all its processes; 0: no limit" },
    { "mem_pool_limit", .type = FIELD_FLOAT, AT(group_resource, mem_percent), .flags = FIELD_REQUIRED, .max = 100,
      .doc = "percent of physical memory, for all its processes; 0: no limit" },
    { "cpu_pool_weight", .type = FIELD_INT, AT(group_resource, cpu_weight), .flags = FIELD_REQUIRED, .max = 1,
      .doc = "who is stopped: 0: who uses most; 1: who uses most of what its own limit allows" },
    { "mem_pool_weight", .type = FIELD_INT, AT(group_resource, mem_weight), .flags = FIELD_REQUIRED, .max = 1,
      .doc = "the same for memory" },
    { 0 },
};
static const struct shape resource_shape = { "group resource", sizeof(struct group_resource), resource_fields };

static const struct field group_fields[] = {
    { "id", .type = FIELD_STR, AT(proc_group, id), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_space, .doc = "the namespace" },
    { "resource", .type = FIELD_OBJ, AT(proc_group, resource), .flags = FIELD_REQUIRED, .sub = &resource_shape,
      .doc = "what its processes may use together" },
    { 0 },
};
const struct shape proc_group_shape = { "process group", sizeof(struct proc_group), group_fields,
                                        .doc = "A namespace, and what its processes may use together on a host." };

static const struct field file_fields[] = {
    { "process_group", .type = FIELD_LIST, AT(proc_group_file, groups), .max = GROUPS_MAX, .sub = &proc_group_shape },
    { 0 },
};
const struct shape proc_group_file_shape = { "process groups", sizeof(struct proc_group_file), file_fields };
/* clang-format on */
