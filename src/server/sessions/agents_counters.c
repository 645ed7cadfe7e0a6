/* SPDX-License-Identifier: MIT */
/* agents_counters.c - see agents_counters.h. */
#include "server/sessions/agents_counters.h"

const char *agents_reason_name(enum agents_reason why)
{
    static const char *const names[AGENTS_REASONS] = {
        [AGENTS_HANDSHAKE] = "handshake",     [AGENTS_CROWDED] = "crowded",
        [AGENTS_SILENT] = "silent",           [AGENTS_BROKEN] = "broken",
        [AGENTS_INVALID] = "invalid",         [AGENTS_DENIED] = "denied",
        [AGENTS_CONFLICT] = "conflict",       [AGENTS_LIMIT] = "limit",
        [AGENTS_UNAVAILABLE] = "unavailable", [AGENTS_OTHER] = "other",
    };

    return names[why];
}
