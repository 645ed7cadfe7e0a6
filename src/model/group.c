/* SPDX-License-Identifier: MIT */
/* group.c - the shapes of group.h. */
#include "model/group.h"

#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { GROUPS_MAX = 10000, GROUPS_AT_ONCE_MAX = 1000 };

/* clang-format off */
static const struct field resource_fields[] = {
    { "cpu_pool_limit", .type = FIELD_FLOAT, AT(group_resource, cpu_percent), .flags = FIELD_REQUIRED, .max = 100,
      .doc = "percent of all cores together, for all its processes; 0: no limit" },
    { "mem_pool_limit", .type = FIELD_FLOAT, AT(group_resource, mem_percent), .flags = FIELD_REQUIRED, .max = 100,
      .doc = "percent of physical memory, for all its processes; 0: no limit" },
    { "cpu_pool_weight", .type = FIELD_INT, AT(group_resource, cpu_weight), .flags = FIELD_REQUIRED, .max = 1,
      .doc = "which process is stopped: 0: the one with the highest usage; 1: the one with the highest share of its own limit" },
    { "mem_pool_weight", .type = FIELD_INT, AT(group_resource, mem_weight), .flags = FIELD_REQUIRED, .max = 1,
      .doc = "the same for memory" },
    { 0 },
};
const struct shape group_resource_shape = { "group_resource", sizeof(struct group_resource), resource_fields };

static const struct field group_fields[] = {
    { "id", .type = FIELD_STR, AT(proc_group, id), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_space, .doc = "the namespace" },
    { "resource", .type = FIELD_OBJ, AT(proc_group, resource), .flags = FIELD_REQUIRED, .sub = &group_resource_shape,
      .doc = "what its processes may use together" },
    { 0 },
};
const struct shape proc_group_shape = { "process_group", sizeof(struct proc_group), group_fields,
                                        .doc = "A namespace, and what its processes may use together on a host." };

static const struct field file_fields[] = {
    { "process_group", .type = FIELD_LIST, AT(proc_group_file, groups), .max = GROUPS_MAX, .sub = &proc_group_shape },
    { 0 },
};
const struct shape proc_group_file_shape = { "process_groups", sizeof(struct proc_group_file), file_fields };

static const struct field meta_fields[] = {
    { "namespace", .type = FIELD_STR, AT(proc_meta, space), .flags = FIELD_REQUIRED, .min = 1,
      .max = NAME_MAX_BYTES, .check = rule_space, .doc = "the namespace of the request" },
    { "name", .type = FIELD_STR, AT(proc_meta, name), .max = NAME_MAX_BYTES, .check = rule_line, .doc = "not used" },
    { "labels", .type = FIELD_MAP, AT(proc_meta, labels), .max = 64, .sub = &proc_label_shape, .doc = "not used" },
    { 0 },
};
static const struct shape meta_shape = { "group_meta", sizeof(struct proc_meta), meta_fields };

static const struct field spec_fields[] = {
    { "process_group", .type = FIELD_LIST, AT(group_spec, groups), .flags = FIELD_REQUIRED, .min = 1,
      .max = GROUPS_AT_ONCE_MAX, .sub = &proc_group_shape, .doc = "the groups" },
    { 0 },
};
static const struct shape spec_shape = { "group_spec", sizeof(struct group_spec), spec_fields };

static const struct field set_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(group_set_ask, meta), .flags = FIELD_REQUIRED, .sub = &meta_shape, .doc = "the namespace" },
    { "hosts", .type = FIELD_LIST, AT(group_set_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &target_host_shape, .doc = "where" },
    { "spec", .type = FIELD_OBJ, AT(group_set_ask, spec), .flags = FIELD_REQUIRED, .sub = &spec_shape,
      .doc = "what they may use" },
    { 0 },
};
const struct shape group_set_shape = { "group_set", sizeof(struct group_set_ask), set_fields };

static const struct field get_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(group_get_ask, meta), .flags = FIELD_REQUIRED, .sub = &meta_shape, .doc = "the namespace" },
    { "hosts", .type = FIELD_LIST, AT(group_get_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &target_host_shape, .doc = "where" },
    { 0 },
};
const struct shape group_get_shape = { "group_get", sizeof(struct group_get_ask), get_fields };

static const struct field info_fields[] = {
    { "meta", .type = FIELD_OBJ, AT(group_info, meta), .sub = &meta_shape, .doc = "as in the request" },
    { "host", .type = FIELD_OBJ, AT(group_info, host), .sub = &host_ref_shape, .doc = "as in the request" },
    { "id", .type = FIELD_STR, AT(group_info, id), .max = NAME_MAX_BYTES, .doc = "the namespace" },
    { "resource", .type = FIELD_OBJ, AT(group_info, resource), .sub = &group_resource_shape,
      .doc = "what its processes may use together" },
    { 0 },
};
static const struct shape info_shape = { "group_info", sizeof(struct group_info), info_fields };

static const struct field infos_fields[] = {
    { "process_group_infos", .type = FIELD_LIST, AT(group_infos, infos), .max = TARGETS_MAX, .sub = &info_shape,
      .doc = "one a host and group" },
    { 0 },
};
const struct shape group_infos_shape = { "group_infos", sizeof(struct group_infos), infos_fields };
/* clang-format on */
