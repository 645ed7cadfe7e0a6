/* SPDX-License-Identifier: MIT */
/* log.h - what a process has said, as /v1 shows it. */
#ifndef MODEL_LOG_H
#define MODEL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/shape.h"

/* The query of GET /v1/logs. */
struct log_ask {
    const char *space, *name;
    const char *host; /* "": the one that has it */
    const char *what; /* "stop", "reload", "kill": what that command said; "": the process */
    int64_t lines, at;
};

struct log_view {
    const char *host; /* its agent's id */
    const char *output;
    int64_t next;
    bool has_gap;
};

bool log_is_what(const char *text); /* "", or a command whose words are kept apart */

extern const struct shape log_ask_shape, log_view_shape;

#endif
