/* SPDX-License-Identifier: MIT */
/* log.h - output of a process, as /v1 shows it. */
#ifndef MODEL_LOG_H
#define MODEL_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/json/shape.h"

/* The query of GET /v1/logs. */
struct log_ask {
    const char *space, *name;
    const char *host; /* "": the only host that has it */
    const char *what; /* "stop", "reload", "kill": output of that command; "": of the process */
    int64_t lines, at;
    int64_t age_s; /* of the last lines only those that are not older, as far as known; 0: any */
};

enum { LOG_AGE_MAX_S = 10 * 366 * 86400 };

struct log_view {
    const char *host; /* agent id */
    const char *output;
    int64_t next;
    bool has_gap;
    int64_t gap_bytes; /* size of the gap, if there is one; 0: not known */
};

bool log_is_what(const char *text); /* "", or a command whose output is stored separately */

extern const struct shape log_ask_shape, log_view_shape;

#endif
