/* SPDX-License-Identifier: MIT */
/* group.c - the shapes of group.h. */
#include "link/group.h"

#define AT(type, member) .offset = offsetof(struct message_##type, member)

/* clang-format off */
static const struct field group_fields[] = {
    { "id", .type = FIELD_INT, AT(group, id), .flags = FIELD_REQUIRED, .doc = "repeated in the answer" },
    { "group", .type = FIELD_OBJ, AT(group, group), .flags = FIELD_REQUIRED, .sub = &proc_group_shape,
      .doc = "which namespace, and what its processes may use" },
    { 0 },
};
const struct shape message_group_shape = { "group", sizeof(struct message_group), group_fields };

static const struct field ref_fields[] = {
    { "id", .type = FIELD_INT, AT(group_ref, id), .flags = FIELD_REQUIRED, .doc = "that `group` had" },
    { 0 },
};
const struct shape message_group_ref_shape = { "group_ref", sizeof(struct message_group_ref), ref_fields };
/* clang-format on */
