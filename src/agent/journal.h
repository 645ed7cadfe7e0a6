/* SPDX-License-Identifier: MIT */
/* journal.h - what the agent must not forget, in the order it happened.
 *
 * Records of bytes with a type are appended and read back at the next open.  Append
 * only buffers; flush writes, and then the records survive the death of this process;
 * sync makes them survive that of the machine.  Positions grow for ever, compaction
 * included, so "durable up to here" is a comparison.
 *
 * A failed flush (a full disk) takes back all that was appended since the last good
 * one: it is not in the file and never will be, and the journal can be used on.  After
 * a failed sync nobody knows what the disk has; then, and if a part of a record could
 * not be taken back, every flush and sync fails until a compaction or a new open.
 *
 * One process opens a journal, by a lock on PATH.lock; one thread uses it, but for
 * journal_sync_run(). */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/record.h"
#include "base/err.h"

enum { JOURNAL_MAX_BYTES = 256 << 20 };

struct journal;

struct journal_report {
    size_t count;                 /* records that were read back */
    uint64_t torn_at, torn_bytes; /* an end that was cut off: to be logged; bytes 0: none */
};

/* Makes it if there is none.  `fn` gets every record (record.h); all of them are on
 * the disk then.  ERR_CONFLICT if another process has it, ERR_MALFORMED with file and
 * offset if it is damaged: nothing is read back then, and nothing changed. */
int journal_open(const char *path, record_fn *fn, void *arg, struct journal **ret,
                 struct journal_report *ret_report, struct err *err);
void journal_close(struct journal *j); /* what was not flushed is lost; NULL is fine */

/* Type 1 to 255, at most RECORD_BODY_MAX bytes.  Gives the position behind it. */
int64_t journal_append(struct journal *j, uint8_t type, const void *body, size_t n);
int journal_flush(struct journal *j, struct err *err);

/* Returns once everything up to `position` is on the disk; at once if it is already. */
int journal_sync(struct journal *j, int64_t position, struct err *err);
int64_t journal_durable(const struct journal *j); /* the position up to which it is */

/* The same in three steps, the one that blocks for any thread: begin flushes, and all
 * until its end may be appended and flushed as usual, but neither compacted nor closed. */
struct journal_sync {
    int fd, error;
    uint64_t size;
};
int journal_sync_begin(struct journal *j, struct journal_sync *ret, struct err *err);
void journal_sync_run(struct journal_sync *s);
int journal_sync_end(struct journal *j, const struct journal_sync *s, struct err *err);

/* Replaces the file by one that holds only what `fn` puts with journal_put(), and is
 * on the disk when this returns.  What was appended and not flushed is dropped with
 * the old file, so `fn` must know it.  On failure the old one goes on. */
struct journal_writer;
typedef void journal_live_fn(void *arg, struct journal_writer *w);
void journal_put(struct journal_writer *w, uint8_t type, const void *body, size_t n);
int journal_compact(struct journal *j, journal_live_fn *fn, void *arg, struct err *err);

uint64_t journal_size_bytes(const struct journal *j); /* of the file, to know when */

#endif
