/* SPDX-License-Identifier: MIT */
/* output.h - what processes have said, asked for by the server; messages like those of
 * message.h, which has their types. */
#ifndef LINK_OUTPUT_H
#define LINK_OUTPUT_H

#include "link/message.h"

/* Of one answer: with every byte of it written as \u00XX it still fits into a frame. */
enum { LOG_MAX_BYTES = 128 * 1024 };

struct message_log_ask {
    int64_t id; /* comes back with the answer */
    const char *space, *name;
    const char *what; /* the command whose words are asked for ("stop"); "": the process */
    int64_t lines;    /* the last ones; 0: as many as there is room for */
    int64_t at;       /* what came since this `next`; -1: the end, `lines` of it */
    int64_t max_bytes;
};

struct message_log {
    int64_t id, code; /* 0, or why there is nothing */
    const char *text; /* then: the reason, for people */
    const char *output;
    int64_t next; /* for the next time */
    bool has_gap; /* what was asked for is there no more; this is what follows */
};

extern const struct shape message_log_ask_shape, message_log_shape;

#endif
