/* SPDX-License-Identifier: MIT */
/* duration.h - durations and dates as people read and write them: "3m 12s", "7d". */
#ifndef MODEL_DURATION_H
#define MODEL_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem/buf.h"
#include "model/code.h"

/* Appends the two largest units; below 10 s with a tenth if it is not 0. */
void duration_put(struct buf *b, enum lang lang, int64_t ms);

/* Reads "90", "30s", "5m", "12h", "7d", or several of them, largest first: "1h30m".  False for
 * anything else and for more than a hundred years. */
bool duration_read(const char *text, int64_t *ret_s);

/* Append local time: "2026-11-15 05:47", and "2026-11-15 05:47:09". */
void duration_put_date(struct buf *b, int64_t since_1970_s);
void duration_put_second(struct buf *b, int64_t since_1970_s);

#endif
