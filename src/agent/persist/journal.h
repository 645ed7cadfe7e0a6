/* SPDX-License-Identifier: MIT */
/* journal.h - write-ahead log of the agent's durable state.
 *
 * Typed records are appended and read back at the next open. Append only buffers; flush writes, and
 * then the records survive the end of this process; sync makes them survive a power loss. Positions
 * only grow, even over compaction, so "durable up to here" is a comparison.
 *
 * A failed flush (disk full) discards all records appended since the last successful one: they are
 * not in the file and never will be, and the journal stays usable. After a failed sync the content
 * of the disk is unknown. Then, and if a partially written record could not be removed, every flush
 * and sync fails until a compaction or a new open. A full disk does not cause a failure at once:
 * space for one more megabyte and for a compaction is preallocated, where the file system supports
 * that.
 *
 * Only one process can open a journal, by a lock on PATH.lock. Only one thread uses it, except for
 * journal_sync_run(). */
#ifndef AGENT_PERSIST_JOURNAL_H
#define AGENT_PERSIST_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/persist/record.h"
#include "base/text/err.h"

enum { JOURNAL_MAX_BYTES = 256 << 20 };

struct journal;

struct journal_report {
    size_t count;                 /* number of records read back */
    uint64_t torn_at, torn_bytes; /* a torn end that was cut off; torn_bytes 0: none */
};

/* Creates the journal if there is none. `fn` gets every record (record.h); all of them are durable
 * then. ERR_CONFLICT: another process has it open. ERR_MALFORMED, with file and offset: it is
 * damaged; then no record is passed and nothing is changed. */
int journal_open(const char *path, record_fn *fn, void *arg, struct journal **ret,
                 struct journal_report *ret_report, struct err *err);
void journal_close(struct journal *j); /* unflushed records are lost; NULL is allowed */

/* Type 1 to 255, at most RECORD_BODY_MAX bytes. Returns the position after the record. */
int64_t journal_append(struct journal *j, uint8_t type, const void *body, size_t n);
int journal_flush(struct journal *j, struct err *err);

/* Returns once everything up to `position` is durable; at once if it is already. */
int journal_sync(struct journal *j, int64_t position, struct err *err);
int64_t journal_durable(const struct journal *j); /* position up to which all is durable */

/* The same in three steps, so that another thread can do the blocking one: begin flushes; until the
 * end records may be appended and flushed, but the journal may be neither compacted nor closed. */
struct journal_sync {
    int fd, error;
    uint64_t size;
};
int journal_sync_begin(struct journal *j, struct journal_sync *ret, struct err *err);
void journal_sync_run(struct journal_sync *s);
int journal_sync_end(struct journal *j, const struct journal_sync *s, struct err *err);

/* Replaces the file by one with only the records that `fn` writes by journal_put(); it is durable
 * on return. Records appended but not flushed are discarded with the old file, so `fn` must write
 * them, too. On failure the old file stays in use. */
struct journal_writer;
typedef void journal_live_fn(void *arg, struct journal_writer *w);
void journal_put(struct journal_writer *w, uint8_t type, const void *body, size_t n);
int journal_compact(struct journal *j, journal_live_fn *fn, void *arg, struct err *err);

uint64_t journal_size_bytes(const struct journal *j); /* file size, to decide on a compaction */

#endif
