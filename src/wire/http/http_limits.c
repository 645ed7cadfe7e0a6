/* SPDX-License-Identifier: MIT */
/* http_limits.c - see http_limits.h. */
#include "wire/http/http_limits.h"

const struct http_limits http_limits_default = {
    .header_ms = HTTP_HEADER_S * 1000,
    .idle_ms = HTTP_IDLE_S * 1000,
    .body_grace_ms = 10 * 1000,
    .body_rate = 1024,
    .write_ms = 30 * 1000,
    .linger_ms = 2 * 1000,
    .connections_max = HTTP_CONNECTIONS_MAX,
    .per_address_max = HTTP_PER_ADDRESS_MAX,
    .body_budget_bytes = HTTP_BODY_BUDGET,
    .answer_budget_bytes = 512 * 1024 * 1024,
    .stream_max_bytes = 1024 * 1024,
};

static const char *const reason_names[HTTP_REASONS] = {
    [HTTP_BAD_HEAD] = "bad_head",       [HTTP_BAD_BODY] = "bad_body",
    [HTTP_LARGE_BODY] = "large_body",   [HTTP_OVER_BUDGET] = "over_budget",
    [HTTP_LATE_HEAD] = "late_head",     [HTTP_SLOW_BODY] = "slow_body",
    [HTTP_SLOW_READER] = "slow_reader", [HTTP_CONNECTIONS] = "connections",
    [HTTP_PER_ADDRESS] = "per_address", [HTTP_BAD_ANSWER] = "bad_answer",
};

const char *http_reason_name(enum http_reason reason)
{
    return reason_names[reason];
}
