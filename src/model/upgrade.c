/* SPDX-License-Identifier: MIT */
/* upgrade.c - the shapes of upgrade.h. */
#include "model/upgrade.h"

#include "model/proc.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

/* clang-format off */
static const struct field host_fields[] = {
    { "ip", .type = FIELD_STR, AT(upgrade_host, ip), .flags = FIELD_REQUIRED, .max = ID_ASKED_MAX_BYTES,
      .doc = "the host's address" },
    { "bk_cloud_id", .type = FIELD_INT, AT(upgrade_host, cloud_id), .flags = FIELD_REQUIRED, .max = INT32_MAX,
      .doc = "its cloud area" },
    { "bk_agent_id", .type = FIELD_STR, AT(upgrade_host, agent_id), .flags = FIELD_REQUIRED,
      .max = ID_ASKED_MAX_BYTES, .doc = "the id of its agent" },
    { 0 },
};
static const struct shape host_shape = { "upgrade_host", sizeof(struct upgrade_host), host_fields };

static const struct field ask_fields[] = {
    { "hosts", .type = FIELD_LIST, AT(upgrade_ask, hosts), .flags = FIELD_REQUIRED, .min = 1, .max = TARGETS_MAX,
      .sub = &host_shape, .doc = "which" },
    { 0 },
};
const struct shape upgrade_ask_shape = { "upgrade_ask", sizeof(struct upgrade_ask), ask_fields };

static const struct field view_fields[] = {
    { "success", .type = FIELD_LIST, AT(upgrade_view, success), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "`cloud:ip` of the hosts with this agent id" },
    { "failed", .type = FIELD_LIST, AT(upgrade_view, failed), .max = TARGETS_MAX, .sub = &agent_ref_shape,
      .doc = "`cloud:ip` of the others" },
    { 0 },
};
const struct shape upgrade_view_shape = { "upgrade_view", sizeof(struct upgrade_view), view_fields };
/* clang-format on */
