/* SPDX-License-Identifier: MIT */
/* outlog_read.h - reads output files by position (outlog.h). Usable from any thread. */
#ifndef AGENT_EXEC_OUTLOG_READ_H
#define AGENT_EXEC_OUTLOG_READ_H

#include "agent/exec/outlog.h"
#include "base/mem/buf.h"

enum { OUTLOG_TAIL_BYTES = 8192 };

/* Appends to `to` the last max_bytes of the output from `from` on and before `until` (0: to the
 * end). The text is always UTF-8 without NUL: invalid bytes become U+FFFD, and a character cut at
 * the front is removed. A missing file appends nothing. ERR_UNAVAILABLE: the file is being trimmed.
 */
int outlog_tail(const struct outlog *o, const char *name, uint64_t from, uint64_t until,
                size_t max_bytes, enum outlog_wait wait, struct buf *to, struct err *err);

/* The same up to the end, without waiting: for a file that is being trimmed its current content,
 * which may begin before or after `from`. */
int outlog_newest(const struct outlog *o, const char *name, uint64_t from, size_t max_bytes,
                  struct buf *to, struct err *err);

/* For followers. `at` -1: the last `lines` lines (0: no limit), otherwise the output from position
 * `at` on. At most max_bytes, before the cleaning described above; whole lines if there is more.
 * `next` is the position to continue from: an incomplete character at the end is left for the next
 * call. has_gap: the data at `at` is gone (trimmed, or the file was truncated), and this is the
 * following data: gap_bytes later, or 0 if the file was truncated. The line with the number of
 * dropped bytes is left out then. age_ms not 0: of the last lines only those that are not older
 * than that, as far as it is known (outlog_times.h). ERR_UNAVAILABLE: the file is being trimmed. */
struct outlog_ask {
    int64_t at;
    size_t lines, max_bytes;
    enum outlog_wait wait;
    int64_t age_ms;
};
struct outlog_piece {
    uint64_t next, gap_bytes;
    bool has_gap, is_there; /* is_there false: no such file */
};
int outlog_read(const struct outlog *o, const char *name, const struct outlog_ask *ask,
                struct buf *to, struct outlog_piece *ret, struct err *err);

/* For a file that is trimmed all the time: the thread that trims it makes the call at the end of
 * the next trim, when no other thread changes the file. outlog_waiter_take(): 1: no answer yet,
 * otherwise the result of that call. One thread uses a waiter and frees it, before outlog_close().
 */
struct outlog_waiter;
struct outlog_waiter *outlog_waiter_new(struct outlog *o, const char *name,
                                        const struct outlog_ask *ask);
int outlog_waiter_take(struct outlog_waiter *w, struct buf *to, struct outlog_piece *ret,
                       struct err *err);
void outlog_waiter_free(struct outlog_waiter *w); /* NULL is allowed */

/* Offset in text[0..n) where its last `lines` lines begin. */
size_t outlog_last_lines(const char *text, size_t n, size_t lines);

#endif
