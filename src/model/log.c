/* SPDX-License-Identifier: MIT */
/* log.c - the shapes of log.h. */
#include "model/log.h"

#include "base/text/msg.h"
#include "model/operation.h"
#include "model/rules.h"

#define AT(type, member) .offset = offsetof(struct type, member)

enum { LINES_MAX = 100000, LINES_USUAL = 100, OUTPUT_MAX_BYTES = 512 * 1024, WHAT_MAX_BYTES = 16 };

bool log_is_what(const char *text)
{
    return !*text || (operation_is_output(text) && !operation_is_own_output(text));
}

static const char *check_what(const char *text)
{
    return log_is_what(text) ? NULL
                             : MSG("must be stop, reload, kill, version or health; what start and "
                                   "restart say is with what the process says");
}

/* clang-format off */
static const struct field ask_fields[] = {
    { "namespace", .type = FIELD_STR, AT(log_ask, space), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_space, .doc = "with `name`: which process" },
    { "name", .type = FIELD_STR, AT(log_ask, name), .flags = FIELD_REQUIRED, .min = 1, .max = NAME_MAX_BYTES,
      .check = rule_line, .doc = "unique within its namespace on a host" },
    { "host", .type = FIELD_STR, AT(log_ask, host), .max = ID_MAX_BYTES, .check = rule_line,
      .doc = "the host: an agent id, `cloud:ip` or an address of cloud area 0; may be left out if only one host has it" },
    { "what", .type = FIELD_STR, AT(log_ask, what), .max = WHAT_MAX_BYTES, .check = check_what,
      .doc = "output of this command: `stop`, `reload`, `kill`, `version` or `health`; empty: of the process, its start and restart" },
    { "lines", .type = FIELD_INT, AT(log_ask, lines), .max = LINES_MAX, .fallback = LINES_USUAL,
      .doc = "so many from the end; 0: as many as fit" },
    { "at", .type = FIELD_INT, AT(log_ask, at), .min = -1, .max = INT64_MAX, .fallback = -1,
      .doc = "start at this `next` of an earlier answer, as much as fits; -1: the last lines" },
    { "age_s", .type = FIELD_INT, AT(log_ask, age_s), .max = LOG_AGE_MAX_S, .flags = FIELD_OMIT_EMPTY,
      .doc = "without `at`: only output of the last so many seconds, to about 10 seconds; output from before the agent's start is all of one age; 0: any" },
    { 0 },
};
const struct shape log_ask_shape = { "log_ask", sizeof(struct log_ask), ask_fields };

static const struct field view_fields[] = {
    { "host", .type = FIELD_STR, AT(log_view, host), .flags = FIELD_REQUIRED, .max = ID_MAX_BYTES,
      .doc = "the host's agent id" },
    { "output", .type = FIELD_STR, AT(log_view, output), .max = OUTPUT_MAX_BYTES,
      .doc = "UTF-8; invalid bytes become U+FFFD" },
    { "next", .type = FIELD_INT, AT(log_view, next), .doc = "`at` of the next request; never falls" },
    { "has_gap", .type = FIELD_BOOL, AT(log_view, has_gap),
      .doc = "the output at `at` is gone; this follows the gap" },
    { "gap_bytes", .type = FIELD_INT, AT(log_view, gap_bytes), .flags = FIELD_OMIT_EMPTY,
      .doc = "size of the gap; left out if it is not known" },
    { 0 },
};
const struct shape log_view_shape = { "log_view", sizeof(struct log_view), view_fields,
                                      .doc = "Output of a process." };
/* clang-format on */
