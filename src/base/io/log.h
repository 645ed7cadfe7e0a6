/* SPDX-License-Identifier: MIT */
/* log.h - the log: one JSON object per line.
 *
 *     LOG(log, LOG_WARN, "agent refused", log_str("agent", id), log_int("wait_ms", 200));
 *     {"time":"2026-11-15T05:47:53.123Z","level":"warn","text":"agent refused","agent":...}
 *
 * Each line is one write(2), so lines of several threads and processes do not mix.  Lines that
 * cannot be written are counted, and the next written line contains the number of lost lines.
 * After a line that was cut short (by a full disk) the next one starts on a new line.  The path
 * may name a pipe; logging never waits for its reader.  Only the edge of the program logs;
 * libraries return errors. */
#ifndef BASE_IO_LOG_H
#define BASE_IO_LOG_H

#include <stdint.h>

#include "base/os/time.h"
#include "base/text/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_LEVELS };

struct log;

struct log_field {
    const char *key;  /* NULL ends the list */
    const char *text; /* NULL: the field is `number` */
    int64_t number;
};

/* Writes to `path`, or to standard error if path is NULL.  Logging to a NULL log does nothing. */
int log_new(const char *path, enum log_level level, const struct clock *clock, struct log **ret,
            struct err *err);
void log_free(struct log *l);

/* Opens the file again, for log rotation.  On failure the old file stays open.  Does nothing for
 * standard error and for a NULL log. */
int log_reopen(struct log *l, struct err *err);

/* Changes path (as in log_new()) and level from the next line on.  The file is opened again even
 * if the path is the same.  On failure nothing changes. */
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
