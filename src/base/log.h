/* SPDX-License-Identifier: MIT */
/* log.h - what happened, one JSON object a line.
 *
 *     LOG(log, LOG_WARN, "agent refused", log_str("agent", id), log_int("wait_ms", 200));
 *     {"time":"2026-11-15T05:47:53.123Z","level":"warn","text":"agent refused","agent":...}
 *
 * A line is one write(2), so lines of several threads and processes do not mix.
 * A line that can not be written is counted, and the next one that can says how
 * many were lost before it; one that was cut short (by a full disk) stays alone
 * on its line.  A path may name a pipe; its reader is never waited for.  Only the
 * edge of the program logs; libraries return errors. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

struct log;

struct log_field {
    const char *key;  /* NULL ends the list */
    const char *text; /* NULL: the number counts */
    int64_t number;
};

/* Writes to `path`, or to standard error when path is NULL.  A NULL log may be
 * logged to: nothing happens. */
int log_new(const char *path, enum log_level level, const struct clock *clock, struct log **ret,
            struct err *err);
void log_free(struct log *l);

/* Opens the file again, for log rotation.  On failure the old one stays.  There
 * is nothing to do for standard error and a NULL log. */
int log_reopen(struct log *l, struct err *err);

/* Another place, as log_new() takes it, and another level, from the next line on; the
 * file is opened again even if it is the same one.  On failure all stays as it was. */
int log_set(struct log *l, const char *path, enum log_level level, struct err *err);

void log_line(struct log *l, enum log_level level, const char *text,
              const struct log_field *fields);

#define LOG(l, level, text, ...)                                                                   \
    log_line(l, level, text, (const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ){ 0 } })

static inline struct log_field log_str(const char *key, const char *text)
{
    return (struct log_field){ key, text ? text : "", 0 };
}

static inline struct log_field log_int(const char *key, int64_t number)
{
    return (struct log_field){ key, 0, number };
}

static inline struct log_field log_err(const struct err *err)
{
    return (struct log_field){ "error", err->text, 0 };
}

const char *log_level_name(enum log_level level);

#endif
